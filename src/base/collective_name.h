/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_COLLECTIVE_NAME_H
#define KWHY_BASE_COLLECTIVE_NAME_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Patterns for names of kernels that are collectives, sends or receives. '*' matches any text, case is
 * ignored, and a '!' in front excludes names. The last pattern that matches decides. Any thread.
 */
extern const char *const kwhy_collective_patterns[];
extern const size_t kwhy_collective_pattern_count;

/* 1: the name is a collective's; 0: it is not; -1: no pattern matches. */
int kwhy_collective_name_judge(const char *const *patterns, size_t count, const char *kernel_name);

/* Whether a name is a collective's, by the built-in patterns. */
bool kwhy_collective_name(const char *kernel_name);

#endif
