/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/transfers/rows.h"

#include "base/csv_cell.h"
#include "bench/rows.h"
#include "bench/transfers/plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE_CELLS = 13, MOMENT_CELLS = 2, ENERGY_CELLS = 15, POINTS_MAX = 65536 };

const char kwhy_bench_row_names[] =
	"strategy,direction,clock,bytes,pieces,seconds,link_bytes,verified,temperature_c,sm_clock_hz,"
	"memory_clock_hz,power_w,throttle_bits,at_s,cpu";
const char kwhy_bench_energy_row_names[] =
	"strategy,direction,bytes,pieces,transfers,seconds,gross_j,gross_low_j,gross_high_j,net_j,net_low_j,"
	"net_high_j,host_j,host_low_j,host_high_j";

/* State of reading a file of samples. */
struct reader {
	struct kwhy_bench_rows rows;
	struct kwhy_transfers *transfers;
	bool add;
	size_t buffers; /* number of elements for which transfers->points has memory */
	struct kwhy_transfer_point *last;
};

static const struct kwhy_transfer_moment nowhere = {NAN, NAN};

static void write_moment(const struct kwhy_transfer_moment *moment, struct kwhy_text *out)
{
	kwhy_csv_add_real(out, moment->at_s);
	kwhy_csv_add_real(out, moment->cpu);
}

void kwhy_bench_row_write(const struct kwhy_transfer_point *point, size_t sample, struct kwhy_text *out)
{
	const struct kwhy_transfer_conditions *conditions = &point->conditions;

	kwhy_text_addf(out, "%s,%s,%s,%" PRIu64 ",%" PRIu32, point->strategy,
		kwhy_transfer_direction_name(point->direction), kwhy_transfer_clock_name(point->clock),
		point->bytes, point->pieces);
	kwhy_csv_add_real(out, point->samples_s[sample]);
	kwhy_csv_add_real(out, point->link_bytes);
	kwhy_text_addf(out, ",%d", point->verified);
	kwhy_csv_add_real(out, conditions->temperature_c);
	kwhy_csv_add_real(out, conditions->clock_hz);
	kwhy_csv_add_real(out, conditions->memory_clock_hz);
	kwhy_csv_add_real(out, conditions->power_w);
	kwhy_text_addf(out, ",%u", conditions->throttle_bits);
	write_moment(point->moments ? &point->moments[sample] : &nowhere, out);
	kwhy_text_add(out, "\n");
}

void kwhy_bench_energy_row_write(const struct kwhy_transfer_energy *energy, struct kwhy_text *out)
{
	const double figures[] = {energy->seconds, energy->gross_j, energy->gross_low_j, energy->gross_high_j,
		energy->net_j, energy->net_low_j, energy->net_high_j, energy->host_j, energy->host_low_j,
		energy->host_high_j};

	kwhy_text_addf(out, "%s,%s,%" PRIu64 ",%" PRIu32 ",%" PRIu64, energy->strategy,
		kwhy_transfer_direction_name(energy->direction), energy->bytes, energy->pieces,
		energy->transfers);
	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		kwhy_csv_add_real(out, figures[i]);
	kwhy_text_add(out, "\n");
}

static const char *direction_name(unsigned i)
{
	return kwhy_transfer_direction_name((enum kwhy_transfer_direction)i);
}

static const char *clock_name(unsigned i)
{
	return kwhy_transfer_clock_name((enum kwhy_transfer_clock)i);
}

static bool find_direction(const char *name, enum kwhy_transfer_direction *out)
{
	unsigned i;
	bool found = kwhy_bench_cell_find(name, direction_name, KWHY_TRANSFER_DIRECTION_COUNT, &i);

	*out = (enum kwhy_transfer_direction)i;
	return found;
}

static bool find_clock(const char *name, enum kwhy_transfer_clock *out)
{
	unsigned i;
	bool found = kwhy_bench_cell_find(name, clock_name, KWHY_TRANSFER_CLOCK_COUNT, &i);

	*out = (enum kwhy_transfer_clock)i;
	return found;
}

static bool is_same(const struct kwhy_transfer_point *a, const struct kwhy_transfer_point *b)
{
	return a->bytes == b->bytes && a->pieces == b->pieces && a->clock == b->clock &&
		a->direction == b->direction && strcmp(a->strategy, b->strategy) == 0;
}

static enum kwhy_status add_point(
	struct reader *reader, const struct kwhy_transfer_point *key, struct kwhy_transfer_point **out)
{
	struct kwhy_transfers *transfers = reader->transfers;

