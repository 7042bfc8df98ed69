/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_ROCPROF_JSON_H
#define KWHY_IMPORT_ROCPROF_JSON_H

#include "import/kineto/walk.h"
#include "import/kineto/window.h"
#include "import/rocprof/rocprof.h"

/* A JSON file of rocprofv3 while it is read. */

/* Objects and arrays of the file, by what they contain. */
enum kwhy_rocprof_level {
	KWHY_ROCPROF_FILE,
	KWHY_ROCPROF_TOOL, /* processes */
	KWHY_ROCPROF_PROCESS,
	KWHY_ROCPROF_AGENTS,
	KWHY_ROCPROF_STRINGS,
	KWHY_ROCPROF_MARKERS, /* texts of markers (roctx) */
	KWHY_ROCPROF_KINDS,   /* for each kind of records, the names of its functions */
	KWHY_ROCPROF_SYMBOLS, /* symbols of kernels */
	KWHY_ROCPROF_RECORDS,
	KWHY_ROCPROF_KERNELS,
	KWHY_ROCPROF_COPIES,
	KWHY_ROCPROF_CALLS,
	KWHY_ROCPROF_OTHER_CALLS,
	KWHY_ROCPROF_RANGES,
	KWHY_ROCPROF_LEVEL_COUNT
};

struct kwhy_rocprof_json {
	struct kwhy_rocprof rocprof;
	struct kwhy_kineto_window window;
	struct kwhy_kineto_walk walk;

	enum kwhy_rocprof_level levels[8];
	size_t depth;	     /* number of open levels */
	size_t skipped;	     /* number of open objects and arrays inside a value that is skipped */
	uint64_t numbers[8]; /* by level: number of elements read */
	bool done;

	bool has_process;
	struct kwhy_track_map symbol_names,
		symbol_registers; /* from a symbol's id to the kernel's name and number of registers */
	struct kwhy_track_map operations; /* from kind and operation to name in the recording */
	struct kwhy_track_map messages;	  /* from the correlation id of a marker to name in the recording */
};

/* In rocprof/json_rows.c: reads an element of a level; `walk` stands at the element. */
typedef enum kwhy_status kwhy_rocprof_json_read(
	struct kwhy_rocprof_json *json, const struct kwhy_kineto_walk *walk, struct kwhy_error *error);
extern kwhy_rocprof_json_read *const kwhy_rocprof_json_readers[KWHY_ROCPROF_LEVEL_COUNT];
KWHY_MUST_USE enum kwhy_status kwhy_rocprof_json_metadata(
	struct kwhy_rocprof_json *json, const struct kwhy_kineto_walk *walk, struct kwhy_error *error);
/* Drops the tables that belong to one process. */
void kwhy_rocprof_json_forget(struct kwhy_rocprof_json *json);

#endif
