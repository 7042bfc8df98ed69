/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_TRACKS_H
#define KWHY_IMPORT_TRACKS_H

#include "base/map.h"
#include "model/recording.h"

/* Maps up to three numbers to an index. Zero-initialise; end with kwhy_track_map_done(). */
struct kwhy_track_key {
	int64_t a, b, c;
};

struct kwhy_track_map {
	struct kwhy_map map;
	struct kwhy_track_key
		last_key; /* the last answer is kept, because traces ask for the same key repeatedly */
	uint32_t last_value;
	bool last_known;
};

void kwhy_track_map_done(struct kwhy_track_map *map);
bool kwhy_track_map_find(struct kwhy_track_map *map, struct kwhy_track_key key, uint32_t *out_value);
KWHY_MUST_USE enum kwhy_status kwhy_track_map_put(
	struct kwhy_track_map *map, struct kwhy_track_key key, uint32_t value, struct kwhy_error *error);

/*
 * Devices, processes, threads and streams of one trace while it is read. Each call gives the index in the
 * recording of the object with these numbers and adds it when it is new. Two devices are the same when index
 * and rank are equal and their machines do not differ as far as both are known, so several traces of one
 * device share it. More than KWHY_TRACKS_MAX objects of a kind are refused, against hostile files.
 * Zero-initialise all but recording, path and source; end with kwhy_tracks_done().
 */
#define KWHY_TRACKS_MAX 65536

struct kwhy_tracks {
	struct kwhy_recording *recording;
	const char *path; /* for error messages */
	uint32_t source;  /* index into the recording's sources */
	struct kwhy_track_map devices, processes, threads, streams;
};

struct kwhy_track_device {
	int32_t index;
	uint32_t rank, machine; /* KWHY_NONE: unknown */
};

void kwhy_tracks_done(struct kwhy_tracks *tracks);
KWHY_MUST_USE enum kwhy_status kwhy_tracks_device(struct kwhy_tracks *tracks,
	const struct kwhy_track_device *device, uint32_t *out, struct kwhy_error *error);
/* `key` distinguishes processes, because processes of several machines may have one pid. */
KWHY_MUST_USE enum kwhy_status kwhy_tracks_process(
	struct kwhy_tracks *tracks, int64_t key, int64_t pid, uint32_t *out, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_tracks_thread(struct kwhy_tracks *tracks,
	const struct kwhy_thread *thread, uint32_t *out, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_tracks_stream(struct kwhy_tracks *tracks,
	const struct kwhy_stream *stream, uint32_t *out, struct kwhy_error *error);

/* Copies the bytes as clean UTF-8 of at most 1 KiB, which live as long as the recording. NULL: no memory. */
const char *kwhy_tracks_text(struct kwhy_tracks *tracks, const char *bytes, size_t length);

/* A device of which only its index and rank are known. */
struct kwhy_device kwhy_device_unknown(int32_t index, uint32_t rank);

/* Kind of a range by the name that a user gave it: "ProfilerStep#12", "step 3" and "Step_3" are steps. */
enum kwhy_range_kind kwhy_range_kind_of(const char *name, enum kwhy_range_kind otherwise);

#endif