	if (transfers->point_count == POINTS_MAX)
		return kwhy_bench_rows_wrong(
			&reader->rows, "more different transfers than are ever measured");
	if (transfers->point_count == reader->buffers) {
		size_t buffers = reader->buffers ? 2 * reader->buffers : 256;
		struct kwhy_transfer_point *points = kwhy_arena_alloc(
			&transfers->arena, buffers, sizeof(*points));

		if (!points)
			return kwhy_fail_memory(reader->rows.error, "the points of a benchmark");
		if (reader->buffers)
			memcpy(points, transfers->points, reader->buffers * sizeof(*points));
		transfers->points = points;
		reader->buffers = buffers;
	}
	*out = &transfers->points[transfers->point_count];
	**out = *key;
	(*out)->strategy = kwhy_arena_copy(&transfers->arena, key->strategy);
	if (!(*out)->strategy || !kwhy_bench_point_init(&transfers->arena, *out))
		return kwhy_fail_memory(reader->rows.error, "the points of a benchmark");
	transfers->point_count++;
	return KWHY_OK;
}

static enum kwhy_status find_point(
	struct reader *reader, const struct kwhy_transfer_point *key, struct kwhy_transfer_point **out)
{
	struct kwhy_transfers *transfers = reader->transfers;

	if (reader->last && is_same(reader->last, key)) {
		*out = reader->last;
		return KWHY_OK;
	}
	for (size_t i = 0; i < transfers->point_count; i++)
		if (is_same(&transfers->points[i], key)) {
			*out = &transfers->points[i];
			return KWHY_OK;
		}
	if (!reader->add)
		return kwhy_bench_rows_wrong(&reader->rows, "a transfer that these settings do not measure");
	return add_point(reader, key, out);
}

/* Parses the cells strategy,direction,clock,bytes,pieces. */
static bool parse_key(char *const *cells, struct kwhy_transfer_point *out)
{
	uint64_t pieces;

	if (!*cells[0] || !find_direction(cells[1], &out->direction) || !find_clock(cells[2], &out->clock) ||
		!kwhy_bench_cell_whole(cells[3], &out->bytes) || !kwhy_bench_cell_whole(cells[4], &pieces))
		return false;
	out->strategy = cells[0];
	out->pieces = (uint32_t)pieces;
	return pieces > 0 && pieces <= UINT32_MAX && out->bytes >= pieces;
}

/*
 * Parses the first 13 cells of a row: the point to which the sample belongs, its time in seconds (*out_s),
 * and the state of the device, which is stored in *out.
 */
static bool parse_sample(const struct reader *reader, struct kwhy_transfer_point *out, double *out_s)
{
	double *const figures[] = {out_s, &out->link_bytes},
		      *const gauges[] = {&out->conditions.temperature_c, &out->conditions.clock_hz,
			      &out->conditions.memory_clock_hz, &out->conditions.power_w};
	char *const *cells = reader->rows.cells;
	uint64_t verified, bits;

	if ((reader->rows.cell_count != SAMPLE_CELLS &&
		    reader->rows.cell_count != SAMPLE_CELLS + MOMENT_CELLS) ||
		!parse_key(cells, out) || !kwhy_bench_cell_whole(cells[7], &verified) ||
		!kwhy_bench_cell_whole(cells[12], &bits) || bits > UINT32_MAX)
		return false;
	for (size_t i = 0; i < 2; i++)
		if (!kwhy_bench_cell_real(cells[5 + i], figures[i]))
			return false;
	for (size_t i = 0; i < 4; i++)
		if (!kwhy_bench_cell_real(cells[8 + i], gauges[i]))
			return false;
	out->verified = verified != 0;
	out->conditions.throttle_bits = (unsigned)bits;
	return *out_s > 0;
}

/*
 * Parses the cells at_s,cpu: when the sample was taken, in seconds from the start of the run, and on which
 * CPU. Rows of earlier versions lack these cells; both are then unknown.
 */
static bool parse_moment(const struct reader *reader, struct kwhy_transfer_moment *out)
{
	double *const figures[MOMENT_CELLS] = {&out->at_s, &out->cpu};
	bool good = true;

	*out = nowhere;
	if (reader->rows.cell_count == SAMPLE_CELLS)
		return true;
	for (size_t i = 0; good && i < MOMENT_CELLS; i++)
		good = kwhy_bench_cell_real(reader->rows.cells[SAMPLE_CELLS + i], figures[i]);
	return good;
}

/*
 * Adds the sample of a row to its point. The row also has results for all samples of the point up to it
 * (conditions, link_bytes, verified), so they replace those of earlier rows.
 */
static enum kwhy_status take_sample(struct reader *reader)
{
	struct kwhy_transfer_point row = {0}, *point = NULL;
	struct kwhy_transfer_moment moment;
	double seconds;
	enum kwhy_status status;

	if (!parse_sample(reader, &row, &seconds) || !parse_moment(reader, &moment))
		return kwhy_bench_rows_wrong(&reader->rows, "no sample of a transfer");
	status = find_point(reader, &row, &point);
	if (status)
		return status;
	reader->last = point;
	if (point->sample_count == KWHY_TRANSFER_SAMPLES_MAX)
		return kwhy_bench_rows_wrong(
			&reader->rows, "more samples of one transfer than are ever taken");
	point->moments[point->sample_count] = moment;
	point->samples_s[point->sample_count++] = seconds;
	point->conditions = row.conditions;
	point->link_bytes = row.link_bytes;
	point->verified = row.verified;
	return KWHY_OK;
}

