/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_KINETO_FILE_H
#define KWHY_IMPORT_KINETO_FILE_H

#include "base/text.h"
#include "import/collectives.h"
#include "import/import.h"
#include "import/kineto/event.h"
#include "import/row_counts.h"
#include "import/tracks.h"
#include "model/recording.h"

/* What a file states outside of its list of events, in the other members of its top object. */
struct kwhy_kineto_meta {
	bool has_base, stopped_early;
	int64_t base_unix_ns;
	uint32_t rank, world_size; /* rank KWHY_NONE: unknown; world_size 0: unknown */
	const char *schema; /* version of the trace's format, owned by the recording; NULL: not stated */
	struct kwhy_device *devices;
	size_t device_count, device_capacity;
	uint64_t dropped_records, out_of_window_records;
	char producer[160];
};

/*
 * The events of one rank in a file that was merged from the traces of several ranks. In SGLang's files a
 * label before the process number, "pid": "[TP00] 1000", states the group of an event; in TraceFuse's files
 * "rank" in its "args" does. In the recording each group becomes one process with devices of its own.
 */
struct kwhy_kineto_group {
	uint32_t process, rank; /* process: index in the recording's processes; rank: the rank that the file
				   states, KWHY_NONE: none */
};

struct kwhy_kineto_groups {
	struct kwhy_kineto_group *items;
	size_t count, capacity;		      /* count 0: the file marks no ranks */
	struct kwhy_track_map by_key, by_pid; /* by_key: from a label or rank to an index in `items`; by_pid:
						 from a process number to an index in `items` */
};

/* The process or device that a field of an event names. */
struct kwhy_kineto_place {
	uint32_t group; /* index of the process's group; 0 if the file has no groups */
	bool numbered;
	int64_t number; /* the number without the group's label; -1 if `numbered` is false */
};

/* Names of processes and threads, which metadata events state. */
struct kwhy_kineto_labels {
	struct kwhy_track_map by_track; /* from a process or thread to its name in the recording */
};

/* Slices of which the begin event has been read and the end event has not (kineto/halves.c). */
struct kwhy_kineto_half;
struct kwhy_kineto_halves {
	struct kwhy_track_map by_track; /* from a thread to its index in `last` */
	struct kwhy_kineto_half **last; /* for each thread, the innermost slice that has begun and not yet
					   ended; NULL: the thread has none */
	size_t count, capacity, open;
};

/*
 * Counts of events that kwhy does not understand, by name: in all (`events`) and for each of the first
 * KWHY_KINETO_UNKNOWN_MAX names that occur (kineto/unknown.c).
 */
enum { KWHY_KINETO_UNKNOWN_MAX = 32 };
struct kwhy_kineto_unknown {
	struct {
		uint32_t name; /* category of the events; of events without one, the name of their process */
		uint64_t events;
	} kinds[KWHY_KINETO_UNKNOWN_MAX];
	size_t count;
	uint64_t events;
};

/* Numbers of events that were read, used, left out or lack something; the notes of a report state them. */
struct kwhy_kineto_counts {
	uint64_t events, used, skipped, breaks, untimed, unpaired, derived, unnumbered_devices;
	uint64_t copies_without_bytes, memory_without_totals, graph_kernels;
	uint64_t overhead_events, untimed_host_ranges;
	int64_t overhead_ns;
	bool fractional; /* at least one time has a decimal point, so the times are finer than 1 us */
};

/* A file while it is read. */
struct kwhy_kineto_file {
	struct kwhy_recording *recording;
	const char *path; /* in the recording's arena */
	bool partial, chooses_clock;
	bool is_xla; /* XLA's profiler wrote the file, from JAX or TensorFlow */
	struct kwhy_collectives *collectives;
	struct kwhy_kineto_words words;
	unsigned char *collective_of_name; /* for each name of the recording, whether kernels of that name are
					      collectives; 0: not looked up yet, 1: no, 2: yes */
	size_t collective_capacity;
	struct kwhy_map
		mangled; /* from a mangled name to the index of its demangled form in the recording's names */
	struct kwhy_kineto_meta meta;
	struct kwhy_kineto_counts counts;
	struct kwhy_kineto_groups groups;
	struct kwhy_kineto_labels labels;
	struct kwhy_kineto_halves halves;
	struct kwhy_kineto_unknown unknown;
	struct kwhy_track_map devices, streams,
		threads; /* from numbers that events state to indices in the recording's tables */
	/*
	 * From numbers of processes in the file to processes of the recording, if the file lists processes.
	 * Empty: all events are of one process, as in PyTorch's files.
	 */
	struct kwhy_track_map processes;
	uint32_t source, process;
	struct kwhy_row_counts
		first; /* row counts of the recording before this file: later rows are this file's */
	/*
	 * Name of the last copy or memset, and the direction and memory kinds that follow from the name. They
	 * are kept because successive copies often have the same name.
	 */
	uint32_t copy_name;
	struct kwhy_activity copy;
};

