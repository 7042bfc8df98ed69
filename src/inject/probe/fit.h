/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_FIT_H
#define KWHY_INJECT_PROBE_FIT_H

#include <stdbool.h>

/*
 * Whether a kernel, judged by its mangled name and the blocks of its grid in x, y and z, belongs to a family
 * that reads neither addresses nor indices nor its own progress from memory, so that it may run on any
 * contents. False for unknown names. Pure.
 */
bool kwhy_probe_is_fit(const char *name, const unsigned grid[3]);

/*
 * Whether a kernel that is fit may run after a graph although it has never been observed outside one: not if
 * it may read addresses of matrices from memory. False for unknown names. Pure.
 */
bool kwhy_probe_may_begin_in_graph(const char *name);

/*
 * Whether a kernel may run on memory that its own earlier run has left: true for kernels that are fit, and
 * for those that read indices only from memory that they do not write. Scans, sorts and split products keep
 * counts in memory that an earlier kernel has reset. On memory that their own earlier run left they may
 * access memory out of bounds or wait forever. False for unknown names. Pure.
 */
bool kwhy_probe_may_rerun(const char *name, const unsigned grid[3]);

#endif
