/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_KEYS_H
#define KWHY_LEDGER_KEYS_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Numbers distinct 64-bit keys 0, 1, 2, ... in the order of their first use. Zero-initialise; free with
 * kwhy_keys_done().
 */
struct kwhy_keys {
	uint64_t *keys;	   /* [slot_count] */
	uint32_t *numbers; /* [slot_count] number + 1; 0: free */
	size_t count, slot_count;
};

/* The key is new when *out_number is the count before the call. */
KWHY_MUST_USE enum kwhy_status kwhy_keys_number(
	struct kwhy_keys *keys, uint64_t key, uint32_t *out_number, struct kwhy_error *error);
void kwhy_keys_done(struct kwhy_keys *keys);

#endif
