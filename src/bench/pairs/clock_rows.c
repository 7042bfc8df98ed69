/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and writes clocks.csv, with a row for each GPU: the drift of the GPU's clock and, for a run with
 * ranks, the rank's process and host and the offset and drift of the host's clock.
 */
#include "base/csv_cell.h"
#include "bench/pairs/store.h"
#include "bench/rows.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { CELLS = 9 };

const char kwhy_pair_clock_row_names[] =
	"gpu,clock_drift_ppm,clock_drift_half_width_ppm,process,clock_offset_ns,clock_offset_half_width_ns,"
	"host_clock_drift_ppm,host_clock_drift_half_width_ppm,host";

struct reader {
	struct kwhy_bench_rows rows;
	struct kwhy_pairs *pairs;
};

/* Writes a host's name with _ in place of commas and line ends, which would end a CSV cell. */
static void add_host(struct kwhy_text *out, const char *host)
{
	for (; host && *host; host++)
		kwhy_text_addf(out, "%c", strchr(",\r\n", *host) ? '_' : *host);
}

void kwhy_pair_clock_row_write(const struct kwhy_pairs *pairs, uint32_t gpu, struct kwhy_text *out)
{
	const struct kwhy_pair_rank *rank = &pairs->ranks[gpu];

	kwhy_text_addf(out, "%" PRIu32, gpu);
	kwhy_csv_add_real(out, pairs->drifts[gpu].ppm);
	kwhy_csv_add_real(out, pairs->drifts[gpu].half_width_ppm);
	if (gpu >= pairs->rank_count) {
		kwhy_text_add(out, ",,,,,,\n");
		return;
	}
	kwhy_text_addf(out, ",%" PRId64, rank->process);
	kwhy_csv_add_real(out, rank->offset_ns);
	kwhy_csv_add_real(out, rank->offset_half_width_ns);
	kwhy_csv_add_real(out, rank->drift.ppm);
	kwhy_csv_add_real(out, rank->drift.half_width_ppm);
	kwhy_text_add(out, ",");
	add_host(out, rank->host);
	kwhy_text_add(out, "\n");
}

static bool is_width(double value)
{
	return isnan(value) || value >= 0;
}

/*
 * Parses the cells from the fourth on, which describe the rank that drives the GPU. They are not read if the
 * fourth, the process number, is empty: the run had a single process.
 */
static bool parse_rank(struct reader *reader, uint32_t gpu)
{
	char *const *cells = reader->rows.cells;
	struct kwhy_pair_rank rank = {.host = NULL};
	uint64_t process;

	if (!*cells[3])
		return true;
	if (!kwhy_bench_cell_whole(cells[3], &process) || !kwhy_bench_cell_real(cells[4], &rank.offset_ns) ||
		!kwhy_bench_cell_real(cells[5], &rank.offset_half_width_ns) ||
		!kwhy_bench_cell_real(cells[6], &rank.drift.ppm) ||
		!kwhy_bench_cell_real(cells[7], &rank.drift.half_width_ppm) || process > INT64_MAX ||
		!is_width(rank.offset_half_width_ns) || !is_width(rank.drift.half_width_ppm))
		return false;
	rank.process = (int64_t)process;
	rank.host = *cells[8] ? kwhy_arena_copy(&reader->pairs->arena, cells[8]) : NULL;
	reader->pairs->ranks[gpu] = rank;
	reader->pairs->rank_count = reader->pairs->gpu_count;
	return true;
}

static bool parse(struct reader *reader)
{
	char *const *cells = reader->rows.cells;
	struct kwhy_pair_drift drift;
	uint64_t gpu;

	if (reader->rows.cell_count != CELLS || !kwhy_bench_cell_whole(cells[0], &gpu) ||
		gpu >= reader->pairs->gpu_count || !kwhy_bench_cell_real(cells[1], &drift.ppm) ||
		!kwhy_bench_cell_real(cells[2], &drift.half_width_ppm) || !is_width(drift.half_width_ppm))
		return false;
	reader->pairs->drifts[gpu] = drift;
	return parse_rank(reader, (uint32_t)gpu);
}

static enum kwhy_status take_line(void *context, char *line)
{
	struct reader *reader = context;

	if (reader->rows.line == 1)
		return strcmp(line, kwhy_pair_clock_row_names) == 0
			? KWHY_OK
			: kwhy_bench_rows_wrong(&reader->rows, "these are no clocks of kwhy bench pairs");
	kwhy_bench_rows_split(&reader->rows, line);
	return parse(reader) ? KWHY_OK : kwhy_bench_rows_wrong(&reader->rows, "no clock of a GPU");
}

enum kwhy_status kwhy_pair_clock_rows_read(
	const char *path, const struct kwhy_text *file, struct kwhy_pairs *pairs, struct kwhy_error *error)
{
	struct reader reader = {.rows = {.path = path, .error = error}, .pairs = pairs};

	return kwhy_bench_rows_walk(&reader.rows, file, take_line, &reader);
}
