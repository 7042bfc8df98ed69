/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_VALUES_H
#define KWHY_CLI_VALUES_H

#include "base/status.h"

/* Option values with a syntax of their own. Wrong values are KWHY_E_USAGE. */

/* Reads "0.30EUR", "0.30 EUR" or "0.30"; the currency is "" where it is not named. */
KWHY_MUST_USE enum kwhy_status kwhy_value_price(
	const char *spec, double *out_price_per_kwh, char out_currency[16], struct kwhy_error *error);

#define KWHY_WORK_UNIT_BYTES 32

/* Reads "tokens=4096", an amount of work above 0. */
KWHY_MUST_USE enum kwhy_status kwhy_value_work(
	const char *spec, char out_unit[KWHY_WORK_UNIT_BYTES], double *out_count, struct kwhy_error *error);

#endif
