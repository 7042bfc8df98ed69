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

/* Accounts with most expected energy have a power class each; the others share a class by their kind. */
#define KWHY_POWER_CLASS_OWN_MAX 32
#define KWHY_POWER_CLASS_PROBED_MAX 64 /* where a probe showed them to the meter one by one */

/*
 * What is assumed of the power of a class above idle before any reading: log-normal around
 * `fill` times the unit power of the device (what a full grid draws above idle), or around known_w.
 */
struct kwhy_power_prior {
	double fill;	    /* 0 < fill <= 1; 0: time without a context */
	double sd;	    /* standard deviation of the logarithm */
	double known_w;	    /* above idle plus idle (gross), from the machine profile; NAN: not known */
	double known_sd_w;  /* its standard uncertainty */
	double kind_w;	    /* above idle, of kernels of its kind, from the profile; NAN: not known */
	double kind_spread; /* of its logarithm */
	double learnt_w;    /* above idle, from other recordings; NAN: none, or the readings overrule it */
	double learnt_sd;   /* of its logarithm */
	bool beside;	    /* copies and memsets: run concurrently with kernels at full power */
	size_t account_count;
	double time_ns;	       /* of its accounts */
	double in_place_ratio; /* by how much its power in place is unsure beyond that in bursts
				* (power_in_place.h)
				*/
};

/*
 * The classes of one device. Accounts of idle time are in none (power_class KWHY_NONE), but for time without
 * a context: it is a class that draws less than the idle level, alone, with nothing running beside.
 */
struct kwhy_power_classes {
	struct kwhy_power_prior *priors;
	size_t count;
	uint32_t clean; /* the class of time without a context, the last one; KWHY_NONE: there is none */
};

/* Sets power_class of every account. Grid fill needs the number of multiprocessors: 0 = unknown. */
KWHY_MUST_USE enum kwhy_status kwhy_power_classes_init(struct kwhy_power_classes *classes,
	struct kwhy_device_ledger *device_ledger, const struct kwhy_recording *recording, uint32_t device,
	const struct kwhy_ledger_options *options, struct kwhy_error *error);
void kwhy_power_classes_done(struct kwhy_power_classes *classes);

/* Multiprocessors of a device as the recording or the profile states them; 0: unknown. */
uint32_t kwhy_power_sm_count(
	const struct kwhy_recording *recording, uint32_t device, const struct kwhy_profile *profile);

/* Share of the multiprocessors that a grid gives work, in (0, 1]; NAN where unknown. */
double kwhy_power_grid_fill(uint32_t blocks, uint32_t sm_count);

#endif
