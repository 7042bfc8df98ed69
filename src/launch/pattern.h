/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAUNCH_PATTERN_H
#define KWHY_LAUNCH_PATTERN_H

#include "base/status.h"

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A POSIX extended regular expression that is searched in lines of any bytes. With one pair of parentheses a
 * match yields the number inside them; without, it yields 1.
 */
struct kwhy_pattern {
	regex_t regex;
	bool captures;
	uint64_t matches;
	uint64_t unreadable; /* matches whose parentheses held no finite number */
};

/*
 * `option` starts the error message: "--work tokens". KWHY_E_USAGE: not an expression, or several pairs of
 * parentheses.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pattern_init(
	struct kwhy_pattern *pattern, const char *option, const char *text, struct kwhy_error *error);
void kwhy_pattern_done(struct kwhy_pattern *pattern);

/*
 * Calls `found` for every match in the line, from left to right. A NUL must follow the line, directly or
 * later.
 */
typedef void kwhy_pattern_found(void *context, double value);
void kwhy_pattern_find(struct kwhy_pattern *pattern, const char *line, size_t length,
	kwhy_pattern_found *found, void *context);

#endif
