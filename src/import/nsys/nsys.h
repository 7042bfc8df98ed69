/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_NSYS_H
#define KWHY_IMPORT_NSYS_H

#include "import/collectives.h"
#include "import/import.h"
#include "import/sqlite/sqlite.h"
#include "import/tracks.h"

/* An Nsight Systems export (SQLite) while it is read, shared by the files in nsys/. */

#define KWHY_NSYS_DEVICES_MAX 1024 /* device numbers must be less than this */

/* Longest session that is accepted; later times come from damage. */
#define KWHY_NSYS_YEAR_NS (366 * INT64_C(86400) * 1000000000)

/* A device as TARGET_INFO_GPU and related tables describe it. */
struct kwhy_nsys_gpu {
	int64_t id;
	struct kwhy_device figures; /* the members index and rank are not used */
};

/* Counts taken while reading, which the notes at the end report. */
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
	uint32_t rank;	     /* rank of the devices; KWHY_NONE: unknown */
	bool rank_by_order;  /* the rank follows from the order of the exports, because this export does not
				state one */
	uint32_t world_size; /* 0: unknown */
	int64_t shift_ns;    /* offset that converts times since the session's start to times since the
				recording's origin */
	uint32_t first_process; /* index of the first process that this export adds */
	size_t first_device, first_stream, activities_before;

	/*
	 * rows of the table StringIds, read one at a time: by id or, if id is no primary key, by row number
	 */
	struct kwhy_sqlite_rows strings;
	bool has_strings, strings_by_row;
	struct kwhy_track_map string_rows;  /* from id to row number; filled if strings_by_row */
	struct kwhy_track_map string_names; /* from id to name in the recording */
	struct kwhy_track_map call_names;   /* from id to the name of a call without its version suffix */
	unsigned char *name_is_collective;  /* [names of the recording] whether kernels of that name are
					       collectives: 0: not looked up yet, 1: no, 2: yes */
	size_t name_capacity;

	int64_t last_thread_id; /* the globalTid that was looked up last, and its thread */
	uint32_t last_thread;
	bool has_last_thread;

	struct kwhy_nsys_gpu *gpus;
	size_t gpu_count, gpu_capacity;
	struct kwhy_track_map
		physical; /* from process id (-1: any process) and CUDA device number to GPU id */

	struct kwhy_memory_point *memory; /* changes of the memory in use: reserved_bytes of a point is the
					     change, with its sign */
	size_t memory_count, memory_capacity;

	struct kwhy_nsys_tally tally;
};

/* In nsys/nsys.c: reads an export. The export may be a temporary file; messages then name file->shown. */
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
/* Gets the recording's device for the CUDA device number `ordinal` of a process. */
KWHY_MUST_USE enum kwhy_status kwhy_nsys_device(struct kwhy_nsys *nsys, const struct kwhy_sqlite_rows *rows,
	uint32_t process, int64_t ordinal, uint32_t *out_device, struct kwhy_error *error);
/*
 * Index of a process's device `ordinal` among the physical devices of the machine. The trace uses these
 * indices.
 */
int64_t kwhy_nsys_physical(struct kwhy_nsys *nsys, uint32_t process, int64_t ordinal);

/*
 * Sorts the devices of this export by their indices. Called after all rows have been read and before memory
 * is summed.
 */
KWHY_MUST_USE enum kwhy_status kwhy_nsys_devices_sort(struct kwhy_nsys *nsys, struct kwhy_error *error);

/* In nsys/meta.c: reads versions, origin of time and rank. Called before all other readers. */
KWHY_MUST_USE enum kwhy_status kwhy_nsys_meta_read(
	struct kwhy_nsys *nsys, struct kwhy_source *source, struct kwhy_error *error);

/* In nsys/rows.c: functions that read columns which several kinds of rows share. */

/* Reads start and end, which must be in order and within a year of the session's start. */
KWHY_MUST_USE enum kwhy_status kwhy_nsys_times(struct kwhy_nsys *nsys, const struct kwhy_sqlite_rows *rows,
	size_t start_column, int64_t *out_start_ns, int64_t *out_end_ns, struct kwhy_error *error);
/*
 * Gets the process or thread of a globalPid or globalTid. If the table lacks the column, the process is the
 * file's only one.
 */
KWHY_MUST_USE enum kwhy_status kwhy_nsys_process(struct kwhy_nsys *nsys, const struct kwhy_sqlite_rows *rows,
	size_t column, uint32_t *out_process, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_nsys_thread(struct kwhy_nsys *nsys, const struct kwhy_sqlite_rows *rows,
	size_t column, uint32_t *out_thread, struct kwhy_error *error);
/* The number in a column. KWHY_NONE: the number is missing, 0, or exceeds 32 bits. */
uint32_t kwhy_nsys_id(const struct kwhy_sqlite_rows *rows, size_t column);

/*
 * A kind of table and the function that reads its rows. If the function returns KWHY_E_INPUT, the row may be
 * skipped.
 */
struct kwhy_nsys_reader {
	struct kwhy_sqlite_table table;
	enum kwhy_status (*read)(
		struct kwhy_nsys *nsys, const struct kwhy_sqlite_rows *rows, struct kwhy_error *error);
	bool is_cuda; /* rows of this table show that CUDA was traced */
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

/* In nsys/memory.c: sums the changes of the memory in use, after all of them have been read. */
KWHY_MUST_USE enum kwhy_status kwhy_nsys_memory_finish(struct kwhy_nsys *nsys, struct kwhy_error *error);

/* In nsys/notes.c: adds notes about the export. */
KWHY_MUST_USE enum kwhy_status kwhy_nsys_notes_add(struct kwhy_nsys *nsys, struct kwhy_error *error);

#endif
