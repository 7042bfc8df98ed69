/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_ENERGY_VIEW_H
#define KWHY_LEDGER_ENERGY_ENERGY_VIEW_H

#include "ledger/energy/energy_powers.h"

/*
 * The time of each power class in the intervals of a meter, as the meter shows it (after its delay and
 * low-pass). Each class has two values: its seconds at its power above idle (`net`), and the seconds at the
 * idle level while it ran (`base`). Two more values are the seconds of idle time and of unrecorded time.
 */
/*
 * Time constant in seconds that is negligible, for intervals that are already on the clock of the
 * activities.
 */
#define KWHY_METERED_NO_TAU_S 1e-6

#define KWHY_METERED_CHANNELS(class_count) (2 * (class_count) + 2)

struct kwhy_metered_view {
	size_t interval_count, class_count;
	double *seen_s; /* [interval_count * KWHY_METERED_CHANNELS(class_count)] seconds in each interval: net
			   of all classes, base of all classes, idle, unrecorded */
	/* [interval_count] seconds of elevated idle time, and the joules drawn in it. */
	double *elevated_s, *elevated_j;
};

KWHY_MUST_USE enum kwhy_status kwhy_metered_view_init(struct kwhy_metered_view *view,
	const struct kwhy_metered_total *total, const struct kwhy_powers_question *question, double tau_s,
	double delay_s, struct kwhy_error *error);
void kwhy_metered_view_done(struct kwhy_metered_view *view);

/* Energy of a class in an interval as predicted by the powers. */
double kwhy_metered_view_class_nj(const struct kwhy_metered_view *view, size_t interval,
	const struct kwhy_powers *powers, size_t class);

/*
 * Writes the energy of each class in an interval as predicted by the powers, with idle last: [class_count +
 * 1]. Returns the sum, which does not include unrecorded time.
 */
double kwhy_metered_view_energy_nj(const struct kwhy_metered_view *view, size_t interval,
	const struct kwhy_powers *powers, double *out_nj);

static inline double kwhy_metered_view_unrecorded_s(const struct kwhy_metered_view *view, size_t interval)
{
	return view->seen_s[(interval + 1) * KWHY_METERED_CHANNELS(view->class_count) - 1];
}

#endif
