/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_ROCPROF_ROCPD_H
#define KWHY_IMPORT_ROCPROF_ROCPD_H

#include "base/text.h"
#include "import/rocprof/rocprof.h"
#include "import/sqlite/sqlite.h"

/*
 * This header declares a database (rocpd) of rocprofv3, of schema 3 or 4, while it is read. Tables are read
 * by their own names, which end in a GUID, and not by the file's views, because a view of an untrusted file
 * is code that SQLite would run.
 */

#define KWHY_ROCPD_SUFFIX_MAX 64
#define KWHY_ROCPD_TABLE_BYTES 128

/* A table whose rows are looked up by id. `exists` false: the file lacks it. */
struct kwhy_rocpd_lookup {
	char table[KWHY_ROCPD_TABLE_BYTES];
	struct kwhy_sqlite_rows rows;
	bool exists;
};

struct kwhy_rocpd {
	struct kwhy_rocprof rocprof;
	struct kwhy_sqlite *db;
	const char *suffix; /* end of the names of the current process's tables: its GUID */
	char table[KWHY_ROCPD_TABLE_BYTES];
	const char *host; /* host of the current process; NULL: unknown */
	bool has_process;

	struct kwhy_rocpd_lookup strings, events, symbols, tracks, threads;
	struct kwhy_track_map symbol_names,
		symbol_registers; /* from the id of a kernel symbol to its name in the recording and to its
				     number of registers */
};

/*
 * A table (its name without the GUID), its columns, and the function that reads one row. is_event: an
 * unusable row may be skipped with --partial.
 */
struct kwhy_rocpd_reader {
	const char *table;
	const struct kwhy_sqlite_column *columns;
	size_t count;
	enum kwhy_status (*read)(
		struct kwhy_rocpd *rocpd, const struct kwhy_sqlite_rows *rows, struct kwhy_error *error);
	bool is_event;
};

/*
 * In rocprof/rocpd.c: kwhy_rocpd_table() gives the full name of a table of the current process, valid until
 * the next call; kwhy_rocpd_each() calls the reader for each row.
 */
const char *kwhy_rocpd_table(struct kwhy_rocpd *rocpd, const char *name);
KWHY_MUST_USE enum kwhy_status kwhy_rocpd_each(
	struct kwhy_rocpd *rocpd, const struct kwhy_rocpd_reader *reader, struct kwhy_error *error);
/* The number in a column; KWHY_ROCPROF_UNKNOWN: it is missing or no integer. */
int64_t kwhy_rocpd_integer(const struct kwhy_sqlite_rows *rows, size_t column);
struct kwhy_span kwhy_rocpd_text(const struct kwhy_sqlite_rows *rows, size_t column);

/* In rocprof/rocpd_info.c: reads host, process, ranks and agents of the current process's tables. */
KWHY_MUST_USE enum kwhy_status kwhy_rocpd_process_read(struct kwhy_rocpd *rocpd, struct kwhy_error *error);

/*
 * In rocprof/rocpd_rows.c: functions that open and close the lookups of the current process, and the readers
 * of its rows.
 */
KWHY_MUST_USE enum kwhy_status kwhy_rocpd_lookups_open(struct kwhy_rocpd *rocpd, struct kwhy_error *error);
void kwhy_rocpd_lookups_close(struct kwhy_rocpd *rocpd);
extern const struct kwhy_rocpd_reader kwhy_rocpd_regions, kwhy_rocpd_kernels, kwhy_rocpd_copies;

#endif
