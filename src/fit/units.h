/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_FIT_UNITS_H
#define KWHY_FIT_UNITS_H

#include <stdbool.h>

/*
 * Base units. Every unit is a factor times a product of powers of joules, seconds, bytes, FLOP, grams and
 * metres; counts and shares are pure numbers.
 */
enum kwhy_dimension {
	KWHY_DIMENSION_JOULE,
	KWHY_DIMENSION_SECOND,
	KWHY_DIMENSION_BYTE,
	KWHY_DIMENSION_FLOP,
	KWHY_DIMENSION_GRAM,
	KWHY_DIMENSION_METRE,
	KWHY_DIMENSION_COUNT
};

/* Days of a year, for yearly figures; they have 8,760 hours. */
#define KWHY_DAYS_PER_YEAR 365.0

struct kwhy_unit {
	double factor; /* value of 1 of this unit in base units, such as 1e-3 for mJ */
	int powers[KWHY_DIMENSION_COUNT];
};

/*
 * Parses a unit such as "mJ", "GFLOPS/W", "kg/kWh", "MiB", "tokens/s/W" or "%": words with prefixes, joined
 * by "/" and "*". MB is 10^6 bytes and MiB 2^20 bytes; FLOPS is FLOP per second, and FMA is two FLOP. Words
 * for counted things, such as ops or steps, count as 1. False: the unit is unknown.
 */
bool kwhy_unit_parse(const char *text, struct kwhy_unit *out);

bool kwhy_unit_is_alike(const struct kwhy_unit *a, const struct kwhy_unit *b);

/* Writes the name of a unit in base units ("J/B", "W", "s", "") to `out` and returns it. */
#define KWHY_UNIT_BYTES 48
const char *kwhy_unit_name(char out[KWHY_UNIT_BYTES], const struct kwhy_unit *unit);

#endif
