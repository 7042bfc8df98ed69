/* SPDX-License-Identifier: Apache-2.0 */
#include "import/own_result.h"
#include "trace_input.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	struct kwhy_learnt_powers *powers = NULL;
	struct kwhy_error error = {0};
	char path[64];
	int file = input_open(data, length, path);

	(void)kwhy_own_result_is(path, "powers");
	if (kwhy_import_powers(path, &powers, &error)) {
		if (powers || error.text[0] == '\0')
			abort();
	} else if (!powers->device_name || powers->count == 0) {
		abort();
	}
	for (size_t i = 0; powers && i < powers->count; i++)
		if (!powers->items[i].name || !(powers->items[i].above_idle_w > 0) ||
			!(powers->items[i].sd_w >= 0) || isinf(powers->items[i].above_idle_w))
			abort();
	kwhy_learnt_powers_free(powers);
	close(file);
	return 0;
}
