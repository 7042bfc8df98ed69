/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TRANSFER_CHOICE_H
#define KWHY_TRANSFER_CHOICE_H

#include "kwhy/transfer.h"
#include "transfer/slot.h"

/* Which way a slot goes; pure. */

enum kwhy_transfer_method {
	KWHY_TRANSFER_METHOD_PLAIN, /* one copy of the one piece */
	KWHY_TRANSFER_METHOD_PACKED,
	KWHY_TRANSFER_METHOD_MAPPED,
	KWHY_TRANSFER_METHOD_BATCH,
	KWHY_TRANSFER_METHOD_INLINE, /* list and data, or the list, are the kernel's argument */
	KWHY_TRANSFER_METHOD_COUNT
};

struct kwhy_transfer_case {
	enum kwhy_transfer_operation direction;
	int wanted; /* KWHY_TRANSFER_CHOOSE and so on */
	bool has_batch, overlapping;
	uint32_t count;
	uint64_t bytes, staged;
	uint64_t inlined,
		inlined_most; /* bytes of such an argument, and of the largest; 0: none can be given */
};

enum kwhy_transfer_method kwhy_transfer_choose(
	const struct kwhy_transfer_limits *limits, const struct kwhy_transfer_case *at_hand);

#endif
