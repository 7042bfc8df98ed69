/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_POWER_KIND_H
#define KWHY_LEDGER_ENERGY_POWER_KIND_H

#include "model/profile.h"

/* What kernels of a kind draw above idle, before any reading; both NAN: the kind is not known. */
struct kwhy_kind_prior {
	double above_idle_w;
	double sd; /* standard deviation of its logarithm */
};

/*
 * Of a kernel, copy or memset by its name, the share of the multiprocessors that it gives work (NAN: not
 * known, taken for all) and the mean time of one launch in seconds. The profile has powers of kinds that
 * fill the device for its `ramp_s` and longer; shorter and smaller ones draw less. A NULL profile knows none.
 */
struct kwhy_kind_prior kwhy_kind_prior_of(
	const struct kwhy_profile *profile, const char *name, double fill, double each_s);

#endif
