/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_FIT_H
#define KWHY_INJECT_PROBE_FIT_H

#include <stdbool.h>

/*
 * Whether a kernel, by its mangled name and the blocks of its grid in x, y and z, is of a family that takes
 * neither addresses nor indices nor its own progress from memory: it may run on whatever lies there. Any
 * other name: false. Pure.
 */
bool kwhy_probe_is_fit(const char *name, const unsigned grid[3]);

/*
 * Whether a kernel that is fit may run behind a graph without having been seen outside of one: unless it may
 * find addresses of matrices in memory. Any other name: false. Pure.
 */
bool kwhy_probe_may_begin_in_graph(const char *name);

/*
 * Whether it may run on memory that an earlier run of it has left: such kernels, and those that take indices
 * from memory which they only read. Scans, sorts and products in parts count in memory what a kernel before
 * them has reset; on what an earlier run left they can reach memory that is not theirs, or wait for ever. Any
 * other name: false. Pure.
 */
bool kwhy_probe_may_rerun(const char *name, const unsigned grid[3]);

#endif
