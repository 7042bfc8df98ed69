/* SPDX-License-Identifier: Apache-2.0 */
#include "import/nsys/nsys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Tables of names and values: export_tables describe the export (schema, version of nsys), capture_table the
 * capture (environment of the program).
 */
static const struct kwhy_sqlite_column pair_columns[] = {{"name", NULL}, {"value", NULL}};
static const struct kwhy_sqlite_table export_tables[] = {
	{"META_DATA_EXPORT", pair_columns, 2},
	{"EXPORT_META_DATA", pair_columns, 2}, /* name of the table before schema 3.4 */
};
static const struct kwhy_sqlite_table capture_table = {"META_DATA_CAPTURE", pair_columns, 2};

static const struct kwhy_sqlite_column start_columns[] = {{"utcEpochNs", NULL}};
static const struct kwhy_sqlite_table start_table = {"TARGET_INFO_SESSION_START_TIME", start_columns, 1};

enum { VALUE_BYTES = 256, PAIRS_MAX = 100000 };

struct pair {
	char name[VALUE_BYTES], value[VALUE_BYTES];
};

/*
 * Environment variables in which each launcher (torchrun, Open MPI, MPICH, Slurm) tells a process its rank
 * and the number of ranks.
 */
static const struct {
	const char *rank, *size;
} launchers[] = {
	{"RANK", "WORLD_SIZE"},
	{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
	{"PMI_RANK", "PMI_SIZE"},
	{"SLURM_PROCID", "SLURM_NTASKS"},
};

enum { LAUNCHER_COUNT = sizeof(launchers) / sizeof(launchers[0]) };

struct meta {
	struct kwhy_nsys *nsys;
	int64_t ranks[LAUNCHER_COUNT],
		sizes[LAUNCHER_COUNT]; /* by index in `launchers`: the rank and the number of ranks that the
					  launcher stated; -1: none */
	char schema[VALUE_BYTES], product[VALUE_BYTES], version[VALUE_BYTES];
};

typedef void take_pair(struct meta *meta, const struct pair *pair);

static void copy_text(const struct kwhy_sqlite_rows *rows, size_t column, char out[VALUE_BYTES])
{
	const char *bytes;
	size_t length;

	if (!kwhy_sqlite_text(rows, column, &bytes, &length))
		length = 0;
	if (length >= VALUE_BYTES)
		length = VALUE_BYTES - 1;
	if (length)
		memcpy(out, bytes, length);
	out[length] = '\0';
}

static enum kwhy_status read_pairs(struct meta *meta, const struct kwhy_sqlite_table *table, take_pair *take,
	bool *out_found, struct kwhy_error *error)
{
	struct kwhy_sqlite_rows rows = {0};
	enum kwhy_status status;
	struct pair pair;
	bool more;

	status = kwhy_sqlite_rows_open(meta->nsys->db, table, &rows, &more, error);
	*out_found = !status && more;
	while (!status && more && rows.number < PAIRS_MAX) {
		status = kwhy_sqlite_rows_next(&rows, &more, error);
		if (status || !more)
			continue;
		copy_text(&rows, 0, pair.name);
		copy_text(&rows, 1, pair.value);
		take(meta, &pair);
	}
	kwhy_sqlite_rows_close(&rows);
	return status;
}

static void take_export(struct meta *meta, const struct pair *pair)
{
	const struct {
		const char *name;
		char *place;
	} wanted[] = {
		{"EXPORT_SCHEMA_VERSION", meta->schema},
		{"EXPORT_PRODUCT_NAME", meta->product},
		{"EXPORT_PRODUCT_VERSION", meta->version},
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (!strcmp(pair->name, wanted[i].name))
			memcpy(wanted[i].place, pair->value, VALUE_BYTES);
}

/*
 * The number in a text such as RANK="3" or RANK=3; -1: the text has another name than `name`, or no number
 * from 0 to 9999999.
 */
static int64_t variable(const char *text, const char *name)
{
	size_t length = strlen(name);
	const char *value = text + length + 1;
	char *end;
	long number;

	if (strncmp(text, name, length) != 0 || text[length] != '=')
		return -1;
	value += *value == '"';
	number = strtol(value, &end, 10);
	return end != value && number >= 0 && number < 10000000 ? number : -1;
}

/*
 * If the pair is an environment variable of the program in which a launcher states the rank or the number of
 * ranks, stores its value in `meta`. Other pairs are ignored.
 */
static void take_capture(struct meta *meta, const struct pair *pair)
{
	const char *kind = strrchr(pair->name, ':');

	if (!kind || strcmp(kind, ":ENVIRONMENT_VARIABLE") != 0)
		return;
	for (size_t i = 0; i < LAUNCHER_COUNT; i++) {
		int64_t rank = variable(pair->value, launchers[i].rank);
		int64_t size = variable(pair->value, launchers[i].size);

		if (rank >= 0)
			meta->ranks[i] = rank;
		if (size >= 0)
			meta->sizes[i] = size;
	}
}

/*
 * Sets rank and world size from the first launcher that stated at least two ranks and a rank below their
 * number.
 */
static void set_rank(const struct meta *meta)
{
	for (size_t i = 0; i < LAUNCHER_COUNT; i++) {
		if (meta->sizes[i] < 2 || meta->ranks[i] < 0 || meta->ranks[i] >= meta->sizes[i])
			continue;
		meta->nsys->rank = (uint32_t)meta->ranks[i];
		meta->nsys->world_size = (uint32_t)meta->sizes[i];
		return;
	}
}

static enum kwhy_status read_start(
	struct kwhy_nsys *nsys, bool *out_known, int64_t *out_ns, struct kwhy_error *error)
{
	struct kwhy_sqlite_rows rows = {0};
	enum kwhy_status status;
	bool found;

	*out_known = false;
	status = kwhy_sqlite_rows_open(nsys->db, &start_table, &rows, &found, error);
	if (!status && found)
		status = kwhy_sqlite_rows_next(&rows, &found, error);
	if (!status && found)
		*out_known = kwhy_sqlite_integer(&rows, 0, out_ns) && *out_ns > 0;
	kwhy_sqlite_rows_close(&rows);
	return status;
}

/*
 * The first source of a recording sets the origin, to the start of its session. For a later one, sets
 * shift_ns to the distance of its session's start from the origin.
 */
static enum kwhy_status set_origin(struct kwhy_nsys *nsys, struct kwhy_error *error)
{
	struct kwhy_recording *recording = nsys->recording;
	enum kwhy_status status;
	int64_t start_ns = 0;
	bool known;

	status = read_start(nsys, &known, &start_ns, error);
	if (status)
		return status;
	if (nsys->tracks.source == 0) {
		recording->origin_unix_ns = known ? start_ns : 0;
		recording->unix_clock = known;
		return KWHY_OK;
	}
	if (!known || !recording->unix_clock)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s and the traces before it do not all say when they began "
			"(TARGET_INFO_SESSION_START_TIME): they cannot be put on one clock; report them one "
			"by one",
			nsys->tracks.path);
	if (__builtin_sub_overflow(start_ns, recording->origin_unix_ns, &nsys->shift_ns) ||
		nsys->shift_ns > KWHY_NSYS_YEAR_NS || nsys->shift_ns < -KWHY_NSYS_YEAR_NS)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s began more than a year from the trace before it; report them one by one",
			nsys->tracks.path);
	return KWHY_OK;
}

enum kwhy_status kwhy_nsys_meta_read(
	struct kwhy_nsys *nsys, struct kwhy_source *source, struct kwhy_error *error)
{
	struct meta meta = {.nsys = nsys};
	enum kwhy_status status = KWHY_OK;
	char producer[2 * VALUE_BYTES + 1];
	bool found = false;

	for (size_t i = 0; i < LAUNCHER_COUNT; i++)
		meta.ranks[i] = meta.sizes[i] = -1;
	for (size_t i = 0; !status && !found && i < sizeof(export_tables) / sizeof(export_tables[0]); i++)
		status = read_pairs(&meta, &export_tables[i], take_export, &found, error);
	if (!status)
		status = read_pairs(&meta, &capture_table, take_capture, &found, error);
	if (status)
		return status;
	set_rank(&meta);
	if (meta.schema[0])
		source->version = kwhy_tracks_text(&nsys->tracks, meta.schema, strlen(meta.schema));
	if (meta.product[0]) {
		snprintf(producer, sizeof(producer), "%s %s", meta.product, meta.version);
		source->producer = kwhy_tracks_text(&nsys->tracks, producer, strlen(producer));
	}
	return set_origin(nsys, error);
}
