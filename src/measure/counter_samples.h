/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MEASURE_COUNTER_SAMPLES_H
#define KWHY_MEASURE_COUNTER_SAMPLES_H

#include "measure/window.h"

/*
 * kwhy_period_typical(): median time in ns between consecutive readings, from the first KWHY_PERIOD_OF
 * readings; 0: there are fewer than two.
 */
enum { KWHY_PERIOD_OF = 65 };
int64_t kwhy_period_typical(const int64_t *time_ns, size_t count);

/*
 * Readings of an energy counter that show updates, with wraps undone. Zero-initialise; free with
 * kwhy_counter_samples_done().
 */
struct kwhy_counter_samples {
	int64_t *time_ns;
	double *joules; /* energy from the first update to this one, as counted; the rise at a reset counts as
			   0 */
	bool *broken;	/* the counter was reset, so its rise since the previous update is unknown */
	size_t count;
	int64_t period_ns;
	int64_t still_ns; /* time of the last reading that repeats the value of an earlier update and shows no
			     update itself; 0: there is none */
	uint64_t wraps, resets, unordered;
	uint64_t misread; /* number of readings left out because they contradict the readings around them */
};

KWHY_MUST_USE enum kwhy_status kwhy_counter_samples_make(
	const struct kwhy_readings *counter, struct kwhy_counter_samples *out, struct kwhy_error *error);
/* Drops the first `count` updates. Joules of the others still count from the first one dropped. */
void kwhy_counter_samples_drop(struct kwhy_counter_samples *counter_samples, size_t count);
void kwhy_counter_samples_done(struct kwhy_counter_samples *counter_samples);

/*
 * A reading of a power meter, and a model of the device's power from this reading to the next: first_w for
 * first_s, then second_w. With that power, a meter with the time constant of struct kwhy_samples would give
 * this reading and the next.
 */
struct kwhy_sample {
	int64_t time_ns; /* time stamp, corrected where it was late */
	double watts;
	double joules; /* energy from the moment whose power the first reading shows to the moment whose power
			  this reading shows; both are earlier than their readings by the meter's delay */
	double first_w, second_w;
	double first_s;
	uint32_t gaps; /* number of gaps from the first reading to this one: intervals without readings, so
			  long that the power in them is unknown */
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
 * Reading in watts that the meter would give at a time, and the energy from the first sample's moment to the
 * moment whose power that reading shows. Before the first and after the last sample the power is assumed to
 * be that of the nearest sample.
 */
struct kwhy_sample_at {
	double watts, joules;
};
struct kwhy_sample_at kwhy_samples_between(const struct kwhy_samples *samples, int64_t time_ns);

/* Index of the last sample at or before a time. The time must not be before the first sample. */
size_t kwhy_samples_at(const struct kwhy_samples *samples, int64_t time_ns);

#endif
