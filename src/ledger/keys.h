/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_KEYS_H
#define KWHY_LEDGER_KEYS_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/* Numbers the distinct 64-bit keys it is shown 0, 1, 2, ... Zero-initialise; end with kwhy_keys_done(). */
struct kwhy_keys {
	uint64_t *keys;	   /* [slot_count] */
	uint32_t *numbers; /* [slot_count] number + 1, 0 = free */
	size_t count, slot_count;
};

/* *out_number == the count before the call: the key is new. */
KWHY_MUST_USE enum kwhy_status kwhy_keys_number(
	struct kwhy_keys *keys, uint64_t key, uint32_t *out_number, struct kwhy_error *error);
void kwhy_keys_done(struct kwhy_keys *keys);

#endif
