/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/transfer_rows.h"

#include "bench/transfer_plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS_MAX = 24, LINE_MAX_BYTES = 1024, SAMPLE_CELLS = 13, ENERGY_CELLS = 15, POINTS_MAX = 65536 };

const char kwhy_bench_row_names[] =
	"strategy,direction,clock,bytes,pieces,seconds,link_bytes,verified,temperature_c,sm_clock_hz,"
	"memory_clock_hz,power_w,throttle_bits";
const char kwhy_bench_energy_row_names[] =
	"strategy,direction,bytes,pieces,transfers,seconds,gross_j,gross_low_j,gross_high_j,net_j,net_low_j,"
	"net_high_j,host_j,host_low_j,host_high_j";

/* One file on its way in. */
struct reader {
	const char *path;
	struct kwhy_transfers *transfers;
	bool add;
	size_t line, room;	   /* room: of points */
	char text[LINE_MAX_BYTES]; /* the line */
	char *cells[CELLS_MAX];	   /* of it */
	size_t cell_count;
	struct kwhy_transfer_point *last;
	struct kwhy_error *error;
};

static void add_number(struct kwhy_text *out, double value)
{
	if (isfinite(value))
		kwhy_text_addf(out, ",%.9g", value);
	else
		kwhy_text_add(out, ",");
}

void kwhy_bench_row_write(const struct kwhy_transfer_point *point, size_t sample, struct kwhy_text *out)
{
	const struct kwhy_transfer_conditions *conditions = &point->conditions;

	kwhy_text_addf(out, "%s,%s,%s,%" PRIu64 ",%" PRIu32, point->strategy,
		kwhy_transfer_direction_name(point->direction), kwhy_transfer_clock_name(point->clock),
		point->bytes, point->pieces);
	add_number(out, point->samples_s[sample]);
	add_number(out, point->link_bytes);
	kwhy_text_addf(out, ",%d", point->verified);
	add_number(out, conditions->temperature_c);
	add_number(out, conditions->clock_hz);
	add_number(out, conditions->memory_clock_hz);
	add_number(out, conditions->power_w);
	kwhy_text_addf(out, ",%u\n", conditions->throttle_bits);
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
		add_number(out, figures[i]);
	kwhy_text_add(out, "\n");
}

static enum kwhy_status wrong(const struct reader *reader, const char *words)
{
	return kwhy_fail(reader->error, KWHY_E_INPUT, "%s, line %zu: %s; name a folder that --save wrote",
		reader->path, reader->line, words);
}

static bool whole(const char *text, uint64_t *out)
{
	char *end;

	*out = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && *end == '\0';
}

/* An empty cell is NAN. */
static bool real(const char *text, double *out)
{
	char *end;

	*out = NAN;
	if (!*text)
		return true;
	*out = strtod(text, &end);
	return *end == '\0' && isfinite(*out);
}

static bool find_direction(const char *name, enum kwhy_transfer_direction *out)
{
	for (int i = 0; i < KWHY_TRANSFER_DIRECTION_COUNT; i++)
		if (strcmp(name, kwhy_transfer_direction_name((enum kwhy_transfer_direction)i)) == 0) {
			*out = (enum kwhy_transfer_direction)i;
			return true;
		}
	return false;
}

static bool find_clock(const char *name, enum kwhy_transfer_clock *out)
{
	for (int i = 0; i < KWHY_TRANSFER_CLOCK_COUNT; i++)
		if (strcmp(name, kwhy_transfer_clock_name((enum kwhy_transfer_clock)i)) == 0) {
			*out = (enum kwhy_transfer_clock)i;
			return true;
		}
	return false;
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
		return wrong(reader, "more different transfers than are ever measured");
	if (transfers->point_count == reader->room) {
		size_t room = reader->room ? 2 * reader->room : 256;
		struct kwhy_transfer_point *points = kwhy_arena_alloc(
			&transfers->arena, room, sizeof(*points));

		if (!points)
			return kwhy_fail_memory(reader->error, "the points of a benchmark");
		if (reader->room)
			memcpy(points, transfers->points, reader->room * sizeof(*points));
		transfers->points = points;
		reader->room = room;
	}
	*out = &transfers->points[transfers->point_count];
	**out = *key;
	(*out)->strategy = kwhy_arena_copy(&transfers->arena, key->strategy);
	if (!(*out)->strategy || !kwhy_bench_point_init(&transfers->arena, *out))
		return kwhy_fail_memory(reader->error, "the points of a benchmark");
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
		return wrong(reader, "a transfer that these settings do not measure");
	return add_point(reader, key, out);
}

