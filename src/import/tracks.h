/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_TRACKS_H
#define KWHY_IMPORT_TRACKS_H

#include "base/map.h"
#include "model/recording.h"

/*
 * A map from keys of up to three numbers to an index. Zero-initialise; end with kwhy_track_map_done(). Not
 * safe for several threads, even to read: finding a key changes the map.
 */
struct kwhy_track_key {
	int64_t a, b, c;
};

/*
 * Number of slots of a small cache in front of the map, because traces look up few keys many times. Each slot
 * holds the key that was looked up last among those that belong to the slot.
 */
enum { KWHY_TRACK_RECENT = 64 };

struct kwhy_track_recent {
	struct kwhy_track_key key;
	uint32_t value;
	bool known;
};

struct kwhy_track_map {
	struct kwhy_map map;
	struct kwhy_track_recent recent[KWHY_TRACK_RECENT];
};

void kwhy_track_map_done(struct kwhy_track_map *map);
bool kwhy_track_map_find(struct kwhy_track_map *map, struct kwhy_track_key key, uint32_t *out_value);
KWHY_MUST_USE enum kwhy_status kwhy_track_map_put(
	struct kwhy_track_map *map, struct kwhy_track_key key, uint32_t value, struct kwhy_error *error);

/*
 * The devices, processes, threads and streams of a trace while it is read. Each kwhy_tracks_...() function
 * below finds the recording's object with the given numbers, adds it if it is new, and sets *out to its
 * index. Two devices are the same if their indices and ranks are equal and their machines are equal or one is
 * unknown, so several traces may have a device in common. A trace with more than KWHY_TRACKS_MAX objects of a
 * kind is refused, so that a malicious file cannot exhaust memory. Set recording, path and source, and the
 * other members to zero; end with kwhy_tracks_done().
 */
#define KWHY_TRACKS_MAX 65536

struct kwhy_tracks {
	struct kwhy_recording *recording;
	const char *path; /* path of the trace, for error messages */
	uint32_t source;  /* the trace's index among the recording's sources */
	struct kwhy_track_map devices, processes, threads, streams;
};

struct kwhy_track_device {
	int32_t index;
	uint32_t rank, machine; /* KWHY_NONE: unknown */
};

/* What kwhy_trace_begin() adds to the recording. */
struct kwhy_trace_begun {
	const char *path; /* in the recording's arena */
	uint32_t source, process;
};

/*
 * Adds to the recording a source, with the members of `source` and the path, and a process about which
 * nothing is known yet.
 */
KWHY_MUST_USE enum kwhy_status kwhy_trace_begin(struct kwhy_recording *recording, const char *path,
	struct kwhy_source source, struct kwhy_trace_begun *out, struct kwhy_error *error);

void kwhy_tracks_done(struct kwhy_tracks *tracks);
KWHY_MUST_USE enum kwhy_status kwhy_tracks_device(struct kwhy_tracks *tracks,
	const struct kwhy_track_device *device, uint32_t *out, struct kwhy_error *error);
/*
 * `key` distinguishes the processes of the trace: processes of different machines may have the same pid. pid
 * -1: unknown.
 */
KWHY_MUST_USE enum kwhy_status kwhy_tracks_process(
	struct kwhy_tracks *tracks, int64_t key, int64_t pid, uint32_t *out, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_tracks_thread(struct kwhy_tracks *tracks,
	const struct kwhy_thread *thread, uint32_t *out, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_tracks_stream(struct kwhy_tracks *tracks,
	const struct kwhy_stream *stream, uint32_t *out, struct kwhy_error *error);

/*
 * Copies the first 1 KiB of a text, made valid UTF-8 without control characters; the copy lives as long as
 * the recording. NULL: memory is exhausted.
 */
const char *kwhy_tracks_text(struct kwhy_tracks *tracks, const char *bytes, size_t length);

/* A device about which only index and rank are known. */
struct kwhy_device kwhy_device_unknown(int32_t index, uint32_t rank);

/*
 * Kind of a range by its name: "ProfilerStep#12", "step 3" and "Step_3" are steps; other names have the kind
 * `otherwise`.
 */
enum kwhy_range_kind kwhy_range_kind_of(const char *name, enum kwhy_range_kind otherwise);

#endif
