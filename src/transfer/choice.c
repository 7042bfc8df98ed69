/* SPDX-License-Identifier: Apache-2.0 */
#include "transfer/choice.h"

/*
 * Whether the slot can be sent as a batch of copies. The copies of a batch may run in any order, so pieces
 * must not overlap.
 */
static bool can_batch(const struct kwhy_transfer_case *at_hand)
{
	return at_hand->has_batch && !at_hand->overlapping;
}

static bool fits_inline(const struct kwhy_transfer_case *at_hand, uint64_t most)
{
	return at_hand->inlined_most > 0 && at_hand->inlined <= at_hand->inlined_most &&
		at_hand->inlined <= most;
}

static enum kwhy_transfer_method choose_freely(
	const struct kwhy_transfer_limits *limits, const struct kwhy_transfer_case *at_hand)
{
	uint64_t packed_bytes = at_hand->direction == KWHY_TRANSFER_PUT ? limits->put_packed_bytes
									: limits->get_packed_bytes;

	if (at_hand->count == 1)
		return KWHY_TRANSFER_METHOD_PLAIN;
	if (can_batch(at_hand) && at_hand->bytes / at_hand->count >= limits->batch_bytes)
		return KWHY_TRANSFER_METHOD_BATCH;
	if (fits_inline(at_hand, limits->inline_bytes))
		return KWHY_TRANSFER_METHOD_INLINE;
	return at_hand->staged >= packed_bytes ? KWHY_TRANSFER_METHOD_PACKED : KWHY_TRANSFER_METHOD_MAPPED;
}

enum kwhy_transfer_method kwhy_transfer_choose(
	const struct kwhy_transfer_limits *limits, const struct kwhy_transfer_case *at_hand)
{
	switch (at_hand->wanted) {
	case KWHY_TRANSFER_PACKED:
		return at_hand->staged > 0 ? KWHY_TRANSFER_METHOD_PACKED : KWHY_TRANSFER_METHOD_MAPPED;
	case KWHY_TRANSFER_MAPPED:
		return KWHY_TRANSFER_METHOD_MAPPED;
	case KWHY_TRANSFER_BATCH:
		if (can_batch(at_hand))
			return KWHY_TRANSFER_METHOD_BATCH;
		break;
	case KWHY_TRANSFER_INLINE:
		if (fits_inline(at_hand, UINT64_MAX))
			return KWHY_TRANSFER_METHOD_INLINE;
		break;
	default:
		break;
	}
	return choose_freely(limits, at_hand);
}
