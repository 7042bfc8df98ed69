/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_POWER_LEVEL_H
#define KWHY_LEDGER_ENERGY_POWER_LEVEL_H

#include "ledger/energy/power_class.h"
#include "ledger/sweep.h"

/*
 * Level of each power class during one sweep over a device. `net` is the factor by which a class's power
 * above idle counts: the number of its running activities, except that kernels whose grids together exceed
 * the device are scaled down by the same factor. Copies and memsets draw their full power in addition. `base`
 * is the class's share of the idle level, which the device draws only once: the sum of all `base`, `idle`,
 * `clean` and `unrecorded` is 1.
 */
struct kwhy_power_levels {
	const struct kwhy_recording *recording;
	const struct kwhy_device_ledger *device_ledger;
	const struct kwhy_power_classes *classes;
	size_t first; /* row of the device's first activity */
	uint32_t sm_count;
	uint64_t fill_sum; /* sum over the running kernels of the share of the multiprocessors that each
			      occupies, in units of 2^-32; an integer, so that it is exact in any order */
	size_t *running;   /* [class_count] number of running activities of each class */
	uint32_t *active; /* [class_count] classes with running activities, and those whose last activity just
			     ended */
	size_t active_count;
	bool *is_active;    /* [classes] whether the class is in `active` */
	double *net, *base; /* [classes] levels of the class */
	double idle, clean, /* levels of idle time with a context and without one */
		unrecorded; /* 1 in unrecorded time; all other levels are 0 then */
};

KWHY_MUST_USE enum kwhy_status kwhy_power_levels_init(struct kwhy_power_levels *levels,
	const struct kwhy_device_ledger *device_ledger, const struct kwhy_power_classes *classes,
	const struct kwhy_recording *recording, uint32_t device, uint32_t sm_count, struct kwhy_error *error);
void kwhy_power_levels_done(struct kwhy_power_levels *levels);

/*
 * Updates `running`, `fill_sum` and `active` for the next interval of the sweep. `active` then contains every
 * class whose level may differ from that in the interval before.
 */
void kwhy_power_levels_follow(struct kwhy_power_levels *levels, const struct kwhy_sweep_interval *stretch);

/*
 * Computes the levels of the classes in `active`, and those of idle, clean and unrecorded time. `covered`:
 * the interval was recorded. `clean`: the device had no context in it, so that no activity ran.
 */
void kwhy_power_levels_weigh(struct kwhy_power_levels *levels, bool covered, bool clean);

#endif
