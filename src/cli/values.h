/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_VALUES_H
#define KWHY_CLI_VALUES_H

#include "base/status.h"

/* Read option values with a syntax of their own. KWHY_E_USAGE: the value does not follow it. */

/* Reads a price: "0.30EUR", "0.30 EUR" or "0.30". The currency is "" if it is not named. */
KWHY_MUST_USE enum kwhy_status kwhy_value_price(
	const char *spec, double *out_price_per_kwh, char out_currency[16], struct kwhy_error *error);

#define KWHY_WORK_UNIT_BYTES 32

/* Reads an amount of work above 0: "tokens=4096". */
KWHY_MUST_USE enum kwhy_status kwhy_value_work(
	const char *spec, char out_unit[KWHY_WORK_UNIT_BYTES], double *out_count, struct kwhy_error *error);

#endif
