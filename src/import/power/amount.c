/* SPDX-License-Identifier: Apache-2.0 */
#include "import/power/amount.h"

#include <string.h>
#include <strings.h>

#define POWER_MAX INT64_C(1000000000)		/* largest power that is accepted, mW */
#define ENERGY_MAX INT64_C(1000000000000000000) /* largest energy that is accepted, uJ */

static const struct kwhy_power_unit units[] = {
	{"W", false, 1, 3},
	{"mW", false, 1, 0},
	{"uW", false, 1, -3},
	{"kW", false, 1, 6},
	{"watts", false, 1, 3},
	{"J", true, 1, 6},
	{"mJ", true, 1, 3},
	{"uJ", true, 1, 0},
	{"kJ", true, 1, 9},
	{"Wh", true, 36, 8},
	{"kWh", true, 36, 11},
};

enum { UNIT_COUNT = sizeof(units) / sizeof(units[0]) };

static bool is_empty_word(struct kwhy_span text)
{
	static const char *const words[] = {"-", "N/A", "NA", "nan", "none", "null", "unknown", "Err!"};

	if (text.length == 0 || text.bytes[0] == '[')
		return true;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i]) == text.length && !strncasecmp(words[i], text.bytes, text.length))
			return true;
	return false;
}

/*
 * Finds a unit by its name, ignoring case, because headers may be in lower case. So "MW" is read as mW, which
 * does no harm, because no GPU draws megawatts.
 */
const struct kwhy_power_unit *kwhy_power_unit_find(struct kwhy_span name)
{
	for (size_t i = 0; i < UNIT_COUNT; i++)
		if (strlen(units[i].name) == name.length &&
			!strncasecmp(units[i].name, name.bytes, name.length))
			return &units[i];
	return NULL;
}

struct decimal {
	int64_t digits;
	int32_t exponent;
	size_t length; /* number of bytes at the start of the text that form the number */
	bool known;
};

static bool is_digit(struct kwhy_span text, size_t at)
{
	return at < text.length && text.bytes[at] >= '0' && text.bytes[at] <= '9';
}

/*
 * Adds a digit to `digits`, which keeps the first 17 significant digits. A later digit before the decimal
 * point only raises `exponent`; one after the point is dropped.
 */
static void take_digit(struct decimal *out, char c, bool is_after_point)
{
	const bool fits = out->digits < INT64_C(10000000000000000);

	out->known = true;
	if (fits)
		out->digits = out->digits * 10 + (c - '0');
	out->exponent += fits ? -(int32_t)is_after_point : (int32_t)!is_after_point;
}

static void take_exponent(struct kwhy_span text, struct decimal *out)
{
	size_t at = out->length;
	bool negative;
	int32_t value = 0;

	if (at >= text.length || (text.bytes[at] | 0x20) != 'e')
		return;
	negative = at + 1 < text.length && text.bytes[at + 1] == '-';
	at += negative || (at + 1 < text.length && text.bytes[at + 1] == '+') ? 2 : 1;
	if (!is_digit(text, at))
		return;
	for (; is_digit(text, at); at++)
		value = value < 1000 ? value * 10 + (text.bytes[at] - '0') : value;
	out->exponent += negative ? -value : value;
	out->length = at;
}

static struct decimal read_decimal(struct kwhy_span text)
{
	struct decimal out = {0};
	bool is_after_point = false;

	for (; out.length < text.length; out.length++) {
		const char c = text.bytes[out.length];

		if (c == '.' && !is_after_point)
			is_after_point = true;
		else if (is_digit(text, out.length))
			take_digit(&out, c, is_after_point);
		else
			break;
	}
	take_exponent(text, &out);
	return out;
}

static bool scale(struct decimal decimal, int32_t factor, int32_t exponent, int64_t *out)
{
	int64_t value;

	if (__builtin_mul_overflow(decimal.digits, (int64_t)factor, &value))
		return false;
	exponent += decimal.exponent;
	for (; exponent > 0 && value != 0; exponent--)
		if (__builtin_mul_overflow(value, 10, &value))
			return false;
	for (; exponent < -1 && value != 0; exponent++)
		value /= 10;
	*out = exponent < 0 ? (value + 5) / 10 : value;
	return true;
}

bool kwhy_power_decimal_read(struct kwhy_span text, int32_t factor, int32_t exponent, int64_t *out)
{
	const struct decimal decimal = read_decimal(text);

	return decimal.known && decimal.length == text.length && scale(decimal, factor, exponent, out);
}

enum kwhy_power_amount kwhy_power_amount_read(
	struct kwhy_span text, const struct kwhy_power_unit *unit, int64_t *out)
{
	const struct decimal decimal = read_decimal(text);
	const struct kwhy_span rest = kwhy_span_trim(
		(struct kwhy_span){text.bytes + decimal.length, text.length - decimal.length});
	const bool is_energy = unit->is_energy;
	int64_t value;

	if (is_empty_word(text))
		return KWHY_POWER_AMOUNT_EMPTY;
	if (rest.length > 0)
		unit = kwhy_power_unit_find(rest);
	if (!decimal.known || !unit || unit->is_energy != is_energy ||
		!scale(decimal, unit->factor, unit->exponent, &value) ||
		value > (is_energy ? ENERGY_MAX : POWER_MAX))
		return KWHY_POWER_AMOUNT_WRONG;
	*out = value;
	return KWHY_POWER_AMOUNT_GOOD;
}
