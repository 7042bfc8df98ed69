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
	bool is_whole;
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

/*
 * Sets *out to the plain name, to be freed; NULL: the text is not mangled, or the name too long. False:
 * memory is exhausted.
 */
static bool demangle(const char *mangled, char **out)
{
	struct plain plain = {0};

	if (setjmp(plain.stop) == 0)
		plain.is_whole = cplus_demangle_v3_callback(
			mangled, DMGL_PARAMS | DMGL_ANSI | DMGL_TYPES, take, &plain);
	*out = NULL;
	if (plain.is_whole && !plain.text.failed)
		*out = plain.text.data;
	else
		kwhy_text_done(&plain.text);
	return !plain.is_whole || *out;
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

/* As kwhy_demangle(), which cannot say that memory is exhausted (false). */
static bool try_demangle(const char *bytes, size_t length, char **out)
{
	char *copy;
	bool has_memory;

	*out = NULL;
	if (length < 3 || memcmp(bytes, "_Z", 2) != 0)
		return true;
	copy = strndup(bytes, length);
	if (!copy)
		return false;
	has_memory = demangle(copy, out);
	free(copy);
	if (*out)
		cut_hash(*out);
	return has_memory;
}

char *kwhy_demangle(const char *bytes, size_t length)
{
	char *plain;

	(void)try_demangle(bytes, length, &plain);
	return plain;
}

enum kwhy_status kwhy_demangle_intern(struct kwhy_names *names, const char *bytes, size_t length,
	uint32_t *out_name, struct kwhy_error *error)
{
	enum kwhy_status status;
	char *plain;

	if (!try_demangle(bytes, length, &plain))
		return kwhy_fail_memory(error, "names");
	status = kwhy_names_intern(
		names, plain ? plain : bytes, plain ? strlen(plain) : length, out_name, error);

	free(plain);
	return status;
}
