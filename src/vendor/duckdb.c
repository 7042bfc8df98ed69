/* SPDX-License-Identifier: Apache-2.0 */
#include "vendor/duckdb.h"

#include "base/dso.h"
#include "base/text.h"

#include <string.h>

static const struct kwhy_dso_symbol symbols[] = {
#define X(name, need) {#name, offsetof(struct kwhy_duckdb, name), KWHY_DSO_##need},
#include "vendor/duckdb_symbols.def"
#undef X
};

static const char *const sonames[] = {"libduckdb.so", NULL};

static const struct kwhy_dso_library library = {
	.title = "DuckDB (libduckdb.so of duckdb.org), which reads and writes Parquet,",
	.sonames = sonames,
	.symbols = symbols,
	.symbol_count = sizeof(symbols) / sizeof(symbols[0]),
	.table_bytes = sizeof(struct kwhy_duckdb),
};

enum kwhy_status kwhy_duckdb_open(struct kwhy_duckdb *out, struct kwhy_error *error)
{
	struct kwhy_duckdb duckdb = {0};
	void *handle = NULL;
	enum kwhy_status status = kwhy_dso_open(&library, &duckdb, &handle, error);

	if (status)
		return status;
	duckdb.library = handle;
	if (duckdb.duckdb_open(NULL, &duckdb.database) != KWHY_DUCKDB_SUCCESS ||
		duckdb.duckdb_connect(duckdb.database, &duckdb.connection) != KWHY_DUCKDB_SUCCESS) {
		kwhy_duckdb_close(&duckdb);
		return kwhy_fail_memory(error, "a database of DuckDB");
	}
	*out = duckdb;
	return KWHY_OK;
}

void kwhy_duckdb_close(struct kwhy_duckdb *duckdb)
{
	if (duckdb->connection)
		duckdb->duckdb_disconnect(&duckdb->connection);
	if (duckdb->database)
		duckdb->duckdb_close(&duckdb->database);
	kwhy_dso_close(duckdb->library);
	*duckdb = (struct kwhy_duckdb){0};
}

enum { WORDS_BYTES = 300 };

enum kwhy_status kwhy_duckdb_run(const struct kwhy_duckdb *duckdb, const char *sql, const char *what,
	struct kwhy_duckdb_result *out, struct kwhy_error *error)
{
	struct kwhy_duckdb_result result;
	const char *words;
	char clean[3 * WORDS_BYTES + 1];
	size_t length;

	if (duckdb->duckdb_query(duckdb->connection, sql, &result) == KWHY_DUCKDB_SUCCESS) {
		if (out)
			*out = result;
		else
			duckdb->duckdb_destroy_result(&result);
		return KWHY_OK;
	}
	words = duckdb->duckdb_result_error(&result);
	length = words ? strcspn(words, "\n") : 0; /* later lines show the statement */
	kwhy_text_sanitize(clean, words ? words : "", length < WORDS_BYTES ? length : WORDS_BYTES);
	duckdb->duckdb_destroy_result(&result);
	return kwhy_fail(error, KWHY_E_INPUT, "%s: %s", what, clean);
}
