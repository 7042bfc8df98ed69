/* SPDX-License-Identifier: Apache-2.0 */
#include "import/demangle.h"

#include "base/text.h"

#include <demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

/*
 * A name refers to parts of itself, so each ten bytes can double the length of the plain name. Real names, as
 * those of CUTLASS, have some 10 KiB. libiberty bounds the depth itself.
 */
enum { PLAIN_BYTES_MAX = 65536 };

struct plain {
	struct kwhy_text text;
	jmp_buf stop;
};

/* Receives the plain name in pieces. libiberty cannot be told to stop, but holds nothing that a jump leaks.
 */
static void take(const char *piece, size_t length, void *context)
{
	struct plain *plain = context;

	if (length > PLAIN_BYTES_MAX - plain->text.length)
		longjmp(plain->stop, 1);
	kwhy_text_add_bytes(&plain->text, piece, length);
}

/* The plain name, to be freed; NULL: not mangled, too long, or memory is exhausted. */
static char *demangle(const char *mangled)
{
	struct plain plain = {0};

	if (setjmp(plain.stop) == 0 &&
		cplus_demangle_v3_callback(mangled, DMGL_PARAMS | DMGL_ANSI | DMGL_TYPES, take, &plain) &&
		!plain.text.failed)
		return plain.text.data;
	kwhy_text_done(&plain.text);
	return NULL;
}

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

	if (length < 3 || memcmp(bytes, "_Z", 2) != 0)
		return NULL;
	copy = strndup(bytes, length);
	if (!copy)
		return NULL;
	plain = demangle(copy);
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
