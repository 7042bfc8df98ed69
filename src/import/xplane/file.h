/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_XPLANE_FILE_H
#define KWHY_IMPORT_XPLANE_FILE_H

#include "import/collectives.h"
#include "import/import.h"
#include "import/protobuf/stream.h"
#include "import/tracks.h"

/*
 * This header declares what the files in xplane/ share while they read an XSpace, the file that XLA's
 * profiler writes (<host>.xplane.pb). It has planes, a plane has lines, and a line has events. Each plane
 * also has tables of names and keys, which come after its lines, so the file is read twice: first the tables,
 * then the events.
 */

/* What a plane contains. */
enum kwhy_xplane_kind {
	KWHY_XPLANE_OTHER, /* content that is not read, such as metadata and counters */
	KWHY_XPLANE_GPU,
	KWHY_XPLANE_HOST,
	KWHY_XPLANE_UNKNOWN, /* a device of an unknown kind; its events are only counted */
};

/* The values (XStat) of events and planes that are read, with their keys in the file. */
#define KWHY_XPLANE_STATS(X)                 \
	X(CORRELATION, "correlation_id")     \
	X(KERNEL_DETAILS, "kernel_details")  \
	X(COPY_DETAILS, "memcpy_details")    \
	X(SET_DETAILS, "memset_details")     \
	X(STEP, "step_num")                  \
	X(START_TIME, "profile_start_time")  \
	X(VENDOR, "device_vendor")           \
	X(DEVICE_TYPE, "device_type_string") \
	X(CORES, "core_count")               \
	X(MEMORY_RATE, "memory_bandwidth")   \
	X(MEMORY_SIZE, "memory_size")        \
	X(MAJOR, "compute_cap_major")        \
	X(MINOR, "compute_cap_minor")

enum kwhy_xplane_stat {
#define X(name, text) KWHY_XPLANE_STAT_##name,
	KWHY_XPLANE_STATS(X)
#undef X
		KWHY_XPLANE_STAT_COUNT
};

/*
 * An entry of a plane's table of keys (XStatMetadata). A value (XStat) states its key as the id of an entry;
 * if its content is a text, it may state the id of another entry that has the text.
 */
struct kwhy_xplane_text {
	const char *text; /* in the recording's arena */
	enum kwhy_xplane_stat stat;
};

struct kwhy_xplane_line {
	int64_t id, timestamp_ns;
	uint32_t name; /* id in the recording's names; KWHY_NONE: the line has no name */
	uint64_t events;
};

struct kwhy_xplane_plane {
	enum kwhy_xplane_kind kind;
	uint32_t name; /* id in the recording's names; KWHY_NONE: not read yet */
	int32_t gpu;
	uint32_t device; /* the device in the recording, for a GPU's plane; KWHY_NONE: not added yet, or the
			    plane is not a GPU's */
	struct kwhy_device facts;
	size_t first_line, line_count; /* the plane's lines in file->lines */
	struct kwhy_track_map
		names; /* from the ids of the plane's event metadata to ids in the recording's names */
	struct kwhy_track_map texts; /* from the ids of the plane's keys to indices in file->texts */
};

struct kwhy_xplane_counts {
	uint64_t events, derived, unknown, unnamed, copies_without_bytes;
};

struct kwhy_xplane_file {
	struct kwhy_recording *recording;
	const char *path; /* in the recording's arena */
	bool partial, cut;
	struct kwhy_collectives *collectives;
	struct kwhy_tracks tracks;
	struct kwhy_xplane_plane *planes;
	struct kwhy_xplane_line *lines;
	struct kwhy_xplane_text *texts;
	size_t plane_count, plane_capacity, line_count, line_capacity, text_count, text_capacity;
	int64_t start_unix_ns; /* start of the profile; 0: not stated */
	int64_t shift_ns; /* added to a time of the file, gives the time since the recording's origin, ns */
	uint32_t process, unknown_plane;
	struct kwhy_xplane_counts counts;
};

/* One value (XStat) of an event or plane: its key, and a number or a text. */
struct kwhy_xplane_value {
	enum kwhy_xplane_stat stat;
	uint64_t number;
	const char *text;
	size_t length;
};

/* First pass over the file, in xplane/tables.c: reads planes, lines and tables. */
KWHY_MUST_USE enum kwhy_status kwhy_xplane_read_tables(
	struct kwhy_xplane_file *file, struct kwhy_protobuf_stream *stream, struct kwhy_error *error);
/*
 * Reads a value (XStat), looking up its key and text in the tables of its plane. False: the message is
 * damaged.
 */
bool kwhy_xplane_value_read(struct kwhy_xplane_file *file, struct kwhy_xplane_plane *plane,
	struct kwhy_protobuf_message message, struct kwhy_xplane_value *out);

/* Second pass over the file, in xplane/rows.c: reads the events. */
KWHY_MUST_USE enum kwhy_status kwhy_xplane_read_rows(
	struct kwhy_xplane_file *file, struct kwhy_protobuf_stream *stream, struct kwhy_error *error);

/* Field numbers of the messages in tsl/profiler/protobuf/xplane.proto. */
enum {
	KWHY_XSPACE_PLANES = 1,
	KWHY_XPLANE_ID = 1,
	KWHY_XPLANE_NAME = 2,
	KWHY_XPLANE_LINES = 3,
	KWHY_XPLANE_EVENT_METADATA = 4,
	KWHY_XPLANE_STAT_METADATA = 5,
	KWHY_XPLANE_VALUES = 6,
	KWHY_XLINE_ID = 1,
	KWHY_XLINE_NAME = 2,
	KWHY_XLINE_TIMESTAMP_NS = 3,
	KWHY_XLINE_EVENTS = 4,
	KWHY_XEVENT_METADATA_ID = 1,
	KWHY_XEVENT_OFFSET_PS = 2,
	KWHY_XEVENT_DURATION_PS = 3,
	KWHY_XEVENT_VALUES = 4,
	KWHY_XEVENT_OCCURRENCES = 5,
	KWHY_XSTAT_METADATA_ID = 1,
	KWHY_XSTAT_DOUBLE = 2,
	KWHY_XSTAT_UINT64 = 3,
	KWHY_XSTAT_INT64 = 4,
	KWHY_XSTAT_TEXT = 5,
	KWHY_XSTAT_REFERENCE = 7,
	KWHY_XMETADATA_ID = 1,
	KWHY_XMETADATA_NAME = 2,
	KWHY_MAP_KEY = 1,
	KWHY_MAP_VALUE = 2,
};

#endif
