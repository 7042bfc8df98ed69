/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/power_kind.h"

#include <fnmatch.h>
#include <math.h>

/*
 * Shorter mean durations of launches, in seconds, are treated as this one, because starting and ending
 * dominate them.
 */
#define MIN_S 2e-6

static const struct kwhy_kind_power *kind_of(const struct kwhy_kernel_kinds *kinds, const char *name)
{
	for (size_t i = 0; i < kinds->count; i++)
		for (size_t n = 0; n < kinds->items[i].name_count; n++)
			if (fnmatch(kinds->items[i].names[n], name, 0) == 0)
				return &kinds->items[i];
	return NULL;
}

struct kwhy_kind_prior kwhy_kind_prior_of(
	const struct kwhy_profile *profile, const char *name, double fill, double each_s)
{
	const struct kwhy_kernel_kinds *kinds = profile ? &profile->kernel_kinds : NULL;
	const struct kwhy_kind_power *kind = kinds ? kind_of(kinds, name) : NULL;
	double ramp, filled;

	if (!kind)
		return (struct kwhy_kind_prior){NAN, NAN};
	ramp = pow(fmin(1, fmax(each_s, MIN_S) / kinds->ramp_s), kinds->ramp_exponent);
	filled = pow(isnan(fill) ? 1 : fmin(1, fill), kinds->fill_exponent);
	return (struct kwhy_kind_prior){
		.above_idle_w = kind->above_idle_w.value * ramp * filled,
		.sd = kind->above_idle_w.sd / kind->above_idle_w.value,
	};
}
