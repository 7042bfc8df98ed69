/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_POWER_KIND_H
#define KWHY_LEDGER_ENERGY_POWER_KIND_H

#include "model/profile.h"

/* Prior of the power above idle of kernels of one kind; both fields are NAN if the kind is unknown. */
struct kwhy_kind_prior {
	double above_idle_w;
	double sd; /* standard deviation of the logarithm of the power */
};

/*
 * The prior of the power of a kernel, copy or memset by its name. `fill` is the share of the multiprocessors
 * that it occupies (NAN: unknown, all are assumed). `each_s` is its mean execution time in seconds. The
 * profile has the powers of kinds of work that fill the device for the profile's `ramp_s` or longer; shorter
 * and smaller work draws less. Without a profile (NULL) the prior is that of unknown work.
 */
struct kwhy_kind_prior kwhy_kind_prior_of(
	const struct kwhy_profile *profile, const char *name, double fill, double each_s);

#endif
