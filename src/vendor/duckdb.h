/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_VENDOR_DUCKDB_H
#define KWHY_VENDOR_DUCKDB_H

#include "base/status.h"
#include "vendor/duckdb_abi.h"

/* DuckDB 1.0 or newer, as found on this machine, with a database in memory; it reads and writes Parquet. */
struct kwhy_duckdb {
	void *library;
	kwhy_duckdb_database database;
	kwhy_duckdb_connection connection;
#define X(name, need) __typeof__(name) *name;
#include "vendor/duckdb_symbols.def"
#undef X
};

/* KWHY_E_UNSUPPORTED, with what to do, if it is missing. End with kwhy_duckdb_close(). */
KWHY_MUST_USE enum kwhy_status kwhy_duckdb_open(struct kwhy_duckdb *out, struct kwhy_error *error);
void kwhy_duckdb_close(struct kwhy_duckdb *duckdb);

/*
 * Runs a statement. `out` NULL: its result is not wanted; else duckdb_destroy_result() ends it. A statement
 * that DuckDB refuses is KWHY_E_INPUT with "WHAT: " and DuckDB's words.
 */
KWHY_MUST_USE enum kwhy_status kwhy_duckdb_run(const struct kwhy_duckdb *duckdb, const char *sql,
	const char *what, struct kwhy_duckdb_result *out, struct kwhy_error *error);

#endif
