/* SPDX-License-Identifier: Apache-2.0 */
#include "import/collectives.h"
#include "trace_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	static const char *const names[] = {
		"", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"};
	struct kwhy_collectives *table = NULL;
	struct kwhy_error error = {0};
	char path[64];
	const int file = input_open(data, length, path);

	if (kwhy_collectives_new(path, &table, &error)) {
		if (table || !error.text[0])
			abort();
	} else {
		for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
			(void)kwhy_collectives_match(table, names[i]);
	}
	kwhy_collectives_free(table);
	close(file);
	return 0;
}
