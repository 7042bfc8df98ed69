/* SPDX-License-Identifier: Apache-2.0 */
#include "kwhy/measure.h"
#include "kwhy/transfer.h"

#include <string.h>

/*
 * Compiled as C++: checks that kwhy/transfer.h is valid C++, also together with kwhy/measure.h, and that
 * libkwhy.so exports its functions with C linkage.
 */
int main(void)
{
	struct kwhy_transfer_options options;
	struct kwhy_transfer *transfer = NULL;
	uint64_t ticket = 0, device = 0;
	char back = 0;

	memset(&options, 0, sizeof(options));
	options.size = sizeof(options);
	options.backend = KWHY_TRANSFER_HOST;
	if (kwhy_transfer_open(&options, &transfer, NULL, 0) != KWHY_TRANSFER_OK)
		return 1;
	if (kwhy_transfer_memory_new(transfer, KWHY_TRANSFER_ON_DEVICE, 1, &device) ||
		kwhy_transfer_put(transfer, device, "x", 1) ||
		kwhy_transfer_get(transfer, &back, device, 1) || kwhy_transfer_flush(transfer, &ticket) ||
		kwhy_transfer_wait(transfer, ticket))
		return 1;
	kwhy_transfer_close(transfer);
	return back != 'x';
}
