/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_DEMANGLE_H
#define KWHY_IMPORT_DEMANGLE_H

#include "base/names.h"

#include <stddef.h>

/*
 * Demangles a C++ name, or a Rust name in the mangling before v0, by libiberty: "odd(float*)" for "_Z3oddPf",
 * "fill::run" for "_ZN4fill3run17h0123456789abcdefE". The caller frees the result. NULL: the text is no
 * mangled name, the name exceeds a limit of demangle.c, a thread could not start, or memory is exhausted; the
 * caller then uses the text unchanged.
 */
char *kwhy_demangle(const char *bytes, size_t length);

/*
 * Adds a text to `names`, demangled if it is a mangled name, and sets *out_name to its index. `seen` maps
 * each mangled text that was added before to its index in `names`, so that a text that many rows repeat is
 * demangled once; NULL: every text is demangled anew.
 */
KWHY_MUST_USE enum kwhy_status kwhy_demangle_intern(struct kwhy_names *names, struct kwhy_map *seen,
	const char *bytes, size_t length, uint32_t *out_name, struct kwhy_error *error);

#endif
