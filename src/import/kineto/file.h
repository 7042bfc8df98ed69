/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_KINETO_FILE_H
#define KWHY_IMPORT_KINETO_FILE_H

#include "base/text.h"
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

/*
 * Ranks of a file that was merged from several: a label before the number of each process, "[TP00] 1000"
 * (SGLang), or "rank" in the args of each event (TraceFuse). Each has processes and devices of its own.
 */
struct kwhy_kineto_group {
	uint32_t process, rank; /* row of the recording; as stated, KWHY_NONE: not stated */
};

struct kwhy_kineto_groups {
	struct kwhy_kineto_group *items;
	size_t count, capacity;		      /* count 0: the file is of one rank */
	struct kwhy_track_map by_key, by_pid; /* to the place in items */
};

/* The process or device that an event names. */
struct kwhy_kineto_place {
	uint32_t group; /* place in the groups; 0 where there are none */
	bool numbered;
	int64_t number; /* without the group's label; -1: it has none */
};

/* Names of processes and threads, from the metadata events. */
struct kwhy_kineto_labels {
	struct kwhy_track_map by_track; /* to names of the recording */
};

/* Begins of slices that have not ended yet (kineto/halves.c). */
struct kwhy_kineto_half;
struct kwhy_kineto_halves {
	struct kwhy_track_map by_track; /* to places in `last` */
	struct kwhy_kineto_half **last; /* the innermost open slice of each thread */
	size_t count, capacity, open;
};

/* Events that are not understood, by what they are called (kineto/unknown.c). */
enum { KWHY_KINETO_UNKNOWN_MAX = 32 };
struct kwhy_kineto_unknown {
	struct {
		uint32_t name; /* of the category, or of the process */
		uint64_t events;
	} kinds[KWHY_KINETO_UNKNOWN_MAX];
	size_t count;
	uint64_t events;
};

/* Counts of a file's events by what became of them, for the notes. */
struct kwhy_kineto_counts {
	uint64_t events, used, skipped, breaks, untimed, unpaired, derived, unnumbered_devices;
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
	bool is_xla; /* written by XLA's profiler, for JAX or TensorFlow */
	struct kwhy_collectives *collectives;
	struct kwhy_kineto_words words;
	unsigned char *collective_of_name; /* 0: not matched yet, 1: no collective, 2: a collective */
	size_t collective_capacity;
	struct kwhy_kineto_meta meta;
	struct kwhy_kineto_counts counts;
	struct kwhy_kineto_groups groups;
	struct kwhy_kineto_labels labels;
	struct kwhy_kineto_halves halves;
	struct kwhy_kineto_unknown unknown;
	struct kwhy_track_map devices, streams, threads; /* from the file's numbers to the recording's rows */
	struct kwhy_track_map processes; /* processes that the file has named; empty: the file is of one
					    process, as PyTorch's files are */
	uint32_t source, process;
	/* Index of the first row of each kind that this file added. */
	size_t first_device, first_stream, first_activity, first_call, first_range, first_host_range,
		first_memory;
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

/* kineto/groups.c: the ranks of a merged file. */
void kwhy_kineto_groups_done(struct kwhy_kineto_groups *groups);
/* A number for a text, by which tracks are found. */
int64_t kwhy_kineto_text_key(const char *bytes, size_t length);
/* Reads the process of an event, of field "pid" or "process". */
KWHY_MUST_USE enum kwhy_status kwhy_kineto_place_read(struct kwhy_kineto_file *file,
	const struct kwhy_kineto_event *event, enum kwhy_kineto_field field, struct kwhy_kineto_place *out,
	struct kwhy_error *error);
uint32_t kwhy_kineto_group_process(const struct kwhy_kineto_file *file, uint32_t group);
uint32_t kwhy_kineto_group_of(const struct kwhy_kineto_file *file, uint32_t process);
/* Sets the ranks of the groups' processes and devices. */
KWHY_MUST_USE enum kwhy_status kwhy_kineto_groups_finish(
	struct kwhy_kineto_file *file, struct kwhy_error *error);

/* Kinds of keys of `devices`, in `c`: by the device's number in `a`, or by the process that stands for it. */
enum { KWHY_KINETO_DEVICE_BY_NUMBER, KWHY_KINETO_DEVICE_BY_PROCESS };

/* kineto/ids.c: the recording's rows of what an event names, added when they are new. */
KWHY_MUST_USE enum kwhy_status kwhy_kineto_device(struct kwhy_kineto_file *file, struct kwhy_track_key key,
	int64_t index, uint32_t *out, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_kineto_stream(struct kwhy_kineto_file *file,
	const struct kwhy_stream *stream, uint32_t *out, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_kineto_find_stream(struct kwhy_kineto_file *file,
	const struct kwhy_kineto_event *event, uint32_t *out, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_kineto_find_thread(struct kwhy_kineto_file *file,
	const struct kwhy_kineto_event *event, uint32_t *out, struct kwhy_error *error);

/* kineto/rows.c: what the readers of single kinds share. */
enum kwhy_status kwhy_kineto_unusable(const struct kwhy_kineto_file *file,
	const struct kwhy_kineto_event *event, enum kwhy_kineto_field field, const char *why,
	struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_kineto_read_times(struct kwhy_kineto_file *file,
	const struct kwhy_kineto_event *event, int64_t *start_ns, int64_t *end_ns, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_kineto_read_name(struct kwhy_kineto_file *file,
	const struct kwhy_kineto_event *event, uint32_t *out, struct kwhy_error *error);
/* Adds an activity and counts what it lacks; one without times is left out. */
KWHY_MUST_USE enum kwhy_status kwhy_kineto_add_activity(
	struct kwhy_kineto_file *file, const struct kwhy_activity *row, struct kwhy_error *error);

/* kineto/labels.c: names of processes and threads. NULL: no name. */
void kwhy_kineto_labels_done(struct kwhy_kineto_labels *labels);
KWHY_MUST_USE enum kwhy_status kwhy_kineto_label_add(
	struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event, struct kwhy_error *error);
const char *kwhy_kineto_label(
	struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event, bool thread);
struct kwhy_track_key kwhy_kineto_track_key(const struct kwhy_kineto_event *event, bool thread);

/*
 * kineto/halves.c: slices that stand as a begin ("ph": "B") and an end ("E"). Each end closes the last open
 * slice of its thread, which is then added as a row.
 */
void kwhy_kineto_halves_done(struct kwhy_kineto_halves *halves);
KWHY_MUST_USE enum kwhy_status kwhy_kineto_half_add(
	struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event, struct kwhy_error *error);

/* kineto/by_track.c, kineto/unitrace.c: events of other profilers. */
KWHY_MUST_USE enum kwhy_status kwhy_kineto_by_track_add(
	struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_kineto_unitrace_add(
	struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event, struct kwhy_error *error);

/* kineto/unknown.c: counts an event that is not understood under a name, and lists the most frequent. */
KWHY_MUST_USE enum kwhy_status kwhy_kineto_unknown_add(
	struct kwhy_kineto_file *file, const char *text, size_t length, struct kwhy_error *error);
void kwhy_kineto_unknown_list(const struct kwhy_kineto_file *file, struct kwhy_text *out);

/* kineto/finish.c: sets clock, ranks, devices and notes once the whole file has been read. */
KWHY_MUST_USE enum kwhy_status kwhy_kineto_finish(struct kwhy_kineto_file *file, struct kwhy_error *error);

/* kineto/notes.c: notes what this file cannot show and what is unusual in it. */
KWHY_MUST_USE enum kwhy_status kwhy_kineto_notes(struct kwhy_kineto_file *file, struct kwhy_error *error);

#endif