/* strategy,direction,clock,bytes,pieces */
static bool parse_key(char *const *cells, struct kwhy_transfer_point *out)
{
	uint64_t pieces;

	if (!*cells[0] || !find_direction(cells[1], &out->direction) || !find_clock(cells[2], &out->clock) ||
		!whole(cells[3], &out->bytes) || !whole(cells[4], &pieces))
		return false;
	out->strategy = cells[0];
	out->pieces = (uint32_t)pieces;
	return pieces > 0 && pieces <= UINT32_MAX && out->bytes >= pieces;
}

/* The key, and the figures of a sample. */
static bool parse_sample(const struct reader *reader, struct kwhy_transfer_point *out, double *out_s)
{
	double *const figures[] = {out_s, &out->link_bytes},
		      *const gauges[] = {&out->conditions.temperature_c, &out->conditions.clock_hz,
			      &out->conditions.memory_clock_hz, &out->conditions.power_w};
	char *const *cells = reader->cells;
	uint64_t verified, bits;

	if (reader->cell_count != SAMPLE_CELLS || !parse_key(cells, out) || !whole(cells[7], &verified) ||
		!whole(cells[12], &bits) || bits > UINT32_MAX)
		return false;
	for (size_t i = 0; i < 2; i++)
		if (!real(cells[5 + i], figures[i]))
			return false;
	for (size_t i = 0; i < 4; i++)
		if (!real(cells[8 + i], gauges[i]))
			return false;
	out->verified = verified != 0;
	out->conditions.throttle_bits = (unsigned)bits;
	return *out_s > 0;
}

/* The conditions of a point's last row are of all its samples. */
static enum kwhy_status take_sample(struct reader *reader)
{
	struct kwhy_transfer_point row = {0}, *point;
	double seconds;
	enum kwhy_status status;

	if (!parse_sample(reader, &row, &seconds))
		return wrong(reader, "no sample of a transfer");
	status = find_point(reader, &row, &point);
	if (status)
		return status;
	reader->last = point;
	if (point->sample_count == KWHY_TRANSFER_SAMPLES_MAX)
		return wrong(reader, "more samples of one transfer than are ever taken");
	point->samples_s[point->sample_count++] = seconds;
	point->conditions = row.conditions;
	point->link_bytes = row.link_bytes;
	point->verified = row.verified;
	return KWHY_OK;
}

/* "# key: value" */
static enum kwhy_status take_setting(struct reader *reader, const char *line)
{
	struct kwhy_transfers *transfers = reader->transfers;
	const struct {
		const char *key;
		const char **place;
	} texts[] = {{"# backend: ", &transfers->backend}, {"# device: ", &transfers->device_name},
		{"# pci_address: ", &transfers->pci_address}, {"# driver: ", &transfers->driver},
		{"# cuda: ", &transfers->cuda}, {"# data: ", &transfers->data},
		{"# begun: ", &transfers->measured_on}};
	static const char seed[] = "# seed: ";

	if (strncmp(line, seed, sizeof(seed) - 1) == 0)
		transfers->seed = strtoull(line + sizeof(seed) - 1, NULL, 10);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		size_t length = strlen(texts[i].key);

		if (strncmp(line, texts[i].key, length) != 0 || strcmp(line + length, "unknown") == 0)
			continue;
		*texts[i].place = kwhy_arena_copy(&transfers->arena, line + length);
		if (!*texts[i].place)
			return kwhy_fail_memory(reader->error, "settings");
	}
	return KWHY_OK;
}

