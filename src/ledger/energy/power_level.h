/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_POWER_LEVEL_H
#define KWHY_LEDGER_ENERGY_POWER_LEVEL_H

#include "ledger/energy/power_class.h"
#include "ledger/sweep.h"

/*
 * Level of each class during one sweep over a device. `net` is the factor of the class's power above idle:
 * concurrent kernels that fill the device more than once share it by occupancy, and copies run concurrently
 * with them. `base` divides the idle level, which is drawn once, among the running classes: all `base`,
 * `idle`, `clean` and `unrecorded` add up to 1.
 */
struct kwhy_power_levels {
	const struct kwhy_recording *recording;
	const struct kwhy_device_ledger *device_ledger;
	const struct kwhy_power_classes *classes;
	size_t first; /* row of the device's first activity */
	uint32_t sm_count;
	uint64_t fill_sum; /* sum over running kernels in units of 2^-32; integer, so it is exact in any order
			    */
	size_t *running;   /* [classes] number of running activities */
	uint32_t *active; /* [classes] classes with running activities, and those whose last one just ended */
	size_t active_count;
	bool *is_active;    /* [classes] */
	double *net, *base; /* [classes] */
	double idle, clean, /* idle: idle with a context; clean: idle without one */
		unrecorded; /* 1 where the recording does not cover the time; all others are 0 then */
};

KWHY_MUST_USE enum kwhy_status kwhy_power_levels_init(struct kwhy_power_levels *levels,
	const struct kwhy_device_ledger *device_ledger, const struct kwhy_power_classes *classes,
	const struct kwhy_recording *recording, uint32_t device, uint32_t sm_count, struct kwhy_error *error);
void kwhy_power_levels_done(struct kwhy_power_levels *levels);

/*
 * Updates `running`, `fill_sum` and the list of active classes to the interval. The list contains every class
 * whose level may differ from that in the interval before.
 */
void kwhy_power_levels_follow(struct kwhy_power_levels *levels, const struct kwhy_sweep_interval *stretch);

/*
 * Computes the levels of the listed classes from the running activities. `covered`: the recording covers the
 * interval. `clean`: the device has no context, and so runs nothing.
 */
void kwhy_power_levels_weigh(struct kwhy_power_levels *levels, bool covered, bool clean);

#endif
