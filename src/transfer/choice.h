/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TRANSFER_CHOICE_H
#define KWHY_TRANSFER_CHOICE_H

#include "kwhy/transfer.h"
#include "transfer/slot.h"

/* Chooses the method by which a slot is transferred. Pure. */

enum kwhy_transfer_method {
	KWHY_TRANSFER_METHOD_PLAIN, /* one copy; the slot has one piece */
	KWHY_TRANSFER_METHOD_PACKED,
	KWHY_TRANSFER_METHOD_MAPPED,
	KWHY_TRANSFER_METHOD_BATCH,
	KWHY_TRANSFER_METHOD_INLINE, /* list and data, or the list alone, are the kernel's argument */
	KWHY_TRANSFER_METHOD_COUNT
};

struct kwhy_transfer_case {
	enum kwhy_transfer_operation direction;
	int wanted; /* KWHY_TRANSFER_CHOOSE and so on */
	bool has_batch, overlapping;
	uint32_t count;
	uint64_t bytes, staged;
	uint64_t inlined,
		inlined_most; /* bytes of an inline argument, and the most possible; 0: not possible */
};

enum kwhy_transfer_method kwhy_transfer_choose(
	const struct kwhy_transfer_limits *limits, const struct kwhy_transfer_case *at_hand);

#endif
