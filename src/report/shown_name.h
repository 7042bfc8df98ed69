/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_SHOWN_NAME_H
#define KWHY_REPORT_SHOWN_NAME_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Makes names from traces safe and short enough for a terminal. All results lie in the arena; NULL: no
 * memory. Widths are in columns: one a code point, two for wide East Asian ones, 0 for combining marks.
 */

/* Replaces each character that moves the cursor, reorders the line or is invisible by U+FFFD. */
char *kwhy_shown_clean(struct kwhy_arena *arena, const char *text);

size_t kwhy_shown_columns(const char *text);

/* Bytes of the longest prefix of `text` that takes at most `columns`. */
size_t kwhy_shown_fit(const char *text, size_t columns);

/* Shortens to at most `columns`; an ellipsis character marks a cut at the end. */
char *kwhy_shown_cut(struct kwhy_arena *arena, const char *text, size_t columns);

/*
 * A kernel's C++ name without the parts that all of them share: return type, parameters, namespaces. "void
 * at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, ...>(int, ...)" becomes
 * "vectorized_elementwise_kernel<4, CUDAFunctor_add<float>, ...>".
 */
char *kwhy_shown_kernel(struct kwhy_arena *arena, const char *name);

/*
 * Shortens `count` names to `columns` so that different names stay different. Where kernels[i] is true, name
 * i is first simplified by kwhy_shown_kernel(). False: no memory.
 */
bool kwhy_shown_names(struct kwhy_arena *arena, const char *const *names, const bool *kernels, size_t count,
	size_t columns, const char **out);

#endif
