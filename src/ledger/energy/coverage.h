/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_COVERAGE_H
#define KWHY_LEDGER_ENERGY_COVERAGE_H

#include "base/status.h"
#include "model/recording.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kwhy_window {
	int64_t start_ns, end_ns;
};

/*
 * Time in which everything that ran on a device is known: the coverage that the recording states, or else one
 * window around all activities and calls. Windows are disjoint, not empty and in order. The ledger accounts
 * for the energy of the hull. The hull reaches from the start of the first window to the end of the last; if
 * only a part of the run was chosen, it is all the time in which windows could lie. Time of the hull outside
 * of all windows is unrecorded: its energy was metered, but it is not known what ran.
 */
struct kwhy_covered {
	struct kwhy_window *windows, *unrecorded;
	size_t count, unrecorded_count;
	struct kwhy_window *probing; /* parts of the unrecorded time in which a probe was running (probing.h);
					NULL: no probe ran */
	size_t probing_count;
	bool is_in_windows; /* the recording has gaps; false: unrecorded time, if any, is only that of a probe
			     */
	struct kwhy_window hull;
	enum kwhy_choice choice;
	bool is_all_idle; /* no activity ran on any device */
};

KWHY_MUST_USE enum kwhy_status kwhy_covered_init(struct kwhy_covered *covered,
	const struct kwhy_recording *recording, uint32_t device, struct kwhy_error *error);
void kwhy_covered_done(struct kwhy_covered *covered);

/* Removes intervals, which are disjoint and in order, from the windows. */
KWHY_MUST_USE enum kwhy_status kwhy_covered_hide(struct kwhy_covered *covered,
	const struct kwhy_window *stretches, size_t count, struct kwhy_error *error);

/* Whether the hull holds all of [start_ns, end_ns]. If nothing ran, whether it holds a part of it. */
bool kwhy_covered_in_hull(const struct kwhy_covered *covered, int64_t start_ns, int64_t end_ns);

/* Time of [start_ns, end_ns) inside windows, ns. O(log windows + windows inside). */
int64_t kwhy_covered_ns(const struct kwhy_covered *covered, int64_t start_ns, int64_t end_ns);

/*
 * Starts and ends of the windows, in order, and the ends of the hull, so that some times occur twice: [2 *
 * count + 2]. The caller frees the array; NULL: out of memory.
 */
int64_t *kwhy_covered_edges(const struct kwhy_covered *covered);

/* Whether a single window holds all of [start_ns, end_ns]. O(log windows). */
bool kwhy_covered_holds(const struct kwhy_covered *covered, int64_t start_ns, int64_t end_ns);

#endif
