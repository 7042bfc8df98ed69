/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and writes temperatures.csv: temperature, power and clock rate of the GPUs, read at most once per
 * second, with a row for each GPU.
 */
#include "bench/pairs/store.h"
#include "bench/rows.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { CELLS = 5 };

const char kwhy_pair_reading_row_names[] = "timestamp_ns,gpu,temperature_c,power_w,clock_graphics_mhz";

struct reader {
	struct kwhy_bench_rows rows;
	struct kwhy_pairs *pairs;
};

static void add_number(struct kwhy_text *out, double value)
{
	kwhy_text_add(out, ",");
	if (isfinite(value))
		kwhy_text_addf(out, "%.6g", value);
}

void kwhy_pair_reading_row_write(const struct kwhy_pair_reading *reading, struct kwhy_text *out)
{
	kwhy_text_addf(out, "%" PRId64 ",%" PRIu32, reading->unix_ns, reading->gpu);
	add_number(out, reading->temperature_c);
	add_number(out, reading->power_w);
	add_number(out, reading->clock_hz * 1e-6);
	kwhy_text_add(out, "\n");
}

static bool parse(const struct reader *reader, struct kwhy_pair_reading *out)
{
	char *const *cells = reader->rows.cells;
	uint64_t time_ns, gpu;

	if (reader->rows.cell_count != CELLS || !kwhy_bench_cell_whole(cells[0], &time_ns) ||
		!kwhy_bench_cell_whole(cells[1], &gpu) ||
		!kwhy_bench_cell_real(cells[2], &out->temperature_c) ||
		!kwhy_bench_cell_real(cells[3], &out->power_w) ||
		!kwhy_bench_cell_real(cells[4], &out->clock_hz))
		return false;
	out->unix_ns = (int64_t)time_ns;
	out->gpu = (uint32_t)gpu;
	out->clock_hz *= 1e6;
	return time_ns <= INT64_MAX && gpu < reader->pairs->gpu_count;
}

static enum kwhy_status take_line(void *context, char *line)
{
	struct reader *reader = context;
	struct kwhy_pair_reading reading = {.gpu = 0};

	if (reader->rows.line == 1)
		return strcmp(line, kwhy_pair_reading_row_names) == 0
			? KWHY_OK
			: kwhy_bench_rows_wrong(
				  &reader->rows, "these are no temperatures of kwhy bench pairs");
	kwhy_bench_rows_split(&reader->rows, line);
	if (!parse(reader, &reading))
		return kwhy_bench_rows_wrong(&reader->rows, "no temperature of a GPU");
	return kwhy_pairs_add_reading(reader->pairs, &reading, reader->rows.error);
}

enum kwhy_status kwhy_pair_reading_rows_read(
	const char *path, const struct kwhy_text *file, struct kwhy_pairs *pairs, struct kwhy_error *error)
{
	struct reader reader = {.rows = {.path = path, .error = error}, .pairs = pairs};

	return kwhy_bench_rows_walk(&reader.rows, file, take_line, &reader);
}
