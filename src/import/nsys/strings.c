/* SPDX-License-Identifier: Apache-2.0 */
#include "import/nsys/nsys.h"

#include "import/demangle.h"

#include <string.h>

static const struct kwhy_sqlite_column value_columns[] = {{"value", NULL}};
static const struct kwhy_sqlite_table values_table = {"StringIds", value_columns, 1};

static const struct kwhy_sqlite_column id_columns[] = {{"rowid", NULL}, {"id", NULL}};
static const struct kwhy_sqlite_table ids_table = {"StringIds", id_columns, 2};

/*
 * Fills string_rows, from id to row number, because in a database that another tool rewrote `id` is not the
 * primary key, and a search by it would read the whole table.
 */
static enum kwhy_status index_rows(struct kwhy_nsys *nsys, struct kwhy_error *error)
{
	struct kwhy_sqlite_rows rows = {0};
	enum kwhy_status status;
	int64_t number, id;
	bool more;

	status = kwhy_sqlite_rows_open(nsys->db, &ids_table, &rows, &more, error);
	while (!status && more) {
		status = kwhy_sqlite_rows_next(&rows, &more, error);
		if (!status && more && kwhy_sqlite_integer(&rows, 0, &number) &&
			kwhy_sqlite_integer(&rows, 1, &id) && number >= 0 && number < UINT32_MAX)
			status = kwhy_track_map_put(&nsys->string_rows, (struct kwhy_track_key){.a = id},
				(uint32_t)number, error);
	}
	kwhy_sqlite_rows_close(&rows);
	return status;
}

enum kwhy_status kwhy_nsys_strings_open(struct kwhy_nsys *nsys, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_sqlite_has(nsys->db, values_table.name, &nsys->has_strings, error);
	bool is_key = false;

	if (status || !nsys->has_strings)
		return status;
	status = kwhy_sqlite_is_key(nsys->db, values_table.name, "id", &is_key, error);
	nsys->strings_by_row = !is_key;
	if (!status && !is_key)
		status = index_rows(nsys, error);
	if (!status)
		status = kwhy_sqlite_rows_open_by(
			nsys->db, &values_table, is_key ? "id" : "rowid", &nsys->strings, error);
	return status;
}

void kwhy_nsys_strings_close(struct kwhy_nsys *nsys)
{
	kwhy_sqlite_rows_close(&nsys->strings);
	kwhy_track_map_done(&nsys->string_rows);
	kwhy_track_map_done(&nsys->string_names);
	kwhy_track_map_done(&nsys->call_names);
}

/*
 * Finds the string with this id in StringIds. *out_bytes is valid until the next call; it is empty if there
 * is no such string.
 */
static enum kwhy_status look_up(struct kwhy_nsys *nsys, int64_t id, const char **out_bytes,
	size_t *out_length, struct kwhy_error *error)
{
	enum kwhy_status status;
	uint32_t number;
	bool found;

	*out_bytes = "";
	*out_length = 0;
	if (!nsys->has_strings)
		return KWHY_OK;
	if (nsys->strings_by_row) {
		if (!kwhy_track_map_find(&nsys->string_rows, (struct kwhy_track_key){.a = id}, &number))
			return KWHY_OK;
		id = number;
	}
	kwhy_sqlite_rows_bind(&nsys->strings, id);
	status = kwhy_sqlite_rows_next(&nsys->strings, &found, error);
	if (!status && found && !kwhy_sqlite_text(&nsys->strings, 0, out_bytes, out_length))
		*out_length = 0;
	return status;
}

/*
 * Length of a call's name without "_v" and an API version of four or five digits: "cudaMalloc_v3020".
 * "cuMemAlloc_v2" keeps its suffix, because it is another function than cuMemAlloc.
 */
static size_t without_version(const char *bytes, size_t length)
{
	size_t at = length;

	while (at > 0 && bytes[at - 1] >= '0' && bytes[at - 1] <= '9')
		at--;
	if (length - at < 4 || length - at > 5 || at < 3 || bytes[at - 1] != 'v' || bytes[at - 2] != '_')
		return length;
	return at - 2;
}

static enum kwhy_status find_name(struct kwhy_nsys *nsys, struct kwhy_track_map *map, bool is_call,
	int64_t id, uint32_t *out_name, struct kwhy_error *error)
{
	struct kwhy_track_key key = {.a = id};
	enum kwhy_status status;
	const char *bytes;
	size_t length;

	if (kwhy_track_map_find(map, key, out_name))
		return KWHY_OK;
	status = look_up(nsys, id, &bytes, &length, error);
	if (!status && is_call)
		length = without_version(bytes, length);
	if (!status)
		status = kwhy_demangle_intern(&nsys->recording->names, NULL, bytes, length, out_name, error);
	return status ? status : kwhy_track_map_put(map, key, *out_name, error);
}

enum kwhy_status kwhy_nsys_string(
	struct kwhy_nsys *nsys, int64_t id, uint32_t *out_name, struct kwhy_error *error)
{
	return find_name(nsys, &nsys->string_names, false, id, out_name, error);
}

enum kwhy_status kwhy_nsys_call_name(
	struct kwhy_nsys *nsys, int64_t id, uint32_t *out_name, struct kwhy_error *error)
{
	return find_name(nsys, &nsys->call_names, true, id, out_name, error);
}
