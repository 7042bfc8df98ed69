/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_DECIMAL_H
#define KWHY_BASE_DECIMAL_H

#include "base/span.h"

#include <stdint.h>

/* Whole numbers of text files: decimal digits with a sign, and zeros behind a point. Exact, or not taken. */

enum kwhy_decimal {
	KWHY_DECIMAL_GOOD,
	KWHY_DECIMAL_NONE,     /* not decimal digits */
	KWHY_DECIMAL_FRACTION, /* decimals that are not zeros; *out is what stands before the point */
	KWHY_DECIMAL_LARGE     /* beyond 64 bits */
};

/* False, and *out untouched: it is none, or not from `low` to `high`. */
bool kwhy_decimal_within(struct kwhy_span text, int64_t low, int64_t high, int64_t *out);

/* Why that is so, to stand behind the text: "is not a whole number; write decimal digits alone". */
#define KWHY_DECIMAL_WORDS 160
void kwhy_decimal_wrong(char out[KWHY_DECIMAL_WORDS], struct kwhy_span text, int64_t low, int64_t high);

/*
 * "microseconds", "milliseconds" or "seconds" when that is what a Unix time of 2001 to 2096 would be; else
 * NULL.
 */
const char *kwhy_decimal_unix_unit(int64_t time);

#endif
