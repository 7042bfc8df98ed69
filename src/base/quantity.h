/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_QUANTITY_H
#define KWHY_BASE_QUANTITY_H

#include <stddef.h>
#include <stdint.h>

/* Largest size in bytes of a text that the functions below write, with NUL. */
#define KWHY_QUANTITY_BYTES 32

/*
 * These functions write a number to `out` and return `out`. kwhy_quantity_si() writes `digits` significant
 * digits (1 to 6) and the SI prefix that fits: 1.23 ms, 455 mJ, 6.31 nJ/B, 2.30 MB (10^6, never MiB). Beyond
 * all prefixes it writes 1.00e+30 J, and for NAN and infinities "n/a".
 */
const char *kwhy_quantity_si(char out[KWHY_QUANTITY_BYTES], double value, const char *unit, int digits);
const char *kwhy_quantity_time(char out[KWHY_QUANTITY_BYTES], int64_t time_ns);	    /* 3 digits: "1.23 ms" */
const char *kwhy_quantity_energy(char out[KWHY_QUANTITY_BYTES], int64_t energy_nj); /* 3 digits: "455 mJ" */
/* 3 digits and a prefix for powers of 1000, "2.30 MB"; below 1000 the exact number, "512 B" */
const char *kwhy_quantity_bytes(char out[KWHY_QUANTITY_BYTES], uint64_t bytes);
const char *kwhy_quantity_count(char out[KWHY_QUANTITY_BYTES], uint64_t count); /* "1,234,567" */
const char *kwhy_quantity_times(char out[KWHY_QUANTITY_BYTES], uint64_t count); /* "1 time", "2 times" */
/*
 * Writes a number without a unit with 3 significant digits and an SI prefix, "2.50 k", but without a prefix
 * from 0.001 to 1, "0.451", as "451 m" would read as metres.
 */
const char *kwhy_quantity_number(char out[KWHY_QUANTITY_BYTES], double value);
/*
 * Writes an amount of money or grams with at least 3 significant digits and no prefix: "0.000451". Very small
 * ones are written as 4.51e-16.
 */
const char *kwhy_quantity_plain(char out[KWHY_QUANTITY_BYTES], double value);
const char *kwhy_quantity_amount(char out[KWHY_QUANTITY_BYTES],
	double amount); /* a whole amount as "1,500", others as kwhy_quantity_number() */
const char *kwhy_quantity_percent(char out[KWHY_QUANTITY_BYTES], double ratio); /* 15.8 % */
/*
 * Writes the distances of an interval's ends from its value, divided by the value: "±1.20 %", or "-42 +73 %"
 * if they differ by more than a tenth. Writes "" if one of them is unknown.
 */
const char *kwhy_quantity_interval(char out[KWHY_QUANTITY_BYTES], double value, double low, double high);

#endif
