/* SPDX-License-Identifier: Apache-2.0 */
#include "owners/store.h"

#include "base/output.h"
#include "owners/store_format.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define TEXT_OF_ARGUMENT(number) #number
#define TEXT_OF(macro) TEXT_OF_ARGUMENT(macro)

/*
 * Times are Unix times in ns. A row of the table account has the sums for one owner, one meter and one hour
 * (`hour`: number of hours since 1970 UTC). The energy of a transaction is added to the row of the hour in
 * which the transaction's period ended, even if the period began in an earlier hour.
 */
static const char schema_sql[] =
	"CREATE TABLE meter(id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, name TEXT, "
	"number INTEGER, source TEXT, boot TEXT, has_counter INTEGER, counted INTEGER, counted_mono_ns "
	"INTEGER, "
	"counter_nj INTEGER NOT NULL, booked_nj INTEGER NOT NULL, taken_off_gj INTEGER NOT NULL, "
	"first_unix_ns "
	"INTEGER, until_unix_ns INTEGER);"
	"CREATE TABLE owner(id INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, part TEXT NOT "
	"NULL, "
	"namespace TEXT NOT NULL, user TEXT NOT NULL, UNIQUE(kind, name, part, namespace, user));"
	"CREATE TABLE account(owner INTEGER NOT NULL REFERENCES owner(id), meter INTEGER NOT NULL REFERENCES "
	"meter(id), hour INTEGER NOT NULL, energy_nj INTEGER NOT NULL, low_nj INTEGER NOT NULL, high_nj "
	"INTEGER "
	"NOT NULL, idle_nj INTEGER NOT NULL, held_ns INTEGER NOT NULL, busy_ns INTEGER NOT NULL, "
	"unknown_ns INTEGER NOT NULL, first_unix_ns "
	"INTEGER NOT NULL, last_unix_ns INTEGER NOT NULL, PRIMARY KEY(owner, meter, hour)) WITHOUT ROWID;"
	"CREATE INDEX account_hour ON account(hour);"
	"PRAGMA application_id=" TEXT_OF(KWHY_STORE_APPLICATION) "; PRAGMA user_version=" TEXT_OF(
		KWHY_STORE_VERSION) ";";

/* Run each time a file is opened, because files of earlier releases of kwhy lack this table. */
static const char power_sql[] =
	"CREATE TABLE IF NOT EXISTS power(owner INTEGER NOT NULL REFERENCES owner(id), meter INTEGER NOT "
	"NULL "
	"REFERENCES meter(id), rate_w REAL NOT NULL, rate_variance REAL NOT NULL, other_w REAL NOT NULL, "
	"other_variance REAL NOT NULL, PRIMARY KEY(owner, meter)) WITHOUT ROWID";

enum statement {
	PUT_METER,
	FIND_METER,
	LOAD_METER,
	PUT_OWNER,
	FIND_OWNER,
	ADD_ACCOUNT,
	PUT_POWER,
	FIND_POWER,
	STATEMENT_COUNT
};

static const char *const statements_sql[STATEMENT_COUNT] = {
	[PUT_METER] =
		"INSERT INTO meter(key, kind, name, number, source, boot, has_counter, counted, "
		"counted_mono_ns, counter_nj, booked_nj, taken_off_gj, first_unix_ns, until_unix_ns) "
		"VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14) ON CONFLICT(key) DO UPDATE SET "
		"kind=?2, name=?3, number=?4, source=?5, boot=?6, has_counter=?7, counted=?8, "
		"counted_mono_ns=?9, counter_nj=?10, booked_nj=?11, taken_off_gj=?12, until_unix_ns=?14",
	[FIND_METER] = "SELECT id FROM meter WHERE key=?1",
	[LOAD_METER] = "SELECT has_counter AND boot=?2 AND (?3='' OR source=?3), counted, counted_mono_ns, "
		       "counter_nj, "
		       "booked_nj, taken_off_gj FROM meter WHERE key=?1",
	[PUT_OWNER] = "INSERT OR IGNORE INTO owner(kind, name, part, namespace, user) VALUES(?1,?2,?3,?4,?5)",
	[FIND_OWNER] =
		"SELECT id FROM owner WHERE kind=?1 AND name=?2 AND part=?3 AND namespace=?4 AND user=?5",
	[ADD_ACCOUNT] =
		"INSERT INTO account VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12) "
		"ON CONFLICT(owner, meter, hour) DO UPDATE SET energy_nj=energy_nj+?4, low_nj=low_nj+?5, "
		"high_nj=high_nj+?6, idle_nj=idle_nj+?7, held_ns=held_ns+?8, busy_ns=busy_ns+?9, "
		"unknown_ns=unknown_ns+?10, last_unix_ns=?12",
	[PUT_POWER] = "INSERT OR REPLACE INTO power VALUES(?1,?2,?3,?4,?5,?6)",
	[FIND_POWER] = "SELECT rate_w, rate_variance, other_w, other_variance FROM power JOIN meter ON "
		       "meter.id = meter "
		       "JOIN owner ON owner.id = owner WHERE owner.kind=?1 AND owner.name=?2 AND part=?3 AND "
		       "namespace=?4 AND user=?5 AND key=?6",
};

