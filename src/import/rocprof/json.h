/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_ROCPROF_JSON_H
#define KWHY_IMPORT_ROCPROF_JSON_H

#include "import/kineto/walk.h"
#include "import/kineto/window.h"
#include "import/rocprof/rocprof.h"

/* This header declares a JSON file of rocprofv3 while it is read. */

/* The objects and arrays of the file that are entered ("levels"). */
enum kwhy_rocprof_level {
	KWHY_ROCPROF_FILE,
	KWHY_ROCPROF_TOOL, /* the list of processes */
	KWHY_ROCPROF_PROCESS,
	KWHY_ROCPROF_AGENTS,
	KWHY_ROCPROF_STRINGS,
	KWHY_ROCPROF_MARKERS, /* texts of markers (roctx) */
	KWHY_ROCPROF_KINDS, /* list of the kinds of records, each with the names of its operations (functions,
			       directions) */
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
	size_t depth;	     /* number of levels around the current position, in `levels` */
	size_t skipped;	     /* number of brackets in the value that is being skipped which have been read and
				whose closing brackets have not; 0: no value is being skipped */
	uint64_t numbers[8]; /* for each entry of `levels`, the number of its elements that have begun so far
			      */
	bool done;

	bool has_process;
	struct kwhy_track_map symbol_names,
		symbol_registers; /* from the id of a kernel symbol to its name in the recording and to its
				     number of registers */
	struct kwhy_track_map
		operations; /* from (kind, operation) of a record to the operation's name in the recording */
	struct kwhy_track_map
		messages; /* from the correlation id of a marker to its text, a name in the recording */
};

/*
 * In rocprof/json_rows.c: readers of one element of each level; NULL: elements are not read. `walk` stands at
 * the element. kwhy_rocprof_json_metadata() reads a process's metadata.
 */
typedef enum kwhy_status kwhy_rocprof_json_read(
	struct kwhy_rocprof_json *json, const struct kwhy_kineto_walk *walk, struct kwhy_error *error);
extern kwhy_rocprof_json_read *const kwhy_rocprof_json_readers[KWHY_ROCPROF_LEVEL_COUNT];
KWHY_MUST_USE enum kwhy_status kwhy_rocprof_json_metadata(
	struct kwhy_rocprof_json *json, const struct kwhy_kineto_walk *walk, struct kwhy_error *error);
/* Drops the maps of symbols, operations and markers, which belong to one process. */
void kwhy_rocprof_json_forget(struct kwhy_rocprof_json *json);

#endif
