/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_DEMANGLE_H
#define KWHY_IMPORT_DEMANGLE_H

#include <stddef.h>

/*
 * Demangles a C++ name by the compiler's own library: "odd(float*)" for "_Z3oddPf". To be freed. NULL: the
 * text is no mangled name or is longer than any compiler makes them, or memory is exhausted; the name then
 * stays as it is.
 */
char *kwhy_demangle(const char *bytes, size_t length);

#endif
