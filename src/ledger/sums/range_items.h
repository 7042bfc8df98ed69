/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_SUMS_RANGE_ITEMS_H
#define KWHY_LEDGER_SUMS_RANGE_ITEMS_H

#include "base/status.h"
#include "model/ledger.h"

#include <stdbool.h>

/*
 * Sums over one range. A range contains the work that its own thread launched inside it. A step contains that
 * of its whole process (autograd launches from a thread of its own), and a range of unknown thread that of
 * all threads. The window is the range itself, on all devices that its process uses.
 */
struct kwhy_range_item {
	uint32_t range;		  /* index into the recording's ranges */
	bool step;		  /* a step; a range may be counted as both */
	bool loop;		  /* consecutive steps of the range's process, in one window */
	int64_t start_ns, end_ns; /* the window */

	uint64_t activity_count;
	int64_t device_ns;
	double energy_nj; /* NAN: unknown */

	uint32_t device_count;	 /* number of devices that its process uses */
	int64_t busy_ns;	 /* sum over these devices */
	int64_t unknown_grid_ns; /* time in which a kernel of unknown grid ran */
	double resident_ns;	 /* device time times the share of the device filled with blocks */
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

/* Fills the fields from device_count on. */
KWHY_MUST_USE enum kwhy_status kwhy_range_windows(struct kwhy_range_items *items,
	const struct kwhy_ledger *ledger, const struct kwhy_recording *recording, struct kwhy_error *error);

/*
 * Adds an item for the steps of each process that has steps, rarely several: from the start of the first step
 * to the end of the last one or of the work launched in them. kwhy_range_loops_sum() writes their sum to the
 * ledger once the windows are filled.
 */
KWHY_MUST_USE enum kwhy_status kwhy_range_loops(
	struct kwhy_range_items *items, const struct kwhy_recording *recording, struct kwhy_error *error);
void kwhy_range_loops_sum(struct kwhy_ledger *ledger, const struct kwhy_range_items *items);

#endif
