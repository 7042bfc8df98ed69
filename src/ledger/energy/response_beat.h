/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_RESPONSE_BEAT_H
#define KWHY_LEDGER_ENERGY_RESPONSE_BEAT_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Corrects the time stamps of a meter that samples at a fixed period but whose stamps are partly late. On the
 * H200 every fifth stamp of the 20 ms samples is 2-11 ms late, while the stamps next to it keep the period
 * within 0.3 ms. A stamp that is late by more than a twentieth and less than three quarters of the period is
 * replaced by its periodic time. All other stamps are copied unchanged; the first four and the last four are
 * always copied unchanged. If there is no fixed period, all stamps are copied. out_ns must not be the array
 * `time_ns`. O(count).
 */
KWHY_MUST_USE enum kwhy_status kwhy_beat_restore(
	const int64_t *time_ns, size_t count, int64_t *out_ns, struct kwhy_error *error);

#endif
