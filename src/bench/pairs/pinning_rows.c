/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and writes pinning.csv: a row for each configuration, with the times for the three placements of the
 * host thread.
 */
#include "base/csv_cell.h"
#include "bench/pairs/store.h"
#include "bench/rows.h"

#include <inttypes.h>
#include <string.h>

enum { KEYS = 7, CELLS = KEYS + 3 * KWHY_PAIR_PIN_COUNT };

const char kwhy_pair_pinning_row_names[] = "engine,clock,src,dst,size,near_node,far_node,free_s,free_low_s,"
					   "free_high_s,near_s,near_low_s,near_high_s,"
					   "far_s,far_low_s,far_high_s";

struct reader {
	struct kwhy_bench_rows rows;
	struct kwhy_pairs *pairs;
};

void kwhy_pair_pinning_row_write(const struct kwhy_pair_pinning *row, struct kwhy_text *out)
{
	kwhy_text_addf(out, "%s,%s,%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%d,%d",
		kwhy_pair_engine_name(row->engine), kwhy_pair_clock_name(row->clock), row->source,
		row->target, row->bytes, row->near_node, row->far_node);
	for (int pin = 0; pin < KWHY_PAIR_PIN_COUNT; pin++) {
		kwhy_csv_add_real(out, row->times[pin].value);
		kwhy_csv_add_real(out, row->times[pin].low);
		kwhy_csv_add_real(out, row->times[pin].high);
	}
	kwhy_text_add(out, "\n");
}

static const char *engine_name(unsigned i)
{
	return kwhy_pair_engine_name((enum kwhy_pair_engine)i);
}

static const char *clock_name(unsigned i)
{
	return kwhy_pair_clock_name((enum kwhy_pair_clock)i);
}

static bool parse_key(const struct reader *reader, struct kwhy_pair_pinning *out)
{
	char *const *cells = reader->rows.cells;
	uint64_t source, target, near, far;
	unsigned engine, clock;

	if (!kwhy_bench_cell_find(cells[0], engine_name, KWHY_PAIR_ENGINE_COUNT, &engine) ||
		!kwhy_bench_cell_find(cells[1], clock_name, KWHY_PAIR_CLOCK_COUNT, &clock) ||
		!kwhy_bench_cell_whole(cells[2], &source) || !kwhy_bench_cell_whole(cells[3], &target) ||
		!kwhy_bench_cell_whole(cells[4], &out->bytes) || !kwhy_bench_cell_whole(cells[5], &near) ||
		!kwhy_bench_cell_whole(cells[6], &far) || near > UINT16_MAX || far > UINT16_MAX)
		return false;
	out->engine = (enum kwhy_pair_engine)engine;
	out->clock = (enum kwhy_pair_clock)clock;
	out->source = (uint32_t)source;
	out->target = (uint32_t)target;
	out->near_node = (int)near;
	out->far_node = (int)far;
	return source < reader->pairs->gpu_count && target < reader->pairs->gpu_count && source != target &&
		out->bytes > 0 && out->bytes <= KWHY_PAIR_BYTES_MAX;
}

static bool parse(const struct reader *reader, struct kwhy_pair_pinning *out)
{
	char *const *cells = reader->rows.cells + KEYS;
	bool good = reader->rows.cell_count == CELLS && parse_key(reader, out);

	for (size_t i = 0; good && i < KWHY_PAIR_PIN_COUNT; i++)
		good = kwhy_bench_cell_real(cells[3 * i], &out->times[i].value) &&
			kwhy_bench_cell_real(cells[3 * i + 1], &out->times[i].low) &&
			kwhy_bench_cell_real(cells[3 * i + 2], &out->times[i].high);
	return good;
}

static enum kwhy_status take_line(void *context, char *line)
{
	struct reader *reader = context;
	struct kwhy_pair_pinning row = {.bytes = 0};

	if (reader->rows.line == 1)
		return strcmp(line, kwhy_pair_pinning_row_names) == 0
			? KWHY_OK
			: kwhy_bench_rows_wrong(
				  &reader->rows, "these are no times by NUMA node of kwhy bench pairs");
	kwhy_bench_rows_split(&reader->rows, line);
	if (!parse(reader, &row))
		return kwhy_bench_rows_wrong(&reader->rows, "no times by NUMA node");
	return kwhy_pairs_add_pinning(reader->pairs, &row, reader->rows.error);
}

enum kwhy_status kwhy_pair_pinning_rows_read(
	const char *path, const struct kwhy_text *file, struct kwhy_pairs *pairs, struct kwhy_error *error)
{
	struct reader reader = {.rows = {.path = path, .error = error}, .pairs = pairs};

	return kwhy_bench_rows_walk(&reader.rows, file, take_line, &reader);
}
