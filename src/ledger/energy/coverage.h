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
 * activities and calls. Windows are disjoint, not empty and in order.
 */
struct kwhy_covered {
	struct kwhy_window *windows;
	size_t count;
};

KWHY_MUST_USE enum kwhy_status kwhy_covered_init(struct kwhy_covered *covered,
	const struct kwhy_recording *recording, uint32_t device, struct kwhy_error *error);
void kwhy_covered_done(struct kwhy_covered *covered);

/* True when one window holds all of [start_ns, end_ns]. O(log windows). */
bool kwhy_covered_holds(const struct kwhy_covered *covered, int64_t start_ns, int64_t end_ns);

#endif
