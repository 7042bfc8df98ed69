/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_RESPONSE_BEAT_H
#define KWHY_LEDGER_ENERGY_RESPONSE_BEAT_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Writes the time stamps of a meter that samples at a fixed period, with late stamps corrected. On the H200
 * every fifth stamp of the 20 ms samples is 2-11 ms late, while its neighbours keep the period within 0.3 ms.
 * The period is the median distance of successive stamps. A stamp that is late by more than a twentieth and
 * less than three quarters of it is replaced by its periodic time. All other stamps are copied, as are the
 * first four, the last four, and all if there are fewer than 10. out_ns, [count], must not be the array
 * `time_ns`. O(count).
 */
KWHY_MUST_USE enum kwhy_status kwhy_beat_restore(
	const int64_t *time_ns, size_t count, int64_t *out_ns, struct kwhy_error *error);

#endif
