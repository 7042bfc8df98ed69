/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_SUMS_RANGE_ITEMS_H
#define KWHY_LEDGER_SUMS_RANGE_ITEMS_H

#include "base/status.h"
#include "model/ledger.h"

#include <stdbool.h>

/*
 * Sums over one range (a named interval of a thread, such as one by NVTX). The work of a range is what its
 * own thread launched inside it. The work of a step is what the whole process launched, because autograd
 * launches from a thread of its own. If a range's thread is unknown, its work is that of all threads. The
 * window of a range is its own time, on all devices that its process uses.
 */
struct kwhy_range_item {
	uint32_t range; /* index into the recording's ranges */
	bool step;	/* the item is a step; the same range may also be an item of its own */
	bool loop;	/* the item is a loop, a series of consecutive steps; `range` is its first step */
	int64_t start_ns, end_ns; /* start and end of the window */

	uint64_t activity_count;
	int64_t device_ns;
	double energy_nj; /* energy of the work, idle power included, in nJ; NAN: unknown */

	uint32_t device_count; /* number of devices that the process uses */
	int64_t busy_ns;       /* time in the window in which some activity ran, summed over these devices */
	int64_t unknown_grid_ns; /* time in the window in which a kernel of unknown grid ran, summed over
				    these devices */
	double resident_ns; /* sum over these devices of time in the window times the share of the device that
			       is filled with blocks */
	double window_nj;   /* energy of these devices in the window in nJ, whatever ran; NAN: unknown */
};

struct kwhy_range_items {
	struct kwhy_range_item *items;
	size_t count, capacity;
};

KWHY_MUST_USE enum kwhy_status kwhy_range_items_add(
	struct kwhy_range_items *items, const struct kwhy_range_item *item, struct kwhy_error *error);

/* Sets activity_count, device_ns and energy_nj of all items. */
KWHY_MUST_USE enum kwhy_status kwhy_range_launched(struct kwhy_range_items *items,
	const struct kwhy_ledger *ledger, const struct kwhy_recording *recording, struct kwhy_error *error);

/* Sets device_count and the fields that follow it, for all items. */
KWHY_MUST_USE enum kwhy_status kwhy_range_windows(struct kwhy_range_items *items,
	const struct kwhy_ledger *ledger, const struct kwhy_recording *recording, struct kwhy_error *error);

/*
 * kwhy_range_loops() adds an item for each loop: the series of steps of a process, or several series if the
 * process paused between them. It lasts from the start of the first step to the end of the last step, or of
 * the work launched in the steps if that is later (but not beyond the next loop). kwhy_range_loops_sum()
 * writes the sum of these items to the ledger; called after kwhy_range_windows().
 */
KWHY_MUST_USE enum kwhy_status kwhy_range_loops(
	struct kwhy_range_items *items, const struct kwhy_recording *recording, struct kwhy_error *error);
void kwhy_range_loops_sum(struct kwhy_ledger *ledger, const struct kwhy_range_items *items);

#endif
