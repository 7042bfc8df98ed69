/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_ENERGY_TOTAL_H
#define KWHY_LEDGER_ENERGY_ENERGY_TOTAL_H

#include "ledger/energy/energy_meter.h"
#include "ledger/parts.h"

/*
 * Chooses the meter whose total the ledger must equal, in this order: the counter, the 20 ms samples,
 * instantaneous readings of the power, means (AMD's power among them), a wall meter. The first one with
 * intervals in covered time is taken, except that means are preferred to instantaneous readings that are
 * rare. A counter that does not rise, or that differs much from another meter of the same window, is
 * skipped and noted. out_total->count is 0 if the device has no meter.
 */
KWHY_MUST_USE enum kwhy_status kwhy_energy_total_choose(struct kwhy_metered_total *out_total,
	struct kwhy_ledger *ledger, const struct kwhy_device_meters *meters,
	const struct kwhy_covered *covered, bool ignore_counter, struct kwhy_error *error);

#endif
