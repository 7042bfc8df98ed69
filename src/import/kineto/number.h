/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_KINETO_NUMBER_H
#define KWHY_IMPORT_KINETO_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Result of reading a number. Numbers are read from their decimal digits into integers, because a double is
 * not exact enough for a Unix time in nanoseconds. The text may be in quotes. Fractions of the wanted unit
 * are rounded to nearest, halves away from zero: 0.7679999999999999 us, which some scripts write for 0.768
 * us, becomes 768 ns.
 */
enum kwhy_kineto_number {
	KWHY_KINETO_NUMBER_OK,
	KWHY_KINETO_NUMBER_NONE, /* the text is no number: letters, NaN or empty */
	KWHY_KINETO_NUMBER_LARGE /* the number is out of range */
};

/* Largest absolute value of a time, ns; about 73 years. kwhy_recording_finish() has the same limit. */
#define KWHY_KINETO_TIME_MAX_NS (INT64_MAX / 4)

/* Reads a time in microseconds and gives nanoseconds. */
enum kwhy_kineto_number kwhy_kineto_number_time(const char *text, size_t length, int64_t *out_ns);

/*
 * Reads a number and rounds it to an integer. False: the text is no number, or the integer does not fit an
 * int64.
 */
bool kwhy_kineto_number_integer(const char *text, size_t length, int64_t *out);

#endif
