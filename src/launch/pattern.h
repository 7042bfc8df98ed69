/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAUNCH_PATTERN_H
#define KWHY_LAUNCH_PATTERN_H

#include "base/status.h"

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A POSIX extended regular expression that is searched for in lines, which may contain any bytes. If it has a
 * pair of parentheses, a match gives the number inside them; without parentheses it gives 1.
 */
struct kwhy_pattern {
	regex_t regex;
	bool captures;
	uint64_t matches;
	uint64_t unreadable; /* number of matches in which the text inside the parentheses was no finite
				number */
};

/*
 * Compiles the expression. `option` begins the message of an error, such as "--work tokens". KWHY_E_USAGE:
 * the text is no regular expression, or it has several pairs of parentheses.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pattern_init(
	struct kwhy_pattern *pattern, const char *option, const char *text, struct kwhy_error *error);
void kwhy_pattern_done(struct kwhy_pattern *pattern);

/*
 * Calls `found` with the number of each match in the line, from left to right. The memory after the line must
 * contain a NUL.
 */
typedef void kwhy_pattern_found(void *context, double value);
void kwhy_pattern_find(struct kwhy_pattern *pattern, const char *line, size_t length,
	kwhy_pattern_found *found, void *context);

#endif
