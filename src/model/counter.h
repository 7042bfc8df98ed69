/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_COUNTER_H
#define KWHY_MODEL_COUNTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kwhy_power_series;

/* More than any device or host draws: larger figures are wrong units or a wrong clock. */
#define KWHY_POWER_MAX_W 100000.0

/* What a cumulative meter did between two readings. */
enum kwhy_counter_step {
	KWHY_COUNTER_ROSE,    /* or stood still */
	KWHY_COUNTER_WRAPPED, /* fell as a counter that ran over does, and the rise is plausible */
	KWHY_COUNTER_FELL,    /* reset, or wrapped at a place we do not know: the rise is unknown */
};

struct kwhy_counter_span {
	int64_t before, after; /* counts */
	int64_t wrap;	       /* the highest value; 0: not reported, then 32 bits are tried */
	double length_ns;      /* between the two readings */
	int64_t unit_nj;       /* of a count */
};

/*
 * *out_counts is the rise, never negative, and untouched where it is unknown. A wrap whose rise no device
 * can draw in that time (KWHY_POWER_MAX_W) is a reset.
 */
enum kwhy_counter_step kwhy_counter_rise(const struct kwhy_counter_span *span, int64_t *out_counts);

/* A counter's readings, in order of time. */
struct kwhy_counter_readings {
	const int64_t *time_ns, *value;
	size_t count;
	int64_t wrap, unit_nj; /* as of struct kwhy_counter_span */
};

/* What the readings around it say of one reading of a counter. */
enum kwhy_counter_verdict {
	KWHY_COUNTER_RIGHT,
	KWHY_COUNTER_WRONG, /* it left the counter's course, which went on within KWHY_COUNTER_WRONG_MAX
			       readings: a dip that came back, or a peak */
	KWHY_COUNTER_OPEN,  /* it fell, and too few readings follow to tell a dip from a reset */
};

enum { KWHY_COUNTER_WRONG_MAX = 3 };

/*
 * The one rule for falls of a counter, by which a fall that stays is a reset or a wrap. Writes an enum
 * kwhy_counter_verdict for each reading. O(count).
 */
void kwhy_counter_judge(const struct kwhy_counter_readings *readings, uint8_t *out_verdict);

/* kwhy_counter_rise() between readings i - 1 and i of a counter. */
enum kwhy_counter_step kwhy_counter_step(
	const struct kwhy_power_series *series, size_t i, int64_t *out_counts);

/* Mean power between readings i - 1 and i of a counter; false, and *out_w untouched: the rise is unknown. */
bool kwhy_counter_power_w(const struct kwhy_power_series *series, size_t i, double *out_w);

#endif
