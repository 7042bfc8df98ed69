/* SPDX-License-Identifier: Apache-2.0 */
#include "import/power/stamp.h"

#include "base/decimal.h"
#include "import/power/amount.h"

static const int64_t second_ns = 1000000000;

/* A text that is read from front to back; `rest` is not read yet. */
struct cursor {
	struct kwhy_span rest;
};

static bool take_char(struct cursor *cursor, const char *any)
{
	for (; *any; any++)
		if (cursor->rest.length > 0 && cursor->rest.bytes[0] == *any) {
			cursor->rest.bytes++;
			cursor->rest.length--;
			return true;
		}
	return false;
}

/* Reads exactly `count` digits as a number. False: other characters, or a number above `most`. */
static bool take_number(struct cursor *cursor, size_t count, int most, int *out)
{
	int value = 0;

	if (cursor->rest.length < count)
		return false;
	for (size_t i = 0; i < count; i++) {
		const char c = cursor->rest.bytes[i];

		if (c < '0' || c > '9')
			return false;
		value = value * 10 + (c - '0');
	}
	cursor->rest.bytes += count;
	cursor->rest.length -= count;
	*out = value;
	return value <= most;
}

/*
 * Days from 1 January 1970 to a date of the Gregorian calendar. Years begin in March here, so that a leap day
 * is the last day of a year; 719468 is the number of days from 1 March of year 0 to 1970.
 */
static int64_t days_of(int year, int month, int day)
{
	const int64_t years = year - (month <= 2);
	const int64_t century = years / 100;
	const int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

	return years * 365 + years / 4 - century + century / 4 + day_of_year - 719468;
}

static bool take_date(struct cursor *cursor, int64_t *out_days)
{
	int year, month, day;
	bool has_marks;

	if (!take_number(cursor, 4, 2261, &year) || year < 1970)
		return false;
	has_marks = take_char(cursor, "-/");
	if (!take_number(cursor, 2, 12, &month) || month < 1 || (has_marks && !take_char(cursor, "-/")) ||
		!take_number(cursor, 2, 31, &day) || day < 1)
		return false;
	*out_days = days_of(year, month, day);
	return true;
}

static bool take_fraction(struct cursor *cursor, int64_t *out_ns)
{
	int64_t unit_ns = second_ns;
	int digit;

	*out_ns = 0;
	if (!take_char(cursor, ".,"))
		return true;
	if (!take_number(cursor, 1, 9, &digit))
		return false;
	do {
		unit_ns /= 10;
		*out_ns += digit * unit_ns;
	} while (take_number(cursor, 1, 9, &digit));
	return true;
}

static bool take_time(struct cursor *cursor, int64_t *out_ns)
{
	int hour, minute, second;
	int64_t fraction_ns;

	if (!take_number(cursor, 2, 23, &hour) || !take_char(cursor, ":") ||
		!take_number(cursor, 2, 59, &minute) || !take_char(cursor, ":") ||
		!take_number(cursor, 2, 60, &second) || !take_fraction(cursor, &fraction_ns))
		return false;
	*out_ns = ((int64_t)hour * 3600 + minute * 60 + second) * second_ns + fraction_ns;
	return true;
}

bool kwhy_power_offset_read(struct kwhy_span text, int64_t *out_ns)
{
	struct cursor cursor = {text};
	const bool is_west = text.length > 0 && text.bytes[0] == '-';
	int hours, minutes = 0;

	*out_ns = 0;
	if (kwhy_span_is(text, "Z") || kwhy_span_is(text, "UTC") || kwhy_span_is(text, "GMT"))
		return true;
	if (!take_char(&cursor, "+-") || !take_number(&cursor, 2, 14, &hours))
		return false;
	take_char(&cursor, ":");
	if (cursor.rest.length > 0 && !take_number(&cursor, 2, 59, &minutes))
		return false;
	*out_ns = ((int64_t)hours * 3600 + minutes * 60) * second_ns * (is_west ? -1 : 1);
	return cursor.rest.length == 0;
}

static bool read_date(struct kwhy_span text, struct kwhy_power_stamp *out)
{
	struct cursor cursor = {text};
	int64_t days, time_ns, offset_ns = 0;

	if (!take_date(&cursor, &days) || !take_char(&cursor, "T _") || !take_time(&cursor, &time_ns))
		return false;
	cursor.rest = kwhy_span_trim(cursor.rest);
	out->is_local = cursor.rest.length == 0;
	if (!out->is_local && !kwhy_power_offset_read(cursor.rest, &offset_ns))
		return false;
	out->time_ns = days * 86400 * second_ns + time_ns - offset_ns;
	return true;
}

static size_t whole_digits(struct kwhy_span text)
{
	size_t count = 0;

	while (count < text.length && text.bytes[count] >= '0' && text.bytes[count] <= '9')
		count++;
	return count;
}

/*
 * Reads a Unix time. The number of digits before the point decides the unit: 9 or 10 are seconds, up to 13
 * milliseconds, up to 16 microseconds, more nanoseconds.
 */
static bool read_unix(struct kwhy_span text, struct kwhy_power_stamp *out)
{
	const size_t digits = whole_digits(text);
	const int32_t exponent = digits <= 10 ? 9 : digits <= 13 ? 6 : digits <= 16 ? 3 : 0;

	out->is_local = false;
	/* nanoseconds have 18 or 19 digits; kwhy_power_decimal_read() would keep only 17 of them */
	if (exponent == 0)
		return kwhy_decimal_within(text, 0, INT64_MAX, &out->time_ns);
	return digits >= 9 && kwhy_power_decimal_read(text, 1, exponent, &out->time_ns);
}

bool kwhy_power_stamp_read(struct kwhy_span text, struct kwhy_power_stamp *out)
{
	struct kwhy_power_stamp stamp = {0};

	text = kwhy_span_trim(text);
	if (!read_date(text, &stamp) && !read_unix(text, &stamp))
		return false;
	*out = stamp;
	return true;
}
