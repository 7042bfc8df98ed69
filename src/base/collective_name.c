/* SPDX-License-Identifier: Apache-2.0 */
#include "base/collective_name.h"

const char *const kwhy_collective_patterns[] = {
#define X(pattern) pattern,
#include "base/collectives.def"
#undef X
};

const size_t kwhy_collective_pattern_count = sizeof(kwhy_collective_patterns) /
	sizeof(kwhy_collective_patterns[0]);

static char folded(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/*
 * Whether a pattern matches a text; '*' matches any text. After a mismatch, only the text that the last '*'
 * matches is extended, so the time is at most proportional to the product of the lengths. Case is ignored.
 */
static bool fits(const char *pattern, const char *text)
{
	const char *after_star = NULL, *retry = NULL;

	while (*text) {
		if (*pattern == '*') {
			after_star = ++pattern;
			retry = text;
		} else if (*pattern && folded(*pattern) == folded(*text)) {
			pattern++;
			text++;
		} else if (after_star) {
			pattern = after_star;
			text = ++retry;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == '\0';
}

int kwhy_collective_name_judge(const char *const *patterns, size_t count, const char *kernel_name)
{
	for (size_t i = count; i-- > 0;) {
		const bool not_one = patterns[i][0] == '!';

		if (fits(patterns[i] + not_one, kernel_name))
			return !not_one;
	}
	return -1;
}

bool kwhy_collective_name(const char *kernel_name)
{
	return kwhy_collective_name_judge(
		       kwhy_collective_patterns, kwhy_collective_pattern_count, kernel_name) == 1;
}
