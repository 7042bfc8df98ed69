/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MEASURE_COUNTER_SAMPLES_H
#define KWHY_MEASURE_COUNTER_SAMPLES_H

#include "measure/window.h"

/* The median distance of the first readings; 0 when there are none. */
enum { KWHY_PERIOD_OF = 65 };
int64_t kwhy_period_typical(const int64_t *time_ns, size_t count);

/* A counter's readings with wraps undone. Zero-initialise; free with kwhy_counter_samples_done(). */
struct kwhy_counter_samples {
	int64_t *time_ns;
	double *joules; /* since the first; NAN-free */
	bool *broken;	/* the rise from the reading before is not known: a reset */
	size_t count;
	int64_t period_ns;
	int64_t still_ns; /* the last time that it was read unchanged; 0: never */
	uint64_t wraps, resets, unordered;
	uint64_t misread; /* readings that left the counter's course, which then went on: left out */
};

KWHY_MUST_USE enum kwhy_status kwhy_counter_samples_make(
	const struct kwhy_readings *counter, struct kwhy_counter_samples *out, struct kwhy_error *error);
/* Forgets the first ones. */
void kwhy_counter_samples_drop(struct kwhy_counter_samples *counter_samples, size_t count);
void kwhy_counter_samples_done(struct kwhy_counter_samples *counter_samples);

/*
 * A power meter's readings, and a power from which they could have come: in the interval up to the next
 * reading first_w for first_ns, then second_w.
 */
struct kwhy_sample {
	int64_t time_ns; /* late stamps put right */
	double watts;
	double joules; /* used until the moment that the meter shows here, since the first */
	double first_w, second_w;
	double first_s;
	uint32_t gaps; /* this many intervals before this reading were too long to say what went on in them */
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

/* What the meter shows at a time, and what was used up to that; outside the samples
 * as if the nearest went on. */
struct kwhy_sample_at {
	double watts, joules;
};
struct kwhy_sample_at kwhy_samples_between(const struct kwhy_samples *samples, int64_t time_ns);

/* The last sample at or before a time, which is not before the first. */
size_t kwhy_samples_at(const struct kwhy_samples *samples, int64_t time_ns);

#endif
