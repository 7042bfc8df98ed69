/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_TIME_TIME_COPIES_H
#define KWHY_LEDGER_TIME_TIME_COPIES_H

#include "base/status.h"
#include "model/ledger.h"

/* Size class of a copy: floor(log2(bytes)), and 0 for no bytes; KWHY_NONE: the size is unknown. */
static inline uint32_t kwhy_size_class_of(uint64_t bytes)
{
	if (bytes == KWHY_UNKNOWN_BYTES)
		return KWHY_NONE;
	return bytes < 2 ? 0 : 63 - (uint32_t)__builtin_clzll(bytes);
}

/* Writes copies and copy_classes of one device's time, sorted by kind, memories and size class. */
KWHY_MUST_USE enum kwhy_status kwhy_ledger_time_copies(struct kwhy_ledger *ledger,
	const struct kwhy_recording *recording, uint32_t device, struct kwhy_error *error);

#endif
