/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_CSV_NUMBER_H
#define KWHY_IMPORT_CSV_NUMBER_H

#include "import/csv_table.h"

enum kwhy_csv_number {
	KWHY_CSV_NUMBER_GOOD,
	KWHY_CSV_NUMBER_NONE,	  /* not decimal digits */
	KWHY_CSV_NUMBER_FRACTION, /* decimals that are not zeros; *out is what stands before the point */
	KWHY_CSV_NUMBER_LARGE	  /* beyond 64 bits */
};

/* Decimal digits with a sign, and zeros behind a point: exact, or not taken. */
enum kwhy_csv_number kwhy_csv_number_parse(struct kwhy_span text, int64_t *out);

/*
 * "microseconds", "milliseconds" or "seconds" when that is what a Unix time of 2001 to 2096 would be; else
 * NULL.
 */
const char *kwhy_csv_unix_unit(int64_t time);

#endif
