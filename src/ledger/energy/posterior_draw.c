/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/posterior.h"
#include "ledger/energy/posterior_matrix.h"
#include "ledger/energy/sampler_random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Elliptical slice sampling (Murray, Adams, MacKay 2010) of the posterior divided by the normal density
 * of the fit: it needs no step size, and takes the whole posterior at each move where the fit is good.
 */
#define BURN_IN_DRAWS 100
#define SHRINKS_MOST 60

/* A power is linear in its coordinate down to this many spreads below the mode, within bounds. */
#define LINEAR_SPREADS 1.5
#define BEND_LEAST 0.3
#define BEND_MOST 20.0

/*
 * The chain walks in coordinates in which a power grows as it does in the readings: linearly, and
 * exponentially only near 0 (a softplus). Along the logarithms the many powers whose sum alone is known
 * would lie on a thin bent sheet. Each coordinate is the offset of the logarithm to first order.
 */
struct bend {
	double at_mode; /* power over the scale of the softplus; small: like the logarithm */
};

struct chain {
	const struct kwhy_posterior_fit *fit;
	const struct kwhy_posterior_model *model;
	struct kwhy_posterior_prediction prediction;
	struct kwhy_random random;
	struct bend *bends;		      /* [classes] */
	double *here, *aside, *tried, *point; /* offsets from the mode, but `point` */
	double ratio;
};

/* The logarithm of a power over that at the mode, and adds the log of its derivative. */
static double unbend(const struct bend *bend, double offset, double *log_volume)
{
	double at_mode = bend->at_mode, slope = -expm1(-at_mode) / at_mode;
	double x = log(expm1(at_mode)) + offset / slope;
	double at = x > 30 ? x : log1p(exp(x));

	*log_volume += log(-expm1(-at) / at);
	return log(at / at_mode);
}

static double place(struct chain *chain, const double *offset)
{
	size_t size = chain->fit->size, classes = chain->model->prior->class_count;
	double log_volume = 0;

	for (size_t i = 0; i < size; i++)
		chain->point[i] = chain->fit->mode[i] +
			(i < classes ? unbend(&chain->bends[i], offset[i], &log_volume) : offset[i]);
	return log_volume;
}

/* Log of the posterior over the fit's normal density, at an offset from the mode. */
static double log_ratio(struct chain *chain, const double *offset)
{
	double ratio = place(chain, offset);

	ratio += kwhy_posterior_log_density(chain->model, &chain->prediction, chain->point) +
		0.5 * kwhy_matrix_norm(chain->fit->factor, chain->fit->size, offset);
	return isnan(ratio) ? -INFINITY : ratio;
}

static void draw_aside(struct chain *chain)
{
	for (size_t i = 0; i < chain->fit->size; i++)
		chain->aside[i] = kwhy_random_normal(&chain->random);
	kwhy_matrix_solve_upper(chain->fit->factor, chain->fit->size, chain->aside);
}

static void move(struct chain *chain)
{
	double floor = chain->ratio + log(kwhy_random_uniform(&chain->random));
	double angle = 2 * M_PI * kwhy_random_uniform(&chain->random);
	double low = angle - 2 * M_PI, high = angle;

	draw_aside(chain);
	for (int shrink = 0; shrink < SHRINKS_MOST; shrink++) {
		double ratio;

		for (size_t i = 0; i < chain->fit->size; i++)
			chain->tried[i] = chain->here[i] * cos(angle) + chain->aside[i] * sin(angle);
		ratio = log_ratio(chain, chain->tried);
		if (ratio > floor) {
			memcpy(chain->here, chain->tried, chain->fit->size * sizeof(double));
			chain->ratio = ratio;
			return;
		}
		if (angle < 0)
			low = angle;
		else
			high = angle;
		angle = low + (high - low) * kwhy_random_uniform(&chain->random);
	}
}

static enum kwhy_status find_bends(struct chain *chain, struct kwhy_error *error)
{
	for (size_t c = 0; c < chain->model->prior->class_count; c++) {
		double spread;
		enum kwhy_status status = kwhy_posterior_fit_spread(chain->fit, c, &spread, error);

		if (status)
			return status;
		chain->bends[c].at_mode = fmin(fmax(LINEAR_SPREADS / spread, BEND_LEAST), BEND_MOST);
	}
	return KWHY_OK;
}

static enum kwhy_status chain_init(struct chain *chain, struct kwhy_error *error)
{
	size_t size = chain->fit->size;
	double *block = calloc(4 * size, sizeof(*block));

	if (!block)
		return kwhy_fail_memory(error, "the fit of powers");
	chain->here = block;
	chain->aside = block + size;
	chain->tried = block + 2 * size;
	chain->point = block + 3 * size;
	chain->bends = calloc(size, sizeof(*chain->bends));
	if (!chain->bends)
		return kwhy_fail_memory(error, "the fit of powers");
	return kwhy_posterior_prediction_init(&chain->prediction, chain->model->readings->count, error);
}

enum kwhy_status kwhy_posterior_draw(const struct kwhy_posterior_fit *fit,
	const struct kwhy_posterior_model *model, uint64_t seed, size_t count, double *out_draws,
	struct kwhy_error *error)
{
	struct chain chain = {.fit = fit, .model = model};
	enum kwhy_status status = chain_init(&chain, error);

	if (!status)
		status = find_bends(&chain, error);
	if (!status) {
		kwhy_random_init(&chain.random, seed);
		chain.ratio = log_ratio(&chain, chain.here);
		for (size_t i = 0; i < BURN_IN_DRAWS; i++)
			move(&chain);
	}
	for (size_t i = 0; !status && i < count; i++) {
		move(&chain);
		place(&chain, chain.here);
		memcpy(out_draws + i * fit->size, chain.point, fit->size * sizeof(double));
	}
	kwhy_posterior_prediction_done(&chain.prediction);
	free(chain.bends);
	free(chain.here);
	return status;
}
