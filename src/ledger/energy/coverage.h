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
 * Time in which everything that ran on a device is known: its stated coverage, else the window of all
 * activities and calls. Windows are disjoint, not empty and in order. Books are kept of the hull: from the
 * first of them to the last, or all the time that windows could lie in where less was asked for than the run.
 * What of it no window holds is hidden: it happened, its energy was metered, and what ran is not known.
 */
struct kwhy_covered {
	struct kwhy_window *windows, *unrecorded;
	size_t count, unrecorded_count;
	struct kwhy_window
		*probing; /* of the hidden ones, where a probe was at work (probing.h); NULL: none */
	size_t probing_count;
	bool is_in_windows; /* some of the unrecorded time was not recorded */
	struct kwhy_window hull;
	enum kwhy_choice choice;
	bool is_all_idle; /* nothing ran on any device */
};

KWHY_MUST_USE enum kwhy_status kwhy_covered_init(struct kwhy_covered *covered,
	const struct kwhy_recording *recording, uint32_t device, struct kwhy_error *error);
void kwhy_covered_done(struct kwhy_covered *covered);

/* Takes stretches, disjoint and in order, out of the windows. */
KWHY_MUST_USE enum kwhy_status kwhy_covered_hide(struct kwhy_covered *covered,
	const struct kwhy_window *stretches, size_t count, struct kwhy_error *error);

/* True when the hull holds all of [start_ns, end_ns]; where nothing ran, any of it. */
bool kwhy_covered_in_hull(const struct kwhy_covered *covered, int64_t start_ns, int64_t end_ns);

/* Time of [start_ns, end_ns) that windows hold. O(log windows + windows inside). */
int64_t kwhy_covered_ns(const struct kwhy_covered *covered, int64_t start_ns, int64_t end_ns);

/*
 * Where windows and hull begin and end, in order, some twice: [2 * count + 2]. The caller frees it; NULL: no
 * memory.
 */
int64_t *kwhy_covered_edges(const struct kwhy_covered *covered);

/* True when one window holds all of [start_ns, end_ns]. O(log windows). */
bool kwhy_covered_holds(const struct kwhy_covered *covered, int64_t start_ns, int64_t end_ns);

#endif
