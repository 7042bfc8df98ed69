/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TRANSFER_CHOICE_H
#define KWHY_TRANSFER_CHOICE_H

#include "kwhy/transfer.h"
#include "transfer/slot.h"

/*
 * Chooses the method by which a slot is transferred. A slot is a part of page-locked memory with a list of
 * pieces and their data (slot.h). kwhy/transfer.h explains the methods. Pure.
 */

enum kwhy_transfer_method {
	KWHY_TRANSFER_METHOD_PLAIN, /* a single copy, for a slot with one piece */
	KWHY_TRANSFER_METHOD_PACKED,
	KWHY_TRANSFER_METHOD_MAPPED,
	KWHY_TRANSFER_METHOD_BATCH,
	/* the kernel that moves the pieces has the list and, for puts, the data as its argument */
	KWHY_TRANSFER_METHOD_INLINE,
	KWHY_TRANSFER_METHOD_COUNT
};

struct kwhy_transfer_case {
	enum kwhy_transfer_operation direction;
	int wanted; /* method that the options request: KWHY_TRANSFER_CHOOSE or another one */
	bool has_batch, overlapping;
	uint32_t count;
	uint64_t bytes, staged;
	uint64_t inlined,
		/*
		 * inlined: bytes of list and data that the kernel's argument would have by the inline method;
		 * inlined_most: the limit of that size; 0: the inline method is not possible on this device
		 */
		inlined_most;
};

enum kwhy_transfer_method kwhy_transfer_choose(
	const struct kwhy_transfer_limits *limits, const struct kwhy_transfer_case *at_hand);

#endif
