/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_VENDOR_DUCKDB_H
#define KWHY_VENDOR_DUCKDB_H

#include "base/status.h"
#include "vendor/duckdb_abi.h"

/*
 * DuckDB 1.0 or newer, as found on this machine, with a database in memory. kwhy uses it to read and write
 * Parquet files.
 */
struct kwhy_duckdb {
	void *library;
	kwhy_duckdb_database database;
	kwhy_duckdb_connection connection;
#define X(name, need) __typeof__(name) *name;
#include "vendor/duckdb_symbols.def"
#undef X
};

/*
 * Opens DuckDB. KWHY_E_UNSUPPORTED: it is missing; the message says what to do. End with kwhy_duckdb_close().
 */
KWHY_MUST_USE enum kwhy_status kwhy_duckdb_open(struct kwhy_duckdb *out, struct kwhy_error *error);
void kwhy_duckdb_close(struct kwhy_duckdb *duckdb);

/*
 * Runs a statement. `out` is NULL if the caller does not need the result; otherwise release it with
 * duckdb_destroy_result(). KWHY_E_INPUT: DuckDB refused the statement; the message is "WHAT: " and DuckDB's
 * message.
 */
KWHY_MUST_USE enum kwhy_status kwhy_duckdb_run(const struct kwhy_duckdb *duckdb, const char *sql,
	const char *what, struct kwhy_duckdb_result *out, struct kwhy_error *error);

#endif
