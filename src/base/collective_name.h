/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_COLLECTIVE_NAME_H
#define KWHY_BASE_COLLECTIVE_NAME_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Patterns for names of kernels of communication libraries (collectives, sends, receives). A '*' matches any
 * text, case is ignored, and names that match a pattern with '!' in front are no such kernels. The last
 * pattern that matches decides. Any thread.
 */
extern const char *const kwhy_collective_patterns[];
extern const size_t kwhy_collective_pattern_count;

/*
 * Judges a kernel's name by the last of `count` patterns that matches it. 1: a collective, send or receive;
 * 0: the pattern has a '!'; -1: no pattern matches.
 */
int kwhy_collective_name_judge(const char *const *patterns, size_t count, const char *kernel_name);

/* Whether a kernel is a collective, send or receive by kwhy_collective_patterns. */
bool kwhy_collective_name(const char *kernel_name);

#endif
