/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_DEMANGLE_H
#define KWHY_IMPORT_DEMANGLE_H

#include <stddef.h>

/*
 * A C++ name as its program writes it, "odd(float*)" for "_Z3oddPf", by the compiler's own library. To be
 * freed; NULL: it is none, longer than any compiler makes them, or there is no memory; then the name is as it
 * is.
 */
char *kwhy_demangle(const char *bytes, size_t length);

#endif
