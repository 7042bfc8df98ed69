/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_ENERGY_TOTAL_H
#define KWHY_LEDGER_ENERGY_ENERGY_TOTAL_H

#include "ledger/energy/energy_meter.h"
#include "ledger/parts.h"

/*
 * Chooses the meter to whose total the ledger's energies add up, in this order: the GPU's energy counter, the
 * 20 ms samples, instantaneous readings of the power, means (AMD's power among them), a wall meter. The first
 * one with intervals inside the hull (coverage.h) is taken, except that means are preferred to instantaneous
 * readings that are rare. The counter is skipped if `ignore_counter`, if it covers less than half of the time
 * that the best power meter covers, or if its mean power differs from that meter's by a factor of 1.4 or
 * more; the latter is noted. out_total->count is 0 if no meter has such intervals.
 */
KWHY_MUST_USE enum kwhy_status kwhy_energy_total_choose(struct kwhy_metered_total *out_total,
	struct kwhy_ledger *ledger, const struct kwhy_device_meters *meters,
	const struct kwhy_covered *covered, bool ignore_counter, struct kwhy_error *error);

#endif
