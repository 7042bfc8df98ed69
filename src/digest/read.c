/* SPDX-License-Identifier: Apache-2.0 */
#include "digest/digest.h"
#include "import/sqlite/sqlite.h"

#include <string.h>

bool kwhy_digest_is_one(const unsigned char *head, size_t length)
{
	static const unsigned char application[] = {KWHY_DIGEST_APPLICATION >> 24,
		KWHY_DIGEST_APPLICATION >> 16 & 0xff, KWHY_DIGEST_APPLICATION >> 8 & 0xff,
		KWHY_DIGEST_APPLICATION & 0xff};

	return length >= KWHY_DIGEST_HEAD_BYTES && memcmp(head, "SQLite format 3", 16) == 0 &&
		memcmp(head + 68, application, sizeof(application)) == 0;
}

bool kwhy_digest_is_unused(const struct kwhy_digest *digest)
{
	return digest->digest->rank == UINT32_MAX && digest->device_count == 1 && digest->device->uuid &&
		digest->device->busy_ns <= 0;
}

/* Copies a text; control characters, which a terminal would obey, are replaced. NULL: memory is exhausted. */
static const char *keep_text(struct kwhy_digest *digest, const char *bytes, size_t length)
{
	char *text = kwhy_arena_alloc(&digest->arena, 3 * length + 1, 1);

	if (text)
		text[kwhy_text_sanitize(text, bytes, length)] = '\0';
	return text;
}

/*
 * Stores a field of the current result row in `row`. A value of another type remains unknown. False: memory
 * is exhausted.
 */
static bool take(struct kwhy_digest *digest, const struct kwhy_sqlite_rows *rows, size_t place,
	const struct kwhy_digest_column *column, char *row)
{
	char *value = row + column->offset;
	const char *bytes;
	int64_t number;
	size_t length;

	switch (column->kind) {
	case KWHY_DIGEST_INT:
		if (kwhy_sqlite_integer(rows, place, &number))
			*(int64_t *)value = number;
		return true;
	case KWHY_DIGEST_INDEX:
		if (kwhy_sqlite_integer(rows, place, &number) && number >= 0 && number < UINT32_MAX)
			*(uint32_t *)value = (uint32_t)number;
		return true;
	case KWHY_DIGEST_REAL:
		kwhy_sqlite_number(rows, place, (double *)value);
		return true;
	default:
		if (kwhy_sqlite_text(rows, place, &bytes, &length))
			*(const char **)value = keep_text(digest, bytes, length);
		else
			return true;
		return *(const char **)value != NULL;
	}
}

static enum kwhy_status read_rows(struct kwhy_digest *digest, const struct kwhy_digest_table *table,
	struct kwhy_sqlite_rows *rows, struct kwhy_error *error)
{
	bool more = false;
	enum kwhy_status status = kwhy_sqlite_rows_next(rows, &more, error);

	while (!status && more) {
		char *row = kwhy_digest_add_row(table, digest, error);

		for (size_t i = 0; row && i < table->column_count; i++)
			if (!take(digest, rows, i, &table->columns[i], row))
				row = NULL;
		if (row)
			status = kwhy_sqlite_rows_next(rows, &more, error);
		else
			status = kwhy_fail_memory(error, "a digest");
	}
	return status;
}

static enum kwhy_status read_table(struct kwhy_digest *digest, const struct kwhy_digest_table *table,
	struct kwhy_sqlite *db, struct kwhy_error *error)
{
	struct kwhy_sqlite_column columns[KWHY_SQLITE_COLUMNS_MAX] = {{0}};
	const struct kwhy_sqlite_table wanted = {table->name, columns, table->column_count};
	struct kwhy_sqlite_rows rows = {0};
	enum kwhy_status status;
	bool found;

	for (size_t i = 0; i < table->column_count; i++)
		columns[i].name = table->columns[i].name;
	status = kwhy_sqlite_rows_open(db, &wanted, &rows, &found, error);
	if (status || !found)
		return status;
	status = read_rows(digest, table, &rows, error);
	kwhy_sqlite_rows_close(&rows);
	return status;
}

/*
 * Whether a time is so small that the difference of two such times cannot overflow. All times of real runs
 * are.
 */
static bool is_time(int64_t time_ns)
{
	return time_ns >= INT64_MIN / 16 && time_ns <= INT64_MAX / 16;
}

static bool is_collective(const struct kwhy_digest *digest, const struct kwhy_digest_collective *row)
{
	return row->communicator < digest->communicator_count && row->device < digest->device_count &&
		row->operation < digest->operation_count && row->enter_ns <= row->exit_ns &&
		is_time(row->enter_ns) && is_time(row->exit_ns);
}

/* Checks what joining relies on: rows refer only to rows that exist, and times do not overflow. */
static bool is_whole(const struct kwhy_digest *digest)
{
	const size_t devices = digest->device_count;
	bool whole = digest->digest->origin_unix_ns >= 0 && digest->digest->origin_unix_ns <= INT64_MAX / 4;

	for (size_t i = 0; whole && i < digest->category_count; i++)
		whole = digest->category[i].device < devices;
	for (size_t i = 0; whole && i < digest->account_count; i++)
		whole = digest->account[i].device < devices && digest->account[i].category;
	for (size_t i = 0; whole && i < digest->finding_count; i++)
		whole = digest->finding[i].device == UINT32_MAX || digest->finding[i].device < devices;
	for (size_t i = 0; whole && i < digest->collective_count; i++)
		whole = is_collective(digest, &digest->collective[i]);
	return whole;
}

static enum kwhy_status check(const struct kwhy_digest *digest, const char *path, struct kwhy_error *error)
{
	if (digest->digest_count != 1 || !digest->digest->schema || !digest->digest->identity)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s: table digest has not one row with schema and identity; make the digest again",
			path);
	if (strcmp(digest->digest->schema, KWHY_DIGEST_SCHEMA) != 0)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s: schema %.40s, but this kwhy reads " KWHY_DIGEST_SCHEMA
			"; make the digest again with this kwhy",
			path, digest->digest->schema);
	if (!is_whole(digest))
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s: a row names a device, communicator or operation that is not there, or a time "
			"that cannot be; make the digest again",
			path);
	return KWHY_OK;
}

static enum kwhy_status read_tables(
	const char *path, size_t tables, struct kwhy_digest *out, struct kwhy_error *error)
{
	const struct kwhy_sqlite_file file = {path, NULL, "make it again with kwhy digest"};
	struct kwhy_sqlite *db;
	enum kwhy_status status = kwhy_sqlite_open(&file, &db, error);

	if (status)
		return status;
	for (size_t t = 0; !status && t < tables; t++)
		status = read_table(out, &kwhy_digest_tables[t], db, error);
	kwhy_sqlite_close(db);
	return status ? status : check(out, path, error);
}

enum kwhy_status kwhy_digest_read_head(const char *path, struct kwhy_digest *out, struct kwhy_error *error)
{
	return read_tables(path, KWHY_DIGEST_TABLE_device + 1, out, error);
}

enum kwhy_status kwhy_digest_read_sums(const char *path, struct kwhy_digest *out, struct kwhy_error *error)
{
	return read_tables(path, KWHY_DIGEST_TABLE_lost + 1, out, error);
}
