/* SPDX-License-Identifier: Apache-2.0 */
#include "digest/digest.h"
#include "digest/job.h"
#include "nsys_database.h"
#include "report/job.h"
#include "sqlite_rows.h"

/*
 * Fuzzes the reader of digests, and the job report over two of them. The input selects which tables exist and
 * gives their rows, of any type and value. The first byte decides whether the table `digest` has valid
 * values; if not, readers read no other table.
 */

static void make_table(sqlite3 *database, const struct kwhy_digest_table *table)
{
	char sql[2048] = "CREATE TABLE \"";

	append(sql, sizeof(sql), table->name);
	append(sql, sizeof(sql), "\"(");
	for (size_t i = 0; i < table->column_count; i++) {
		append(sql, sizeof(sql), i ? ",\"" : "\"");
		append(sql, sizeof(sql), table->columns[i].name);
		append(sql, sizeof(sql), "\"");
	}
	append(sql, sizeof(sql), ")");
	sqlite3_exec(database, sql, NULL, NULL, NULL);
}

static void save(sqlite3 *database, char tag, char path[64])
{
	sqlite3_int64 size = 0;
	unsigned char *bytes = sqlite3_serialize(database, "main", &size, 0);

	if (!bytes)
		abort();
	database_write(bytes, (size_t)size, tag, path);
	sqlite3_free(bytes);
}

/*
 * Writes the report on the job as text, JSON and CSV. That must succeed for every job whose digests were
 * accepted.
 */
static void show(const struct kwhy_job *job)
{
	static const char *const tables[] = {"ranks", "collectives", "accounts", "findings"};
	const struct kwhy_text_style style = {.columns = 80, .verbose = true};
	struct kwhy_error error = {0};
	struct kwhy_text text = {0};

	if (kwhy_job_text(job, &style, &text, &error) || kwhy_job_json(job, &text, &error) ||
		kwhy_job_page(job, &text, &error))
		abort();
	for (size_t i = 0; i < 4; i++)
		if (kwhy_job_csv(job, tables[i], &text, &error))
			abort();
	kwhy_text_done(&text);
}

static void join(const char *const *paths)
{
	struct kwhy_error error = {0};
	struct kwhy_job *job = NULL;

	if (kwhy_job_read(paths, 2, 1, &job, &error)) {
		if (job || !error.text[0])
			abort();
		return;
	}
	show(job);
	kwhy_job_free(job);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	struct taker taker = {.data = data, .length = length};
	char first[64], second[64];
	sqlite3 *database;
	uint8_t style = take(&taker);

	if (sqlite3_open(":memory:", &database))
		abort();
	sqlite3_exec(database, "PRAGMA application_id=1802987588; BEGIN", NULL, NULL, NULL);
	while (taker.at < taker.length) {
		const struct kwhy_digest_table
			*table = &kwhy_digest_tables[take(&taker) % kwhy_digest_table_count];

		make_table(database, table);
		insert_rows(database, table->name, table->column_count, &taker);
	}
	if (style % 8)
		sqlite3_exec(database,
			"DELETE FROM digest WHERE rowid>1;"
			"UPDATE digest SET schema='" KWHY_DIGEST_SCHEMA "', identity='a', origin_unix_ns=0",
			NULL, NULL, NULL);
	sqlite3_exec(database, "COMMIT", NULL, NULL, NULL);
	save(database, 'a', first);
	sqlite3_exec(database, "UPDATE digest SET identity='b', rank=rank+1", NULL, NULL, NULL);
	save(database, 'b', second);
	join((const char *[]){first, second});
	unlink(first);
	unlink(second);
	sqlite3_close(database);
	return 0;
}
