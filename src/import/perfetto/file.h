/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_PERFETTO_FILE_H
#define KWHY_IMPORT_PERFETTO_FILE_H

#include "import/collectives.h"
#include "import/import.h"
#include "import/protobuf/stream.h"
#include "import/tracks.h"

/*
 * A Perfetto trace: packets, which state tracks, clocks and slices on tracks. A track's name may come after
 * the slices on the track, so the file is read twice: first tracks and clocks, then slices. Packets come in
 * sequences. Each sequence numbers its texts, which Perfetto calls interning; a number is valid only in its
 * sequence.
 */

/* Field numbers of protos/perfetto/trace/. */
enum {
	KWHY_PERFETTO_PACKET = 1,

	KWHY_PACKET_TRUSTED_UID = 3, /* field that the tracing service adds */
	KWHY_PACKET_CLOCK_SNAPSHOT = 6,
	KWHY_PACKET_TIMESTAMP = 8,
	KWHY_PACKET_SEQUENCE = 10,
	KWHY_PACKET_TRACK_EVENT = 11,
	KWHY_PACKET_INTERNED = 12,
	KWHY_PACKET_RENDER_STAGE = 53,
	KWHY_PACKET_CLOCK = 58,
	KWHY_PACKET_DEFAULTS = 59,
	KWHY_PACKET_TRACK = 60,

	KWHY_DEFAULTS_TRACK_EVENT = 11,
	KWHY_TRACK_EVENT_DEFAULTS_TRACK = 11, /* this field is inside the message of the field before it */
	KWHY_DEFAULTS_CLOCK = 58,

	KWHY_SNAPSHOT_CLOCK = 1,
	KWHY_CLOCK_ID = 1,
	KWHY_CLOCK_TIME = 2,
	KWHY_CLOCK_INCREMENTAL = 3,
	KWHY_CLOCK_MULTIPLIER = 4,

	KWHY_TRACK_UUID = 1,
	KWHY_TRACK_NAME = 2,
	KWHY_TRACK_PROCESS = 3,
	KWHY_TRACK_THREAD = 4,
	KWHY_TRACK_PARENT = 5,
	KWHY_TRACK_COUNTER = 8,
	KWHY_TRACK_STATIC_NAME = 10,
	KWHY_TRACK_PROCESS_PID = 1,
	KWHY_TRACK_THREAD_PID = 1,
	KWHY_TRACK_THREAD_TID = 2,

	KWHY_EVENT_DELTA_US = 1,
	KWHY_EVENT_CATEGORY_IIDS = 3,
	KWHY_EVENT_ANNOTATIONS = 4,
	KWHY_EVENT_TYPE = 9,
	KWHY_EVENT_NAME_IID = 10,
	KWHY_EVENT_TRACK = 11,
	KWHY_EVENT_ABSOLUTE_US = 16,
	KWHY_EVENT_CATEGORIES = 22,
	KWHY_EVENT_NAME = 23,

	KWHY_ANNOTATION_NAME_IID = 1,
	KWHY_ANNOTATION_UINT = 3,
	KWHY_ANNOTATION_INT = 4,
	KWHY_ANNOTATION_DOUBLE = 5,
	KWHY_ANNOTATION_TEXT = 6,
	KWHY_ANNOTATION_NAME = 10,
	KWHY_ANNOTATION_TEXT_IID = 17,

	KWHY_INTERNED_CATEGORIES = 1,
	KWHY_INTERNED_NAMES = 2,
	KWHY_INTERNED_ANNOTATIONS = 3,
	KWHY_INTERNED_STAGES = 24,
	KWHY_INTERNED_TEXTS = 29,
	KWHY_INTERNED_IID = 1,
	KWHY_INTERNED_TEXT = 2,

	KWHY_STAGE_DURATION = 2,
	KWHY_STAGE_EXTRA = 6,
	KWHY_STAGE_GPU = 11,
	KWHY_STAGE_QUEUE_IID = 13,
	KWHY_STAGE_IID = 14,
	KWHY_STAGE_NAME = 17,
	KWHY_STAGE_NAME_IID = 20,
	KWHY_EXTRA_NAME = 1,
	KWHY_EXTRA_VALUE = 2,
};

