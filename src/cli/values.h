/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_VALUES_H
#define KWHY_CLI_VALUES_H

#include "base/status.h"

/* Read option values that have a syntax of their own. KWHY_E_USAGE: the value does not follow that syntax. */

/*
 * Reads the price of a kWh, which is not negative: "0.30EUR", "0.30 EUR" or "0.30". The currency is "" if it
 * is not named.
 */
KWHY_MUST_USE enum kwhy_status kwhy_value_price(
	const char *spec, double *out_price_per_kwh, char out_currency[16], struct kwhy_error *error);

#define KWHY_COUNT_NAME_BYTES 32

/*
 * Reads a name and a count above 0: "decode=2048". `option` is the option's name without its "--", for
 * messages.
 */
KWHY_MUST_USE enum kwhy_status kwhy_value_name_count(const char *option, const char *spec,
	char out_name[KWHY_COUNT_NAME_BYTES], double *out_count, struct kwhy_error *error);

/* Reads an amount of work above 0 for --work: "tokens=4096". The unit must not contain a space. */
KWHY_MUST_USE enum kwhy_status kwhy_value_work(
	const char *spec, char out_unit[KWHY_COUNT_NAME_BYTES], double *out_count, struct kwhy_error *error);

#endif
