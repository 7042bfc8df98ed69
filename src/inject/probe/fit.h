/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_FIT_H
#define KWHY_INJECT_PROBE_FIT_H

#include <stdbool.h>

/*
 * Whether a kernel may run on any contents of memory: it belongs to a family that reads neither addresses,
 * indices nor its own progress from memory. Judged by the mangled name and by the blocks of the grid in x, y
 * and z. False for unknown names. Pure.
 */
bool kwhy_probe_is_fit(const char *name, const unsigned grid[3]);

/*
 * Whether a kernel for which kwhy_probe_is_fit() is true may be launched by the prober after a graph, on the
 * memory that the graph left, although no launch of it outside a graph has been observed. False for a kernel
 * that may read addresses of matrices from memory, and for unknown names. Pure.
 */
bool kwhy_probe_may_begin_in_graph(const char *name);

/*
 * Whether a kernel may run on memory that its own earlier run has left. True for kernels that may run on any
 * contents, and for those that read indices only from memory that they do not write. False for unknown names,
 * and for scans, sorts and matrix products that are split among blocks. Those keep counts in memory that
 * another kernel has reset before. If they run again without that reset, they may access memory out of bounds
 * or wait forever. Pure.
 */
bool kwhy_probe_may_rerun(const char *name, const unsigned grid[3]);

#endif
