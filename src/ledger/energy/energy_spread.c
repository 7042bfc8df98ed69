/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/energy_spread.h"

#include "base/statistics.h"
#include "ledger/energy/sampler_random.h"

#include <math.h>
#include <stdlib.h>

/* Spread of a class's power about its mean over a recording, from temperature and clocks. */
#define DRIFT_SPREAD 0.016

#define LOW_QUANTILE 0.05
#define HIGH_QUANTILE 0.95

static enum kwhy_status spread_allocate(
	struct kwhy_spread *spread, const struct kwhy_powers *powers, struct kwhy_error *error)
{
	size_t entries = powers->class_count + 1;

	*spread = (struct kwhy_spread){
		.class_count = powers->class_count,
		.draw_count = powers->draw_count,
		.draws_nj = calloc(powers->draw_count * entries, sizeof(double)),
		.low_nj = calloc(entries, sizeof(double)),
		.high_nj = calloc(entries, sizeof(double)),
		.deviation_nj = calloc(entries, sizeof(double)),
	};
	if (spread->draws_nj && spread->low_nj && spread->high_nj && spread->deviation_nj)
		return KWHY_OK;
	kwhy_spread_done(spread);
	return kwhy_fail_memory(error, "intervals of the accounts");
}

void kwhy_spread_done(struct kwhy_spread *spread)
{
	free(spread->draws_nj);
	free(spread->low_nj);
	free(spread->high_nj);
	free(spread->deviation_nj);
	*spread = (struct kwhy_spread){0};
}

/* What a kernel adds to the idle level in place, over what it adds in bursts. */
static double place_factor(const struct kwhy_powers *powers, size_t class, struct kwhy_random *random)
{
	if (!(powers->place_ratio[class] > 0))
		return 1;
	return exp(powers->place_ratio[class] * kwhy_random_normal(random));
}

/*
 * One draw: energies of the classes, idle last, that add up to the metered total as far as the meter decided
 * it, beside hidden time, and to what the powers say for the rest.
 */
static void draw_energies(const struct kwhy_posting *posting, const struct kwhy_powers *powers, size_t draw,
	struct kwhy_random *random, double *out_nj)
{
	const double *net_w = powers->draws_net_w + draw * powers->class_count;
	double idle_w = powers->draws_idle_w[draw], sum_nj = 0, total_nj = 0;

	for (size_t c = 0; c <= powers->class_count; c++) {
		double drift = exp(DRIFT_SPREAD * kwhy_random_normal(random));

		out_nj[c] = posting->base_s[c] * idle_w * 1e9;
		if (c < powers->class_count)
			out_nj[c] = fmax(0,
				out_nj[c] +
					posting->net_s[c] * net_w[c] * 1e9 * place_factor(powers, c, random));
		out_nj[c] *= drift;
		sum_nj += out_nj[c];
		total_nj += (double)posting->gross_nj[c];
	}
	total_nj += (1 - posting->metered_ratio) * (sum_nj - total_nj);
	for (size_t c = 0; c <= powers->class_count && sum_nj > 0; c++)
		out_nj[c] *= total_nj / sum_nj;
}

static int compare_energies(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

/* Sorts the values. */
static double quantile(double *values, size_t count, double share)
{
	qsort(values, count, sizeof(*values), compare_energies);
	return kwhy_quantile(values, count, share);
}

static void summarise_class(
	struct kwhy_spread *spread, const struct kwhy_posting *posting, size_t class, double *values)
{
	double posted_nj = (double)posting->gross_nj[class], mean = 0, squares = 0;

	for (size_t i = 0; i < spread->draw_count; i++) {
		values[i] = spread->draws_nj[i * (spread->class_count + 1) + class];
		mean += values[i] / (double)spread->draw_count;
	}
	for (size_t i = 0; i < spread->draw_count; i++)
		squares += (values[i] - mean) * (values[i] - mean);
	spread->deviation_nj[class] = sqrt(squares / (double)spread->draw_count);
	spread->low_nj[class] = fmin(posted_nj, quantile(values, spread->draw_count, LOW_QUANTILE));
	spread->high_nj[class] = fmax(posted_nj, quantile(values, spread->draw_count, HIGH_QUANTILE));
}

/* Hidden time has what the draws leave of the metered total. */
static void summarise_hidden(struct kwhy_spread *spread, const struct kwhy_posting *posting, double *values)
{
	double posted_nj = (double)posting->gross_nj[spread->class_count + 1], total_nj = posted_nj;

	for (size_t c = 0; c <= spread->class_count; c++)
		total_nj += (double)posting->gross_nj[c];
	for (size_t i = 0; i < spread->draw_count; i++) {
		values[i] = total_nj;
		for (size_t c = 0; c <= spread->class_count; c++)
			values[i] -= spread->draws_nj[i * (spread->class_count + 1) + c];
	}
	spread->hidden_low_nj = fmin(posted_nj, quantile(values, spread->draw_count, LOW_QUANTILE));
	spread->hidden_high_nj = fmax(posted_nj, quantile(values, spread->draw_count, HIGH_QUANTILE));
}

static double wrong_ratio(const struct kwhy_spread *spread, const struct kwhy_posting *posting)
{
	size_t entries = spread->class_count + 1;
	double total_nj = 0, wrong_nj = 0;

	for (size_t c = 0; c < entries; c++)
		total_nj += (double)posting->gross_nj[c];
	for (size_t i = 0; i < spread->draw_count * entries; i++)
		wrong_nj += 0.5 * fabs(spread->draws_nj[i] - (double)posting->gross_nj[i % entries]);
	return total_nj > 0 ? wrong_nj / (double)spread->draw_count / total_nj : NAN;
}

enum kwhy_status kwhy_spread_init(struct kwhy_spread *spread, const struct kwhy_posting *posting,
	const struct kwhy_powers *powers, uint64_t seed, struct kwhy_error *error)
{
	enum kwhy_status status = spread_allocate(spread, powers, error);
	double *values;
	struct kwhy_random random;

	if (status)
		return status;
	values = malloc(spread->draw_count * sizeof(*values));
	if (!values) {
		kwhy_spread_done(spread);
		return kwhy_fail_memory(error, "intervals of the accounts");
	}
	/* Another stream of numbers than the powers were drawn with. */
	kwhy_random_init(&random, ~seed);
	for (size_t i = 0; i < spread->draw_count; i++)
		draw_energies(posting, powers, i, &random, spread->draws_nj + i * (spread->class_count + 1));
	for (size_t c = 0; c <= spread->class_count; c++)
		summarise_class(spread, posting, c, values);
	if (posting->gross_nj[spread->class_count + 1])
		summarise_hidden(spread, posting, values);
	spread->wrong_ratio = wrong_ratio(spread, posting);
	free(values);
	return KWHY_OK;
}

enum kwhy_status kwhy_spread_sum(const struct kwhy_spread *spread, const bool *chosen, double *out_low_nj,
	double *out_high_nj, struct kwhy_error *error)
{
	double *values = calloc(spread->draw_count + 1, sizeof(*values));

	if (!values)
		return kwhy_fail_memory(error, "intervals of the accounts");
	for (size_t i = 0; i < spread->draw_count; i++)
		for (size_t c = 0; c <= spread->class_count; c++)
			if (chosen[c])
				values[i] += spread->draws_nj[i * (spread->class_count + 1) + c];
	*out_low_nj = quantile(values, spread->draw_count, LOW_QUANTILE);
	*out_high_nj = quantile(values, spread->draw_count, HIGH_QUANTILE);
	free(values);
	return KWHY_OK;
}
