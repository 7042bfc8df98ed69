/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_KINETO_NUMBER_H
#define KWHY_IMPORT_KINETO_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Numbers of a JSON text as integers, from their decimal digits alone: a double holds neither a Unix time
 * in nanoseconds nor the last digit of a re-written one. The text may stand in quotes. What lies below the
 * unit is rounded to nearest, halves away from zero: 0.7679999999999999 us, as scripts re-write 0.768, is 768
 * ns.
 */
enum kwhy_kineto_number {
	KWHY_KINETO_NUMBER_OK,
	KWHY_KINETO_NUMBER_NONE, /* not a number: letters, NaN, nothing */
	KWHY_KINETO_NUMBER_LARGE /* does not fit */
};

/* The largest time taken, in ns either way: what kwhy_recording_finish() accepts. About 73 years. */
#define KWHY_KINETO_TIME_MAX_NS (INT64_MAX / 4)

/* Microseconds to nanoseconds. */
enum kwhy_kineto_number kwhy_kineto_number_time(const char *text, size_t length, int64_t *out_ns);

/* A whole number; false when it is none or does not fit. */
bool kwhy_kineto_number_integer(const char *text, size_t length, int64_t *out);

#endif