/* What an event is, by its category. */
enum kwhy_perfetto_role {
	KWHY_PERFETTO_UNKNOWN,
	KWHY_PERFETTO_OTHER, /* kwhy understands the event but does not need it */
	KWHY_PERFETTO_KERNEL,
	KWHY_PERFETTO_COLLECTIVE,
	KWHY_PERFETTO_GRAPH,
	KWHY_PERFETTO_COPY,
	KWHY_PERFETTO_MEMSET,
	KWHY_PERFETTO_STREAM, /* a kernel; a copy if an annotation names an agent that it copies to */
	KWHY_PERFETTO_CALL,
	KWHY_PERFETTO_RANGE,
	KWHY_PERFETTO_OPERATOR,
	KWHY_PERFETTO_ROW, /* a row of a table of the recording, which kwhy export writes */
};

/* Annotations that are read; kwhy, rocprofv3 and rocprof-sys have different names for them. */
enum kwhy_perfetto_key {
	KWHY_KEY_DEVICE,
	KWHY_KEY_STREAM,
	KWHY_KEY_STREAM_ROW,
	KWHY_KEY_PROCESS_ROW,
	KWHY_KEY_THREAD_ROW,
	KWHY_KEY_DEVICE_ROW,
	KWHY_KEY_CONTEXT,
	KWHY_KEY_PID,
	KWHY_KEY_TID,
	KWHY_KEY_RANK,
	KWHY_KEY_WORLD_SIZE,
	KWHY_KEY_SMS,
	KWHY_KEY_THREADS_PER_SM,
	KWHY_KEY_REGISTERS_PER_SM,
	KWHY_KEY_SHARED_PER_SM,
	KWHY_KEY_COMPUTE,
	KWHY_KEY_CORRELATION,
	KWHY_KEY_BYTES,
	KWHY_KEY_BLOCKS,
	KWHY_KEY_THREADS,
	KWHY_KEY_WORK_ITEMS,
	KWHY_KEY_REGISTERS,
	KWHY_KEY_SHARED,
	KWHY_KEY_NODE,
	KWHY_KEY_COPY_KIND,
	KWHY_KEY_SOURCE,
	KWHY_KEY_TARGET,
	KWHY_KEY_PEER,
	KWHY_KEY_AGENT,
	KWHY_KEY_TARGET_AGENT,
	KWHY_KEY_NAME,
	KWHY_KEY_KIND,
	KWHY_KEY_FILE,
	KWHY_KEY_LINE,
	KWHY_KEY_INPUTS,
	KWHY_KEY_UUID,
	KWHY_KEY_PCI,
	KWHY_KEY_HOST,
	KWHY_KEY_COUNT
};

struct kwhy_perfetto_track {
	uint64_t uuid, parent;
	uint32_t name;	  /* a name of the recording; KWHY_NONE: the track has no name */
	int64_t pid, tid; /* -1: the track does not belong to a thread */
	bool is_counter;
	/* The recording's stream or thread for slices that state neither; KWHY_NONE: not added yet. */
	uint32_t row;
	uint32_t open; /* index of the innermost open slice; KWHY_NONE: no slice is open */
};

/* The name of an argument of a render stage, and its key. */
enum { KWHY_PERFETTO_EXTRAS = 16 };

struct kwhy_perfetto_extra {
	char name[32];
	size_t length; /* of the name, bytes; 0: none is stored */
	enum kwhy_perfetto_key key;
};

/* Relation of a sequence's clock to the clock of the trace, in nanoseconds. */
struct kwhy_perfetto_clock {
	int64_t at, trace_ns; /* times of this clock and of the trace's clock at the same snapshot */
	int64_t multiplier, now;
	bool incremental;
};

/* A slice that has begun and not ended. */
struct kwhy_perfetto_slice {
	int64_t start_ns;
	uint32_t name, category, outer;
	uint64_t seen;			/* bit i is set if value[i] is known */
	uint64_t texts;			/* bit i is set if value[i] is the id of a name in the recording */
	uint64_t value[KWHY_KEY_COUNT]; /* by enum kwhy_perfetto_key: a number, or the id of a name in the
					   recording */
};

struct kwhy_perfetto_counts {
	uint64_t packets, events, unpaired, clockless, unknown;
};

