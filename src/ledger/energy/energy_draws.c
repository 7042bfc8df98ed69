/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/energy_draws.h"

#include "base/quantile.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>

/*
 * Relative standard deviation of a power class's power about its mean over a recording, caused by changes of
 * temperature and clocks.
 */
#define DRIFT_SPREAD 0.016

#define LOW_QUANTILE 0.05
#define HIGH_QUANTILE 0.95

static enum kwhy_status spread_allocate(
	struct kwhy_energy_draws *draws, const struct kwhy_powers *powers, struct kwhy_error *error)
{
	size_t entries = powers->class_count + 1;

	*draws = (struct kwhy_energy_draws){
		.class_count = powers->class_count,
		.draw_count = powers->draw_count,
		.draws_nj = calloc(powers->draw_count * entries, sizeof(double)),
		.low_nj = calloc(entries, sizeof(double)),
		.high_nj = calloc(entries, sizeof(double)),
	};
	if (draws->draws_nj && draws->low_nj && draws->high_nj)
		return KWHY_OK;
	kwhy_energy_draws_done(draws);
	return kwhy_fail_memory(error, "intervals of the accounts");
}

void kwhy_energy_draws_done(struct kwhy_energy_draws *draws)
{
	free(draws->draws_nj);
	free(draws->low_nj);
	free(draws->high_nj);
	*draws = (struct kwhy_energy_draws){0};
}

/*
 * Draws the unknown ratio between two powers above idle of a power class: its power in place (between the
 * program's other work) divided by its power in bursts. The readings show the power in bursts. The ratio is
 * lognormal with median 1, and exactly 1 if in_place_ratio is 0.
 */
static double in_place_factor(const struct kwhy_powers *powers, size_t class, struct kwhy_random *random)
{
	if (!(powers->in_place_ratio[class] > 0))
		return 1;
	return exp(powers->in_place_ratio[class] * kwhy_random_normal(random));
}

/*
 * Draws the energies of all power classes, with idle last, once. They are scaled so that their sum is
 * metered_ratio times the metered energy of recorded time, plus (1 - metered_ratio) times the sum that the
 * powers predict.
 */
static void draw_energies(const struct kwhy_apportioned *apportioned, const struct kwhy_powers *powers,
	size_t draw, struct kwhy_random *random, double *out_nj)
{
	const double *net_w = powers->draws_net_w + draw * powers->class_count;
	double idle_w = powers->draws_idle_w[draw], sum_nj = 0, total_nj = 0;

	for (size_t c = 0; c <= powers->class_count; c++) {
		double drift = exp(DRIFT_SPREAD * kwhy_random_normal(random));

		out_nj[c] = apportioned->base_s[c] * idle_w * 1e9;
		if (c < powers->class_count)
			out_nj[c] = fmax(0,
				out_nj[c] +
					apportioned->net_s[c] * net_w[c] * 1e9 *
						in_place_factor(powers, c, random));
		out_nj[c] *= drift;
		sum_nj += out_nj[c];
		total_nj += (double)apportioned->gross_nj[c];
	}
	total_nj += (1 - apportioned->metered_ratio) * (sum_nj - total_nj);
	for (size_t c = 0; c <= powers->class_count && sum_nj > 0; c++)
		out_nj[c] *= total_nj / sum_nj;
}

/* Quantile `share` (0 to 1) of the values. Sorts the values. */
static double quantile(double *values, size_t count, double share)
{
	kwhy_sort_reals(values, count);
	return kwhy_quantile(values, count, share);
}

static void summarise_class(struct kwhy_energy_draws *draws, const struct kwhy_apportioned *apportioned,
	size_t class, double *values)
{
	double apportioned_nj = (double)apportioned->gross_nj[class];

	for (size_t i = 0; i < draws->draw_count; i++)
		values[i] = draws->draws_nj[i * (draws->class_count + 1) + class];
	draws->low_nj[class] = fmin(apportioned_nj, quantile(values, draws->draw_count, LOW_QUANTILE));
	draws->high_nj[class] = fmax(apportioned_nj, quantile(values, draws->draw_count, HIGH_QUANTILE));
}

