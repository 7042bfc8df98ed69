/* SPDX-License-Identifier: Apache-2.0 */
#include "import/demangle.h"

#include "base/text.h"

#include <demangle.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

/*
 * Names beyond these limits are not demangled. The limit that libiberty applies by default, 1,024 bytes, is
 * too small for names such as those of CUTLASS, whose demangled forms have some 10 KiB. A mangled name may
 * refer to parts of itself, so every ten bytes more may double the demangled form; PLAIN_BYTES_MAX bounds
 * that form. STACK_BYTES suffices because libiberty needs at most 4 MiB of stack for a name of
 * MANGLED_BYTES_MAX, plus up to 64 bytes for each of the PAIRS_MAX pairs that count_pairs() counts.
 */
enum {
	MANGLED_BYTES_MAX = 16384,
	PLAIN_BYTES_MAX = 65536,
	PAIRS_MAX = 1 << 18,
	STACK_BYTES = 32 << 20,
};

/*
 * A name within these limits needs less than 1 MiB of stack, so it is demangled without a thread of its own.
 */
enum { SHORT_BYTES_MAX = 1024, SHORT_PAIRS_MAX = 4096 };

struct plain {
	const char *mangled;
	struct kwhy_text text;
	bool is_whole;
	jmp_buf stop;
};

/*
 * Receives the demangled name in pieces. If the name is too long, longjmp() leaves libiberty, which offers
 * no other way to stop; nothing leaks.
 */
static void take(const char *piece, size_t length, void *context)
{
	struct plain *plain = context;

	if (length > PLAIN_BYTES_MAX - plain->text.length)
		longjmp(plain->stop, 1);
	kwhy_text_add_bytes(&plain->text, piece, length);
}

/*
 * Demangles plain->mangled by libiberty. If take() stops that by longjmp(), is_whole stays false. No local
 * variable is read after the longjmp(), because its value would be undefined.
 */
static void *run(void *context)
{
	struct plain *plain = context;

	if (setjmp(plain->stop) == 0)
		plain->is_whole = cplus_demangle_v3_callback(plain->mangled,
			DMGL_PARAMS | DMGL_ANSI | DMGL_TYPES | DMGL_NO_RECURSE_LIMIT, take, plain);
	return NULL;
}

/*
 * Runs libiberty on a thread whose stack is large enough for any name that is accepted. If no thread can
 * start, the name stays mangled.
 */
static void run_apart(struct plain *plain)
{
	pthread_attr_t attributes;
	pthread_t thread;

	if (pthread_attr_init(&attributes) != 0)
		return;
	if (pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0 &&
		pthread_create(&thread, &attributes, run, plain) == 0)
		pthread_join(thread, NULL);
	pthread_attr_destroy(&attributes);
}

/*
 * An upper bound of the number of pairs of a template argument list ('I') and a reference type ('R' or 'O')
 * in a mangled name: all such letters count. libiberty's use of stack grows with the number of pairs.
 */
static size_t count_pairs(const char *mangled)
{
	size_t templates = 0, references = 0;

	for (const char *at = mangled; *at; at++) {
		templates += *at == 'I';
		references += *at == 'R' || *at == 'O';
	}
	return templates * references;
}

/*
 * Sets *out to the demangled name, which the caller frees; NULL: the text is not a valid mangled name,
 * exceeds a limit, or no thread could start. False: memory is exhausted.
 */
static bool demangle(const char *mangled, char **out)
{
	const size_t length = strlen(mangled), pairs = count_pairs(mangled);
	struct plain plain = {.mangled = mangled};

	*out = NULL;
	if (length > MANGLED_BYTES_MAX || pairs > PAIRS_MAX)
		return true;
	if (length <= SHORT_BYTES_MAX && pairs <= SHORT_PAIRS_MAX)
		run(&plain);
	else
		run_apart(&plain);
	if (plain.is_whole && !plain.text.failed)
		*out = plain.text.data;
	else
		kwhy_text_done(&plain.text);
	return !plain.is_whole || *out;
}

/* Removes the hash at the end of a Rust name: "::h" and 16 hexadecimal digits. */
static void cut_hash(char *plain)
{
	enum { HASH_BYTES = 19 };
	size_t length = strlen(plain);
	char *hash = length > HASH_BYTES ? plain + length - HASH_BYTES : plain;

	if (!strncmp(hash, "::h", 3) && strspn(hash + 3, "0123456789abcdef") == HASH_BYTES - 3)
		*hash = '\0';
}

static bool is_mangled(const char *bytes, size_t length)
{
	return length >= 3 && memcmp(bytes, "_Z", 2) == 0;
}

/* Sets *out to what kwhy_demangle() returns. False: memory is exhausted. */
static bool try_demangle(const char *bytes, size_t length, char **out)
{
	char *copy;
	bool has_memory;

	*out = NULL;
	if (!is_mangled(bytes, length))
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

enum kwhy_status kwhy_demangle_intern(struct kwhy_names *names, struct kwhy_map *seen, const char *bytes,
	size_t length, uint32_t *out_name, struct kwhy_error *error)
{
	const bool is_kept = seen && is_mangled(bytes, length);
	struct kwhy_map_slot *slot = is_kept ? kwhy_map_find_bytes(seen, bytes, length) : NULL;
	enum kwhy_status status;
	char *plain;

	if (slot) {
		*out_name = slot->value;
		return KWHY_OK;
	}
	if (!try_demangle(bytes, length, &plain))
		return kwhy_fail_memory(error, "names");
	status = kwhy_names_intern(
		names, plain ? plain : bytes, plain ? strlen(plain) : length, out_name, error);
	free(plain);
	if (!status && is_kept)
		status = kwhy_map_add_bytes(seen, bytes, length, *out_name, &slot, error);
	return status;
}
