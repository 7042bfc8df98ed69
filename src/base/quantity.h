/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_QUANTITY_H
#define KWHY_BASE_QUANTITY_H

#include <stddef.h>
#include <stdint.h>

/* Largest size of the texts below, with NUL. */
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
/*
 * A number without a unit, 3 digits: "2.50 k"; down to a thousandth without a prefix, "0.451", as "451 m"
 * reads as metres.
 */
const char *kwhy_quantity_number(char out[KWHY_QUANTITY_BYTES], double value);
/* A number of money or grams, which are read best without prefixes: 3 digits, "0.000451". */
const char *kwhy_quantity_plain(char out[KWHY_QUANTITY_BYTES], double value);
const char *kwhy_quantity_amount(
	char out[KWHY_QUANTITY_BYTES], double amount); /* 1,500 if whole, else as kwhy_quantity_number() */
const char *kwhy_quantity_percent(char out[KWHY_QUANTITY_BYTES], double ratio); /* 15.8 % */
/*
 * Relative distances of an interval's ends from its value: "±1.20 %", or "-42 +73 %" if they differ; "": one
 * of them is unknown.
 */
const char *kwhy_quantity_interval(char out[KWHY_QUANTITY_BYTES], double value, double low, double high);

#endif
