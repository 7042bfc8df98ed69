/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SENSOR_SAMPLER_H
#define KWHY_SENSOR_SAMPLER_H

#include "base/clock.h"
#include "sensor/sensor.h"

/*
 * A thread that runs the tasks of all sensors at absolute deadlines. While it runs, it allocates nothing and
 * takes no lock. Readings go to the channels. A deadline that passes before its task can run is counted as
 * missed; the task then runs once, not once for each missed deadline.
 */
struct kwhy_sampler;

/*
 * What the sampling has cost (processor time, runs of tasks, missed deadlines), and how Unix time ran against
 * CLOCK_MONOTONIC. kwhy_sampler_cost() gets it at any time; the figures from kwhy_sampler_stop() are final.
 */
struct kwhy_sampler_cost {
	int64_t started_mono_ns, running_ns;
	int64_t cpu_ns; /* processor time of the sampler's thread, including calls of vendors' libraries */
	uint64_t reads,
		missed; /* number of task runs, and number of deadlines missed because the thread was late */
	int64_t longest_read_ns; /* longest run of a task, including its waits for a vendor's lock */
	/*
	 * relation of Unix time to CLOCK_MONOTONIC when the sampler started, and when the relation was last
	 * read
	 */
	struct kwhy_clock_relation first, last;
	/*
	 * drift of Unix time against CLOCK_MONOTONIC since the start, as a ratio; NAN: less than 10 s have
	 * passed
	 */
	double drift_ratio;
	/* largest sudden change of Unix time against CLOCK_MONOTONIC, as when the clock was set */
	int64_t step_ns;
};

/*
 * Starts the sampler's thread. `clock`: the clock to use; NULL: this machine's. The sensors are borrowed and
 * must outlive the sampler.
 */
KWHY_MUST_USE enum kwhy_status kwhy_sampler_start(struct kwhy_sensors *sensors,
	const struct kwhy_clock *clock, struct kwhy_sampler **out, struct kwhy_error *error);

/*
 * Makes the sampler's thread run every task now, also before its deadline, and waits for that, so that the
 * channels hold what the meters have shown until now.
 */
void kwhy_sampler_flush(struct kwhy_sampler *sampler);

void kwhy_sampler_cost(const struct kwhy_sampler *sampler, struct kwhy_sampler_cost *out);

/*
 * Runs every task once more, ends the thread, and frees the sampler. `out` receives the cost and may be NULL.
 */
void kwhy_sampler_stop(struct kwhy_sampler *sampler, struct kwhy_sampler_cost *out);

#endif
