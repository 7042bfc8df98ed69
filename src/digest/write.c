/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/text.h"
#include "digest/digest.h"

#include <math.h>
#include <sqlite3.h>

static const char *sql_type(enum kwhy_digest_kind kind)
{
	return kind == KWHY_DIGEST_TEXT ? "TEXT" : kind == KWHY_DIGEST_REAL ? "REAL" : "INTEGER";
}

/* Views for those who query the file with SQL. */
static const char views[] =
	"CREATE VIEW account_power AS SELECT category, name, sum(count) AS count, sum(time_ns) AS time_ns,"
	" sum(gross_nj) AS gross_nj, 1.0 * sum(gross_nj) / sum(time_ns) AS power_w FROM account"
	" GROUP BY category, name;";

static void add_schema(struct kwhy_text *sql)
{
	for (size_t t = 0; t < kwhy_digest_table_count; t++) {
		const struct kwhy_digest_table *table = &kwhy_digest_tables[t];

		kwhy_text_addf(sql, "CREATE TABLE %s(", table->name);
		for (size_t i = 0; i < table->column_count; i++)
			kwhy_text_addf(sql, "%s%s %s", i ? "," : "", table->columns[i].name,
				sql_type(table->columns[i].kind));
		kwhy_text_add(sql, ");");
	}
	kwhy_text_add(sql, views);
}

static int bind(sqlite3_stmt *insert, int place, const struct kwhy_digest_column *column, const char *row)
{
	const char *value = row + column->offset;

	switch (column->kind) {
	case KWHY_DIGEST_INT:
		return *(const int64_t *)value == INT64_MIN
			? sqlite3_bind_null(insert, place)
			: sqlite3_bind_int64(insert, place, *(const int64_t *)value);
	case KWHY_DIGEST_INDEX:
		return *(const uint32_t *)value == UINT32_MAX
			? sqlite3_bind_null(insert, place)
			: sqlite3_bind_int64(insert, place, *(const uint32_t *)value);
	case KWHY_DIGEST_REAL:
		return sqlite3_bind_double(
			insert, place, *(const double *)value); /* SQLite stores NAN as NULL */
	default:
		return sqlite3_bind_text(insert, place, *(const char *const *)value, -1, SQLITE_STATIC);
	}
}

static int insert_rows(sqlite3 *db, const struct kwhy_digest *digest, const struct kwhy_digest_table *table,
	struct kwhy_text *sql)
{
	const char *row = *(const char *const *)((const char *)digest + table->rows_offset);
	const size_t count = *(const size_t *)((const char *)digest + table->count_offset);
	sqlite3_stmt *insert = NULL;
	int code;

	kwhy_text_clear(sql);
	kwhy_text_addf(sql, "INSERT INTO %s VALUES(?", table->name);
	for (size_t i = 1; i < table->column_count; i++)
		kwhy_text_add(sql, ",?");
	kwhy_text_add(sql, ")");
	code = sql->failed ? SQLITE_NOMEM : sqlite3_prepare_v2(db, sql->data, -1, &insert, NULL);
	for (size_t i = 0; !code && i < count; i++, row += table->row_bytes) {
		for (size_t c = 0; !code && c < table->column_count; c++)
			code = bind(insert, (int)c + 1, &table->columns[c], row);
		if (!code)
			code = sqlite3_step(insert) == SQLITE_DONE ? sqlite3_reset(insert) : SQLITE_IOERR;
	}
	sqlite3_finalize(insert);
	return code;
}

static int write_all(sqlite3 *db, const struct kwhy_digest *digest, struct kwhy_text *sql)
{
	int code;

	/* Pages are small, because the many small tables would leave most of larger ones empty. */
	kwhy_text_addf(sql, "PRAGMA page_size=512;PRAGMA application_id=%d;BEGIN;", KWHY_DIGEST_APPLICATION);
	add_schema(sql);
	code = sql->failed ? SQLITE_NOMEM : sqlite3_exec(db, sql->data, NULL, NULL, NULL);
	for (size_t t = 0; !code && t < kwhy_digest_table_count; t++)
		code = insert_rows(db, digest, &kwhy_digest_tables[t], sql);
	return code ? code : sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
}

/* Makes the database in memory and returns its bytes in *out_bytes; free them by sqlite3_free(). */
static enum kwhy_status make_database(const struct kwhy_digest *digest, unsigned char **out_bytes,
	size_t *out_length, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	struct kwhy_text sql = {0};
	sqlite3_int64 length = 0;
	sqlite3 *db = NULL;
	int code = sqlite3_open(":memory:", &db);

	if (!code)
		code = write_all(db, digest, &sql);
	*out_bytes = code ? NULL : sqlite3_serialize(db, "main", &length, 0);
	if (!*out_bytes)
		status = kwhy_fail(error, KWHY_E_MEMORY, "cannot make a digest: %s",
			db ? sqlite3_errmsg(db) : "out of memory");
	*out_length = (size_t)length;
	sqlite3_close(db);
	kwhy_text_done(&sql);
	return status;
}

enum kwhy_status kwhy_digest_size(
	const struct kwhy_digest *digest, size_t *out_bytes, struct kwhy_error *error)
{
	unsigned char *bytes;
	enum kwhy_status status = make_database(digest, &bytes, out_bytes, error);

	sqlite3_free(bytes);
	return status;
}

enum kwhy_status kwhy_digest_save(
	const struct kwhy_digest *digest, const char *path, struct kwhy_error *error)
{
	unsigned char *bytes;
	size_t length;
	enum kwhy_status status = make_database(digest, &bytes, &length, error);

	if (!status)
		status = kwhy_file_write(path, bytes, length, error);
	sqlite3_free(bytes);
	return status;
}
