/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TRANSFER_CHOICE_H
#define KWHY_TRANSFER_CHOICE_H

#include "kwhy/transfer.h"
#include "transfer/slot.h"

/*
 * Chooses the method by which a slot is transferred. Pure. A slot is a piece of page-locked memory in which
 * pieces of data are gathered before they are sent.
 */

enum kwhy_transfer_method {
	KWHY_TRANSFER_METHOD_PLAIN, /* a single copy, for a slot with one piece */
	KWHY_TRANSFER_METHOD_PACKED,
	KWHY_TRANSFER_METHOD_MAPPED,
	KWHY_TRANSFER_METHOD_BATCH,
	/* list and data are the argument of a kernel; for gets only the list is */
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
		 * inlined: size in bytes of the kernel's argument if the inline method is used;
		 * inlined_most: the limit of that size; 0: that method is not possible
		 */
		inlined_most;
};

enum kwhy_transfer_method kwhy_transfer_choose(
	const struct kwhy_transfer_limits *limits, const struct kwhy_transfer_case *at_hand);

#endif
