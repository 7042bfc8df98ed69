/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_ENERGY_APPORTION_H
#define KWHY_LEDGER_ENERGY_ENERGY_APPORTION_H

#include "ledger/energy/energy_view.h"

/*
 * The metered energy of one device, apportioned among its classes interval by interval. The nanojoules of
 * each interval are divided in proportion to what the powers predict, so that their sum is exactly the
 * meter's. Where an interval includes unrecorded time, that time receives the energy that the powers leave.
 */
struct kwhy_apportioned {
	size_t class_count;	 /* in the arrays below, idle is entry [class_count] and unrecorded time
				    [class_count + 1] */
	int64_t *gross_nj;	 /* [class_count + 2] */
	double *net_s, *base_s;	 /* [class_count + 2] seconds seen, times metered over modelled energy */
	double *base_unscaled_s; /* [class_count + 2] base_s without that factor */
	double *scale;		 /* [interval_count] metered over modelled energy */
	double *unrecorded_nj;	 /* [interval_count] energy of unrecorded time */
	double metered_ratio; /* share of the energy of the classes and of idle that the meter alone decided
			       */
};

KWHY_MUST_USE enum kwhy_status kwhy_apportioned_init(struct kwhy_apportioned *apportioned,
	const struct kwhy_metered_total *total, const struct kwhy_metered_view *view,
	const struct kwhy_powers *powers, struct kwhy_error *error);
void kwhy_apportioned_done(struct kwhy_apportioned *apportioned);

/*
 * False where the response of the meter in interval `at` reaches back into time that the recording does not
 * cover.
 */
bool kwhy_apportioned_is_covered(
	const struct kwhy_metered_view *view, const struct kwhy_metered_interval *interval, size_t at);

/*
 * Root mean square of modelled over metered energy less 1, weighted by the lengths of the intervals. The
 * intervals are those of another meter, to which the powers were not fitted, from the first activity or call
 * on, or from the start where time without a context is distinguished. NAN: fewer than 3 usable intervals.
 */
KWHY_MUST_USE enum kwhy_status kwhy_apportioned_check(const struct kwhy_metered_total *total,
	const struct kwhy_powers_question *question, const struct kwhy_powers *powers, double *out_ratio,
	struct kwhy_error *error);

#endif
