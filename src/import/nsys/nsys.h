/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_NSYS_H
#define KWHY_IMPORT_NSYS_H

#include "import/collectives.h"
#include "import/import.h"
#include "import/sqlite/sqlite.h"
#include "import/tracks.h"

/* One Nsight Systems export while it is read, shared by the files in nsys/. */

#define KWHY_NSYS_DEVICES_MAX 1024 /* device numbers are less than this */

/* Longest session that is accepted: later times come from damage. */
#define KWHY_NSYS_YEAR_NS (366 * INT64_C(86400) * 1000000000)

/* A device as TARGET_INFO_GPU and related tables describe it. */
struct kwhy_nsys_gpu {
	int64_t id;
	struct kwhy_device figures; /* index and rank unused */
};

/* Counts taken while reading, reported in notes at the end. */
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
	bool rank_by_order;	/* the rank is the order of the exports, because this one does not state it */
	uint32_t world_size;	/* 0: unknown */
	int64_t shift_ns;	/* added to times since the session's start to get times since the recording's
				   origin */
	uint32_t first_process; /* index of the first process that this export adds */
	size_t first_device, first_stream, activities_before;

	/* rows of StringIds, read one at a time: by id or, where id is no primary key, by row number */
	struct kwhy_sqlite_rows strings;
	bool has_strings, strings_by_row;
	struct kwhy_track_map string_rows;  /* id to row number, filled when strings_by_row */
	struct kwhy_track_map string_names; /* id to name of the recording */
	struct kwhy_track_map call_names;   /* id to the name of a call, without version suffix */
	unsigned char
		*name_is_collective; /* per name: 0: not matched yet, 1: no collective, 2: a collective */
	size_t name_capacity;

	struct kwhy_nsys_gpu *gpus;
	size_t gpu_count, gpu_capacity;
	struct kwhy_track_map physical; /* (pid or -1, CUDA ordinal) to GPU id */

	struct kwhy_memory_point *memory; /* here reserved_bytes holds the signed change */
	size_t memory_count, memory_capacity;

	struct kwhy_nsys_tally tally;
};

/* nsys/nsys.c: reads an export, which may be a temporary one (file->shown). */
KWHY_MUST_USE enum kwhy_status kwhy_nsys_read(struct kwhy_recording *recording,
	const struct kwhy_sqlite_file *file, const struct kwhy_import_options *options,
	struct kwhy_error *error);

/* nsys/strings.c: look up names. *out_name is 0, the empty name, for an id that StringIds lacks. */
KWHY_MUST_USE enum kwhy_status kwhy_nsys_strings_open(struct kwhy_nsys *nsys, struct kwhy_error *error);
void kwhy_nsys_strings_close(struct kwhy_nsys *nsys);
KWHY_MUST_USE enum kwhy_status kwhy_nsys_string(
	struct kwhy_nsys *nsys, int64_t id, uint32_t *out_name, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_nsys_call_name(
	struct kwhy_nsys *nsys, int64_t id, uint32_t *out_name, struct kwhy_error *error);

/* nsys/devices.c */
KWHY_MUST_USE enum kwhy_status kwhy_nsys_devices_read(struct kwhy_nsys *nsys, struct kwhy_error *error);
/* The physical device that a process calls by that ordinal. */
KWHY_MUST_USE enum kwhy_status kwhy_nsys_device(struct kwhy_nsys *nsys, const struct kwhy_sqlite_rows *rows,
	uint32_t process, int64_t ordinal, uint32_t *out_device, struct kwhy_error *error);
/* The index of that device among physical devices, which the trace uses. */
int64_t kwhy_nsys_physical(struct kwhy_nsys *nsys, uint32_t process, int64_t ordinal);

/* Sorts the devices of this export by their indices. Called after all rows, before the memory is summed. */
KWHY_MUST_USE enum kwhy_status kwhy_nsys_devices_sort(struct kwhy_nsys *nsys, struct kwhy_error *error);

/* nsys/meta.c: reads versions, origin of time and rank. Called before all other readers. */
KWHY_MUST_USE enum kwhy_status kwhy_nsys_meta_read(
	struct kwhy_nsys *nsys, struct kwhy_source *source, struct kwhy_error *error);

/* nsys/rows.c: columns that several kinds of rows share. */

/* Reads start and end, which must be in order and within a year of the session's start. */
KWHY_MUST_USE enum kwhy_status kwhy_nsys_times(struct kwhy_nsys *nsys, const struct kwhy_sqlite_rows *rows,
	size_t start_column, int64_t *out_start_ns, int64_t *out_end_ns, struct kwhy_error *error);
/* The process or thread of a globalPid or globalTid. Where the column is missing, it is the only process. */
KWHY_MUST_USE enum kwhy_status kwhy_nsys_process(struct kwhy_nsys *nsys, const struct kwhy_sqlite_rows *rows,
	size_t column, uint32_t *out_process, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_nsys_thread(struct kwhy_nsys *nsys, const struct kwhy_sqlite_rows *rows,
	size_t column, uint32_t *out_thread, struct kwhy_error *error);
/* The number in a column. KWHY_NONE: it is missing, 0, or exceeds 32 bits. */
uint32_t kwhy_nsys_id(const struct kwhy_sqlite_rows *rows, size_t column);

/* One kind of table and the function that reads its rows. A row that gives KWHY_E_INPUT may be skipped. */
struct kwhy_nsys_reader {
	struct kwhy_sqlite_table table;
	enum kwhy_status (*read)(
		struct kwhy_nsys *nsys, const struct kwhy_sqlite_rows *rows, struct kwhy_error *error);
	bool is_cuda; /* its rows show that CUDA was traced */
};

extern const struct kwhy_nsys_reader kwhy_nsys_calls;	     /* nsys/host.c */
extern const struct kwhy_nsys_reader kwhy_nsys_ranges;	     /* nsys/host.c */
extern const struct kwhy_nsys_reader kwhy_nsys_system_calls; /* nsys/host.c */
extern const struct kwhy_nsys_reader kwhy_nsys_overheads[2]; /* nsys/host.c */
extern const struct kwhy_nsys_reader kwhy_nsys_kernels;	     /* nsys/gpu.c */
extern const struct kwhy_nsys_reader kwhy_nsys_graphs;	     /* nsys/gpu.c */
extern const struct kwhy_nsys_reader kwhy_nsys_copies;	     /* nsys/copies.c */
extern const struct kwhy_nsys_reader kwhy_nsys_memsets;	     /* nsys/copies.c */
extern const struct kwhy_nsys_reader kwhy_nsys_memory;	     /* nsys/memory.c */

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

/* nsys/memory.c: sums the changes to the memory in use, once all of them are read. */
KWHY_MUST_USE enum kwhy_status kwhy_nsys_memory_finish(struct kwhy_nsys *nsys, struct kwhy_error *error);

/* nsys/notes.c */
KWHY_MUST_USE enum kwhy_status kwhy_nsys_notes_add(struct kwhy_nsys *nsys, struct kwhy_error *error);

#endif
