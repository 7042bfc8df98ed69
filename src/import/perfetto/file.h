/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_PERFETTO_FILE_H
#define KWHY_IMPORT_PERFETTO_FILE_H

#include "import/collectives.h"
#include "import/import.h"
#include "import/protobuf/stream.h"
#include "import/tracks.h"

/*
 * This header declares what the files in perfetto/ share while they read a Perfetto trace. A trace is a row
 * of packets, which state tracks, clocks, and slices on tracks. The name of a track may come after the slices
 * on it, so the file is read twice: first for tracks, then for slices. Each packet belongs to a sequence. A
 * sequence numbers its texts ("interning"); such a number is valid only in its sequence.
 */

/*
 * Field numbers of the messages in protos/perfetto/trace/ of Perfetto: KWHY_PACKET_TIMESTAMP is the field
 * timestamp of TracePacket, and so on.
 */
enum {
	KWHY_PERFETTO_PACKET = 1,

	KWHY_PACKET_TRUSTED_UID = 3, /* added by the tracing service */
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
	KWHY_TRACK_EVENT_DEFAULTS_TRACK = 11, /* a field inside the message KWHY_DEFAULTS_TRACK_EVENT */
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

/* What a slice is, by its category. */
enum kwhy_perfetto_role {
	KWHY_PERFETTO_UNKNOWN,
	KWHY_PERFETTO_OTHER, /* known, but not needed */
	KWHY_PERFETTO_KERNEL,
	KWHY_PERFETTO_COLLECTIVE,
	KWHY_PERFETTO_GRAPH,
	KWHY_PERFETTO_COPY,
	KWHY_PERFETTO_MEMSET,
	KWHY_PERFETTO_STREAM, /* a copy if the slice states an agent to copy to, otherwise a kernel */
	KWHY_PERFETTO_CALL,
	KWHY_PERFETTO_RANGE,
	KWHY_PERFETTO_OPERATOR,
	KWHY_PERFETTO_ROW, /* a row of the table of devices, processes, threads or streams, which kwhy export
			      writes as an event */
};

/* The annotations that are read. kwhy export, rocprofv3 and rocprof-sys name them differently. */
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
	/*
	 * The recording's stream or thread for slices on this track that name neither; KWHY_NONE: not added
	 * yet.
	 */
	uint32_t row;
	uint32_t open; /* index of the innermost slice on the track that has begun and not yet ended;
			  KWHY_NONE: there is none */
};

/*
 * The name of an argument of a render stage and the key that belongs to it. kwhy_perfetto_file.extras has one
 * for each place in a stage's list of arguments, modulo KWHY_PERFETTO_EXTRAS.
 */
enum { KWHY_PERFETTO_EXTRAS = 16 };

struct kwhy_perfetto_extra {
	char name[32];
	size_t length; /* of the name, bytes; 0: none is stored */
	enum kwhy_perfetto_key key;
};

/*
 * Relation of another clock of the file, often that of one sequence, to the trace's clock, BOOTTIME: trace_ns
 * + (time - at) * multiplier. If `incremental`, packets state the time since the packet before on this clock;
 * `now` is the sum of these times.
 */
struct kwhy_perfetto_clock {
	int64_t at,
		trace_ns; /* times of this clock, in its own unit, and of the trace's clock in one snapshot */
	int64_t multiplier, now;
	bool incremental;
};

/* A slice that has begun and not ended. `outer`: index of the slice around it on the track, or KWHY_NONE. */
struct kwhy_perfetto_slice {
	int64_t start_ns;
	uint32_t name, category, outer;
	uint64_t seen;			/* bit i is set if value[i] is known */
	uint64_t texts;			/* bit i is set if value[i] is the id of a name in the recording */
	uint64_t value[KWHY_KEY_COUNT]; /* index: enum kwhy_perfetto_key; a number, or the id of a name in the
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
	uint8_t *roles, *keys; /* for each name of the recording, its role as a category or its key as an
				  annotation, plus 1; 0: not looked up yet */
	size_t item_count, item_capacity, slice_count, slice_capacity, clock_count, clock_capacity,
		role_capacity, key_capacity;
	uint32_t free_slice;
	struct kwhy_track_map by_uuid, by_clock, interned, by_row, devices, defaults;
	struct kwhy_perfetto_extra extras[KWHY_PERFETTO_EXTRAS];
	int64_t unix_less_trace_ns; /* Unix time minus the trace's clock, ns; 0: no snapshot states both */
	uint32_t process, unknown_category;
	size_t first_activity, slice_events,
		stages; /* slice_events, stages: number of packets with a track event, and number of packets
			   with a render stage; both are counted in the first pass */
	struct kwhy_perfetto_counts counts;
};

/* The fields of a packet that are read. A message whose `at` is NULL is missing. */
struct kwhy_perfetto_packet {
	uint64_t sequence, clock;
	bool has_clock, has_time;
	int64_t time;
	struct kwhy_protobuf_message event, interned, snapshot, stage, track, defaults;
};

/*
 * In perfetto/packets.c: make the two passes over the packets. kwhy_perfetto_read_tracks() reads tracks;
 * kwhy_perfetto_read_events() reads clocks, interned texts, slices and stages.
 */
KWHY_MUST_USE enum kwhy_status kwhy_perfetto_read_tracks(
	struct kwhy_perfetto_file *file, struct kwhy_protobuf_stream *stream, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_perfetto_read_events(
	struct kwhy_perfetto_file *file, struct kwhy_protobuf_stream *stream, struct kwhy_error *error);
/* Fails with KWHY_E_INPUT: the current packet is not valid in the encoding of protocol buffers. */
KWHY_MUST_USE enum kwhy_status kwhy_perfetto_fail_damaged(
	const struct kwhy_perfetto_file *file, struct kwhy_error *error);
/*
 * The track of events that state none: the default track of their sequence or, if it has none, ~sequence, a
 * track of the sequence's own.
 */
uint64_t kwhy_perfetto_default_track(struct kwhy_perfetto_file *file, uint64_t sequence);
struct kwhy_perfetto_track *kwhy_perfetto_track_find(struct kwhy_perfetto_file *file, uint64_t uuid);
KWHY_MUST_USE enum kwhy_status kwhy_perfetto_track_add(struct kwhy_perfetto_file *file, uint64_t uuid,
	struct kwhy_perfetto_track **out, struct kwhy_error *error);
/*
 * The id of the name in the recording for text number `iid` of a sequence, in the interning table `table`
 * (KWHY_INTERNED_...); KWHY_NONE: no such text.
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

/*
 * In perfetto/rows.c: adds a slice that has ended at end_ns as a row of the recording: an activity, a call, a
 * range or an operator, by its category.
 */
KWHY_MUST_USE enum kwhy_status kwhy_perfetto_slice_add(struct kwhy_perfetto_file *file,
	struct kwhy_perfetto_slice *slice, uint64_t track, int64_t end_ns, struct kwhy_error *error);
/* Adds a device, process, thread or stream that kwhy export wrote as an event; other events are ignored. */
KWHY_MUST_USE enum kwhy_status kwhy_perfetto_row_add(
	struct kwhy_perfetto_file *file, const struct kwhy_perfetto_slice *row, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_perfetto_role_of(struct kwhy_perfetto_file *file, uint32_t category,
	enum kwhy_perfetto_role *out, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_perfetto_key_of(struct kwhy_perfetto_file *file, uint32_t name,
	enum kwhy_perfetto_key *out, struct kwhy_error *error);

#endif
