/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_DEMANGLE_H
#define KWHY_IMPORT_DEMANGLE_H

#include "base/names.h"

#include <stddef.h>

/*
 * Demangles a C++ name, or a Rust name in the mangling before v0, by libiberty: "odd(float*)" for "_Z3oddPf",
 * "fill::run" for "_ZN4fill3run17h0123456789abcdefE". The caller frees the result. NULL: the text is no
 * mangled name, the name is longer or nested deeper than compilers make names, or memory is exhausted; the
 * caller then uses the name unchanged.
 */
char *kwhy_demangle(const char *bytes, size_t length);

/*
 * Adds a name to the recording, demangled if it is mangled. `seen` maps mangled texts to their names, so
 * that a text that many rows repeat is demangled once; NULL: every text is demangled anew.
 */
KWHY_MUST_USE enum kwhy_status kwhy_demangle_intern(struct kwhy_names *names, struct kwhy_map *seen,
	const char *bytes, size_t length, uint32_t *out_name, struct kwhy_error *error);

#endif
