/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_KINETO_FILE_H
#define KWHY_IMPORT_KINETO_FILE_H

#include "import/collectives.h"
#include "import/import.h"
#include "import/kineto/event.h"
#include "import/tracks.h"
#include "model/recording.h"

/* What a file states outside of its events. */
struct kwhy_kineto_meta {
	bool has_base, stopped_early;
	int64_t base_unix_ns;
	uint32_t rank, world_size; /* KWHY_NONE and 0: unknown */
	const char *schema;	   /* in the recording's arena; NULL: not stated */
	struct kwhy_device *devices;
	size_t device_count, device_capacity;
	uint64_t dropped_records, out_of_window_records;
	char producer[160];
};

/* Counts of a file's events by what became of them, for the notes. */
struct kwhy_kineto_counts {
	uint64_t events, used, skipped, breaks;
	uint64_t copies_without_bytes, memory_without_totals, graph_launches, graph_kernels;
	uint64_t overhead_events, untimed_host_ranges;
	int64_t overhead_ns;
	bool fractional; /* some time has a fraction of a microsecond */
};

/* One file while it is read. */
struct kwhy_kineto_file {
	struct kwhy_recording *recording;
	const char *path; /* in the recording's arena */
	bool partial, chooses_clock;
	struct kwhy_collectives *collectives;
	struct kwhy_kineto_words words;
	unsigned char *collective_of_name; /* 0: not matched yet, 1: no collective, 2: a collective */
	size_t collective_capacity;
	struct kwhy_kineto_meta meta;
	struct kwhy_kineto_counts counts;
	struct kwhy_track_map devices, streams, threads; /* from the file's numbers to the recording's rows */
	struct kwhy_track_map processes; /* processes that the file has named; empty: the file is of one
					    process, as PyTorch's files are */
	uint32_t source, process;
	/* Index of the first row of each kind that this file added. */
	size_t first_device, first_activity, first_call, first_range, first_host_range, first_memory;
	/* Cache of the last copy's name and its meaning: most copies of a trace share few names. */
	uint32_t copy_name;
	struct kwhy_activity copy;
};

/*
 * kineto/names.c: adds names with their escapes undone, names of calls without version suffix ("_v11060"),
 * and finds collectives by name.
 */
KWHY_MUST_USE enum kwhy_status kwhy_kineto_name(struct kwhy_kineto_file *file, const char *bytes,
	size_t length, uint32_t *out_name, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_kineto_call_name(struct kwhy_kineto_file *file, const char *bytes,
	size_t length, uint32_t *out_name, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_kineto_is_collective(
	struct kwhy_kineto_file *file, uint32_t name, bool *out, struct kwhy_error *error);

/* kineto/copy.c: direction and memory kinds of a copy or memset from the name that the profiler gave it. */
void kwhy_kineto_copy_read(const char *name, struct kwhy_activity *activity);

/*
 * kineto/source.c: the source location of a Python frame. "train.py(54): step" has a file, a line and a name.
 * A name alone, "<built-in method item of Tensor object at 0x7f>", loses its address. Fields are names of the
 * recording; 0: unknown.
 */
struct kwhy_kineto_source {
	uint32_t name, file, line;
};

KWHY_MUST_USE enum kwhy_status kwhy_kineto_source_read(struct kwhy_kineto_file *file, const char *bytes,
	size_t length, struct kwhy_kineto_source *out, struct kwhy_error *error);
/*
 * Gives the innermost frame of a "Call stack" that lies outside of libraries; where all lie in libraries, the
 * innermost of all.
 */
KWHY_MUST_USE enum kwhy_status kwhy_kineto_source_of_stack(struct kwhy_kineto_file *file, const char *bytes,
	size_t length, struct kwhy_kineto_source *out, struct kwhy_error *error);

/*
 * kineto/rows.c: adds one event as a row of the recording. Times stay as in the file, and the device of a
 * memory row stays the file's number of it, until the file ends. KWHY_E_INPUT: the event is unusable and was
 * not added.
 */
KWHY_MUST_USE enum kwhy_status kwhy_kineto_row_add(
	struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event, struct kwhy_error *error);

/*
 * kineto/meta.c: reads one member of the top object. The walk stands before its value, whose grammar has been
 * checked. KWHY_E_INPUT: the value is of no use, as the error says, which lacks the file and the place.
 */
KWHY_MUST_USE enum kwhy_status kwhy_kineto_meta_read(struct kwhy_kineto_file *file,
	struct kwhy_kineto_span key, struct kwhy_kineto_walk walk, struct kwhy_error *error);

/* kineto/finish.c: sets clock, ranks, devices and notes once the whole file has been read. */
KWHY_MUST_USE enum kwhy_status kwhy_kineto_finish(struct kwhy_kineto_file *file, struct kwhy_error *error);

/* kineto/notes.c: notes what this file cannot show and what is unusual in it. */
KWHY_MUST_USE enum kwhy_status kwhy_kineto_notes(struct kwhy_kineto_file *file, struct kwhy_error *error);

#endif
