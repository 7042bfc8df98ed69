/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_ENERGY_VIEW_H
#define KWHY_LEDGER_ENERGY_ENERGY_VIEW_H

#include "ledger/energy/energy_powers.h"

/*
 * struct kwhy_metered_view has the time of each power class in the intervals of a meter, as the meter shows
 * it (after its delay and low-pass). Each class has two values: `net`, the seconds at its power above idle,
 * and `base`, the seconds for which it bears the idle level (power_level.h). Two more values are the seconds
 * of idle time and of unrecorded time.
 */
/*
 * Time constant in seconds that has no effect, for intervals that are on the clock of the activities already
 * (after deconvolution).
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

/* Energy in nJ of a power class in an interval, as predicted by the powers; at least 0. */
double kwhy_metered_view_class_nj(const struct kwhy_metered_view *view, size_t interval,
	const struct kwhy_powers *powers, size_t class);

/*
 * Writes the predicted energy in nJ of each power class in an interval, and last that of idle time, elevated
 * idle included: out_nj[class_count + 1]. Returns their sum, which does not include unrecorded time.
 */
double kwhy_metered_view_energy_nj(const struct kwhy_metered_view *view, size_t interval,
	const struct kwhy_powers *powers, double *out_nj);

static inline double kwhy_metered_view_unrecorded_s(const struct kwhy_metered_view *view, size_t interval)
{
	return view->seen_s[(interval + 1) * KWHY_METERED_CHANNELS(view->class_count) - 1];
}

#endif
