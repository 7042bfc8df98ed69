/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_RESPONSE_BEAT_H
#define KWHY_LEDGER_ENERGY_RESPONSE_BEAT_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Corrects the stamps of a meter that samples at a fixed period, some of them late: on the H200 every fifth
 * stamp of the 20 ms ring is 2-11 ms late while its neighbours keep the period within 0.3 ms. Writes to
 * out_ns (may not be `time_ns`) each stamp, or its time by the period where the stamp is late by more than a
 * twentieth of a period. Stamps without a fixed period are copied. O(count).
 */
KWHY_MUST_USE enum kwhy_status kwhy_beat_restore(
	const int64_t *time_ns, size_t count, int64_t *out_ns, struct kwhy_error *error);

#endif
