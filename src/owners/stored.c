/* SPDX-License-Identifier: Apache-2.0 */
#include "owners/stored.h"

#include "base/column.h"
#include "owners/store_format.h"
#include "owners/total.h"

#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NJ_PER_J 1000000000
/* SQLite sums in 64 bits, so whole joules and the remaining nanojoules are summed separately. */
#define SUM_OF(column) "sum(" column "/1000000000), sum(" column "%1000000000)"

static kwhy_wide_nj wide(int64_t joules, int64_t rest_nj)
{
	return (kwhy_wide_nj)joules * NJ_PER_J + rest_nj;
}

const char *kwhy_wide_text(char out[KWHY_WIDE_BYTES], kwhy_wide_nj value)
{
	const int64_t low = (int64_t)(value % KWHY_GIGAJOULE_NJ), high = (int64_t)(value / KWHY_GIGAJOULE_NJ);

	if (high)
		snprintf(out, KWHY_WIDE_BYTES, "%" PRId64 "%018" PRId64, high, low < 0 ? -low : low);
	else
		snprintf(out, KWHY_WIDE_BYTES, "%" PRId64, low);
	return out;
}

static enum kwhy_status failed(sqlite3 *db, const char *path, struct kwhy_error *error)
{
	if (db && sqlite3_errcode(db) == SQLITE_READONLY)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s was not closed in order, and only who may write to it can undo what was half "
			"written; start kwhy serve --accounts %s again, or read it as its owner",
			path, path);
	return kwhy_fail(error, KWHY_E_INPUT,
		"%s cannot be read as a file of accounts: %s; give the file that kwhy serve --accounts "
		"writes",
		path, db ? sqlite3_errmsg(db) : "out of memory");
}

static enum kwhy_status open_file(const char *path, sqlite3 **out, struct kwhy_error *error)
{
	struct stat facts;

