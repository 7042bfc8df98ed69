/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MEASURE_COUNTER_SAMPLES_H
#define KWHY_MEASURE_COUNTER_SAMPLES_H

#include "measure/window.h"

/* Median time between the first KWHY_PERIOD_OF readings, ns; 0: fewer than two readings. */
enum { KWHY_PERIOD_OF = 65 };
int64_t kwhy_period_typical(const int64_t *time_ns, size_t count);

/* A counter's readings with wraps undone. Zero-initialise; free with kwhy_counter_samples_done(). */
struct kwhy_counter_samples {
	int64_t *time_ns;
	double *joules; /* energy since the first reading; never NAN */
	bool *broken;	/* the rise since the reading before is unknown, because the counter was reset */
	size_t count;
	int64_t period_ns;
	int64_t still_ns; /* last time at which the counter was read unchanged; 0: never */
	uint64_t wraps, resets, unordered;
	uint64_t misread; /* readings far from those before and after them; left out */
};

KWHY_MUST_USE enum kwhy_status kwhy_counter_samples_make(
	const struct kwhy_readings *counter, struct kwhy_counter_samples *out, struct kwhy_error *error);
/* Drops the first `count` readings. */
void kwhy_counter_samples_drop(struct kwhy_counter_samples *counter_samples, size_t count);
void kwhy_counter_samples_done(struct kwhy_counter_samples *counter_samples);

/*
 * A reading of a power meter, and a course of the power that explains it: up to the next reading, first_w for
 * first_s, then second_w.
 */
struct kwhy_sample {
	int64_t time_ns; /* time stamp, corrected where it was late */
	double watts;
	double joules; /* energy used up to the moment that this reading shows, since the first reading */
	double first_w, second_w;
	double first_s;
	uint32_t gaps; /* number of intervals before this reading that were too long to know the power in them
			*/
};

struct kwhy_samples {
	struct kwhy_sample *items;
	size_t count;
	int64_t period_ns;
	double time_constant_s;
	uint64_t late, unordered;
};

KWHY_MUST_USE enum kwhy_status kwhy_samples_make(const struct kwhy_readings *power, double time_constant_s,
	struct kwhy_samples *out, struct kwhy_error *error);
void kwhy_samples_done(struct kwhy_samples *samples);

/*
 * Reading of the meter at a time, and the energy used up to the moment that it shows. Outside the samples the
 * nearest power is assumed to continue.
 */
struct kwhy_sample_at {
	double watts, joules;
};
struct kwhy_sample_at kwhy_samples_between(const struct kwhy_samples *samples, int64_t time_ns);

/* Index of the last sample at or before a time, which is not before the first sample. */
size_t kwhy_samples_at(const struct kwhy_samples *samples, int64_t time_ns);

#endif
