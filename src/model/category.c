/* SPDX-License-Identifier: Apache-2.0 */
#include "model/host_wait.h"
#include "model/ledger.h"

enum kwhy_category kwhy_category_of_kind(uint32_t kind)
{
	static const uint8_t categories[KWHY_ACTIVITY_KIND_COUNT] = {
		[KWHY_ACTIVITY_KERNEL] = KWHY_CATEGORY_COMPUTE,
		[KWHY_ACTIVITY_COLLECTIVE] = KWHY_CATEGORY_COLLECTIVE,
		[KWHY_ACTIVITY_GRAPH] = KWHY_CATEGORY_COMPUTE,
		[KWHY_ACTIVITY_COPY] = KWHY_CATEGORY_COPY,
		[KWHY_ACTIVITY_MEMSET] = KWHY_CATEGORY_MEMSET,
	};

	return (enum kwhy_category)categories[kind];
}

enum kwhy_category kwhy_category_of_wait(uint32_t state)
{
	static const uint8_t categories[KWHY_HOST_STATE_COUNT] = {
		[KWHY_HOST_LAUNCH] = KWHY_CATEGORY_LAUNCH,
		[KWHY_HOST_ALLOC] = KWHY_CATEGORY_ALLOC,
		[KWHY_HOST_SYNC] = KWHY_CATEGORY_SYNC,
		[KWHY_HOST_ELSEWHERE] = KWHY_CATEGORY_HOST,
	};

	return (enum kwhy_category)categories[state];
}
