/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_POWER_CLASS_H
#define KWHY_LEDGER_ENERGY_POWER_CLASS_H

#include "base/status.h"
#include "ledger/ledger_new.h"
#include "model/ledger.h"
#include "model/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Largest number of accounts that have a power class of their own: those with the highest expected energy.
 * The other accounts share classes by kind.
 */
#define KWHY_POWER_CLASS_OWN_MAX 64
/*
 * The same limit for recordings in which kwhy probe repeated kernels. It is higher, because the repeats show
 * the power of each kernel alone. In a recording of ResNet-50 on an H200 with 378 accounts of kernels, the
 * mean half-width of the accounts' 90 % intervals was 38 % of their energy with a limit of 64, 16 % with 128,
 * 10 % with 256. With 256 the ledger takes 15 s.
 */
#define KWHY_POWER_CLASS_PROBED_MAX 256

/*
 * Prior of the power of a class above idle. It is log-normal, with the first of these medians that is known:
 * learnt_w; known_w less the idle level; kind_w; `fill` times the power above idle of a full grid (a kernel
 * that fills the device).
 */
struct kwhy_power_prior {
	double fill;	/* median power as a share of that of a full grid, in (0, 1], for kernels the share of
			   the multiprocessors that they occupy; 0: the class of time without a context */
	double sd;	/* standard deviation of the logarithm of the power */
	double known_w; /* power of the kernel in W, idle level included, by the machine profile; NAN: unknown
			 */
	double known_sd_w; /* standard uncertainty of known_w */
	double kind_w; /* power above idle in W by performance counters or, by the profile, of kernels of this
			  kind; NAN: unknown */
	double kind_spread; /* standard deviation of the logarithm of kind_w */
	bool is_counted;    /* kind_w is by performance counters */
	double learnt_w;    /* power above idle in W from other recordings (--powers); NAN: unknown, or
			       contradicted by the readings */
	double learnt_sd;   /* standard deviation of the logarithm of learnt_w */
	bool beside; /* the activities are copies or memsets, which draw their full power also while kernels
			run */
	size_t account_count;
	double time_ns;	       /* total time of the class's accounts in ns */
	double in_place_ratio; /* standard deviation of the logarithm of (power between other work / power in
				  bursts) (power_in_place.h) */
};

/*
 * The power classes of one device. Accounts of idle and of unrecorded time have none (power_class is
 * KWHY_NONE), with one exception: the account of time without a context has a class, whose power is what the
 * device then draws less than the idle level.
 */
struct kwhy_power_classes {
	struct kwhy_power_prior *priors;
	size_t count;
	uint32_t clean; /* class of time without a context, the last one; KWHY_NONE: no such class */
};

/*
 * Makes the power classes and sets power_class of every account that has one. If neither recording nor
 * profile states the number of multiprocessors, the shares of the device that grids occupy are unknown.
 */
KWHY_MUST_USE enum kwhy_status kwhy_power_classes_init(struct kwhy_power_classes *classes,
	struct kwhy_device_ledger *device_ledger, const struct kwhy_recording *recording, uint32_t device,
	const struct kwhy_ledger_options *options, struct kwhy_error *error);
void kwhy_power_classes_done(struct kwhy_power_classes *classes);

/* Number of multiprocessors of a device, as the recording or the profile states it; 0: unknown. */
uint32_t kwhy_power_sm_count(
	const struct kwhy_recording *recording, uint32_t device, const struct kwhy_profile *profile);

/* Share of the multiprocessors that the blocks of a grid occupy, in (0, 1]; NAN: unknown. */
double kwhy_power_grid_fill(uint32_t blocks, uint32_t sm_count);

#endif
