/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/energy_misfit.h"

#include "ledger/energy/energy_apportion.h"

#include <math.h>
#include <stdlib.h>

#define INTERVALS_MIN 10
#define ERRORS_BEYOND 3

/*
 * A metered interval that is used: it contains no unrecorded time, and all time that the meter shows in it
 * was recorded.
 */
struct reported {
	size_t interval;
	double modelled_nj, beyond_nj; /* energies in nJ; beyond_nj: metered energy - gain * modelled_nj, with
					  gain = metered / modelled energy of all used intervals */
	double ran_s, apportioned_ratio; /* ran_s: seconds in the interval, as the meter shows them, in which
					    the power classes under test (one class or all) ran;
					    apportioned_ratio: their share of modelled_nj, from 0 to 1 */
};

struct misfit {
	const struct kwhy_metered_view *view;
	const struct kwhy_powers *powers;
	struct reported *reported;
	size_t count;
	double *energies_nj; /* [class_count + 1] modelled energies of one interval */
	double metered_nj;
};

static void list(struct misfit *misfit, const struct kwhy_metered_total *total)
{
	double modelled_nj = 0;

	for (size_t i = 0; i < total->count; i++) {
		const struct kwhy_metered_interval *interval = &total->intervals[i];
		struct reported reported = {.interval = i};

		reported.modelled_nj = kwhy_metered_view_energy_nj(
			misfit->view, i, misfit->powers, misfit->energies_nj);
		if (!(reported.modelled_nj > 0) || kwhy_metered_view_unrecorded_s(misfit->view, i) > 0 ||
			!kwhy_apportioned_is_covered(misfit->view, interval, i))
			continue;
		reported.beyond_nj = (double)interval->energy_nj;
		modelled_nj += reported.modelled_nj;
		misfit->metered_nj += reported.beyond_nj;
		misfit->reported[misfit->count++] = reported;
	}
	for (size_t i = 0; i < misfit->count; i++)
		misfit->reported[i].beyond_nj -= misfit->reported[i].modelled_nj * misfit->metered_nj /
			modelled_nj;
}

/*
 * Sets ran_s and apportioned_ratio of each interval to the sums over the power classes [first, end), except
 * the class of time without a context.
 */
static void ask(struct misfit *misfit, size_t first, size_t end)
{
	const size_t classes = misfit->view->class_count;

	for (size_t i = 0; i < misfit->count; i++) {
		struct reported *reported = &misfit->reported[i];
		const double *seen_s = misfit->view->seen_s +
			reported->interval * KWHY_METERED_CHANNELS(classes);

		reported->ran_s = reported->apportioned_ratio = 0;
		for (size_t c = first; c < end; c++) {
			if (misfit->powers->net_w[c] < 0)
				continue;
			reported->ran_s += seen_s[c];
			reported->apportioned_ratio += kwhy_metered_view_class_nj(misfit->view,
							       reported->interval, misfit->powers, c) /
				reported->modelled_nj;
		}
	}
}

/*
 * Returns the energy in nJ that is on wrong accounts if the power of the tested classes is wrong. The error
 * of that power, more_w, is fitted by least squares: beyond_nj = more_w * apart_s, where apart_s is ran_s
 * without the part that is proportional to the modelled energy, because the gain corrects errors that are
 * common to all intervals. Only the part of more_w above ERRORS_BEYOND standard errors counts as wrong. The
 * energy on wrong accounts is this part times the sum over the intervals of apart_s, where it is above 0,
 * times the share of the interval's energy that other classes have.
 */
static double wrong_nj(const struct misfit *misfit)
{
	double both = 0, modelled2 = 0, product = 0, seconds2 = 0, left2 = 0, moved_s = 0, more_w, error_w;

	for (size_t i = 0; i < misfit->count; i++) {
		both += misfit->reported[i].ran_s * misfit->reported[i].modelled_nj;
		modelled2 += misfit->reported[i].modelled_nj * misfit->reported[i].modelled_nj;
	}
	for (size_t i = 0; i < misfit->count; i++) {
		const struct reported *reported = &misfit->reported[i];
		double apart_s = reported->ran_s - reported->modelled_nj * both / modelled2;

		product += apart_s * reported->beyond_nj * 1e-9;
		seconds2 += apart_s * apart_s;
		moved_s += fmax(0, apart_s) * fmax(0, 1 - reported->apportioned_ratio);
	}
	if (!(seconds2 > 0))
		return 0;
	more_w = product / seconds2;
	for (size_t i = 0; i < misfit->count; i++) {
		const struct reported *reported = &misfit->reported[i];
		double apart_s = reported->ran_s - reported->modelled_nj * both / modelled2;

		left2 += pow(reported->beyond_nj * 1e-9 - more_w * apart_s, 2);
	}
	error_w = sqrt(left2 / (double)(misfit->count - 2) / seconds2);
	return fmax(0, fabs(more_w) - ERRORS_BEYOND * error_w) * moved_s * 1e9;
}

/* Largest energy in nJ on wrong accounts: tests all power classes together, then each class alone. */
static double largest_wrong_nj(struct misfit *misfit)
{
	const size_t classes = misfit->view->class_count;
	double most_nj;

	ask(misfit, 0, classes);
	most_nj = wrong_nj(misfit);
	for (size_t c = 0; c < classes; c++) {
		ask(misfit, c, c + 1);
		most_nj = fmax(most_nj, wrong_nj(misfit));
	}
	return most_nj;
}

enum kwhy_status kwhy_energy_misfit(const struct kwhy_metered_total *total,
	const struct kwhy_metered_view *view, const struct kwhy_powers *powers, double *out_ratio,
	struct kwhy_error *error)
{
	struct misfit misfit = {.view = view, .powers = powers};
	enum kwhy_status status = KWHY_OK;

	*out_ratio = NAN;
	if (!kwhy_meter_is_counter((enum kwhy_meter)total->meter))
		return KWHY_OK;
	misfit.reported = calloc(total->count + 1, sizeof(*misfit.reported));
	misfit.energies_nj = calloc(view->class_count + 1, sizeof(*misfit.energies_nj));
	if (!misfit.reported || !misfit.energies_nj)
		status = kwhy_fail_memory(error, "metered intervals");
	else
		list(&misfit, total);
	if (misfit.count >= INTERVALS_MIN && misfit.metered_nj > 0)
		*out_ratio = largest_wrong_nj(&misfit) / misfit.metered_nj;
	free(misfit.reported);
	free(misfit.energies_nj);
	return status;
}
