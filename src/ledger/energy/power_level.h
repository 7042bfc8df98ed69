/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_POWER_LEVEL_H
#define KWHY_LEDGER_ENERGY_POWER_LEVEL_H

#include "ledger/energy/power_class.h"
#include "ledger/sweep.h"

/*
 * How much of each class runs, as one sweep over a device goes on. `net` is what multiplies the power
 * above idle of a class: concurrent kernels that fill the device more than once share it by occupancy,
 * copies run beside them. `base` divides the idle level, which is drawn once, among what runs: all
 * `base`, `idle`, `clean` and `hidden` add up to 1.
 */
struct kwhy_power_levels {
	const struct kwhy_recording *recording;
	const struct kwhy_device_ledger *device_ledger;
	const struct kwhy_power_classes *classes;
	size_t first; /* row of the device's first activity */
	uint32_t sm_count;
	uint64_t fill_sum; /* of running kernels, in 2^-32: exact in any order */
	size_t *running;   /* [classes] activities */
	uint32_t *active;  /* [classes] those with running activities, and those that just ended */
	size_t active_count;
	bool *is_active;    /* [classes] */
	double *net, *base; /* [classes] */
	double idle, clean, /* clean: idle without a context */
		unrecorded; /* hidden: 1 where the recording does not cover the time; all others are 0 then */
};

KWHY_MUST_USE enum kwhy_status kwhy_power_levels_init(struct kwhy_power_levels *levels,
	const struct kwhy_device_ledger *device_ledger, const struct kwhy_power_classes *classes,
	const struct kwhy_recording *recording, uint32_t device, uint32_t sm_count, struct kwhy_error *error);
void kwhy_power_levels_done(struct kwhy_power_levels *levels);

/*
 * Brings `running`, `fill_sum` and the list of active classes up to the stretch; every class whose
 * level may differ from the interval before is in the list.
 */
void kwhy_power_levels_follow(struct kwhy_power_levels *levels, const struct kwhy_sweep_interval *stretch);

/*
 * Levels of the listed classes from what runs. `covered`: the recording knows what ran. `clean`: the device
 * has no context, and so runs nothing.
 */
void kwhy_power_levels_weigh(struct kwhy_power_levels *levels, bool covered, bool clean);

#endif