/*
 * Writes the 5 and 95 % quantiles of the energy of unrecorded time, widened to include the apportioned
 * energy. In each draw it is the metered total minus the sum over the power classes and idle.
 */
static void summarise_unrecorded(
	struct kwhy_energy_draws *draws, const struct kwhy_apportioned *apportioned, double *values)
{
	double apportioned_nj = (double)apportioned->gross_nj[draws->class_count + 1],
	       total_nj = apportioned_nj;

	for (size_t c = 0; c <= draws->class_count; c++)
		total_nj += (double)apportioned->gross_nj[c];
	for (size_t i = 0; i < draws->draw_count; i++) {
		values[i] = total_nj;
		for (size_t c = 0; c <= draws->class_count; c++)
			values[i] -= draws->draws_nj[i * (draws->class_count + 1) + c];
	}
	draws->unrecorded_low_nj = fmin(apportioned_nj, quantile(values, draws->draw_count, LOW_QUANTILE));
	draws->unrecorded_high_nj = fmax(apportioned_nj, quantile(values, draws->draw_count, HIGH_QUANTILE));
}

static double wrong_ratio(const struct kwhy_energy_draws *draws, const struct kwhy_apportioned *apportioned)
{
	size_t entries = draws->class_count + 1;
	double total_nj = 0, wrong_nj = 0;

	for (size_t c = 0; c < entries; c++)
		total_nj += (double)apportioned->gross_nj[c];
	for (size_t i = 0; i < draws->draw_count * entries; i++)
		wrong_nj += 0.5 * fabs(draws->draws_nj[i] - (double)apportioned->gross_nj[i % entries]);
	return total_nj > 0 ? wrong_nj / (double)draws->draw_count / total_nj : NAN;
}

enum kwhy_status kwhy_energy_draws_init(struct kwhy_energy_draws *draws,
	const struct kwhy_apportioned *apportioned, const struct kwhy_powers *powers, uint64_t seed,
	struct kwhy_error *error)
{
	enum kwhy_status status = spread_allocate(draws, powers, error);
	double *values;
	struct kwhy_random random;

	if (status)
		return status;
	values = malloc(draws->draw_count * sizeof(*values));
	if (!values) {
		kwhy_energy_draws_done(draws);
		return kwhy_fail_memory(error, "intervals of the accounts");
	}
	/*
	 * The seed differs from that of the posterior draws, so that the two random sequences are
	 * independent.
	 */
	kwhy_random_init(&random, ~seed);
	for (size_t i = 0; i < draws->draw_count; i++)
		draw_energies(
			apportioned, powers, i, &random, draws->draws_nj + i * (draws->class_count + 1));
	for (size_t c = 0; c <= draws->class_count; c++)
		summarise_class(draws, apportioned, c, values);
	if (apportioned->gross_nj[draws->class_count + 1])
		summarise_unrecorded(draws, apportioned, values);
	draws->wrong_ratio = wrong_ratio(draws, apportioned);
	free(values);
	return KWHY_OK;
}

enum kwhy_status kwhy_energy_draws_sum(const struct kwhy_energy_draws *draws, const bool *chosen,
	double *out_low_nj, double *out_high_nj, struct kwhy_error *error)
{
	double *values = calloc(draws->draw_count + 1, sizeof(*values));

	if (!values)
		return kwhy_fail_memory(error, "intervals of the accounts");
	for (size_t i = 0; i < draws->draw_count; i++)
		for (size_t c = 0; c <= draws->class_count; c++)
			if (chosen[c])
				values[i] += draws->draws_nj[i * (draws->class_count + 1) + c];
	*out_low_nj = quantile(values, draws->draw_count, LOW_QUANTILE);
	*out_high_nj = quantile(values, draws->draw_count, HIGH_QUANTILE);
	free(values);
	return KWHY_OK;
}
