/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_RESPONSE_BEAT_H
#define KWHY_LEDGER_ENERGY_RESPONSE_BEAT_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Corrects the time stamps of a meter that samples at a fixed period, some of which are late: on the H200
 * every fifth stamp of the 20 ms ring is 2-11 ms late, while the stamps next to it keep the period within 0.3
 * ms. A stamp that is late by more than a twentieth and less than three quarters of the period is replaced by
 * its time according to the period. All others are copied: stamps without a fixed period, and the first and
 * last four. out_ns may not be `time_ns`. O(count).
 */
KWHY_MUST_USE enum kwhy_status kwhy_beat_restore(
	const int64_t *time_ns, size_t count, int64_t *out_ns, struct kwhy_error *error);

#endif