struct kwhy_perfetto_file {
	struct kwhy_recording *recording;
	const char *path;
	bool partial, cut, chooses_clock, unix_clock;
	struct kwhy_collectives *collectives;
	struct kwhy_tracks tracks;
	struct kwhy_perfetto_track *items;
	struct kwhy_perfetto_slice *slices;
	struct kwhy_perfetto_clock *clocks;
	uint8_t *roles, *keys; /* role and key of each name, plus 1; 0: not looked up yet */
	size_t item_count, item_capacity, slice_count, slice_capacity, clock_count, clock_capacity,
		role_capacity, key_capacity;
	uint32_t free_slice;
	struct kwhy_track_map by_uuid, by_clock, interned, by_row, devices, defaults;
	struct kwhy_perfetto_extra extras[KWHY_PERFETTO_EXTRAS];
	int64_t unix_less_trace_ns; /* Unix time minus the trace's clock; 0: no snapshot states both clocks */
	uint32_t process, unknown_category;
	size_t first_activity, slice_events,
		stages; /* slice_events and stages are counted in the first pass */
	struct kwhy_perfetto_counts counts;
};

/* The fields of a packet that are read. */
struct kwhy_perfetto_packet {
	uint64_t sequence, clock;
	bool has_clock, has_time;
	int64_t time;
	struct kwhy_protobuf_message event, interned, snapshot, stage, track, defaults;
};

/* In perfetto/packets.c: reads tracks, clocks and interned texts, and makes both passes over the packets. */
KWHY_MUST_USE enum kwhy_status kwhy_perfetto_read_tracks(
	struct kwhy_perfetto_file *file, struct kwhy_protobuf_stream *stream, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_perfetto_read_events(
	struct kwhy_perfetto_file *file, struct kwhy_protobuf_stream *stream, struct kwhy_error *error);
/* Fails because a message of the packet that is read breaks the rules of protocol buffers. */
KWHY_MUST_USE enum kwhy_status kwhy_perfetto_fail_damaged(
	const struct kwhy_perfetto_file *file, struct kwhy_error *error);
/*
 * The track of events that name no track: the default track of their sequence or, if it has none, a track
 * that stands for the sequence.
 */
uint64_t kwhy_perfetto_default_track(struct kwhy_perfetto_file *file, uint64_t sequence);
struct kwhy_perfetto_track *kwhy_perfetto_track_find(struct kwhy_perfetto_file *file, uint64_t uuid);
KWHY_MUST_USE enum kwhy_status kwhy_perfetto_track_add(struct kwhy_perfetto_file *file, uint64_t uuid,
	struct kwhy_perfetto_track **out, struct kwhy_error *error);
/*
 * The name of the recording for the text that a sequence interned under number `iid`; KWHY_NONE: no such
 * text.
 */
uint32_t kwhy_perfetto_interned(
	struct kwhy_perfetto_file *file, uint64_t sequence, unsigned table, uint64_t iid);
KWHY_MUST_USE enum kwhy_status kwhy_perfetto_intern(struct kwhy_perfetto_file *file,
	struct kwhy_protobuf_message text, uint32_t *out, struct kwhy_error *error);

/* In perfetto/events.c: adds slices, counters and render stages. */
KWHY_MUST_USE enum kwhy_status kwhy_perfetto_event_add(
	struct kwhy_perfetto_file *file, const struct kwhy_perfetto_packet *packet, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_perfetto_stage_add(
	struct kwhy_perfetto_file *file, const struct kwhy_perfetto_packet *packet, struct kwhy_error *error);

/* In perfetto/rows.c: adds a slice that has ended as a row of the recording. A missing name becomes "". */
KWHY_MUST_USE enum kwhy_status kwhy_perfetto_slice_add(struct kwhy_perfetto_file *file,
	struct kwhy_perfetto_slice *slice, uint64_t track, int64_t end_ns, struct kwhy_error *error);
/* Adds a row of a table that kwhy export wrote. */
KWHY_MUST_USE enum kwhy_status kwhy_perfetto_row_add(
	struct kwhy_perfetto_file *file, const struct kwhy_perfetto_slice *row, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_perfetto_role_of(struct kwhy_perfetto_file *file, uint32_t category,
	enum kwhy_perfetto_role *out, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_perfetto_key_of(struct kwhy_perfetto_file *file, uint32_t name,
	enum kwhy_perfetto_key *out, struct kwhy_error *error);

#endif