/*
 * In kineto/names.c: kwhy_kineto_name() adds a name, with its escapes decoded, to the recording.
 * kwhy_kineto_call_name() adds the name of a call without a version suffix such as "_v11060".
 * kwhy_kineto_is_collective() says whether kernels of a name are collectives.
 */
KWHY_MUST_USE enum kwhy_status kwhy_kineto_name(struct kwhy_kineto_file *file, const char *bytes,
	size_t length, uint32_t *out_name, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_kineto_call_name(struct kwhy_kineto_file *file, const char *bytes,
	size_t length, uint32_t *out_name, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_kineto_is_collective(
	struct kwhy_kineto_file *file, uint32_t name, bool *out, struct kwhy_error *error);

/* In kineto/copy.c: sets direction and memory kinds of a copy or memset from the profiler's name for it. */
void kwhy_kineto_copy_read(const char *name, struct kwhy_activity *activity);

/*
 * In kineto/source.c: the source location of a Python frame. The text "train.py(54): step" has a file, a line
 * and a name. From a name without a file, "<built-in method item of Tensor object at 0x7f>", the address is
 * removed. `name` and `file` are names of the recording; 0: unknown.
 */
struct kwhy_kineto_source {
	uint32_t name, file, line;
};

KWHY_MUST_USE enum kwhy_status kwhy_kineto_source_read(struct kwhy_kineto_file *file, const char *bytes,
	size_t length, struct kwhy_kineto_source *out, struct kwhy_error *error);
/*
 * Gives the source of the innermost frame of a "Call stack" that is not from a library; if all frames are
 * from libraries, of the innermost frame.
 */
KWHY_MUST_USE enum kwhy_status kwhy_kineto_source_of_stack(struct kwhy_kineto_file *file, const char *bytes,
	size_t length, struct kwhy_kineto_source *out, struct kwhy_error *error);

/*
 * In kineto/rows.c: adds an event as a row of the recording. kwhy_kineto_finish() later converts the row's
 * times to the recording's clock, and the device numbers of rows about memory to devices of the recording.
 * KWHY_E_INPUT: the event is unusable and was not added.
 */
KWHY_MUST_USE enum kwhy_status kwhy_kineto_row_add(
	struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event, struct kwhy_error *error);

/*
 * In kineto/meta.c: reads one member of the file's top object. `walk` is before the member's value, which is
 * valid JSON. KWHY_E_INPUT: the value is unusable; the caller adds file and position to the message.
 */
KWHY_MUST_USE enum kwhy_status kwhy_kineto_meta_read(struct kwhy_kineto_file *file,
	struct kwhy_kineto_span key, struct kwhy_kineto_walk walk, struct kwhy_error *error);

/* In kineto/groups.c: functions for the ranks of a merged file. */
void kwhy_kineto_groups_done(struct kwhy_kineto_groups *groups);
/* A hash of a text, for a process or thread that an event names by a text in place of a number. */
int64_t kwhy_kineto_text_key(const char *bytes, size_t length);
/*
 * Reads the process or device that `field` of an event names, and the group (rank) of the event; adds the
 * group if it is new.
 */
KWHY_MUST_USE enum kwhy_status kwhy_kineto_place_read(struct kwhy_kineto_file *file,
	const struct kwhy_kineto_event *event, enum kwhy_kineto_field field, struct kwhy_kineto_place *out,
	struct kwhy_error *error);
uint32_t kwhy_kineto_group_process(const struct kwhy_kineto_file *file, uint32_t group);
uint32_t kwhy_kineto_group_of(const struct kwhy_kineto_file *file, uint32_t process);
/*
 * Sets the ranks of the processes and devices of all groups: the ranks that the file states, or, if these are
 * missing or not unique, the groups' order of appearance.
 */
KWHY_MUST_USE enum kwhy_status kwhy_kineto_groups_finish(
	struct kwhy_kineto_file *file, struct kwhy_error *error);

/*
 * Member `c` of a key in the map `devices` says what the key's member `a` is: the device's number, or the
 * number of the process by which a trace of unitrace represents the device.
 */
enum { KWHY_KINETO_DEVICE_BY_NUMBER, KWHY_KINETO_DEVICE_BY_PROCESS };

/*
 * In kineto/ids.c. These functions set *out to the recording's index of a device, stream or thread that an
 * event names, and add it if it is new.
 */
KWHY_MUST_USE enum kwhy_status kwhy_kineto_device(struct kwhy_kineto_file *file, struct kwhy_track_key key,
	int64_t index, uint32_t *out, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_kineto_stream(struct kwhy_kineto_file *file,
	const struct kwhy_stream *stream, uint32_t *out, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_kineto_find_stream(struct kwhy_kineto_file *file,
	const struct kwhy_kineto_event *event, uint32_t *out, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_kineto_find_thread(struct kwhy_kineto_file *file,
	const struct kwhy_kineto_event *event, uint32_t *out, struct kwhy_error *error);

/*
 * In kineto/rows.c: functions shared by the readers of several kinds of events. kwhy_kineto_unusable() fails
 * with KWHY_E_INPUT and a message that names the event's position, the field and `why`.
 */
enum kwhy_status kwhy_kineto_unusable(const struct kwhy_kineto_file *file,
	const struct kwhy_kineto_event *event, enum kwhy_kineto_field field, const char *why,
	struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_kineto_read_times(struct kwhy_kineto_file *file,
	const struct kwhy_kineto_event *event, int64_t *start_ns, int64_t *end_ns, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_kineto_read_name(struct kwhy_kineto_file *file,
	const struct kwhy_kineto_event *event, uint32_t *out, struct kwhy_error *error);
/* Adds an activity; one whose start and end are both 0 has no times and is only counted. */
KWHY_MUST_USE enum kwhy_status kwhy_kineto_add_activity(
	struct kwhy_kineto_file *file, const struct kwhy_activity *row, struct kwhy_error *error);

/*
 * In kineto/labels.c: names of processes and threads. With `thread`, the functions are about the thread of an
 * event, otherwise about its process. kwhy_kineto_label() gives NULL if it has no name.
 */
void kwhy_kineto_labels_done(struct kwhy_kineto_labels *labels);
KWHY_MUST_USE enum kwhy_status kwhy_kineto_label_add(
	struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event, struct kwhy_error *error);
const char *kwhy_kineto_label(
	struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event, bool thread);
struct kwhy_track_key kwhy_kineto_track_key(const struct kwhy_kineto_event *event, bool thread);

/*
 * In kineto/halves.c: slices of two events, a begin ("ph": "B") and an end ("E"). An end event ends the
 * innermost slice of its thread that has not ended yet; that slice is then added as a row.
 */
void kwhy_kineto_halves_done(struct kwhy_kineto_halves *halves);
KWHY_MUST_USE enum kwhy_status kwhy_kineto_half_add(
	struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event, struct kwhy_error *error);

/* In kineto/by_track.c and kineto/unitrace.c: add an event that another profiler than Kineto wrote. */
KWHY_MUST_USE enum kwhy_status kwhy_kineto_by_track_add(
	struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_kineto_unitrace_add(
	struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event, struct kwhy_error *error);

/*
 * In kineto/unknown.c: kwhy_kineto_unknown_add() counts an event that is not understood under the name
 * `text`; kwhy_kineto_unknown_list() lists the three most frequent names with their counts.
 */
KWHY_MUST_USE enum kwhy_status kwhy_kineto_unknown_add(
	struct kwhy_kineto_file *file, const char *text, size_t length, struct kwhy_error *error);
void kwhy_kineto_unknown_list(const struct kwhy_kineto_file *file, struct kwhy_text *out);

/* In kineto/finish.c: sets clock, ranks, devices and notes when the whole file has been read. */
KWHY_MUST_USE enum kwhy_status kwhy_kineto_finish(struct kwhy_kineto_file *file, struct kwhy_error *error);

/* In kineto/notes.c: adds notes on what this file does not show and on what is unusual in it. */
KWHY_MUST_USE enum kwhy_status kwhy_kineto_notes(struct kwhy_kineto_file *file, struct kwhy_error *error);

#endif
