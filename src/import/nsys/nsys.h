/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_NSYS_NSYS_H
#define KWHY_IMPORT_NSYS_NSYS_H

#include "import/collectives.h"
#include "import/import.h"
#include "import/sqlite/sqlite.h"
#include "import/tracks.h"

/* This header declares what the files in nsys/ share while they read an export of Nsight Systems (SQLite). */

#define KWHY_NSYS_DEVICES_MAX 1024 /* device numbers must be less than this */

/* Times further than this from the start of the session (about a year) are refused as damaged. */
#define KWHY_NSYS_YEAR_NS (366 * INT64_C(86400) * 1000000000)

/*
 * A GPU by its id in the export, with the properties that TARGET_INFO_GPU and TARGET_INFO_CUDA_DEVICE state.
 */
struct kwhy_nsys_gpu {
	int64_t id;
	struct kwhy_device figures; /* properties; its members index and rank are not used */
};

/*
 * Counts of what was read or left out, which notes report at the end. `corrupt`: the database is damaged and
 * was read up to the damage.
 */
struct kwhy_nsys_tally {
	uint64_t rows, kernels, graphs, calls;
	uint64_t negative_starts, unfinished_graphs, open_ranges, unnamed, backtraces;
	uint64_t overhead_count;
	int64_t overhead_ns;
	bool corrupt;
};

struct kwhy_nsys {
	struct kwhy_recording *recording;
	const struct kwhy_import_options *options;
	struct kwhy_sqlite *db;
	struct kwhy_tracks tracks;
	struct kwhy_collectives *collectives;
	uint32_t rank;		/* rank of the devices; KWHY_NONE: unknown */
	bool rank_by_order;	/* `rank` is the position of the export among the sources, because the export
				   states none */
	uint32_t world_size;	/* 0: unknown */
	int64_t shift_ns;	/* added to times since the session's start, gives times since the recording's
				   origin */
	uint32_t first_process; /* index of the first process that this export adds */
	size_t first_device, first_stream, activities_before;

	/*
	 * A prepared query that finds one row of the table StringIds: by id or, if the id is not the table's
	 * primary key, by row number (strings_by_row).
	 */
	struct kwhy_sqlite_rows strings;
	bool has_strings, strings_by_row;
	struct kwhy_track_map string_rows; /* from id to row number; empty unless strings_by_row */
	struct kwhy_track_map
		string_names; /* from the id of a string to the index of its name in the recording */
	struct kwhy_track_map call_names;  /* from the id of a string that is the name of a call to the index
					      of that name without its version suffix */
	unsigned char *name_is_collective; /* for each name of the recording, whether kernels of that name are
					      collectives; 0: not looked up yet, 1: no, 2: yes */
	size_t name_capacity;

	int64_t last_thread_id; /* the globalTid that was looked up last, and its thread */
	uint32_t last_thread;
	bool has_last_thread;

	struct kwhy_nsys_gpu *gpus;
	size_t gpu_count, gpu_capacity;
	struct kwhy_track_map
		physical; /* from process id (-1: any process) and CUDA device number to GPU id */

	struct kwhy_memory_point *memory; /* one item for each allocation and free of device memory. Until
					     kwhy_nsys_memory_finish(), reserved_bytes has the change of the
					     memory in use, in bytes, as an int64_t */
	size_t memory_count, memory_capacity;

	struct kwhy_nsys_tally tally;
};

/*
 * In nsys/nsys.c: reads an export into the recording. Messages name file->shown, since the database itself
 * may be a temporary file.
 */
KWHY_MUST_USE enum kwhy_status kwhy_nsys_read(struct kwhy_recording *recording,
	const struct kwhy_sqlite_file *file, const struct kwhy_import_options *options,
	struct kwhy_error *error);

/*
 * In nsys/strings.c: functions that look up names. For an id that StringIds lacks, *out_name is 0, the empty
 * name.
 */
