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
 * Windows of time in which everything that ran on one device is known: the windows that the recording states
 * (coverage); if it states none, one window from the first to the last activity or call. Windows are
 * disjoint, not empty and in order of time.
 *
 * The hull is the time whose energy the ledger accounts for. It lasts from the start of the first window to
 * the end of the last one. If the user had only a part of the run recorded, it also includes all the time
 * from which that part was chosen. Time in the hull and outside of all windows is unrecorded: its energy was
 * metered, but what ran in it is unknown.
 */
struct kwhy_covered {
	struct kwhy_window *windows, *unrecorded;
	size_t count, unrecorded_count;
	struct kwhy_window *probing; /* parts of the unrecorded time in which kwhy probe was at work
					(probing.h); NULL: it was not at work */
	size_t probing_count;
	bool is_in_windows; /* the coverage that the recording states leaves a part of the hull unrecorded;
			       false: the only unrecorded time, if any, is that in which kwhy probe was at
			       work */
	struct kwhy_window hull;
	enum kwhy_choice choice;
	bool is_all_idle; /* the recording has no activity, of any device */
};

KWHY_MUST_USE enum kwhy_status kwhy_covered_init(struct kwhy_covered *covered,
	const struct kwhy_recording *recording, uint32_t device, struct kwhy_error *error);
void kwhy_covered_done(struct kwhy_covered *covered);

/*
 * Removes intervals, which are disjoint and in order of time, from the windows; these intervals thus become
 * unrecorded time. is_in_windows stays as it is.
 */
KWHY_MUST_USE enum kwhy_status kwhy_covered_hide(struct kwhy_covered *covered,
	const struct kwhy_window *stretches, size_t count, struct kwhy_error *error);

/*
 * Whether all of [start_ns, end_ns] lies in the hull. If the recording has no activity, true also if only a
 * part of [start_ns, end_ns] does.
 */
bool kwhy_covered_in_hull(const struct kwhy_covered *covered, int64_t start_ns, int64_t end_ns);

/*
 * Sum in ns of the parts of [start_ns, end_ns) that are inside windows. O(log w + n), with w windows in all
 * and n of them in [start_ns, end_ns).
 */
int64_t kwhy_covered_ns(const struct kwhy_covered *covered, int64_t start_ns, int64_t end_ns);

/*
 * Starts and ends of the windows, and the ends of the hull, in order of time; some times occur twice. The
 * array has 2 * count + 2 entries, and the caller frees it. NULL: out of memory.
 */
int64_t *kwhy_covered_edges(const struct kwhy_covered *covered);

/* Whether a single window contains all of [start_ns, end_ns]. O(log windows). */
bool kwhy_covered_holds(const struct kwhy_covered *covered, int64_t start_ns, int64_t end_ns);

#endif
