/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_TRACK_H
#define KWHY_LLM_TRACK_H

#include "llm/scrape.h"

#include <stdint.h>

/*
 * The total energy of a server's GPUs, from successive scrapes. A scrape's joules belong to some moment
 * between `early_ns` and `late_ns`. The request was sent and answered between the two, the response may be
 * KWHY_LLM_TRACK_FRESH_NS old, and it reports how much older its readings are. Energy never falls, so its
 * value at any moment lies between those of the scrapes certainly before and certainly after.
 * CLOCK_MONOTONIC. For one thread.
 */
#define KWHY_LLM_TRACK_FRESH_NS INT64_C(100000000) /* kwhy serve refreshes readings older than this */

/* The age of readings where kwhy serve does not report it: the largest one by docs/monitoring.md. */
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

/* Joules in a window, with certain lower and upper bounds. */
struct kwhy_llm_track_energy {
	double joules, low_j, high_j;
};

/*
 * Selects devices: "0,2" by their labels; NULL: all but instances, whose devices are counted. KWHY_E_USAGE:
 * the scrape reports no energy of a selected device. End with kwhy_llm_track_done().
 */
KWHY_MUST_USE enum kwhy_status kwhy_llm_track_begin(struct kwhy_llm_track *track,
	const struct kwhy_llm_scrape *scrape, const char *devices, struct kwhy_error *error);
void kwhy_llm_track_done(struct kwhy_llm_track *track);

/*
 * Adds a scrape. KWHY_E_INPUT: a device is missing, and nothing is added; or counters fell or restarted, and
 * earlier points are dropped.
 */
KWHY_MUST_USE enum kwhy_status kwhy_llm_track_add(struct kwhy_llm_track *track,
	const struct kwhy_llm_scrape *scrape, int64_t sent_ns, int64_t got_ns, struct kwhy_error *error);

/* Whether a scrape certainly belongs to that moment or a later one. */
bool kwhy_llm_track_reaches(const struct kwhy_llm_track *track, int64_t mono_ns);

/* The energy of a window; false: no scrape is certainly before its start, or none certainly after its end. */
bool kwhy_llm_track_window(const struct kwhy_llm_track *track, int64_t start_ns, int64_t end_ns,
	struct kwhy_llm_track_energy *out);

/* Drops points that no window from `start_ns` on needs. */
void kwhy_llm_track_forget(struct kwhy_llm_track *track, int64_t start_ns);

#endif
