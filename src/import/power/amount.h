/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_POWER_AMOUNT_H
#define KWHY_IMPORT_POWER_AMOUNT_H

#include "base/span.h"

#include <stdint.h>

/*
 * A unit of power or energy. The functions below read amounts as other tools write them: "70.47 W", "[N/A]",
 * or "1.3e-05" in a column of kWh.
 */
struct kwhy_power_unit {
	const char *name;
	bool is_energy;
	int32_t factor, exponent; /* one unit is factor * 10^exponent mW (power) or uJ (energy) */
};

/* The unit with this name, in upper or lower case; NULL: the name is no unit of power or energy. */
const struct kwhy_power_unit *kwhy_power_unit_find(struct kwhy_span name);

enum kwhy_power_amount {
	KWHY_POWER_AMOUNT_GOOD,
	KWHY_POWER_AMOUNT_EMPTY, /* the text states that there is no reading: "", "-", "N/A", "nan" and the
				    like, or "[" and any text */
	KWHY_POWER_AMOUNT_WRONG
};

/*
 * Reads an amount and gives it in milliwatts (power) or microjoules (energy), rounded. The unit is the one
 * that follows the number or, if none does, `unit`. Amounts above 10^9 mW or 10^18 uJ are
 * KWHY_POWER_AMOUNT_WRONG, because no machine with GPUs reaches them.
 */
enum kwhy_power_amount kwhy_power_amount_read(
	struct kwhy_span text, const struct kwhy_power_unit *unit, int64_t *out);

/*
 * Reads a decimal number without a sign, with an optional point and exponent, and gives number * factor *
 * 10^exponent, rounded to an integer. False: the text is anything else, or the result does not fit.
 */
bool kwhy_power_decimal_read(struct kwhy_span text, int32_t factor, int32_t exponent, int64_t *out);

#endif
