/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAUNCH_PATTERN_H
#define KWHY_LAUNCH_PATTERN_H

#include "base/status.h"

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A POSIX extended regular expression, searched for in lines that may contain any bytes. Each match gives a
 * number: without parentheses in the expression 1, with one pair of parentheses the number that the text
 * inside them states.
 */
struct kwhy_pattern {
	regex_t regex;
	bool captures;
	uint64_t matches;
	uint64_t unreadable; /* number of the matches that gave no number, because the text inside the
				parentheses is no finite number or the parentheses matched nothing */
};

/*
 * Compiles the expression. `option` begins the message of an error, such as "--work tokens". KWHY_E_USAGE:
 * the text is no regular expression, or it has several pairs of parentheses.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pattern_init(
	struct kwhy_pattern *pattern, const char *option, const char *text, struct kwhy_error *error);
void kwhy_pattern_done(struct kwhy_pattern *pattern);

/*
 * Calls `found` with the number that each match in the line gives, from left to right. Empty matches and
 * matches without a number are left out. line[length] must be NUL.
 */
typedef void kwhy_pattern_found(void *context, double value);
void kwhy_pattern_find(struct kwhy_pattern *pattern, const char *line, size_t length,
	kwhy_pattern_found *found, void *context);

#endif
