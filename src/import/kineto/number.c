/* SPDX-License-Identifier: Apache-2.0 */
#include "import/kineto/number.h"

#include "base/decimal.h"

#include <string.h>

/* A decimal number 0.d1d2d3... * 10^point, where d1, the first of `digits`, is not 0. */
struct decimal {
	char digits[40];
	int count;     /* number of digits kept, at most 40; later ones cannot change an int64_t */
	int64_t point; /* number of digits before the decimal point; below 0: minus the number of zeros
			  between the point and the first digit */
	bool negative;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static void keep_digit(struct decimal *decimal, char digit, bool whole)
{
	if (decimal->count == 0 && digit == '0') {
		decimal->point -= !whole;
		return;
	}
	if (decimal->count < (int)sizeof(decimal->digits))
		decimal->digits[decimal->count++] = digit;
	decimal->point += whole;
}

static const char *read_digits(struct decimal *decimal, const char *at, const char *end, bool whole)
{
	for (; at < end && is_digit(*at); at++)
		keep_digit(decimal, *at, whole);
	return at;
}

/*
 * Reads the exponent after the 'e' and moves the point. Digits after the first seven are ignored: such a
 * value is 0 or too large in any case. NULL: there are no digits.
 */
static const char *read_exponent(struct decimal *decimal, const char *at, const char *end)
{
	const char *first;
	bool negative = at < end && *at == '-';
	int64_t exponent = 0;

	at += at < end && (*at == '-' || *at == '+');
	for (first = at; at < end && is_digit(*at); at++)
		exponent = exponent < 1000000 ? exponent * 10 + (*at - '0') : exponent;
	decimal->point += negative ? -exponent : exponent;
	return at > first ? at : NULL;
}

static bool read_decimal(struct decimal *decimal, const char *at, const char *end)
{
	const char *first;

	decimal->negative = at < end && *at == '-';
	first = at += decimal->negative;
	at = read_digits(decimal, at, end, true);
	if (at == first)
		return false;
	if (at < end && *at == '.') {
		first = ++at;
		at = read_digits(decimal, at, end, false);
		if (at == first)
			return false;
	}
	if (at < end && (*at == 'e' || *at == 'E'))
		at = read_exponent(decimal, at + 1, end);
	return at == end;
}

/* Rounds to the nearest integer, halves away from zero, by the first digit after the point. */
static enum kwhy_kineto_number rounded(const struct decimal *decimal, int64_t *out)
{
	uint64_t value = 0;

	if (decimal->count == 0 || decimal->point < 0) {
		*out = 0;
		return KWHY_KINETO_NUMBER_OK;
	}
	if (decimal->point > 19) /* INT64_MAX has 19 digits */
		return KWHY_KINETO_NUMBER_LARGE;
	for (int i = 0; i < decimal->point; i++)
		value = value * 10 + (i < decimal->count ? (uint64_t)(decimal->digits[i] - '0') : 0);
	if (decimal->point < decimal->count && decimal->digits[decimal->point] >= '5')
		value++;
	if (value > INT64_MAX)
		return KWHY_KINETO_NUMBER_LARGE;
	*out = decimal->negative ? -(int64_t)value : (int64_t)value;
	return KWHY_KINETO_NUMBER_OK;
}

static bool strip_quotes(const char **text, size_t *length)
{
	if (*length < 2 || **text != '"')
		return *length > 0;
	++*text;
	*length -= 2;
	return *length > 0;
}

/*
 * Reads a number, in quotes or not, multiplies it by 10^power (0 <= power <= 9), and rounds the product to an
 * integer. *out is set only if the result is KWHY_KINETO_NUMBER_OK.
 */
static enum kwhy_kineto_number scaled(const char *text, size_t length, unsigned power, int64_t *out)
{
	struct decimal decimal = {0};

	if (!strip_quotes(&text, &length) || !read_decimal(&decimal, text, text + length))
		return KWHY_KINETO_NUMBER_NONE;
	decimal.point += (int)power;
	return rounded(&decimal, out);
}

/*
 * Fast path for the most frequent form of a time in microseconds: at most 16 digits and three decimals,
 * without a sign. In nanoseconds such a time fits a uint64_t. False: the text has another form.
 */
static bool plain_time(const char *text, size_t length, uint64_t *out_ns)
{
	static const uint64_t scale[] = {1000, 100, 10, 1};
	uint64_t value = 0;
	size_t point = kwhy_decimal_digits(text, 0, length, &value), at = point, decimals;

	if (at < length && text[at] == '.')
		at = kwhy_decimal_digits(text, at + 1, length, &value);
	decimals = at > point ? at - point - 1 : 0;
	if (at != length || point == 0 || point > 16 || decimals > 3 || at == point + 1)
		return false;
	*out_ns = value * scale[decimals];
	return true;
}

enum kwhy_kineto_number kwhy_kineto_number_time(const char *text, size_t length, int64_t *out_ns)
{
	enum kwhy_kineto_number result;
	uint64_t plain_ns;
	int64_t time_ns;

	if (plain_time(text, length, &plain_ns)) {
		time_ns = plain_ns > INT64_MAX ? INT64_MAX : (int64_t)plain_ns;
	} else {
		result = scaled(text, length, 3, &time_ns);
		if (result)
			return result;
	}
	if (time_ns > KWHY_KINETO_TIME_MAX_NS || time_ns < -KWHY_KINETO_TIME_MAX_NS)
		return KWHY_KINETO_NUMBER_LARGE;
	*out_ns = time_ns;
	return KWHY_KINETO_NUMBER_OK;
}

bool kwhy_kineto_number_integer(const char *text, size_t length, int64_t *out)
{
	uint64_t value = 0;
	size_t at = length <= 18 ? kwhy_decimal_digits(text, 0, length, &value) : 0;

	if (at == 0 || at != length)
		return !scaled(text, length, 0, out);
	*out = (int64_t)value;
	return true;
}
