/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_ENERGY_APPORTION_H
#define KWHY_LEDGER_ENERGY_ENERGY_APPORTION_H

#include "ledger/energy/energy_view.h"

/*
 * The metered energy of one device, divided among its classes interval by interval: each interval's
 * nanojoules in proportion to what the powers give, so that their sum is the meter's, exactly. Of an interval
 * that reaches into unrecorded time the hidden part has what the powers leave.
 */
struct kwhy_apportioned {
	size_t class_count;	 /* idle is entry [class_count] below, unrecorded time [class_count + 1] */
	int64_t *gross_nj;	 /* [class_count + 2] */
	double *net_s, *base_s;	 /* [class_count + 2] seen, times metered over modelled */
	double *base_unscaled_s; /* [class_count + 2] */
	double *scale;		 /* [interval_count] metered over modelled */
	double *unrecorded_nj;	 /* [interval_count] of its energy, unrecorded time's */
	double metered_ratio;	 /* of the classes' and idle energy: how much the meter alone decided */
};

KWHY_MUST_USE enum kwhy_status kwhy_apportioned_init(struct kwhy_apportioned *apportioned,
	const struct kwhy_metered_total *total, const struct kwhy_metered_view *view,
	const struct kwhy_powers *powers, struct kwhy_error *error);
void kwhy_apportioned_done(struct kwhy_apportioned *apportioned);

/* False where the meter still remembers time that the recording does not cover, in interval `at` of the view.
 */
bool kwhy_apportioned_is_covered(
	const struct kwhy_metered_view *view, const struct kwhy_metered_interval *interval, size_t at);

/*
 * Root mean square of modelled over metered energy less 1, each for as much as its interval is long, over
 * intervals of another meter that the powers were not fitted to, from the first activity or call on, or from
 * the start where time without a context is distinguished; NAN when
 * fewer than 3 tell.
 */
KWHY_MUST_USE enum kwhy_status kwhy_apportioned_check(const struct kwhy_metered_total *total,
	const struct kwhy_powers_question *question, const struct kwhy_powers *powers, double *out_ratio,
	struct kwhy_error *error);

#endif
