/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_SQLITE_TABLES_H
#define KWHY_IMPORT_SQLITE_TABLES_H

#include "import/import.h"
#include "import/sqlite/sqlite.h"

/*
 * Reads a database with the tables of kwhy's exports as a trace, and records `format` as the format of the
 * source: the database is an SQLite export, or was made from a Parquet export.
 */
KWHY_MUST_USE enum kwhy_status kwhy_sqlite_read_export(struct kwhy_recording *recording,
	const struct kwhy_sqlite_file *file, enum kwhy_trace_format format, struct kwhy_error *error);

#endif
