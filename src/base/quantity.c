/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/*
 * If the distances from a value to the two ends of its interval differ by at most this share of their mean,
 * the mean is shown for both ends.
 */
#define ALIKE_RATIO 0.1

enum { SHARE_BYTES = 12 };

struct prefix {
	const char *text;
	double factor;
};

static const struct prefix prefixes[] = {
	{"f", 1e-15},
	{"p", 1e-12},
	{"n", 1e-9},
	{"\xC2\xB5", 1e-6},
	{"m", 1e-3},
	{"", 1},
	{"k", 1e3},
	{"M", 1e6},
	{"G", 1e9},
	{"T", 1e12},
	{"P", 1e15},
	{"E", 1e18},
};

enum { PREFIX_COUNT = sizeof(prefixes) / sizeof(prefixes[0]), PREFIX_ONE = 5 };

/*
 * `value` rounded to `digits` significant digits, before a prefix is chosen, so that 999.6 with 3 digits
 * becomes 1.00 k and not 1000.
 */
static double rounded(double value, int digits)
{
	double magnitude = value == 0 ? 1 : pow(10, digits - 1 - floor(log10(fabs(value))));

	return round(value * magnitude) / magnitude;
}

static const struct prefix *prefix_for(double value)
{
	const struct prefix *best = &prefixes[0];

	if (value == 0)
		return &prefixes[PREFIX_ONE];
	for (size_t i = 0; i < PREFIX_COUNT; i++)
		if (fabs(value) >= prefixes[i].factor * (1 - 1e-9))
			best = &prefixes[i];
	return best;
}

const char *kwhy_quantity_si(char out[KWHY_QUANTITY_BYTES], double value, const char *unit, int digits)
{
	const struct prefix *prefix;
	double scaled;
	int whole;

	if (!isfinite(value)) {
		snprintf(out, KWHY_QUANTITY_BYTES, "n/a");
		return out;
	}
	if (value != 0 && (fabs(value) >= 1e21 || fabs(value) < 1e-18)) {
		snprintf(out, KWHY_QUANTITY_BYTES, "%.*e %s", digits - 1, value, unit);
		return out;
	}
	value = rounded(value, digits);
	prefix = prefix_for(value);
	scaled = value / prefix->factor;
	whole = fabs(scaled) >= 99.9999999 ? 3 : fabs(scaled) >= 9.99999999 ? 2 : 1;
	snprintf(out, KWHY_QUANTITY_BYTES, "%.*f %s%s", value == 0 || digits < whole ? 0 : digits - whole,
		scaled, prefix->text, unit);
	return out;
}

const char *kwhy_quantity_time(char out[KWHY_QUANTITY_BYTES], int64_t time_ns)
{
	return kwhy_quantity_si(out, (double)time_ns * 1e-9, "s", 3);
}

const char *kwhy_quantity_energy(char out[KWHY_QUANTITY_BYTES], int64_t energy_nj)
{
	return kwhy_quantity_si(out, (double)energy_nj * 1e-9, "J", 3);
}

const char *kwhy_quantity_bytes(char out[KWHY_QUANTITY_BYTES], uint64_t bytes)
{
	if (bytes < 1000)
		snprintf(out, KWHY_QUANTITY_BYTES, "%" PRIu64 " B", bytes);
	else
		kwhy_quantity_si(out, (double)bytes, "B", 3);
	return out;
}

const char *kwhy_quantity_count(char out[KWHY_QUANTITY_BYTES], uint64_t count)
{
	char digits[24];
	int length = snprintf(digits, sizeof(digits), "%" PRIu64, count);
	char *write = out;

	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			*write++ = ',';
		*write++ = digits[i];
	}
	*write = '\0';
	return out;
}

const char *kwhy_quantity_times(char out[KWHY_QUANTITY_BYTES], uint64_t count)
{
	size_t length = strlen(kwhy_quantity_count(out, count));

	/*
	 * If there is no space for " times" after a very large count, the count is written alone; such counts
	 * do not occur in practice.
	 */
	if (length + sizeof(" times") <= KWHY_QUANTITY_BYTES)
		memcpy(out + length, count == 1 ? " time" : " times", count == 1 ? 6 : 7);
	return out;
}

const char *kwhy_quantity_number(char out[KWHY_QUANTITY_BYTES], double value)
{
	const int digits = value < 0.009995 ? 5 : value < 0.09995 ? 4 : 3;

	if (value >= 0.001 && value < 0.9995) {
		snprintf(out, KWHY_QUANTITY_BYTES, "%.*f", digits, value);
		return out;
	}
	kwhy_quantity_si(out, value, "", 3);
	if (out[strlen(out) - 1] == ' ')
		out[strlen(out) - 1] = '\0';
	return out;
}

const char *kwhy_quantity_plain(char out[KWHY_QUANTITY_BYTES], double value)
{
	int digits = isfinite(value) && value > 0 ? 2 - (int)floor(log10(value)) : 0;

	if (!isfinite(value))
		snprintf(out, KWHY_QUANTITY_BYTES, "n/a");
	else if (digits < -12 || digits > 15)
		snprintf(out, KWHY_QUANTITY_BYTES, "%.2e", value);
	else
		snprintf(out, KWHY_QUANTITY_BYTES, "%.*f", digits < 0 ? 0 : digits, value);
	return out;
}

const char *kwhy_quantity_amount(char out[KWHY_QUANTITY_BYTES], double amount)
{
	if (amount >= 0 && amount < 1e9 && amount == floor(amount))
		return kwhy_quantity_count(out, (uint64_t)amount);
	return kwhy_quantity_number(out, amount);
}

const char *kwhy_quantity_percent(char out[KWHY_QUANTITY_BYTES], double ratio)
{
	if (!isfinite(ratio))
		snprintf(out, KWHY_QUANTITY_BYTES, "n/a");
	else
		snprintf(out, KWHY_QUANTITY_BYTES, fabs(ratio) < 1e9 ? "%.1f %%" : "%.2e %%", ratio * 100);
	return out;
}

/* Text of a percentage: "0.57", "12", "1.40e+08". */
static const char *share(char out[SHARE_BYTES], double percent, int decimals)
{
	bool is_long = fabs(percent) >= 1e6;

	snprintf(out, SHARE_BYTES, is_long ? "%.*e" : "%.*f", is_long ? 2 : decimals, percent);
	return out;
}

/*
 * Number of decimals with which a percentage is written: two below 9.95, as in "0.27", otherwise none, as in
 * "12".
 */
static int digits_of(double percent)
{
	return percent < 9.95 ? 2 : 0;
}

const char *kwhy_quantity_interval(char out[KWHY_QUANTITY_BYTES], double value, double low, double high)
{
	double down = 100 * (value - low) / fabs(value), up = 100 * (high - value) / fabs(value);
	double half = (down + up) / 2;
	char first[SHARE_BYTES], second[SHARE_BYTES];

	*out = '\0';
	if (!isfinite(half))
		return out;
	if (fabs(up - down) > ALIKE_RATIO * half)
		snprintf(out, KWHY_QUANTITY_BYTES, "-%s +%s %%",
			share(first, down, digits_of(fmax(down, up))),
			share(second, up, digits_of(fmax(down, up))));
	else
		snprintf(out, KWHY_QUANTITY_BYTES, "\xc2\xb1%s %%", share(first, half, digits_of(half)));
	return out;
}
