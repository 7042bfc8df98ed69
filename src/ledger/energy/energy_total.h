/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_ENERGY_TOTAL_H
#define KWHY_LEDGER_ENERGY_ENERGY_TOTAL_H

#include "ledger/energy/energy_meter.h"
#include "ledger/parts.h"

/*
 * Chooses whose total the ledger must meet: the counter, else the 20 ms ring, instants, means (AMD's power
 * among them), a wall meter; the first that tells of covered time, but means before instants that are read
 * rarely. A counter that stands still or is far from
 * another meter of the same window is passed over, with a note. No meter: out_total->count is 0.
 */
KWHY_MUST_USE enum kwhy_status kwhy_energy_total_choose(struct kwhy_metered_total *out_total,
	struct kwhy_ledger *ledger, const struct kwhy_device_meters *meters,
	const struct kwhy_covered *covered, bool ignore_counter, struct kwhy_error *error);

#endif