static void split(struct reader *reader, char *line)
{
	reader->cell_count = 0;
	for (char *cell = line; cell && reader->cell_count < CELLS_MAX;) {
		char *comma = strchr(cell, ',');

		reader->cells[reader->cell_count++] = cell;
		if (comma)
			*comma++ = '\0';
		cell = comma;
	}
}

/* Each line in turn, as a text of its own. */
static enum kwhy_status each_line(struct reader *reader, const struct kwhy_text *file,
	enum kwhy_status (*take)(struct reader *reader, char *line))
{
	enum kwhy_status status = KWHY_OK;

	for (size_t place = 0; !status && place < file->length;) {
		const char *end = memchr(file->data + place, '\n', file->length - place);
		size_t length = end ? (size_t)(end - file->data) - place : file->length - place;

		reader->line++;
		if (length >= sizeof(reader->text))
			return wrong(reader, "a line of more than 1,023 bytes");
		memcpy(reader->text, file->data + place, length);
		reader->text[length] = '\0';
		status = take(reader, reader->text);
		place += length + 1;
	}
	return status;
}

static enum kwhy_status take_sample_line(struct reader *reader, char *line)
{
	if (reader->line == 1)
		return strcmp(line, KWHY_BENCH_ROWS_MARK) == 0
			? KWHY_OK
			: wrong(reader, "these are no samples of kwhy bench transfer");
	if (*line == '#')
		return reader->add ? take_setting(reader, line) : KWHY_OK;
	if (strcmp(line, kwhy_bench_row_names) == 0)
		return KWHY_OK;
	split(reader, line);
	return take_sample(reader);
}

enum kwhy_status kwhy_bench_rows_read(const char *path, const struct kwhy_text *file, bool add,
	struct kwhy_transfers *transfers, struct kwhy_error *error)
{
	struct reader reader = {.path = path, .transfers = transfers, .add = add, .error = error};
	enum kwhy_status status = each_line(&reader, file, take_sample_line);

	if (!status && reader.line == 0)
		return kwhy_fail(error, KWHY_E_INPUT, "%s is empty; name a folder that --save wrote", path);
	for (size_t i = 0; !status && i < transfers->point_count; i++)
		kwhy_bench_point_sum_up(&transfers->points[i]);
	return status;
}

static bool parse_energy(struct reader *reader, struct kwhy_transfer_energy *out)
{
	double *const figures[] = {&out->seconds, &out->gross_j, &out->gross_low_j, &out->gross_high_j,
		&out->net_j, &out->net_low_j, &out->net_high_j, &out->host_j, &out->host_low_j,
		&out->host_high_j};
	char *const *cells = reader->cells;
	uint64_t pieces = 0;
	bool good = reader->cell_count == ENERGY_CELLS && *cells[0] &&
		find_direction(cells[1], &out->direction) && whole(cells[2], &out->bytes) &&
		whole(cells[3], &pieces) && whole(cells[4], &out->transfers);

	for (size_t i = 0; good && i < sizeof(figures) / sizeof(figures[0]); i++)
		good = real(cells[5 + i], figures[i]);
	out->pieces = (uint32_t)pieces;
	return good && pieces > 0 && pieces <= UINT32_MAX;
}

static enum kwhy_status take_energy_line(struct reader *reader, char *line)
{
	struct kwhy_transfer_energy energy = {0};

	if (reader->line == 1)
		return strcmp(line, kwhy_bench_energy_row_names) == 0
			? KWHY_OK
			: wrong(reader, "these are no energies of kwhy bench transfer");
	split(reader, line);
	if (!parse_energy(reader, &energy))
		return wrong(reader, "no energy of a transfer");
	energy.strategy = kwhy_arena_copy(&reader->transfers->arena, reader->cells[0]);
	if (!energy.strategy)
		return kwhy_fail_memory(reader->error, "energies");
	return kwhy_transfers_add_energy(reader->transfers, &energy, reader->error);
}

enum kwhy_status kwhy_bench_energy_rows_read(const char *path, const struct kwhy_text *file,
	struct kwhy_transfers *transfers, struct kwhy_error *error)
{
	struct reader reader = {.path = path, .transfers = transfers, .error = error};

	return each_line(&reader, file, take_energy_line);
}
