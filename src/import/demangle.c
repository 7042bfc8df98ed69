/* SPDX-License-Identifier: Apache-2.0 */
#include "import/demangle.h"

#include <stdlib.h>
#include <string.h>

/*
 * Length from which on a name is not demangled, bytes. The longest known names, of CUTLASS, have some 10 KiB.
 */
enum { BYTES_MAX = 32768 };

/*
 * The function __cxa_demangle() of the C++ ABI (itanium-cxx-abi, section 3.4), which every C++ library
 * exports with C linkage.
 */
extern char *cxa_demangle(const char *mangled, char *space, size_t *space_bytes, int *status) __asm__(
	"__cxa_demangle");

/* Cuts "::h0123456789abcdef", the hash that Rust puts after every name. */
static void cut_hash(char *plain)
{
	enum { HASH_BYTES = 19 };
	size_t length = strlen(plain);
	char *hash = length > HASH_BYTES ? plain + length - HASH_BYTES : plain;

	if (!strncmp(hash, "::h", 3) && strspn(hash + 3, "0123456789abcdef") == HASH_BYTES - 3)
		*hash = '\0';
}

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
	if (plain)
		cut_hash(plain);
	return plain;
}

enum kwhy_status kwhy_demangle_intern(struct kwhy_names *names, const char *bytes, size_t length,
	uint32_t *out_name, struct kwhy_error *error)
{
	char *plain = kwhy_demangle(bytes, length);
	enum kwhy_status status = kwhy_names_intern(
		names, plain ? plain : bytes, plain ? strlen(plain) : length, out_name, error);

	free(plain);
	return status;
}
