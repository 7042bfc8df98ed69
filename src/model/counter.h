/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_COUNTER_H
#define KWHY_MODEL_COUNTER_H

#include "model/meter.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kwhy_power_series;

/* No device or host draws more power; larger values come from wrong units or a wrong clock. */
#define KWHY_POWER_MAX_W 100000.0

/* How an energy counter changed between two readings. */
enum kwhy_counter_step {
	KWHY_COUNTER_ROSE,    /* the counter rose or kept its value */
	KWHY_COUNTER_WRAPPED, /* the counter fell by a wrap, and its rise is plausible */
	KWHY_COUNTER_FELL,    /* the counter was reset, or wrapped at an unknown value; its rise is unknown */
	KWHY_COUNTER_JUMPED,  /* the counter rose by more than its owner can draw, so the rise is no energy */
};

struct kwhy_counter_span {
	int64_t before, after; /* the two readings, in the counter's own counts */
	int64_t wrap;	       /* highest value before a wrap; 0: not reported, and 32 bits are assumed */
	double length_ns;      /* time between the two readings */
	int64_t unit_nj;       /* nanojoules per count */
	double most_w; /* highest plausible mean power from `before` to `after`; 0: KWHY_POWER_MAX_W */
};

/*
 * Writes the rise of the counter, which is never negative, to *out_counts. A fall is KWHY_COUNTER_FELL, and
 * not a wrap, if `before` is above `wrap` or if the rise by a wrap would need more mean power than most_w;
 * *out_counts is then unchanged. Never returns KWHY_COUNTER_JUMPED.
 */
enum kwhy_counter_step kwhy_counter_rise(const struct kwhy_counter_span *span, int64_t *out_counts);

/*
 * Whether the energy of this number of counts, spread over length_ns, is a mean power of at most most_w. Only
 * length_ns, unit_nj and most_w of the span are used.
 */
bool kwhy_counter_is_plausible(const struct kwhy_counter_span *span, double counts);

/* A counter's readings, in order of time. */
struct kwhy_counter_readings {
	const int64_t *time_ns, *value;
	size_t count;
	int64_t wrap, unit_nj; /* as in struct kwhy_counter_span */
};

/* Verdict on one reading of a counter from the readings around it. */
enum kwhy_counter_verdict {
	KWHY_COUNTER_RIGHT,
	KWHY_COUNTER_WRONG, /* the reading is too low or too high: one of at most KWHY_COUNTER_WRONG_MAX in a
			       row, after which the counter continued as before them */
	KWHY_COUNTER_OPEN,  /* the counter fell, and too few readings follow to distinguish a dip from a reset
			     */
};

enum { KWHY_COUNTER_WRONG_MAX = 3 };

/*
 * Finds wrong readings where a counter falls; a fall that persists is a reset or a wrap. Writes an enum
 * kwhy_counter_verdict for each reading. O(count).
 */
void kwhy_counter_judge(const struct kwhy_counter_readings *readings, uint8_t *out_verdict);

/*
 * Highest plausible power, in W, of what a meter of this kind measures, as a mean over some tenths of a
 * second.
 */
double kwhy_counter_most_w(enum kwhy_meter meter);

/*
 * How a counter changed between readings i - 1 and i: kwhy_counter_rise() with kwhy_counter_most_w() as the
 * limit. A rise counts as a jump only if the power is above this limit both in this interval and on average
 * over this interval, the one before it and the one after it. A late time stamp is thus no jump, though it
 * makes one interval too short and the next one too long.
 */
enum kwhy_counter_step kwhy_counter_step(
	const struct kwhy_power_series *series, size_t i, int64_t *out_counts);

/*
 * Mean power, in W, between readings i - 1 and i of a counter. Returns false, with *out_w unchanged, if the
 * counter was reset or jumped (KWHY_COUNTER_FELL or KWHY_COUNTER_JUMPED).
 */
bool kwhy_counter_power_w(const struct kwhy_power_series *series, size_t i, double *out_w);

#endif
