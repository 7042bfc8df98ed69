/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_input.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	struct kwhy_profile *profile = NULL;
	struct kwhy_error error = {0};
	char path[64];
	int file = input_open(data, length, path);

	if (kwhy_import_profile(path, &profile, &error)) {
		if (profile || error.text[0] == '\0')
			abort();
	} else if (!profile->device_name || isinf(profile->clean_idle_w.value) ||
		profile->sensor.delay_s.value < 0) {
		abort();
	}
	kwhy_profile_free(profile);
	close(file);
	return 0;
}