/* Stores the value of a line "# key: value" in reader->transfers if the key is known. */
static enum kwhy_status take_setting(struct reader *reader, const char *line)
{
	struct kwhy_transfers *transfers = reader->transfers;
	const struct kwhy_bench_setting texts[] = {{"# backend: ", &transfers->backend},
		{"# device: ", &transfers->device_name}, {"# pci_address: ", &transfers->pci_address},
		{"# driver: ", &transfers->driver}, {"# cuda: ", &transfers->cuda},
		{"# data: ", &transfers->data}, {"# begun: ", &transfers->measured_on}};
	static const char seed[] = "# seed: ";

	if (strncmp(line, seed, sizeof(seed) - 1) == 0)
		transfers->seed = strtoull(line + sizeof(seed) - 1, NULL, 10);
	return kwhy_bench_rows_setting(
		&reader->rows, line, texts, sizeof(texts) / sizeof(texts[0]), &transfers->arena);
}

static enum kwhy_status take_sample_line(void *context, char *line)
{
	struct reader *reader = context;

	if (reader->rows.line == 1)
		return strcmp(line, KWHY_BENCH_ROWS_MARK) == 0
			? KWHY_OK
			: kwhy_bench_rows_wrong(&reader->rows, "these are no samples of kwhy bench transfer");
	if (*line == '#')
		return reader->add ? take_setting(reader, line) : KWHY_OK;
	if (strncmp(line, "strategy,direction,clock,", 25) == 0)
		return KWHY_OK;
	kwhy_bench_rows_split(&reader->rows, line);
	return take_sample(reader);
}

enum kwhy_status kwhy_bench_rows_read(const char *path, const struct kwhy_text *file, bool add,
	struct kwhy_transfers *transfers, struct kwhy_error *error)
{
	struct reader reader = {.rows = {.path = path, .error = error}, .transfers = transfers, .add = add};
	enum kwhy_status status = kwhy_bench_rows_walk(&reader.rows, file, take_sample_line, &reader);

	if (!status && reader.rows.line == 0)
		return kwhy_bench_rows_empty(&reader.rows);
	for (size_t i = 0; !status && i < transfers->point_count; i++)
		kwhy_bench_point_sum_up(&transfers->points[i]);
	return status;
}

static bool parse_energy(struct reader *reader, struct kwhy_transfer_energy *out)
{
	double *const figures[] = {&out->seconds, &out->gross_j, &out->gross_low_j, &out->gross_high_j,
		&out->net_j, &out->net_low_j, &out->net_high_j, &out->host_j, &out->host_low_j,
		&out->host_high_j};
	char *const *cells = reader->rows.cells;
	uint64_t pieces = 0;
	bool good = reader->rows.cell_count == ENERGY_CELLS && *cells[0] &&
		find_direction(cells[1], &out->direction) && kwhy_bench_cell_whole(cells[2], &out->bytes) &&
		kwhy_bench_cell_whole(cells[3], &pieces) && kwhy_bench_cell_whole(cells[4], &out->transfers);

	for (size_t i = 0; good && i < sizeof(figures) / sizeof(figures[0]); i++)
		good = kwhy_bench_cell_real(cells[5 + i], figures[i]);
	out->pieces = (uint32_t)pieces;
	return good && pieces > 0 && pieces <= UINT32_MAX;
}

static enum kwhy_status take_energy_line(void *context, char *line)
{
	struct reader *reader = context;
	struct kwhy_transfer_energy energy = {0};

	if (reader->rows.line == 1)
		return strcmp(line, kwhy_bench_energy_row_names) == 0
			? KWHY_OK
			: kwhy_bench_rows_wrong(
				  &reader->rows, "these are no energies of kwhy bench transfer");
	kwhy_bench_rows_split(&reader->rows, line);
	if (!parse_energy(reader, &energy))
		return kwhy_bench_rows_wrong(&reader->rows, "no energy of a transfer");
	energy.strategy = kwhy_arena_copy(&reader->transfers->arena, reader->rows.cells[0]);
	if (!energy.strategy)
		return kwhy_fail_memory(reader->rows.error, "energies");
	return kwhy_transfers_add_energy(reader->transfers, &energy, reader->rows.error);
}

enum kwhy_status kwhy_bench_energy_rows_read(const char *path, const struct kwhy_text *file,
	struct kwhy_transfers *transfers, struct kwhy_error *error)
{
	struct reader reader = {.rows = {.path = path, .error = error}, .transfers = transfers};

	return kwhy_bench_rows_walk(&reader.rows, file, take_energy_line, &reader);
}
