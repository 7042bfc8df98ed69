/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_SHOWN_NAME_H
#define KWHY_REPORT_SHOWN_NAME_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Names from traces as a terminal may show them. All results lie in the arena; NULL without memory.
 * Columns: one a code point, two for wide East Asian ones, none for combining marks.
 */

/* Without anything that moves the cursor, reorders the line or is invisible: each becomes U+FFFD. */
char *kwhy_shown_clean(struct kwhy_arena *arena, const char *text);

size_t kwhy_shown_columns(const char *text);

/* Bytes of the longest start of `text` that takes at most `columns`. */
size_t kwhy_shown_fit(const char *text, size_t columns);

/* At most `columns` wide; "..." as one character marks what was cut at the end. */
char *kwhy_shown_cut(struct kwhy_arena *arena, const char *text, size_t columns);

/*
 * A kernel's C++ name without what repeats in all of them: return type, parameters, namespaces.
 * "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, ...>(int, ...)"
 * becomes "vectorized_elementwise_kernel<4, CUDAFunctor_add<float>, ...>".
 */
char *kwhy_shown_kernel(struct kwhy_arena *arena, const char *name);

/*
 * Shortens `count` names to `columns` so that no two different ones read the same; kernels[i]: simplify
 * as above first. False without memory.
 */
bool kwhy_shown_names(struct kwhy_arena *arena, const char *const *names, const bool *kernels, size_t count,
	size_t columns, const char **out);

#endif
