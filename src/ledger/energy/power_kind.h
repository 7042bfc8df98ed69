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
 * Prior of the power above idle of a kernel, copy or memset of this name. The profile states the power of
 * each kind for work that fills the device for the profile's ramp_s or longer; for shorter work, and for work
 * that does not fill the device, the power is reduced. `fill`: share of the multiprocessors that the work
 * occupies (NAN: unknown, all are assumed). each_s: its mean duration in seconds. profile NULL: the kind is
 * unknown.
 */
struct kwhy_kind_prior kwhy_kind_prior_of(
	const struct kwhy_profile *profile, const char *name, double fill, double each_s);

#endif
