/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SENSOR_SAMPLER_H
#define KWHY_SENSOR_SAMPLER_H

#include "base/clock.h"
#include "sensor/sensor.h"

/*
 * One thread that runs the tasks of all sensors at absolute deadlines. While it runs it allocates nothing and
 * takes no lock; readings go to the channels. A deadline that was missed is skipped and counted, never made
 * up for.
 */
struct kwhy_sampler;

/* What sampling itself took, and how the clocks ran. Read at any time; exact after kwhy_sampler_stop(). */
struct kwhy_sampler_cost {
	int64_t started_mono_ns, running_ns;
	int64_t cpu_ns;				/* of the sampler's thread, inside the vendor's calls too */
	uint64_t reads, missed;			/* tasks run; deadlines skipped because the thread was late */
	int64_t longest_read_ns;		/* one task, the vendor's lock included */
	struct kwhy_clock_relation first, last; /* Unix against monotonic */
	double drift_ratio; /* of Unix against monotonic since the start; NAN under 10 s */
	int64_t step_ns;    /* largest sudden change of that relation: Unix time was set */
};

/* `clock` NULL: this machine's. The sensors are borrowed and must outlive the sampler. */
KWHY_MUST_USE enum kwhy_status kwhy_sampler_start(struct kwhy_sensors *sensors,
	const struct kwhy_clock *clock, struct kwhy_sampler **out, struct kwhy_error *error);

/* Returns once every task has run after this call began: what the meters have shown up to now is then in the
 * channels. */
void kwhy_sampler_flush(struct kwhy_sampler *sampler);

void kwhy_sampler_cost(const struct kwhy_sampler *sampler, struct kwhy_sampler_cost *out);

/* Runs every task once more, then ends the thread and frees the sampler. `out` may be NULL. */
void kwhy_sampler_stop(struct kwhy_sampler *sampler, struct kwhy_sampler_cost *out);

#endif
