/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_COLLECTIVE_NAME_H
#define KWHY_BASE_COLLECTIVE_NAME_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Names of kernels that are collectives, sends or receives: patterns in which '*' stands for any text, case
 * is ignored and '!' in front says that such a name is none. The last one that fits decides. Any thread.
 */
extern const char *const kwhy_collective_patterns[];
extern const size_t kwhy_collective_pattern_count;

/* -1: none of the patterns fits; else whether the name is a collective's. */
int kwhy_collective_name_judge(const char *const *patterns, size_t count, const char *kernel_name);

/* By the built-in patterns. */
bool kwhy_collective_name(const char *kernel_name);

#endif