struct kwhy_store {
	char *path;
	sqlite3 *db;
	sqlite3_stmt *statements[STATEMENT_COUNT];
	int lock; /* descriptor of the locked file next to the database; -1: not locked */
};

static enum kwhy_status failed(const struct kwhy_store *store, struct kwhy_error *error)
{
	const int code = store->db ? sqlite3_errcode(store->db) : SQLITE_NOMEM;
	const char *message = store->db ? sqlite3_errmsg(store->db) : "out of memory";

	if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s is not a whole file of accounts (%s); give another name to --accounts",
			store->path, message);
	return kwhy_fail(error, KWHY_E_IO, "%s cannot be written: %s; look at the disk's space and rights",
		store->path, message);
}

/*
 * Locks the accounts for this process, since only one process may write them. The kernel removes the lock
 * when the process ends, in whatever way.
 */
static enum kwhy_status lock(struct kwhy_store *store, struct kwhy_error *error)
{
	char path[4200];
	enum kwhy_status status;

	snprintf(path, sizeof(path), "%.4096s-lock", store->path);
	status = kwhy_output_open(path, KWHY_OUTPUT_APPEND, &store->lock, error);
	if (status)
		return status;
	if (flock(store->lock, LOCK_EX | LOCK_NB) == 0)
		return KWHY_OK;
	if (errno == EWOULDBLOCK)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s: another kwhy serve writes this file; end it, or give another name to --accounts",
			store->path);
	return kwhy_output_fail(path, error);
}

static enum kwhy_status run(struct kwhy_store *store, const char *sql, struct kwhy_error *error)
{
	return sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK ? KWHY_OK : failed(store, error);
}

/*
 * Gets the number in the first column of the first row of a query's result; -1: the query failed or has no
 * row.
 */
static int64_t pragma_of(const struct kwhy_store *store, const char *sql)
{
	sqlite3_stmt *statement = NULL;
	int64_t value = -1;

	if (sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL) == SQLITE_OK &&
		sqlite3_step(statement) == SQLITE_ROW)
		value = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return value;
}

static enum kwhy_status prepare_schema(struct kwhy_store *store, struct kwhy_error *error)
{
	const int64_t application = pragma_of(store, "PRAGMA application_id"),
		      tables = pragma_of(store, "SELECT count(*) FROM sqlite_master");
	enum kwhy_status status;

	if (application < 0 || tables < 0)
		return failed(store, error);
	if (application == KWHY_STORE_APPLICATION &&
		pragma_of(store, "PRAGMA user_version") == KWHY_STORE_VERSION)
		return KWHY_OK;
	if (tables)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s is a database that is no file of accounts of this version; give another name to "
			"--accounts",
			store->path);
	status = run(store, "BEGIN IMMEDIATE", error);
	if (!status)
		status = run(store, schema_sql, error);
	return status ? status : run(store, "COMMIT", error);
}

static enum kwhy_status open_database(struct kwhy_store *store, struct kwhy_error *error)
{
	enum kwhy_status status;

