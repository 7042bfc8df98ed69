/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/scrape.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * Fuzzes the reader of the metrics that kwhy llm gets from a kwhy serve on another host. Every device that is
 * found must have a name, and kwhy_llm_scrape_find() must find no other device by this name.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kwhy_llm_scrape scrape;
	struct kwhy_error error;
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (kwhy_llm_scrape_read(text, &scrape, &error) == KWHY_OK)
		for (size_t i = 0; i < scrape.device_count; i++) {
			const struct kwhy_llm_scrape_device *device = &scrape.devices[i];
			const struct kwhy_llm_scrape_device *found = kwhy_llm_scrape_find(
				&scrape, device->name);

			if (!device->name[0] || (found && found != device))
				abort();
		}
	free(text);
	return 0;
}