KWHY_MUST_USE enum kwhy_status kwhy_nsys_strings_open(struct kwhy_nsys *nsys, struct kwhy_error *error);
void kwhy_nsys_strings_close(struct kwhy_nsys *nsys);
KWHY_MUST_USE enum kwhy_status kwhy_nsys_string(
	struct kwhy_nsys *nsys, int64_t id, uint32_t *out_name, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_nsys_call_name(
	struct kwhy_nsys *nsys, int64_t id, uint32_t *out_name, struct kwhy_error *error);

/* In nsys/devices.c: reads the properties of the devices. */
KWHY_MUST_USE enum kwhy_status kwhy_nsys_devices_read(struct kwhy_nsys *nsys, struct kwhy_error *error);
/*
 * Sets *out_device to the device of the recording that a process calls CUDA device `ordinal`; adds it if it
 * is new. KWHY_E_INPUT names the row.
 */
KWHY_MUST_USE enum kwhy_status kwhy_nsys_device(struct kwhy_nsys *nsys, const struct kwhy_sqlite_rows *rows,
	uint32_t process, int64_t ordinal, uint32_t *out_device, struct kwhy_error *error);
/*
 * The id of the physical GPU that a process calls CUDA device `ordinal`; without an entry in the export,
 * `ordinal` itself. It becomes the device's index in the recording.
 */
int64_t kwhy_nsys_physical(struct kwhy_nsys *nsys, uint32_t process, int64_t ordinal);

/*
 * Sorts the devices of this export in the recording by index. Call it after all rows have been read and
 * before kwhy_nsys_memory_finish().
 */
KWHY_MUST_USE enum kwhy_status kwhy_nsys_devices_sort(struct kwhy_nsys *nsys, struct kwhy_error *error);

/* In nsys/meta.c: reads versions, origin of time and rank. Called before all other readers. */
KWHY_MUST_USE enum kwhy_status kwhy_nsys_meta_read(
	struct kwhy_nsys *nsys, struct kwhy_source *source, struct kwhy_error *error);

/* In nsys/rows.c: functions that read columns which several kinds of rows share. */

/*
 * Reads start and end from two successive columns and converts them to the recording's clock. KWHY_E_INPUT:
 * one is missing or more than a year from the start of the session, or the end is before the start.
 */
KWHY_MUST_USE enum kwhy_status kwhy_nsys_times(struct kwhy_nsys *nsys, const struct kwhy_sqlite_rows *rows,
	size_t start_column, int64_t *out_start_ns, int64_t *out_end_ns, struct kwhy_error *error);
/*
 * Find the process or thread of the globalPid or globalTid in `column`, and add it if it is new. If the value
 * is missing and the export has exactly one process, that process is taken (or a thread of it); otherwise one
 * without a number.
 */
KWHY_MUST_USE enum kwhy_status kwhy_nsys_process(struct kwhy_nsys *nsys, const struct kwhy_sqlite_rows *rows,
	size_t column, uint32_t *out_process, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_nsys_thread(struct kwhy_nsys *nsys, const struct kwhy_sqlite_rows *rows,
	size_t column, uint32_t *out_thread, struct kwhy_error *error);
/* The number in a column; KWHY_NONE: it is missing, 0 or below, or at least KWHY_NONE. */
uint32_t kwhy_nsys_id(const struct kwhy_sqlite_rows *rows, size_t column);

/*
 * A table and the function that reads one row of it. KWHY_E_INPUT of the function: the row is unusable; with
 * --partial it is skipped.
 */
struct kwhy_nsys_reader {
	struct kwhy_sqlite_table table;
	enum kwhy_status (*read)(
		struct kwhy_nsys *nsys, const struct kwhy_sqlite_rows *rows, struct kwhy_error *error);
	bool is_cuda; /* a row of this table shows that CUDA was traced; an export without any such row is
			 refused */
};

extern const struct kwhy_nsys_reader kwhy_nsys_calls;	     /* defined in nsys/host.c */
extern const struct kwhy_nsys_reader kwhy_nsys_ranges;	     /* defined in nsys/host.c */
extern const struct kwhy_nsys_reader kwhy_nsys_system_calls; /* defined in nsys/host.c */
extern const struct kwhy_nsys_reader kwhy_nsys_overheads[2]; /* defined in nsys/host.c */
extern const struct kwhy_nsys_reader kwhy_nsys_kernels;	     /* defined in nsys/gpu.c */
extern const struct kwhy_nsys_reader kwhy_nsys_graphs;	     /* defined in nsys/gpu.c */
extern const struct kwhy_nsys_reader kwhy_nsys_copies;	     /* defined in nsys/copies.c */
extern const struct kwhy_nsys_reader kwhy_nsys_memsets;	     /* defined in nsys/copies.c */
extern const struct kwhy_nsys_reader kwhy_nsys_memory;	     /* defined in nsys/memory.c */

/* The columns that all tables of device activities begin with. */
enum kwhy_nsys_gpu_column {
	KWHY_NSYS_START,
	KWHY_NSYS_END,
	KWHY_NSYS_DEVICE,
	KWHY_NSYS_CONTEXT,
	KWHY_NSYS_STREAM,
	KWHY_NSYS_CORRELATION,
	KWHY_NSYS_PROCESS,
	KWHY_NSYS_GPU_COLUMNS
};

#define KWHY_NSYS_GPU_COLUMN_NAMES                                                                  \
	[KWHY_NSYS_START] = {"start", NULL}, [KWHY_NSYS_END] = {"end", NULL},                       \
	[KWHY_NSYS_DEVICE] = {"deviceId", NULL}, [KWHY_NSYS_CONTEXT] = {"contextId", NULL},         \
	[KWHY_NSYS_STREAM] = {"streamId", NULL}, [KWHY_NSYS_CORRELATION] = {"correlationId", NULL}, \
	[KWHY_NSYS_PROCESS] = {"globalPid", NULL}

KWHY_MUST_USE enum kwhy_status kwhy_nsys_gpu_row(struct kwhy_nsys *nsys, const struct kwhy_sqlite_rows *rows,
	struct kwhy_activity *activity, uint32_t *out_process, struct kwhy_error *error);

/*
 * In nsys/memory.c: adds the memory in use on each device over time, from the changes in `memory`. Call it
 * once all tables have been read.
 */
KWHY_MUST_USE enum kwhy_status kwhy_nsys_memory_finish(struct kwhy_nsys *nsys, struct kwhy_error *error);

/* In nsys/notes.c: adds notes about the export. */
KWHY_MUST_USE enum kwhy_status kwhy_nsys_notes_add(struct kwhy_nsys *nsys, struct kwhy_error *error);

#endif
