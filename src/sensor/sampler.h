/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SENSOR_SAMPLER_H
#define KWHY_SENSOR_SAMPLER_H

#include "base/clock.h"
#include "sensor/sensor.h"

/*
 * A thread that runs the tasks of all sensors at absolute deadlines. While it runs it allocates nothing and
 * takes no lock; readings go to the channels. A missed deadline is skipped and counted, not made up for.
 */
struct kwhy_sampler;

/*
 * Cost of sampling itself, and how the clocks ran. May be read at any time; exact after kwhy_sampler_stop().
 */
struct kwhy_sampler_cost {
	int64_t started_mono_ns, running_ns;
	int64_t cpu_ns;		 /* processor time of the sampler's thread, including the vendor's calls */
	uint64_t reads, missed;	 /* tasks run; deadlines skipped because the thread was late */
	int64_t longest_read_ns; /* longest run of a task, including waits for the vendor's lock */
	struct kwhy_clock_relation first, last; /* Unix time relative to CLOCK_MONOTONIC */
	double drift_ratio; /* drift of Unix time relative to CLOCK_MONOTONIC since the start; NAN before 10 s
			       have passed */
	int64_t step_ns;    /* largest sudden change of that relation, as when Unix time was set */
};

/* `clock` NULL: this machine's. The sensors are borrowed and must outlive the sampler. */
KWHY_MUST_USE enum kwhy_status kwhy_sampler_start(struct kwhy_sensors *sensors,
	const struct kwhy_clock *clock, struct kwhy_sampler **out, struct kwhy_error *error);

/*
 * Returns once every task has run after this call began, so that the channels hold what the meters have shown
 * up to now.
 */
void kwhy_sampler_flush(struct kwhy_sampler *sampler);

void kwhy_sampler_cost(const struct kwhy_sampler *sampler, struct kwhy_sampler_cost *out);

/* Runs every task once more, then ends the thread and frees the sampler. `out` may be NULL. */
void kwhy_sampler_stop(struct kwhy_sampler *sampler, struct kwhy_sampler_cost *out);

#endif
