/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and writes energies.csv: a row for each burst (one transfer, repeated for about a second), with
 * joules per transfer.
 */
#include "base/csv_cell.h"
#include "bench/pairs/store.h"
#include "bench/rows.h"

#include <inttypes.h>
#include <string.h>

enum { KEYS = 6, FIGURES = 5, CELLS = KEYS + 3 * FIGURES };

const char kwhy_pair_energy_row_names[] =
	"engine,src,dst,size,transfers,seconds,src_gross_j,src_gross_low_j,src_gross_high_j,src_net_j,"
	"src_net_low_j,src_net_high_j,dst_gross_j,dst_gross_low_j,dst_gross_high_j,dst_net_j,dst_net_low_j,"
	"dst_net_high_j,host_gross_j,host_gross_low_j,host_gross_high_j";

struct reader {
	struct kwhy_bench_rows rows;
	struct kwhy_pairs *pairs;
};

void kwhy_pair_energy_row_write(const struct kwhy_pair_energy *energy, struct kwhy_text *out)
{
	const struct kwhy_pair_figure *const figures[FIGURES] = {&energy->source_gross, &energy->source_net,
		&energy->target_gross, &energy->target_net, &energy->host_gross};

	kwhy_text_addf(out, "%s,%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%" PRIu64,
		kwhy_pair_engine_name(energy->engine), energy->source, energy->target, energy->bytes,
		energy->transfers);
	kwhy_csv_add_real(out, energy->seconds);
	for (size_t i = 0; i < FIGURES; i++) {
		kwhy_csv_add_real(out, figures[i]->value);
		kwhy_csv_add_real(out, figures[i]->low);
		kwhy_csv_add_real(out, figures[i]->high);
	}
	kwhy_text_add(out, "\n");
}

static const char *engine_name(unsigned i)
{
	return kwhy_pair_engine_name((enum kwhy_pair_engine)i);
}

static bool parse_key(const struct reader *reader, struct kwhy_pair_energy *out)
{
	char *const *cells = reader->rows.cells;
	uint64_t source, target;
	unsigned engine;

	if (!kwhy_bench_cell_find(cells[0], engine_name, KWHY_PAIR_ENGINE_COUNT, &engine) ||
		!kwhy_bench_cell_whole(cells[1], &source) || !kwhy_bench_cell_whole(cells[2], &target) ||
		!kwhy_bench_cell_whole(cells[3], &out->bytes) ||
		!kwhy_bench_cell_whole(cells[4], &out->transfers) ||
		!kwhy_bench_cell_real(cells[5], &out->seconds))
		return false;
	out->engine = (enum kwhy_pair_engine)engine;
	out->source = (uint32_t)source;
	out->target = (uint32_t)target;
	return source < reader->pairs->gpu_count && target < reader->pairs->gpu_count && source != target &&
		out->bytes > 0 && out->bytes <= KWHY_PAIR_BYTES_MAX && out->transfers > 0;
}

static bool parse(const struct reader *reader, struct kwhy_pair_energy *out)
{
	struct kwhy_pair_figure *const figures[FIGURES] = {
		&out->source_gross, &out->source_net, &out->target_gross, &out->target_net, &out->host_gross};
	char *const *cells = reader->rows.cells + KEYS;
	bool good = reader->rows.cell_count == CELLS && parse_key(reader, out);

	for (size_t i = 0; good && i < FIGURES; i++)
		good = kwhy_bench_cell_real(cells[3 * i], &figures[i]->value) &&
			kwhy_bench_cell_real(cells[3 * i + 1], &figures[i]->low) &&
			kwhy_bench_cell_real(cells[3 * i + 2], &figures[i]->high);
	return good;
}

static enum kwhy_status take_line(void *context, char *line)
{
	struct reader *reader = context;
	struct kwhy_pair_energy energy = {.bytes = 0};

	if (reader->rows.line == 1)
		return strcmp(line, kwhy_pair_energy_row_names) == 0
			? KWHY_OK
			: kwhy_bench_rows_wrong(&reader->rows, "these are no energies of kwhy bench pairs");
	kwhy_bench_rows_split(&reader->rows, line);
	if (!parse(reader, &energy))
		return kwhy_bench_rows_wrong(&reader->rows, "no energy of a pair");
	return kwhy_pairs_add_energy(reader->pairs, &energy, reader->rows.error);
}

enum kwhy_status kwhy_pair_energy_rows_read(
	const char *path, const struct kwhy_text *file, struct kwhy_pairs *pairs, struct kwhy_error *error)
{
	struct reader reader = {.rows = {.path = path, .error = error}, .pairs = pairs};

	return kwhy_bench_rows_walk(&reader.rows, file, take_line, &reader);
}
