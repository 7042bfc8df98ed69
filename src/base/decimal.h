/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_DECIMAL_H
#define KWHY_BASE_DECIMAL_H

#include "base/span.h"

#include <stdint.h>
#include <string.h>

/*
 * Parses whole numbers of text files: decimal digits, perhaps after a sign. A fractional part is accepted
 * if it is zero, as in 12.00; other fractions are refused.
 */

enum kwhy_decimal {
	KWHY_DECIMAL_GOOD,
	KWHY_DECIMAL_NONE,     /* the text is not a whole number in decimal digits */
	KWHY_DECIMAL_FRACTION, /* the number has decimals other than zeros; *out is the part before the point
				*/
	KWHY_DECIMAL_LARGE     /* the number is beyond 64 bits */
};

/* Reads a whole number from `low` to `high`; false: the text is no such number, and *out is unchanged. */
bool kwhy_decimal_within(struct kwhy_span text, int64_t low, int64_t high, int64_t *out);

/*
 * Reads digits up to the first other character, and returns where it stopped. *value is multiplied by 10 for
 * each digit, and the digit added, so it must be 0 at first; more than 19 digits may overflow it (modulo
 * 2^64). As long as eight digits follow, they are read at once: neighbouring digits are combined to pairs,
 * pairs to groups of four, and groups of four to eight digits.
 */
static inline size_t kwhy_decimal_digits(const char *text, size_t at, size_t length, uint64_t *value)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	while (length - at >= 8) {
		uint64_t eight;

		memcpy(&eight, text + at, sizeof(eight));
		if ((eight & (eight + 0x0606060606060606) & 0xF0F0F0F0F0F0F0F0) != 0x3030303030303030)
			break;
		eight = (eight & 0x0F0F0F0F0F0F0F0F) * 2561 >> 8;
		eight = (eight & 0x00FF00FF00FF00FF) * 6553601 >> 16;
		eight = (eight & 0x0000FFFF0000FFFF) * 42949672960001 >> 32;
		*value = *value * 100000000 + eight;
		at += 8;
	}
#endif
	for (; at < length && text[at] >= '0' && text[at] <= '9'; at++)
		*value = *value * 10 + (uint64_t)(text[at] - '0');
	return at;
}

/*
 * Writes why kwhy_decimal_within() returned false for `text`, as words that can follow the text in a message:
 * "is not a whole number; write decimal digits alone".
 */
#define KWHY_DECIMAL_WORDS 160
void kwhy_decimal_wrong(char out[KWHY_DECIMAL_WORDS], struct kwhy_span text, int64_t low, int64_t high);

/*
 * The unit in which the number `time` would be a Unix time between 2001 and 2096: "microseconds",
 * "milliseconds" or "seconds"; NULL: no such unit.
 */
const char *kwhy_decimal_unix_unit(int64_t time);

#endif
