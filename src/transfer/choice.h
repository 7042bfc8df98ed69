/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TRANSFER_CHOICE_H
#define KWHY_TRANSFER_CHOICE_H

#include "kwhy/transfer.h"
#include "transfer/slot.h"

/* Chooses the method by which a slot is transferred. Pure. */

enum kwhy_transfer_method {
	KWHY_TRANSFER_METHOD_PLAIN, /* a single copy, for a slot with one piece */
	KWHY_TRANSFER_METHOD_PACKED,
	KWHY_TRANSFER_METHOD_MAPPED,
	KWHY_TRANSFER_METHOD_BATCH,
	/* the kernel's argument holds the list and its data, or for gets the list alone */
	KWHY_TRANSFER_METHOD_INLINE,
	KWHY_TRANSFER_METHOD_COUNT
};

struct kwhy_transfer_case {
	enum kwhy_transfer_operation direction;
	int wanted; /* method that the options ask for: KWHY_TRANSFER_CHOOSE and so on */
	bool has_batch, overlapping;
	uint32_t count;
	uint64_t bytes, staged;
	uint64_t inlined,
		/*
		 * bytes that an inline argument would have, and the most that it can have; 0: inline is not
		 * possible
		 */
		inlined_most;
};

enum kwhy_transfer_method kwhy_transfer_choose(
	const struct kwhy_transfer_limits *limits, const struct kwhy_transfer_case *at_hand);

#endif
