/* SPDX-License-Identifier: Apache-2.0 */
#include "import/demangle.h"

#include <stdlib.h>
#include <string.h>

/* Longest name that is demangled, in bytes; the longest known ones, of CUTLASS, have some 10 KiB. */
enum { BYTES_MAX = 32768 };

/* __cxa_demangle() of the C++ ABI (itanium-cxx-abi, section 3.4), which every C++ library exports for C. */
extern char *cxa_demangle(const char *mangled, char *space, size_t *space_bytes, int *status) __asm__(
	"__cxa_demangle");

char *kwhy_demangle(const char *bytes, size_t length)
{
	char *copy, *plain;

	if (length < 3 || length > BYTES_MAX || memcmp(bytes, "_Z", 2) != 0)
		return NULL;
	copy = strndup(bytes, length);
	if (!copy)
		return NULL;
	plain = cxa_demangle(copy, NULL, NULL, NULL);
	free(copy);
	return plain;
}
