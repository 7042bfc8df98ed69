/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_DEMANGLE_H
#define KWHY_IMPORT_DEMANGLE_H

#include "base/names.h"

#include <stddef.h>

/*
 * Demangles a name of C++, or of Rust in its form before v0, by libiberty: "odd(float*)" for "_Z3oddPf",
 * "fill::run" for "_ZN4fill3run17h0123456789abcdefE". To be freed. NULL: the text is no mangled name, it or
 * the demangled name is longer or nested deeper than any compiler makes them, or memory is exhausted; the
 * name then stays as it is.
 */
char *kwhy_demangle(const char *bytes, size_t length);

/* Adds a name, demangled where it is mangled. */
KWHY_MUST_USE enum kwhy_status kwhy_demangle_intern(struct kwhy_names *names, const char *bytes,
	size_t length, uint32_t *out_name, struct kwhy_error *error);

#endif
