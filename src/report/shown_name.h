/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_SHOWN_NAME_H
#define KWHY_REPORT_SHOWN_NAME_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Functions that make names from traces safe and short enough for a terminal. Results lie in the arena;
 * NULL: out of memory. Widths are in columns: 1 for most code points, 2 for wide East Asian ones, 0 for
 * combining marks.
 */

/*
 * Replaces each character that moves the cursor, changes the order of the line or is invisible, and each byte
 * that is not valid UTF-8, with U+FFFD.
 */
char *kwhy_shown_clean(struct kwhy_arena *arena, const char *text);

size_t kwhy_shown_columns(const char *text);

/* Number of bytes of the longest prefix of `text` that is at most `columns` wide. */
size_t kwhy_shown_fit(const char *text, size_t columns);

/* Shortens `text` to at most `columns`. A text that is cut ends in an ellipsis character. */
char *kwhy_shown_cut(struct kwhy_arena *arena, const char *text, size_t columns);

/*
 * A kernel's C++ name without return type, parameters and namespaces, also in template arguments. "void
 * at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, ...>(int, ...)" becomes
 * "vectorized_elementwise_kernel<4, CUDAFunctor_add<float>, ...>". If nothing would remain, the name is
 * returned as it is.
 */
char *kwhy_shown_kernel(struct kwhy_arena *arena, const char *name);

/*
 * Shortens `count` names to at most `columns` columns such that different names almost always remain
 * different. Names for which kernels[i] is true are first simplified by kwhy_shown_kernel(). False: out of
 * memory.
 */
bool kwhy_shown_names(struct kwhy_arena *arena, const char *const *names, const bool *kernels, size_t count,
	size_t columns, const char **out);

#endif
