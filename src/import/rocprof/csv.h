/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_ROCPROF_CSV_H
#define KWHY_IMPORT_ROCPROF_CSV_H

#include "import/csv/table.h"
#include "import/rocprof/rocprof.h"

/* One of the CSV files of rocprofv3 while it is read. */
struct kwhy_rocprof_csv {
	struct kwhy_rocprof *rocprof;
	struct kwhy_csv *csv;
	const struct kwhy_rocprof_csv_kind *kind;
	bool has_process;
};

/* A kind of file: the end of its name, its columns, and the function that reads its rows. */
struct kwhy_rocprof_csv_kind {
	const char *ending;
	const struct kwhy_csv_column *columns;
	size_t column_count;
	enum kwhy_status (*read)(struct kwhy_rocprof_csv *csv, struct kwhy_error *error);
	bool is_event;
};

/* In rocprof/csv_rows.c: the kinds of files, in the order in which the files of a set are read. */
enum { KWHY_ROCPROF_CSV_KINDS = 7 };
extern const struct kwhy_rocprof_csv_kind kwhy_rocprof_csv_kinds[KWHY_ROCPROF_CSV_KINDS];

#endif
