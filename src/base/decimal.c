/* SPDX-License-Identifier: Apache-2.0 */
#include "base/decimal.h"

#include <inttypes.h>
#include <stdio.h>

const char *kwhy_decimal_unix_unit(int64_t time)
{
	static const struct {
		const char *name;
		int64_t second;
	} units[] = {{"seconds", 1}, {"milliseconds", 1000}, {"microseconds", 1000000}};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (time >= 1000000000 * units[i].second && time < 4000000000 * units[i].second)
			return units[i].name;
	return NULL;
}

static bool is_digit(struct kwhy_span text, size_t at)
{
	return at < text.length && text.bytes[at] >= '0' && text.bytes[at] <= '9';
}

/*
 * Reads the digits from *at on, and moves *at past them. *out gets the number times -1, so that INT64_MIN
 * fits; false: the number does not fit into 64 bits.
 */
static bool parse_digits(struct kwhy_span text, size_t *at, int64_t *out)
{
	bool large = false;

	*out = 0;
	for (; is_digit(text, *at); (*at)++)
		large |= __builtin_mul_overflow(*out, 10, out) ||
			__builtin_sub_overflow(*out, text.bytes[*at] - '0', out);
	return !large;
}

/* Skips a point at *at and all digits after it. Returns false if one of these digits is not 0. */
static bool skip_decimals(struct kwhy_span text, size_t *at)
{
	bool zeros = true;

	if (*at < text.length && text.bytes[*at] == '.')
		for (++*at; is_digit(text, *at); ++*at)
			zeros &= text.bytes[*at] == '0';
	return zeros;
}

static enum kwhy_decimal parse(struct kwhy_span text, int64_t *out)
{
	bool negative = text.length > 0 && text.bytes[0] == '-';
	size_t at = negative || (text.length > 0 && text.bytes[0] == '+');
	bool fits, whole;
	int64_t value;

	if (!is_digit(text, at))
		return KWHY_DECIMAL_NONE;
	fits = parse_digits(text, &at, &value) && (negative || value != INT64_MIN);
	whole = skip_decimals(text, &at);
	if (at < text.length)
		return KWHY_DECIMAL_NONE;
	if (!fits)
		return KWHY_DECIMAL_LARGE;
	*out = negative ? value : -value;
	return whole ? KWHY_DECIMAL_GOOD : KWHY_DECIMAL_FRACTION;
}

/*
 * Reads the most frequent form: 1 to 19 digits, perhaps after a '-', with a value of at most INT64_MAX.
 * False: the text has another form, and parse() must decide.
 */
static bool parse_plain(struct kwhy_span text, int64_t *out)
{
	size_t first = text.length > 0 && text.bytes[0] == '-';
	uint64_t value = 0;

	if (text.length == first || text.length - first > 19 ||
		kwhy_decimal_digits(text.bytes, first, text.length, &value) != text.length ||
		value > INT64_MAX)
		return false;
	*out = first ? -(int64_t)value : (int64_t)value;
	return true;
}

bool kwhy_decimal_within(struct kwhy_span text, int64_t low, int64_t high, int64_t *out)
{
	int64_t value;

	if (!parse_plain(text, &value) && parse(text, &value) != KWHY_DECIMAL_GOOD)
		return false;
	if (value < low || value > high)
		return false;
	*out = value;
	return true;
}

void kwhy_decimal_wrong(char out[KWHY_DECIMAL_WORDS], struct kwhy_span text, int64_t low, int64_t high)
{
	int64_t value = 0;
	enum kwhy_decimal wrong = parse(text, &value);
	const char *unit = wrong == KWHY_DECIMAL_FRACTION ? kwhy_decimal_unix_unit(value) : NULL;

	if (unit)
		snprintf(
			out, KWHY_DECIMAL_WORDS, "looks like Unix time in %s; write whole nanoseconds", unit);
	else if (wrong == KWHY_DECIMAL_FRACTION)
		snprintf(out, KWHY_DECIMAL_WORDS,
			"is not whole; write it in the smaller unit the format asks for");
	else if (wrong == KWHY_DECIMAL_NONE)
		snprintf(out, KWHY_DECIMAL_WORDS, "is not a whole number; write decimal digits alone");
	else
		snprintf(out, KWHY_DECIMAL_WORDS, "is not between %" PRId64 " and %" PRId64, low, high);
}