	if (sqlite3_open_v2(store->path, &store->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) !=
		SQLITE_OK)
		return failed(store, error);
	sqlite3_busy_timeout(store->db, KWHY_STORE_WRITER_MS);
	sqlite3_db_config(store->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(store->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	/*
	 * temporary tables stay in memory, because `kwhy serve` may only write in the folder of the
	 * accounts
	 */
	status = run(store, "PRAGMA synchronous=FULL; PRAGMA temp_store=MEMORY", error);
	if (!status)
		status = prepare_schema(store, error);
	if (!status)
		status = run(store, power_sql, error);
	for (int i = 0; !status && i < STATEMENT_COUNT; i++)
		if (sqlite3_prepare_v2(store->db, statements_sql[i], -1, &store->statements[i], NULL) !=
			SQLITE_OK)
			status = failed(store, error);
	return status;
}

enum kwhy_status kwhy_store_open(const char *path, struct kwhy_store **out, struct kwhy_error *error)
{
	struct kwhy_store *store = calloc(1, sizeof(*store));
	struct kwhy_output output;
	enum kwhy_status status;

	if (!store || !(store->path = strdup(path))) {
		free(store);
		return kwhy_fail_memory(error, "the accounts");
	}
	store->lock = -1;
	status = kwhy_output_find(path, &output, error);
	if (!status && kwhy_output_is_direct(&output))
		status = kwhy_fail(error, KWHY_E_INPUT, "%s is no file; accounts are kept in a file", path);
	kwhy_output_done(&output);
	if (!status)
		status = lock(store, error);
	if (!status)
		status = open_database(store, error);
	if (status) {
		kwhy_store_close(store);
		return status;
	}
	*out = store;
	return KWHY_OK;
}

void kwhy_store_close(struct kwhy_store *store)
{
	if (!store)
		return;
	for (int i = 0; i < STATEMENT_COUNT; i++)
		sqlite3_finalize(store->statements[i]);
	sqlite3_close(store->db);
	if (store->lock >= 0)
		close(store->lock);
	free(store->path);
	free(store);
}

static void bind_text(sqlite3_stmt *statement, int column, const char *text)
{
	sqlite3_bind_text(statement, column, text, -1, SQLITE_STATIC);
}

/* Runs a statement that returns no row. */
static enum kwhy_status step(struct kwhy_store *store, enum statement which, struct kwhy_error *error)
{
	const bool is_done = sqlite3_step(store->statements[which]) == SQLITE_DONE;
	enum kwhy_status status = is_done ? KWHY_OK : failed(store, error);

	sqlite3_reset(store->statements[which]);
	return status;
}

/* Runs a statement that returns one row with one number. */
static enum kwhy_status find(
	struct kwhy_store *store, enum statement which, int64_t *out, struct kwhy_error *error)
{
	const bool is_row = sqlite3_step(store->statements[which]) == SQLITE_ROW;
	enum kwhy_status status = is_row ? KWHY_OK : failed(store, error);

	if (is_row)
		*out = sqlite3_column_int64(store->statements[which], 0);
	sqlite3_reset(store->statements[which]);
	return status;
}

enum kwhy_status kwhy_store_load(
	struct kwhy_store *store, struct kwhy_store_meter *meter, const char *boot, struct kwhy_error *error)
{
	sqlite3_stmt *load = store->statements[LOAD_METER];
	enum kwhy_status status = KWHY_OK;
	int code;

	bind_text(load, 1, meter->key);
	bind_text(load, 2, boot);
	bind_text(load, 3, meter->source);
	code = sqlite3_step(load);
	if (code == SQLITE_ROW) {
		meter->total = (struct kwhy_meter_total){
			.begun = true,
			.has_counter = *boot && sqlite3_column_int(load, 0),
			.counted = sqlite3_column_int64(load, 1),
			.counted_ns = sqlite3_column_int64(load, 2),
			.counter_nj = sqlite3_column_int64(load, 3),
			.booked_nj = sqlite3_column_int64(load, 4),
			.taken_off_gj = sqlite3_column_int64(load, 5),
		};
	} else if (code != SQLITE_DONE) {
		status = failed(store, error);
	}
	sqlite3_reset(load);
	return status;
}

static enum kwhy_status put_meter(struct kwhy_store *store, struct kwhy_store_meter *meter,
	const struct kwhy_store_batch *batch, struct kwhy_error *error)
{
	const struct kwhy_meter_total *total = &meter->total;
	sqlite3_stmt *put = store->statements[PUT_METER];
	const int64_t numbers[] = {total->has_counter, total->counted, total->counted_ns, total->counter_nj,
		total->booked_nj, total->taken_off_gj, batch->from_unix_ns, batch->until_unix_ns};
	enum kwhy_status status;

	bind_text(put, 1, meter->key);
	bind_text(put, 2, meter->is_host ? "host" : "device");
	bind_text(put, 3, meter->name);
	if (meter->index >= 0)
		sqlite3_bind_int64(put, 4, meter->index);
	else
		sqlite3_bind_null(put, 4);
	bind_text(put, 5, meter->source);
	bind_text(put, 6, batch->boot);
	for (int i = 0; i < 8; i++)
		sqlite3_bind_int64(put, 7 + i, numbers[i]);
	status = step(store, PUT_METER, error);
	if (status || meter->stored_id)
		return status;
	bind_text(store->statements[FIND_METER], 1, meter->key);
	return find(store, FIND_METER, &meter->stored_id, error);
}

static void bind_owner(struct kwhy_store *store, enum statement which, const struct kwhy_owner *owner)
{
	const char *const texts[] = {
		kwhy_owner_kind_name(owner->kind), owner->name, owner->part, owner->space, owner->user};

	for (int i = 0; i < 5; i++)
		bind_text(store->statements[which], 1 + i, texts[i]);
}

static enum kwhy_status put_owner(
	struct kwhy_store *store, struct kwhy_owner_row *row, struct kwhy_error *error)
{
	enum kwhy_status status;

	bind_owner(store, PUT_OWNER, &row->owner);
	bind_owner(store, FIND_OWNER, &row->owner);
	status = step(store, PUT_OWNER, error);
	return status ? status : find(store, FIND_OWNER, &row->stored_id, error);
}

enum kwhy_status kwhy_store_find_power(struct kwhy_store *store, const struct kwhy_owner *owner,
	const char *meter_key, struct kwhy_watts_known *out, struct kwhy_error *error)
{
	sqlite3_stmt *get = store->statements[FIND_POWER];
	enum kwhy_status status = KWHY_OK;
	int code;

	*out = (struct kwhy_watts_known){.is_known = false};
	bind_owner(store, FIND_POWER, owner);
	bind_text(get, 6, meter_key);
	code = sqlite3_step(get);
	if (code == SQLITE_ROW)
		*out = (struct kwhy_watts_known){.is_known = true,
			.rate_w = sqlite3_column_double(get, 0),
			.rate_variance = sqlite3_column_double(get, 1),
			.other_w = sqlite3_column_double(get, 2),
			.other_variance = sqlite3_column_double(get, 3)};
	else if (code != SQLITE_DONE)
		status = failed(store, error);
	sqlite3_reset(get);
	return status;
}

static enum kwhy_status put_power(struct kwhy_store *store, const struct kwhy_owner_row *row,
	const struct kwhy_owner_account *account, const struct kwhy_store_batch *batch,
	struct kwhy_error *error)
{
	const struct kwhy_watts_known *power = &account->power;
	const double numbers[] = {power->rate_w, power->rate_variance, power->other_w, power->other_variance};
	sqlite3_stmt *put = store->statements[PUT_POWER];

	sqlite3_bind_int64(put, 1, row->stored_id);
	sqlite3_bind_int64(put, 2, batch->meters[account->meter].stored_id);
	for (int i = 0; i < 4; i++)
		sqlite3_bind_double(put, 3 + i, numbers[i]);
	return step(store, PUT_POWER, error);
}

static enum kwhy_status add_account(struct kwhy_store *store, const struct kwhy_owner_row *row,
	const struct kwhy_owner_account *account, const struct kwhy_store_batch *batch,
	struct kwhy_error *error)
{
	const struct kwhy_share *share = &account->pending;
	const int64_t numbers[] = {row->stored_id, batch->meters[account->meter].stored_id,
		batch->until_unix_ns / KWHY_STORE_HOUR_NS, share->energy_nj, share->low_nj, share->high_nj,
		share->idle_nj, share->held_ns, share->busy_ns, share->unknown_ns, batch->from_unix_ns,
		batch->until_unix_ns};

	for (int i = 0; i < 12; i++)
		sqlite3_bind_int64(store->statements[ADD_ACCOUNT], 1 + i, numbers[i]);
	return step(store, ADD_ACCOUNT, error);
}

static enum kwhy_status add_accounts(
	struct kwhy_store *store, const struct kwhy_store_batch *batch, struct kwhy_error *error)
{
	size_t count;
	struct kwhy_owner_row *rows = kwhy_accounts_rows(batch->accounts, &count);
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < count; i++)
		for (size_t k = 0; !status && k < rows[i].account_count; k++) {
			if (!rows[i].accounts[k].has_pending)
				continue;
			if (!rows[i].stored_id)
				status = put_owner(store, &rows[i], error);
			if (!status)
				status = add_account(store, &rows[i], &rows[i].accounts[k], batch, error);
			if (!status && rows[i].accounts[k].is_power_new)
				status = put_power(store, &rows[i], &rows[i].accounts[k], batch, error);
		}
	return status;
}

/*
 * Rolls a failed transaction back, and forgets the ids of all owners and meters, because the rows that the
 * transaction added, whose ids these may be, are not in the file. The next transaction looks the ids up
 * again.
 */
static void undo(struct kwhy_store *store, const struct kwhy_store_batch *batch)
{
	size_t count;
	struct kwhy_owner_row *rows = kwhy_accounts_rows(batch->accounts, &count);

	sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
	for (size_t i = 0; i < count; i++)
		rows[i].stored_id = 0;
	for (size_t i = 0; i < batch->meter_count; i++)
		batch->meters[i].stored_id = 0;
}

enum kwhy_status kwhy_store_write(
	struct kwhy_store *store, const struct kwhy_store_batch *batch, struct kwhy_error *error)
{
	enum kwhy_status status = run(store, "BEGIN IMMEDIATE", error);

	for (size_t i = 0; !status && i < batch->meter_count; i++)
		if (batch->meters[i].total.begun)
			status = put_meter(store, &batch->meters[i], batch, error);
	if (!status)
		status = add_accounts(store, batch, error);
	if (!status)
		status = run(store, "COMMIT", error);
	if (status)
		undo(store, batch);
	else
		kwhy_accounts_stored(batch->accounts);
	return status;
}
