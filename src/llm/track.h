/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_TRACK_H
#define KWHY_LLM_TRACK_H

#include "llm/scrape.h"

#include <stdint.h>

/*
 * What a server's GPUs used together, as scrapes show it one after the other. A scrape's joules are of some
 * moment between `early_ns` and `late_ns`: it was asked for and answered then, its answer may be
 * KWHY_LLM_TRACK_FRESH_NS old, and says by how much its readings are older still. Energy never falls, so any
 * moment's lies between that of the scrapes surely before and surely after it. CLOCK_MONOTONIC. One thread.
 */
#define KWHY_LLM_TRACK_FRESH_NS INT64_C(100000000) /* kwhy serve brings up to date what is older */

/* Where a kwhy serve does not tell the age of its readings: docs/monitoring.md has this as the most. */
#define KWHY_LLM_TRACK_LAG_NS INT64_C(500000000)

struct kwhy_llm_track_point {
	int64_t early_ns, late_ns;
	double joules;
};

struct kwhy_llm_track {
	struct kwhy_llm_scrape_device devices[KWHY_LLM_SCRAPE_DEVICES]; /* with their last joules */
	size_t device_count;
	double started_unix_s;
	struct kwhy_llm_track_point *points;
	size_t count, capacity;
};

/* Joules in a window, and what they surely are at least and at most. */
struct kwhy_llm_track_energy {
	double joules, low_j, high_j;
};

/*
 * Which devices: "0,2" as their labels have them; NULL: all but instances, whose devices are counted.
 * KWHY_E_USAGE: one is not among those whose energy the scrape tells. kwhy_llm_track_done() ends it.
 */
KWHY_MUST_USE enum kwhy_status kwhy_llm_track_begin(struct kwhy_llm_track *track,
	const struct kwhy_llm_scrape *scrape, const char *devices, struct kwhy_error *error);
void kwhy_llm_track_done(struct kwhy_llm_track *track);

/*
 * KWHY_E_INPUT: a device is gone, and nothing is added; or counters went back or began anew, and what was
 * before is forgotten.
 */
KWHY_MUST_USE enum kwhy_status kwhy_llm_track_add(struct kwhy_llm_track *track,
	const struct kwhy_llm_scrape *scrape, int64_t sent_ns, int64_t got_ns, struct kwhy_error *error);

/* True once a scrape is surely of that moment or later. */
bool kwhy_llm_track_reaches(const struct kwhy_llm_track *track, int64_t mono_ns);

/* False: no scrape is surely before the start, or none surely after the end. */
bool kwhy_llm_track_window(const struct kwhy_llm_track *track, int64_t start_ns, int64_t end_ns,
	struct kwhy_llm_track_energy *out);

/* Drops what no window from `start_ns` on needs. */
void kwhy_llm_track_forget(struct kwhy_llm_track *track, int64_t start_ns);

#endif
