/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the parser of the kubelet's answers, which are gRPC messages with names that users chose. */
#include "cli/live/kubelet.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	struct kwhy_allocations allocations = {0};
	struct kwhy_error error;

	if (kwhy_kubelet_read(data, length, &allocations, &error) && !*error.text)
		abort();
	if (allocations.count > KWHY_ALLOCATIONS_MAX)
		abort();
	for (size_t i = 0; i < allocations.count; i++) {
		const struct kwhy_allocation *item = &allocations.items[i];

		if (!kwhy_text_is_clean(item->owner.name, strlen(item->owner.name)) ||
			!kwhy_text_is_clean(item->owner.space, strlen(item->owner.space)) ||
			!kwhy_text_is_clean(item->owner.part, strlen(item->owner.part)) ||
			!kwhy_text_is_clean(item->device, strlen(item->device)))
			abort();
	}
	kwhy_allocations_done(&allocations);
	return 0;
}
