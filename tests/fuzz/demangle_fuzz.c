/* SPDX-License-Identifier: Apache-2.0 */
#include "import/demangle.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

/*
 * Demangles the input twice: as it is, and with "_Z" put before it, without which kwhy does not call the
 * demangling library.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	enum { PLAIN_BYTES_MAX = 65536 };
	char *name = malloc(length + 2), *plain;

	if (!name)
		return 0;
	memcpy(name, "_Z", 2);
	if (length)
		memcpy(name + 2, data, length);
	plain = kwhy_demangle(name, length + 2);
	if (plain && strlen(plain) > PLAIN_BYTES_MAX)
		abort();
	free(plain);
	plain = kwhy_demangle(name + 2, length);
	free(plain);
	free(name);
	return 0;
}
