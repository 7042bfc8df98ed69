/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_POWER_AMOUNT_H
#define KWHY_IMPORT_POWER_AMOUNT_H

#include "base/span.h"

#include <stdint.h>

/* Powers and energies as other tools write them: "70.47 W", "[N/A]", "1.3e-05" under a column of kWh. */
struct kwhy_power_unit {
	const char *name;
	bool is_energy;
	int32_t factor, exponent; /* mW or uJ in one unit: factor * 10^exponent */
};

const struct kwhy_power_unit *kwhy_power_unit_find(
	struct kwhy_span name); /* NULL: no unit of power or energy */

enum kwhy_power_amount {
	KWHY_POWER_AMOUNT_GOOD,
	KWHY_POWER_AMOUNT_EMPTY, /* "", "-", "N/A", "[Not Supported]" and the like: no reading */
	KWHY_POWER_AMOUNT_WRONG
};

/*
 * Reads a number in `unit`, or in the unit that follows it, as milliwatts or microjoules, rounded. Accepts
 * powers up to 10^9 mW and energies up to 10^18 uJ; no machine with a GPU has more.
 */
enum kwhy_power_amount kwhy_power_amount_read(
	struct kwhy_span text, const struct kwhy_power_unit *unit, int64_t *out);

/*
 * Reads a decimal number with an optional point and exponent, times factor * 10^exponent, rounded. False: no
 * number, or too large.
 */
bool kwhy_power_decimal_read(struct kwhy_span text, int32_t factor, int32_t exponent, int64_t *out);

#endif
