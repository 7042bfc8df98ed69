/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_SUMS_RANGE_ITEMS_H
#define KWHY_LEDGER_SUMS_RANGE_ITEMS_H

#include "base/status.h"
#include "model/ledger.h"

#include <stdbool.h>

/*
 * What happened during one range. A range gets the work that its own thread launched inside it; a step is
 * an affair of its whole process (autograd launches from a thread of its own), and a range of no known
 * thread of all. The window is the range itself, on all devices that its process uses.
 */
struct kwhy_range_item {
	uint32_t range;		  /* index into the recording's ranges */
	bool step;		  /* counted as a step; a range may be counted as both */
	bool loop;		  /* all steps of the range's process, in one window */
	int64_t start_ns, end_ns; /* the window */

	uint64_t activity_count;
	int64_t device_ns;
	double energy_nj; /* NAN: unknown */

	uint32_t device_count;	 /* that its process uses */
	int64_t busy_ns;	 /* over these devices */
	int64_t unknown_grid_ns; /* in which a kernel of unknown grid ran */
	double resident_ns;	 /* device time times share of the device filled with blocks */
	double window_nj;	 /* NAN: unknown */
};

struct kwhy_range_items {
	struct kwhy_range_item *items;
	size_t count, capacity;
};

KWHY_MUST_USE enum kwhy_status kwhy_range_items_add(
	struct kwhy_range_items *items, const struct kwhy_range_item *item, struct kwhy_error *error);

/* Fills activity_count, device_ns, energy_nj. */
KWHY_MUST_USE enum kwhy_status kwhy_range_launched(struct kwhy_range_items *items,
	const struct kwhy_ledger *ledger, const struct kwhy_recording *recording, struct kwhy_error *error);

/* Fills the rest. */
KWHY_MUST_USE enum kwhy_status kwhy_range_windows(struct kwhy_range_items *items,
	const struct kwhy_ledger *ledger, const struct kwhy_recording *recording, struct kwhy_error *error);

/*
 * Adds an item, seldom several, for the steps of each process that has some: from the start of the first to
 * the end of the last or of the work launched meanwhile. Then, with the windows filled, the ledger's sum of
 * these.
 */
KWHY_MUST_USE enum kwhy_status kwhy_range_loops(
	struct kwhy_range_items *items, const struct kwhy_recording *recording, struct kwhy_error *error);
void kwhy_range_loops_sum(struct kwhy_ledger *ledger, const struct kwhy_range_items *items);

#endif
