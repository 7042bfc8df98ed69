/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_POWER_AMOUNT_H
#define KWHY_IMPORT_POWER_AMOUNT_H

#include "base/span.h"

#include <stdint.h>

/*
 * A unit of power or energy. Amounts are read in the notations of other tools: "70.47 W", "[N/A]", or
 * "1.3e-05" in a column of kWh.
 */
struct kwhy_power_unit {
	const char *name;
	bool is_energy;
	int32_t factor, exponent; /* one unit is factor * 10^exponent mW or uJ */
};

const struct kwhy_power_unit *kwhy_power_unit_find(struct kwhy_span
		name); /* gets the unit with this name; NULL: the name is no unit of power or energy */

enum kwhy_power_amount {
	KWHY_POWER_AMOUNT_GOOD,
	KWHY_POWER_AMOUNT_EMPTY, /* the text states that there is no reading: "", "-", "N/A" or "[Not
				    Supported]" */
	KWHY_POWER_AMOUNT_WRONG
};

/*
 * Reads a number and gives milliwatts or microjoules, rounded. The unit is the one after the number or, if
 * there is none, `unit`. Numbers above 10^9 mW or 10^18 uJ are refused, because no machine with GPUs reaches
 * them.
 */
enum kwhy_power_amount kwhy_power_amount_read(
	struct kwhy_span text, const struct kwhy_power_unit *unit, int64_t *out);

/*
 * Reads a decimal number with an optional point and exponent, and gives number * factor * 10^exponent,
 * rounded. False: the text is no number, or the result is too large.
 */
bool kwhy_power_decimal_read(struct kwhy_span text, int32_t factor, int32_t exponent, int64_t *out);

#endif
