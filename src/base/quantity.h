/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_QUANTITY_H
#define KWHY_BASE_QUANTITY_H

#include <stddef.h>
#include <stdint.h>

/* Room that any of the texts below needs, with its NUL. */
#define KWHY_QUANTITY_BYTES 32

/*
 * Write a number with `digits` significant digits (1 to 6) and the SI prefix that fits: 1.23 ms, 455 mJ,
 * 6.31 nJ/B, 2.30 MB (10^6, never MiB). Beyond all prefixes: 1.00e+30 J. Not-a-number and infinities give
 * "n/a". Each returns `out`.
 */
const char *kwhy_quantity_si(char out[KWHY_QUANTITY_BYTES], double value, const char *unit, int digits);
const char *kwhy_quantity_time(char out[KWHY_QUANTITY_BYTES], int64_t time_ns);	    /* 3 digits */
const char *kwhy_quantity_energy(char out[KWHY_QUANTITY_BYTES], int64_t energy_nj); /* 3 digits */
const char *kwhy_quantity_bytes(char out[KWHY_QUANTITY_BYTES], uint64_t bytes);	    /* 3 digits, decimal */
const char *kwhy_quantity_count(char out[KWHY_QUANTITY_BYTES], uint64_t count);	    /* 1,234,567 */
const char *kwhy_quantity_times(char out[KWHY_QUANTITY_BYTES], uint64_t count);	    /* 1 time, 2 times */
/* Without a unit, 3 digits: "0.451" down to a thousandth, for "451 m" reads as metres; "2.50 k". */
const char *kwhy_quantity_number(char out[KWHY_QUANTITY_BYTES], double value);
/* Money and grams are read best without prefixes: three digits wherever the point is, "0.000451". */
const char *kwhy_quantity_plain(char out[KWHY_QUANTITY_BYTES], double value);
const char *kwhy_quantity_amount(
	char out[KWHY_QUANTITY_BYTES], double amount); /* of work: 1,500 where it is whole, else as above */
const char *kwhy_quantity_percent(char out[KWHY_QUANTITY_BYTES], double ratio); /* 15.8 % */
/* How far the ends of an interval lie from its value: "±1.20 %", or "-42 +73 %" where they lie differently
 * far; "" where one is not known. */
const char *kwhy_quantity_interval(char out[KWHY_QUANTITY_BYTES], double value, double low, double high);

#endif
