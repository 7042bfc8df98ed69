/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_ENERGY_APPORTION_H
#define KWHY_LEDGER_ENERGY_ENERGY_APPORTION_H

#include "ledger/energy/energy_view.h"

/*
 * The metered energy of one device, apportioned among its power classes (accounts that share one power),
 * interval by interval. The nanojoules of each interval are divided in proportion to what the powers
 * predict, so that their sum is exactly the meter's. If an interval includes unrecorded time, the energy
 * beyond the prediction is divided between that time and the classes.
 */
struct kwhy_apportioned {
	size_t class_count;	 /* number of power classes; entry [class_count] of an array is idle time,
				    [class_count + 1] unrecorded time */
	int64_t *gross_nj;	 /* [class_count + 2] apportioned energy */
	double *net_s, *base_s;	 /* [class_count + 2] net_s: seconds of each class at its power above idle;
				    base_s: at the idle level (energy_view.h). The seconds of each interval are
				    multiplied by its `scale`. */
	double *base_unscaled_s; /* [class_count + 2] base_s without the factor `scale` */
	double *scale; /* [interval_count] ratio of metered to predicted energy of the recorded time in each
			  interval; NAN: nothing was predicted */
	double *unrecorded_nj; /* [interval_count] energy of the unrecorded time in each interval */
	double metered_ratio;  /* share of the energy of recorded time that the meter determines; the fitted
				  powers determine the rest */
};

KWHY_MUST_USE enum kwhy_status kwhy_apportioned_init(struct kwhy_apportioned *apportioned,
	const struct kwhy_metered_total *total, const struct kwhy_metered_view *view,
	const struct kwhy_powers *powers, struct kwhy_error *error);
void kwhy_apportioned_done(struct kwhy_apportioned *apportioned);

/*
 * Whether an interval of the meter shows no unrecorded time; the meter's delay and low-pass are taken into
 * account. `at` is the interval's index.
 */
bool kwhy_apportioned_is_covered(
	const struct kwhy_metered_view *view, const struct kwhy_metered_interval *interval, size_t at);

/*
 * Writes the root mean square, weighted by the lengths of the intervals, of (predicted / metered energy - 1).
 * The intervals, `total`, are those of a meter to which the powers were not fitted. Intervals with unrecorded
 * time or no energy are left out, as are those that start before the first activity or call, unless clean
 * idle was found. NAN: fewer than 3 intervals are left.
 */
KWHY_MUST_USE enum kwhy_status kwhy_apportioned_check(const struct kwhy_metered_total *total,
	const struct kwhy_powers_question *question, const struct kwhy_powers *powers, double *out_ratio,
	struct kwhy_error *error);

#endif
