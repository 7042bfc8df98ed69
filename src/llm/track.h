/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_TRACK_H
#define KWHY_LLM_TRACK_H

#include "llm/scrape.h"

#include <stdint.h>

/*
 * The total energy of a server's GPUs, from successive scrapes of kwhy serve. A scrape gives the sum of the
 * counters at some moment between `early_ns` and `late_ns`. These bounds follow from the times at which the
 * request was sent and answered: kwhy serve may answer with readings that it took up to
 * KWHY_LLM_TRACK_FRESH_NS before the request, and a meter's value may be older than the moment at which it
 * was read; the response reports this age. Counters never fall. So the sum at a given moment is at least the
 * sum of the last scrape that is certainly before this moment, and at most the sum of the first scrape that
 * is certainly after it. Times are of CLOCK_MONOTONIC. Only one thread may use a track.
 */
/* If its last readings are older than this, in ns, kwhy serve reads its meters again to answer a request. */
#define KWHY_LLM_TRACK_FRESH_NS INT64_C(100000000)

/*
 * Largest age of readings that docs/formats/metrics.md allows; used if kwhy serve does not report the age.
 */
#define KWHY_LLM_TRACK_LAG_NS INT64_C(2000000000)
/*
 * A reading may be older than its reported age by this, in ns, because the driver stamps one in 5 to 12 power
 * samples 4 to 8 ms too late (H200, docs/meters.md).
 */
#define KWHY_LLM_TRACK_STAMP_NS INT64_C(10000000)

struct kwhy_llm_track_point {
	int64_t early_ns, late_ns;
	double joules;
};

struct kwhy_llm_track {
	struct kwhy_llm_scrape_device
		devices[KWHY_LLM_SCRAPE_DEVICES]; /* selected devices, with their joules in the last scrape */
	size_t device_count;
	double started_unix_s;
	struct kwhy_llm_track_point *points;
	size_t count, capacity;
};

/* Energy of a window in joules, and bounds between which it certainly is. */
struct kwhy_llm_track_energy {
	double joules, low_j, high_j;
};

/*
 * Selects devices by their labels, as in "0,2". NULL: all devices that are not lost, except MIG instances,
 * whose energy is part of their GPU's. KWHY_E_USAGE: the list is malformed, names a device twice, or names
 * one without energy in the scrape. KWHY_E_INPUT: no device has an energy. End with kwhy_llm_track_done().
 */
KWHY_MUST_USE enum kwhy_status kwhy_llm_track_begin(struct kwhy_llm_track *track,
	const struct kwhy_llm_scrape *scrape, const char *devices, struct kwhy_error *error);
void kwhy_llm_track_done(struct kwhy_llm_track *track);

/*
 * Adds a scrape, whose request was sent at sent_ns and answered at got_ns. KWHY_E_INPUT: a device is missing
 * or lost, so nothing is added; or a counter fell or kwhy serve was restarted, so all earlier points are
 * dropped and only the point of this scrape remains.
 */
KWHY_MUST_USE enum kwhy_status kwhy_llm_track_add(struct kwhy_llm_track *track,
	const struct kwhy_llm_scrape *scrape, int64_t sent_ns, int64_t got_ns, struct kwhy_error *error);

/* Whether a scrape is known to be from this moment or later. */
bool kwhy_llm_track_reaches(const struct kwhy_llm_track *track, int64_t mono_ns);

/*
 * Gets the energy of a window. false: no scrape is certainly from before its start, or none from after its
 * end.
 */
bool kwhy_llm_track_window(const struct kwhy_llm_track *track, int64_t start_ns, int64_t end_ns,
	struct kwhy_llm_track_energy *out);

/* Drops the points that no window from `start_ns` on needs. */
void kwhy_llm_track_forget(struct kwhy_llm_track *track, int64_t start_ns);

#endif
