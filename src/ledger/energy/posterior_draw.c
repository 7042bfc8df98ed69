/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/posterior.h"
#include "ledger/energy/posterior_matrix.h"
#include "ledger/energy/sampler_random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Slice sampling (Neal 2003) along lines. Where only sums of powers are known the posterior is a thin sheet,
 * straight in watts and bent in logarithms, and wide as the prior: a chain that must look at all readings
 * for each step cannot take enough of them. Lines along single parameters reach what the prior leaves
 * open, lines drawn from the fit what the readings narrow.
 */
#define BURN_IN_DRAWS 100
#define ALONE_STEP 0.3 /* of a logarithm, a watt or a step of the grid */
#define FIT_STEP 1.5   /* spreads of the fit */
#define STEPS_OUT 6
#define SHRINKS_MOST 60

struct chain {
	const struct kwhy_posterior_fit *fit;
	const struct kwhy_posterior_model *model;
	struct kwhy_random random;
	size_t moving; /* parameters without the noise */
	double *here, *direction, *tried;
	double *offset; /* from the mode, in the units of the fit's curvature */
	double density;
};

static bool is_in_reach(const struct chain *chain)
{
	const double *other = chain->tried + chain->model->prior->class_count;

	return fabs(other[KWHY_PARAMETER_TAU]) <= KWHY_TAU_REACH &&
		fabs(other[KWHY_PARAMETER_DELAY]) <= KWHY_DELAY_REACH;
}

static double quadratic(const struct chain *chain)
{
	const struct kwhy_posterior_fit *fit = chain->fit;
	double sum = 0;

	for (size_t a = 0; a < chain->moving; a++) {
		const double *row = fit->curvature + a * fit->size;
		double bend = 0;

		for (size_t b = 0; b < chain->moving; b++)
			bend += row[b] * chain->offset[b];
		sum += chain->offset[a] * (fit->gradient[a] - bend / 2);
	}
	return sum;
}

/* At a distance from here along the direction, which `tried` is set to. */
static double density_at(struct chain *chain, double distance)
{
	const double *mode = chain->fit->mode;
	size_t classes = chain->model->prior->class_count;
	double density;

	for (size_t i = 0; i < chain->moving; i++) {
		chain->tried[i] = chain->here[i] + distance * chain->direction[i];
		chain->offset[i] = i < classes ? exp(chain->tried[i]) - exp(mode[i])
					       : chain->tried[i] - mode[i];
	}
	if (!is_in_reach(chain))
		return -INFINITY;
	density = quadratic(chain) + kwhy_posterior_log_prior(chain->model, chain->tried);
	return isnan(density) ? -INFINITY : density;
}

/* One step to a point of the line that is as dense as a drawn floor; where none is found, none. */
static void move(struct chain *chain, double step)
{
	double floor = chain->density + log(kwhy_random_uniform(&chain->random));
	double low = -step * kwhy_random_uniform(&chain->random), high = low + step;

	for (int i = 0; i < STEPS_OUT && density_at(chain, low) > floor; i++)
		low -= step;
	for (int i = 0; i < STEPS_OUT && density_at(chain, high) > floor; i++)
		high += step;
	for (int i = 0; i < SHRINKS_MOST; i++) {
		double distance = low + (high - low) * kwhy_random_uniform(&chain->random);
		double density = density_at(chain, distance);

		if (density > floor) {
			memcpy(chain->here, chain->tried, chain->moving * sizeof(double));
			chain->density = density;
			return;
		}
		*(distance < 0 ? &low : &high) = distance;
	}
}

static void move_alone(struct chain *chain, size_t parameter)
{
	memset(chain->direction, 0, chain->fit->size * sizeof(double));
	chain->direction[parameter] = 1;
	move(chain, ALONE_STEP);
}

static void move_by_fit(struct chain *chain)
{
	for (size_t i = 0; i < chain->fit->size; i++)
		chain->direction[i] = kwhy_random_normal(&chain->random);
	kwhy_matrix_solve_upper(chain->fit->factor, chain->fit->size, chain->direction);
	move(chain, FIT_STEP);
}

static void sweep(struct chain *chain)
{
	for (size_t i = 0; i < chain->moving; i++) {
		move_alone(chain, i);
		move_by_fit(chain);
	}
}

static enum kwhy_status chain_init(struct chain *chain, uint64_t seed, struct kwhy_error *error)
{
	size_t size = chain->fit->size;
	double *block = calloc(4 * size, sizeof(*block));

	if (!block)
		return kwhy_fail_memory(error, "the fit of powers");
	chain->moving = size - KWHY_NOISE_PARAMETERS;
	chain->here = block;
	chain->direction = block + size;
	chain->tried = block + 2 * size;
	chain->offset = block + 3 * size;
	memcpy(chain->here, chain->fit->mode, size * sizeof(double));
	memcpy(chain->tried, chain->fit->mode, size * sizeof(double));
	kwhy_random_init(&chain->random, seed);
	chain->density = density_at(chain, 0);
	return KWHY_OK;
}

enum kwhy_status kwhy_posterior_draw(const struct kwhy_posterior_fit *fit,
	const struct kwhy_posterior_model *model, uint64_t seed, size_t count, double *out_draws,
	struct kwhy_error *error)
{
	struct chain chain = {.fit = fit, .model = model};
	enum kwhy_status status = chain_init(&chain, seed, error);

	if (status)
		return status;
	for (size_t i = 0; i < BURN_IN_DRAWS; i++)
		sweep(&chain);
	for (size_t i = 0; i < count; i++) {
		sweep(&chain);
		memcpy(out_draws + i * fit->size, chain.here, fit->size * sizeof(double));
	}
	free(chain.here);
	return KWHY_OK;
}
