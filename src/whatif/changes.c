/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/changes.h"

#include "whatif/whatif.h"

#include <string.h>

/* The table of changes (docs/projections.md). Changes that remove work come before those that move it. */
const struct kwhy_whatif_change kwhy_whatif_changes[] = {
	{"keep-on-device", "keep data on the device", "N", 0, 0, KWHY_BOUND_EXPECTED, KWHY_EFFORT_DAYS,
		KWHY_RISK_ORDER, "round-trips", NULL, kwhy_whatif_keep_on_device},
	{"pack-h2d", "pack copies to the device", NULL, 0, 0, KWHY_BOUND_EXPECTED, KWHY_EFFORT_DAYS,
		KWHY_RISK_NONE, "small-copies", NULL, kwhy_whatif_pack_h2d},
	{"pack-d2h", "pack read-backs", NULL, 0, 0, KWHY_BOUND_EXPECTED, KWHY_EFFORT_DAYS, KWHY_RISK_ORDER,
		"scalar-readbacks", NULL, kwhy_whatif_pack_d2h},
	{"thin-collectives", "fewer collectives", "N", 4, 2, KWHY_BOUND_EXPECTED, KWHY_EFFORT_LINES,
		KWHY_RISK_NUMERICS, NULL, NULL, kwhy_whatif_thin_collectives},
	{"bigger-batch", "a larger batch", "N", 2, 2, KWHY_BOUND_UPPER, KWHY_EFFORT_LINES, KWHY_RISK_NUMERICS,
		NULL, NULL, kwhy_whatif_grow_batch},
	{"batch", "equal launches as one", "N", 8, 2, KWHY_BOUND_EXPECTED, KWHY_EFFORT_DAYS, KWHY_RISK_ORDER,
		NULL, "the launches depend on nothing of each other", kwhy_whatif_batch},
	{"fuse", "fuse chains of tiny kernels", NULL, 0, 0, KWHY_BOUND_EXPECTED, KWHY_EFFORT_DAYS,
		KWHY_RISK_NUMERICS, "tiny-kernel-chains", NULL, kwhy_whatif_fuse},
	{"pool", "a pool for malloc and free", NULL, 0, 0, KWHY_BOUND_EXPECTED, KWHY_EFFORT_LINES,
		KWHY_RISK_NONE, "allocation-churn", NULL, kwhy_whatif_use_pool},
	{"drop-waits", "drop redundant waits", NULL, 0, 0, KWHY_BOUND_EXPECTED, KWHY_EFFORT_LINES,
		KWHY_RISK_NONE, "redundant-syncs", NULL, kwhy_whatif_drop_waits},
	{"event-waits", "events instead of waits", NULL, 0, 0, KWHY_BOUND_EXPECTED, KWHY_EFFORT_LINES,
		KWHY_RISK_ORDER, "sync-after-every-op", NULL, kwhy_whatif_use_events},
	{"join-waits", "one wait for many read-backs", NULL, 0, 0, KWHY_BOUND_EXPECTED, KWHY_EFFORT_LINES,
		KWHY_RISK_ORDER, NULL, NULL, kwhy_whatif_join_waits},
	{"pinned", "page-locked host memory", NULL, 0, 0, KWHY_BOUND_EXPECTED, KWHY_EFFORT_LINES,
		KWHY_RISK_NONE, "pageable-copies", NULL, kwhy_whatif_pin},
	{"overlap-copies", "copies overlapped with compute", "N", 2, 2, KWHY_BOUND_UPPER, KWHY_EFFORT_DAYS,
		KWHY_RISK_ORDER, "unoverlapped-copies", NULL, kwhy_whatif_overlap_copies},
	{"overlap-collectives", "collectives overlapped with compute", NULL, 0, 0, KWHY_BOUND_UPPER,
		KWHY_EFFORT_DESIGN, KWHY_RISK_ORDER, "exposed-collectives", NULL,
		kwhy_whatif_overlap_collectives},
	{"prefetch", "prepare input ahead of time", NULL, 0, 0, KWHY_BOUND_UPPER, KWHY_EFFORT_DAYS,
		KWHY_RISK_NONE, "host-gaps", NULL, kwhy_whatif_prefetch},
	{"graph", "graphs of what repeats", "[N]", 0, 0, KWHY_BOUND_EXPECTED, KWHY_EFFORT_DAYS,
		KWHY_RISK_ORDER, "launch-bound", NULL, kwhy_whatif_capture_graph},
	{"host-speed", "a host of another speed", "N", 0, 1, KWHY_BOUND_UPPER, KWHY_EFFORT_DESIGN,
		KWHY_RISK_NONE, NULL, NULL, kwhy_whatif_change_host_speed},
};

const size_t kwhy_whatif_change_count = sizeof(kwhy_whatif_changes) / sizeof(*kwhy_whatif_changes);

const struct kwhy_whatif_change *kwhy_whatif_change_find(const char *id)
{
	for (size_t i = 0; i < kwhy_whatif_change_count; i++)
		if (strcmp(kwhy_whatif_changes[i].id, id) == 0)
			return &kwhy_whatif_changes[i];
	return NULL;
}
