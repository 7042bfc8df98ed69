/* SPDX-License-Identifier: Apache-2.0 */
#include "vendor/cupti_pm.h"

#include <dlfcn.h>
#include <string.h>

static const struct {
	const char *name;
	size_t offset; /* offset of the call's pointer in the table */
} symbols[] = {
#define X(name) {#name, offsetof(struct kwhy_cupti_pm_calls, name)},
#include "vendor/cupti_pm_symbols.def"
#undef X
};

enum kwhy_status kwhy_cupti_pm_find(
	const struct kwhy_cupti *cupti, struct kwhy_cupti_pm_calls *out, struct kwhy_error *error)
{
	struct kwhy_cupti_pm_calls calls;

	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		void *address = dlsym(cupti->library, symbols[i].name);

		if (!address)
			return kwhy_fail(error, KWHY_E_UNSUPPORTED,
				"this CUPTI is older than CUDA 12.6 and has no %s; install a newer one, or "
				"name it in KWHY_CUPTI",
				symbols[i].name);
		memcpy((char *)&calls + symbols[i].offset, &address, sizeof(address));
	}
	*out = calls;
	return KWHY_OK;
}
