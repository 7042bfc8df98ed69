/* SPDX-License-Identifier: Apache-2.0 */
#include "import/csv_number.h"

const char *kwhy_csv_unix_unit(int64_t time)
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

/* Digits from *at, downwards so that INT64_MIN fits; false when they are too many. */
static bool parse_digits(struct kwhy_span text, size_t *at, int64_t *out)
{
	bool large = false;

	*out = 0;
	for (; is_digit(text, *at); (*at)++)
		large |= __builtin_mul_overflow(*out, 10, out) ||
			__builtin_sub_overflow(*out, text.bytes[*at] - '0', out);
	return !large;
}

/* Zeros behind a point at *at; false when other digits are there. */
static bool skip_decimals(struct kwhy_span text, size_t *at)
{
	bool zeros = true;

	if (*at < text.length && text.bytes[*at] == '.')
		for (++*at; is_digit(text, *at); ++*at)
			zeros &= text.bytes[*at] == '0';
	return zeros;
}

/* Decimal digits with a sign, and zeros behind a point. */
enum kwhy_csv_number kwhy_csv_number_parse(struct kwhy_span text, int64_t *out)
{
	bool negative = text.length > 0 && text.bytes[0] == '-';
	size_t at = negative || (text.length > 0 && text.bytes[0] == '+');
	bool fits, whole;
	int64_t value;

	if (!is_digit(text, at))
		return KWHY_CSV_NUMBER_NONE;
	fits = parse_digits(text, &at, &value) && (negative || value != INT64_MIN);
	whole = skip_decimals(text, &at);
	if (at < text.length)
		return KWHY_CSV_NUMBER_NONE;
	if (!fits)
		return KWHY_CSV_NUMBER_LARGE;
	*out = negative ? value : -value;
	return whole ? KWHY_CSV_NUMBER_GOOD : KWHY_CSV_NUMBER_FRACTION;
}
