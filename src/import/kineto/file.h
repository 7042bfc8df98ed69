/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_KINETO_FILE_H
#define KWHY_IMPORT_KINETO_FILE_H

#include "import/collectives.h"
#include "import/import.h"
#include "import/kineto/event.h"
#include "import/tracks.h"
#include "model/recording.h"

/* Names seen in a file, found by their bytes as they stand there; a small cache before the recording's names.
 */
struct kwhy_kineto_names {
	struct {
		uint64_t hash;
		uint32_t length, name; /* length 0: free */
	} slots[4096];
	unsigned char *collective; /* by name: 0 not asked yet, 1 no, 2 yes */
	size_t collective_capacity;
};

/* What a file says beside its events. */
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

/* What the events of a file were, for the notes. */
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
	struct kwhy_kineto_names names;
	struct kwhy_kineto_meta meta;
	struct kwhy_kineto_counts counts;
	struct kwhy_track_map devices, streams, threads; /* from the file's numbers to the recording's rows */
	struct kwhy_track_map
		processes; /* that the file has reported; empty: it is of one, as PyTorch's are */
	uint32_t source, process;
	/* The first rows that are this file's. */
	size_t first_device, first_activity, first_call, first_range, first_host_range, first_memory;
	/* The last copy's name and what it means: most copies of a trace have few names. */
	uint32_t copy_name;
	struct kwhy_activity copy;
};

/* kineto/names.c: names without escapes, calls without version suffix ("_v11060"); collectives by name. */
void kwhy_kineto_names_done(struct kwhy_kineto_names *names);
KWHY_MUST_USE enum kwhy_status kwhy_kineto_name(struct kwhy_kineto_file *file, const char *bytes,
	size_t length, uint32_t *out_name, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_kineto_call_name(struct kwhy_kineto_file *file, const char *bytes,
	size_t length, uint32_t *out_name, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_kineto_is_collective(
	struct kwhy_kineto_file *file, uint32_t name, bool *out, struct kwhy_error *error);

/* kineto/copy.c: direction and memory kinds of a copy or memset from the name that the profiler gave it. */
void kwhy_kineto_copy_read(const char *name, struct kwhy_activity *activity);

/*
 * kineto/source.c: where a Python frame is. "train.py(54): step" has a file, a line and a name; names alone,
 * "<built-in method item of Tensor object at 0x7f>", lose the address. Names are of the recording; 0: none.
 */
struct kwhy_kineto_source {
	uint32_t name, file, line;
};

KWHY_MUST_USE enum kwhy_status kwhy_kineto_source_read(struct kwhy_kineto_file *file, const char *bytes,
	size_t length, struct kwhy_kineto_source *out, struct kwhy_error *error);
/* Of a "Call stack" the innermost frame outside of libraries; without one the innermost. */
KWHY_MUST_USE enum kwhy_status kwhy_kineto_source_of_stack(struct kwhy_kineto_file *file, const char *bytes,
	size_t length, struct kwhy_kineto_source *out, struct kwhy_error *error);

/*
 * kineto/rows.c: one event to a row of the recording. Times are as in the file until the end of the file;
 * the device of a memory row is the file's number of it. KWHY_E_INPUT: the event is unusable, nothing added.
 */
KWHY_MUST_USE enum kwhy_status kwhy_kineto_row_add(
	struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event, struct kwhy_error *error);

/*
 * kineto/meta.c: one member of the top object; the walk stands before its value, whose grammar has been
 * checked. KWHY_E_INPUT: the value is of no use, as the words say; they lack the file and the place.
 */
KWHY_MUST_USE enum kwhy_status kwhy_kineto_meta_read(struct kwhy_kineto_file *file,
	struct kwhy_kineto_span key, struct kwhy_kineto_walk walk, struct kwhy_error *error);

/* kineto/finish.c: clock, ranks, devices and notes, once all of the file is read. */
KWHY_MUST_USE enum kwhy_status kwhy_kineto_finish(struct kwhy_kineto_file *file, struct kwhy_error *error);

/* kineto/notes.c: what this file cannot show and what is odd in it. */
KWHY_MUST_USE enum kwhy_status kwhy_kineto_notes(struct kwhy_kineto_file *file, struct kwhy_error *error);

#endif