	if (stat(path, &facts))
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s cannot be read: %s; kwhy serve --accounts %s writes it", path, strerror(errno),
			path);
	/*
	 * The file is only read. It is opened for writing because SQLite may have to undo the transaction
	 * of a server that was killed in it; without the permission to write, SQLite opens it for reading
	 * alone.
	 */
	if (sqlite3_open_v2(path, out, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
		return failed(*out, path, error);
	sqlite3_busy_timeout(*out, KWHY_STORE_READER_MS);
	sqlite3_db_config(*out, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(*out, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(*out, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_db_config(*out, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	/* one transaction for all queries, so that they see the same state of the file */
	if (sqlite3_exec(*out, "PRAGMA cell_size_check=ON; PRAGMA query_only=ON; BEGIN", NULL, NULL, NULL))
		return failed(*out, path, error);
	return KWHY_OK;
}

/* Runs a query and reads the first `count` numbers of its first row; NULL reads as 0. */
static enum kwhy_status numbers(
	sqlite3 *db, const char *path, const char *sql, int64_t *out, int count, struct kwhy_error *error)
{
	sqlite3_stmt *query = NULL;
	enum kwhy_status status = KWHY_OK;

	if (sqlite3_prepare_v2(db, sql, -1, &query, NULL) != SQLITE_OK || sqlite3_step(query) != SQLITE_ROW)
		status = failed(db, path, error);
	for (int i = 0; !status && i < count; i++)
		out[i] = sqlite3_column_int64(query, i);
	sqlite3_finalize(query);
	return status;
}

static enum kwhy_status read_facts(
	sqlite3 *db, const char *path, struct kwhy_stored *out, struct kwhy_error *error)
{
	int64_t is[2], meters[5], sums[2];
	enum kwhy_status status = numbers(db, path, "PRAGMA application_id", &is[0], 1, error);

	if (!status)
		status = numbers(db, path, "PRAGMA user_version", &is[1], 1, error);
	if (!status && (is[0] != KWHY_STORE_APPLICATION || is[1] != KWHY_STORE_VERSION))
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s is a database that is no file of accounts of this version; give the file that "
			"kwhy serve --accounts writes",
			path);
	if (!status)
		status = numbers(db, path,
			"SELECT min(first_unix_ns), max(until_unix_ns), "
			"sum(taken_off_gj), " SUM_OF("booked_nj") " FROM meter",
			meters, 5, error);
	if (!status)
		status = numbers(db, path, "SELECT " SUM_OF("energy_nj") " FROM account", sums, 2, error);
	if (status)
		return status;
	out->first_unix_ns = meters[0];
	out->until_unix_ns = meters[1];
	out->booked_nj = wide(meters[3], meters[4]) + (kwhy_wide_nj)meters[2] * KWHY_GIGAJOULE_NJ;
	out->summed_nj = wide(sums[0], sums[1]);
	return KWHY_OK;
}

static void read_text(sqlite3_stmt *query, int column, char *out, size_t out_bytes)
{
	const unsigned char *text = sqlite3_column_text(query, column);

	*out = '\0';
	if (text)
		kwhy_owner_text(
			out, out_bytes, (const char *)text, (size_t)sqlite3_column_bytes(query, column));
}

static kwhy_wide_nj sum_at(sqlite3_stmt *query, int column)
{
	return wide(sqlite3_column_int64(query, column), sqlite3_column_int64(query, column + 1));
}

/*
 * Reads a row of the query in kwhy_stored_read(). False: the row has a kind of owner that this version of
 * kwhy does not know.
 */
static bool read_row(sqlite3_stmt *query, struct kwhy_stored_account *out)
{
	char kind[32];

	*out = (struct kwhy_stored_account){0};
	read_text(query, 0, kind, sizeof(kind));
	if (!kwhy_owner_kind_find(kind, &out->owner.kind))
		return false;
	read_text(query, 1, out->owner.name, sizeof(out->owner.name));
	read_text(query, 2, out->owner.part, sizeof(out->owner.part));
	read_text(query, 3, out->owner.space, sizeof(out->owner.space));
	read_text(query, 4, out->owner.user, sizeof(out->owner.user));
	read_text(query, 5, out->meter, sizeof(out->meter));
	out->is_host = sqlite3_column_int(query, 6) != 0;
	out->share = (struct kwhy_stored_share){
		.energy_nj = sum_at(query, 7),
		.low_nj = sum_at(query, 9),
		.high_nj = sum_at(query, 11),
		.idle_nj = sum_at(query, 13),
		.held_ns = sqlite3_column_int64(query, 15),
		.busy_ns = sqlite3_column_int64(query, 16),
		.unknown_ns = sqlite3_column_int64(query, 17),
	};
	out->first_unix_ns = sqlite3_column_int64(query, 18);
	out->last_unix_ns = sqlite3_column_int64(query, 19);
	return true;
}

static enum kwhy_status read_rows(
	sqlite3 *db, sqlite3_stmt *query, const char *path, struct kwhy_stored *out, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	int code;

	while ((code = sqlite3_step(query)) == SQLITE_ROW) {
		void *items = out->items;

		status = kwhy_column_reserve(
			&items, &out->capacity, out->count + 1, sizeof(*out->items), "the accounts", error);
		if (status)
			return status;
		out->items = items;
		if (!read_row(query, &out->items[out->count]))
			return kwhy_fail(error, KWHY_E_INPUT,
				"%s, table owner: a kind that this version does not know; use the version "
				"of kwhy that wrote it",
				path);
		out->count++;
	}
	return code == SQLITE_DONE ? KWHY_OK : failed(db, path, error);
}

enum kwhy_status kwhy_stored_read(
	const char *path, int64_t since_unix_ns, struct kwhy_stored *out, struct kwhy_error *error)
{
	static const char sql[] =
		"SELECT o.kind, o.name, o.part, o.namespace, o.user, m.key, "
		"m.kind='host', " SUM_OF("a.energy_nj") ", " SUM_OF("a.low_nj") ", " SUM_OF(
			"a.high_nj") ", " SUM_OF("a.idle_nj") ", sum(a.held_ns), sum(a.busy_ns), "
							      "sum(a.unknown_ns), "
							      "min(a.first_unix_ns), "
							      "max(a.last_unix_ns) FROM account a "
							      "JOIN owner o ON o.id=a.owner JOIN meter "
							      "m ON m.id=a.meter WHERE a.hour>=?1 "
							      "GROUP BY a.owner, a.meter ORDER BY 1, 2, "
							      "4, 5, 3, m.number, 6";
	sqlite3_stmt *query = NULL;
	sqlite3 *db = NULL;
	enum kwhy_status status;

	*out = (struct kwhy_stored){0};
	status = open_file(path, &db, error);
	if (!status)
		status = read_facts(db, path, out, error);
	if (!status && sqlite3_prepare_v2(db, sql, -1, &query, NULL) != SQLITE_OK)
		status = failed(db, path, error);
	if (!status) {
		sqlite3_bind_int64(query, 1, since_unix_ns / KWHY_STORE_HOUR_NS);
		status = read_rows(db, query, path, out, error);
	}
	sqlite3_finalize(query);
	sqlite3_close(db);
	return status;
}

void kwhy_stored_done(struct kwhy_stored *stored)
{
	free(stored->items);
	*stored = (struct kwhy_stored){0};
}
