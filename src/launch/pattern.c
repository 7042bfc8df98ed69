/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/pattern.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_BYTES = 64 };

enum kwhy_status kwhy_pattern_init(
	struct kwhy_pattern *pattern, const char *option, const char *text, struct kwhy_error *error)
{
	char why[120];
	int failed = *text ? regcomp(&pattern->regex, text, REG_EXTENDED) : REG_BADPAT;

	if (failed) {
		regerror(failed, *text ? &pattern->regex : NULL, why, sizeof(why));
		return kwhy_fail(error, KWHY_E_USAGE,
			"%s: '%.200s' is no POSIX extended regular expression: %s", option, text, why);
	}
	if (pattern->regex.re_nsub > 1) {
		regfree(&pattern->regex);
		return kwhy_fail(error, KWHY_E_USAGE,
			"%s: '%.200s' has several pairs of parentheses; one may mark the number to read",
			option, text);
	}
	pattern->captures = pattern->regex.re_nsub == 1;
	pattern->matches = pattern->unreadable = 0;
	return KWHY_OK;
}

void kwhy_pattern_done(struct kwhy_pattern *pattern)
{
	regfree(&pattern->regex);
}

/*
 * Parses a text as a number, after which blanks may follow; NAN: it is no finite number, or longer than
 * NUMBER_BYTES - 1.
 */
static double number_of(const char *text, size_t length)
{
	char copy[NUMBER_BYTES], *end;
	double value;

	if (length == 0 || length >= sizeof(copy))
		return NAN;
	memcpy(copy, text, length);
	copy[length] = '\0';
	value = strtod(copy, &end);
	while (*end == ' ')
		end++;
	return end == copy + length && isfinite(value) ? value : NAN;
}

static void report(struct kwhy_pattern *pattern, const char *line, const regmatch_t *group,
	kwhy_pattern_found *found, void *context)
{
	double value = 1;

	pattern->matches++;
	if (pattern->captures)
		value = group->rm_so < 0
			? NAN
			: number_of(line + group->rm_so, (size_t)(group->rm_eo - group->rm_so));
	if (isnan(value))
		pattern->unreadable++;
	else
		found(context, value);
}

void kwhy_pattern_find(struct kwhy_pattern *pattern, const char *line, size_t length,
	kwhy_pattern_found *found, void *context)
{
	size_t at = 0;

	while (at <= length) {
		/*
		 * With REG_STARTEND, groups[0] says where the searched text starts and ends, so the text may
		 * contain NUL.
		 */
		regmatch_t groups[2] = {{.rm_so = 0, .rm_eo = (regoff_t)(length - at)}};

		if (regexec(&pattern->regex, line + at, 2, groups, REG_STARTEND | (at ? REG_NOTBOL : 0)))
			return;
		if (groups[0].rm_eo > groups[0].rm_so)
			report(pattern, line + at, &groups[1], found, context);
		at += (size_t)groups[0].rm_eo + (groups[0].rm_eo == groups[0].rm_so);
	}
}
