/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_DECIMAL_H
#define KWHY_BASE_DECIMAL_H

#include "base/span.h"

#include <stdint.h>

/*
 * Parses whole numbers of text files: decimal digits with a sign, optionally with zeros after a point. Values
 * that are not exact are refused.
 */

enum kwhy_decimal {
	KWHY_DECIMAL_GOOD,
	KWHY_DECIMAL_NONE,     /* the text is not a whole number in decimal digits */
	KWHY_DECIMAL_FRACTION, /* the number has decimals other than zeros; *out is the part before the point
				*/
	KWHY_DECIMAL_LARGE     /* the number is beyond 64 bits */
};

/* Reads a number between `low` and `high`; false: the text is no such number, and *out is untouched. */
bool kwhy_decimal_within(struct kwhy_span text, int64_t low, int64_t high, int64_t *out);

/*
 * Writes why kwhy_decimal_within() returned false, as words that follow the text: "is not a whole number;
 * write decimal digits alone".
 */
#define KWHY_DECIMAL_WORDS 160
void kwhy_decimal_wrong(char out[KWHY_DECIMAL_WORDS], struct kwhy_span text, int64_t low, int64_t high);

/*
 * The unit in which `time` would be a Unix time between 2001 and 2096: "microseconds", "milliseconds" or
 * "seconds"; NULL: it is such a time in none of these.
 */
const char *kwhy_decimal_unix_unit(int64_t time);

#endif
