/* SPDX-License-Identifier: Apache-2.0 */
#include "nsys_database.h"
#include "owners/store_format.h"
#include "owners/summary.h"
#include "sqlite_rows.h"

/*
 * Fuzzes the reader of the SQLite file in which `kwhy serve` keeps the energy of owners, and the summaries of
 * it. The tables have rows of any type and value; sometimes one is missing.
 */

static const struct {
	const char *name, *columns;
	size_t count;
} tables[] = {
	{"meter",
		"id INTEGER PRIMARY KEY, key, kind, name, number, source, boot, has_counter, counted, "
		"counted_mono_ns, counter_nj, booked_nj, taken_off_gj, first_unix_ns, until_unix_ns",
		15},
	{"owner", "id INTEGER PRIMARY KEY, kind, name, part, namespace, user", 6},
	{"account",
		"owner, meter, hour, energy_nj, low_nj, high_nj, idle_nj, held_ns, busy_ns, unknown_ns, "
		"first_unix_ns, last_unix_ns",
		12},
};

enum { TABLE_COUNT = sizeof(tables) / sizeof(tables[0]) };

static void sum_up(const struct kwhy_stored *stored)
{
	const struct kwhy_summary_filter all = {0};

	for (int by = KWHY_SUMMARY_BY_JOB; by <= KWHY_SUMMARY_BY_KIND; by++) {
		struct kwhy_owner_summary *summaries = NULL;
		struct kwhy_error error = {0};
		char words[KWHY_SUMMARY_WORDS_BYTES];
		size_t count = 0;

		if (kwhy_summary_of(stored, (enum kwhy_summary_by)by, &all, &summaries, &count, &error) ||
			count > stored->count)
			abort();
		for (size_t i = 0; i < count; i++)
			kwhy_summary_words(&summaries[i], words);
		free(summaries);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	struct taker taker = {.data = data, .length = length};
	struct kwhy_stored stored;
	struct kwhy_error error = {0};
	char sql[512], path[64];
	sqlite3_int64 size = 0;
	unsigned char *bytes;
	sqlite3 *database;

	if (sqlite3_open(":memory:", &database))
		abort();
	snprintf(sql, sizeof(sql), "PRAGMA application_id=%d; PRAGMA user_version=%d",
		take(&taker) % 16 ? KWHY_STORE_APPLICATION : 7, take(&taker) % 16 ? KWHY_STORE_VERSION : 2);
	sqlite3_exec(database, sql, NULL, NULL, NULL);
	for (size_t i = 0; i < TABLE_COUNT; i++) {
		if (take(&taker) % 16 == 15)
			continue; /* leaves this table out */
		snprintf(sql, sizeof(sql), "CREATE TABLE %s(%s)", tables[i].name, tables[i].columns);
		sqlite3_exec(database, sql, NULL, NULL, NULL);
		insert_rows(database, tables[i].name, tables[i].count, &taker);
	}
	bytes = sqlite3_serialize(database, "main", &size, 0);
	if (!bytes)
		abort();
	database_write(bytes, (size_t)size, 'a', path);
	sqlite3_free(bytes);
	sqlite3_close(database);
	if (kwhy_stored_read(path, 0, &stored, &error) == KWHY_OK)
		sum_up(&stored);
	else if (!error.text[0])
		abort();
	kwhy_stored_done(&stored);
	unlink(path);
	return 0;
}
