/* SPDX-License-Identifier: Apache-2.0 */
#include "base/linear.h"
#include "base/random.h"
#include "ledger/energy/posterior.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Random draws by slice sampling (Neal 2003) and by trajectories. If the readings determine only sums of
 * powers, the posterior is concentrated on a thin surface that is as wide as the prior; it is flat in watts
 * and curved in logarithms. A chain that evaluated all readings in each step could not take enough steps, so
 * the quadratic approximation of the likelihood is used. Steps of a single logarithm cover the range that the
 * prior allows. Steps along straight lines in watts, in random directions with the covariance of the fit,
 * follow the surface.
 */
#define BURN_IN_DRAWS 100
/* First width of a slice in the logarithm of a power; the slice grows in steps of this width. */
#define LOG_STEP 1.0
/* First width of a slice: in watts for the idle level, in grid steps for time constant and delay. */
#define OTHER_STEP 0.5
/* First width of a slice along a line, in standard deviations of the fit. */
#define LINE_STEP 1.5
#define STEPS_OUT 6
#define SHRINKS_MAX 60

/*
 * Trajectories (Hamiltonian Monte Carlo, Neal 2011) start in a random direction and follow the gradient of
 * the density in watts, in which the surface is flat. TRAJECTORY_SDS: length of a trajectory; STEP_SIZE_FIRST
 * and STEP_SIZE_MIN: length of its steps before they are tuned, and their least length; all in standard
 * deviations of the fit. ACCEPTED_RATIO: share of accepted trajectories to which the steps are tuned. One
 * trajectory crosses the whole surface for the time of a few steps along lines.
 */
#define TRAJECTORY_SDS 1.6
#define STEP_SIZE_FIRST 0.25
#define STEP_SIZE_MIN 0.05
#define LEAPFROG_STEPS_MAX 32
#define ACCEPTED_RATIO 0.8

struct chain {
	const struct kwhy_posterior_fit *fit;
	const struct kwhy_posterior_model *model;
	struct kwhy_random random;
	size_t classes, moving; /* classes: number of power classes; moving: number of parameters without
				   those of the noise */
	double *logs;		/* [classes] logarithms of the powers above idle */
	double *position;	/* [moving] current position: powers above idle in watts, then the other
				   parameters */
	double *gradient;	/* [moving] gradient of the quadratic likelihood at the current position */
	double *line, *curvature_times_line; /* [moving] direction of a line; product of the negative second
						derivatives of the likelihood and that direction */
	double slope, line_curvature;	     /* first derivative, and negative second derivative, of the log
						likelihood along the line */
	size_t parameter;		     /* index of the parameter that the current step changes */
	double *root;		  /* [moving * moving] Cholesky factor of the fit's precision matrix (inverse
				     covariance) of the parameters, with powers in watts */
	double *momentum, *force; /* [moving] momentum and force of a trajectory, in standard deviations of
				     the fit; also scratch memory */
	double *before;		  /* [2 * moving] position and gradient at the start of a trajectory */
	double step_size, transitions; /* step_size: in standard deviations. transitions: number of
					  trajectories so far by which step_size was tuned */
};

/*
 * Log density at a signed distance from the current position, along a line or in one parameter, without a
 * constant; -INFINITY: the density is 0.
 */
typedef double density_at(const struct chain *chain, double distance);

static const struct kwhy_posterior_prior *prior_of(const struct chain *chain)
{
	return chain->model->prior;
}

static double unit_of(const struct chain *chain)
{
	return chain->position[chain->classes + KWHY_PARAMETER_UNIT];
}

static double idle_of(const struct chain *chain)
{
	return chain->position[chain->classes + KWHY_PARAMETER_IDLE];
}

/* Change of the log likelihood if only chain->parameter changes, by `distance`. */
static double gain_alone(const struct chain *chain, double distance)
{
	size_t i = chain->parameter;

	return distance *
		(chain->gradient[i] - distance / 2 * chain->fit->curvature[i * chain->fit->size + i]);
}

static double density_of_power(const struct chain *chain, double distance)
{
	size_t c = chain->parameter;
	double log_power = chain->logs[c] + distance, power_w = exp(log_power);

	return gain_alone(chain, power_w - chain->position[c]) +
		kwhy_posterior_log_class(prior_of(chain), c, log_power, unit_of(chain)) +
		kwhy_posterior_log_limit(prior_of(chain), c, idle_of(chain) + power_w);
}

static double density_of_response(const struct chain *chain, double distance)
{
	size_t i = chain->parameter - chain->classes;
	double at = chain->position[chain->parameter] + distance;

	if (fabs(at) > (i == KWHY_PARAMETER_TAU ? KWHY_TAU_REACH : KWHY_DELAY_REACH))
		return -INFINITY;
	return gain_alone(chain, distance) + kwhy_posterior_log_other(chain->model, i, at);
}

static double density_of_idle(const struct chain *chain, double distance)
{
	double idle_w = idle_of(chain) + distance;
	double sum = gain_alone(chain, distance) +
		kwhy_posterior_log_other(chain->model, KWHY_PARAMETER_IDLE, idle_w);

	for (size_t c = 0; c < chain->classes; c++)
		sum += kwhy_posterior_log_limit(prior_of(chain), c, idle_w + chain->position[c]);
	return sum;
}

/*
 * Log density along chain->line, in which powers are in watts. The prior is a density of logarithms; minus
 * the log power (the Jacobian) makes it one of watts.
 */
static double density_of_line(const struct chain *chain, double distance)
{
	const double *line = chain->line, *other_line = line + chain->classes;
	const double *other = chain->position + chain->classes;
	double sum = distance * (chain->slope - distance / 2 * chain->line_curvature);
	double idle_w = idle_of(chain) + distance * other_line[KWHY_PARAMETER_IDLE];
	double unit = unit_of(chain) + distance * other_line[KWHY_PARAMETER_UNIT];

	if (fabs(other[KWHY_PARAMETER_TAU] + distance * other_line[KWHY_PARAMETER_TAU]) > KWHY_TAU_REACH ||
		fabs(other[KWHY_PARAMETER_DELAY] + distance * other_line[KWHY_PARAMETER_DELAY]) >
			KWHY_DELAY_REACH)
		return -INFINITY;
	for (size_t c = 0; c < chain->classes; c++) {
		double power_w = chain->position[c] + distance * line[c], log_power;

		if (!(power_w > 0))
			return -INFINITY;
		log_power = log(power_w);
		sum += kwhy_posterior_log_class(prior_of(chain), c, log_power, unit) - log_power +
			kwhy_posterior_log_limit(prior_of(chain), c, idle_w + power_w);
	}
	for (size_t i = 0; i < KWHY_PARAMETER_NOISE; i++)
		sum += kwhy_posterior_log_other(chain->model, i, other[i] + distance * other_line[i]);
	return sum;
}

/*
 * Draws a point of the slice, which consists of the points with a density above a random share of the current
 * density. Returns its signed distance from the current position; 0: no point was found. `step`: first width
 * of the interval that is searched.
 */
static double slice(struct chain *chain, density_at *density, double step)
{
	double floor = density(chain, 0) + log(kwhy_random_uniform(&chain->random));
	double low = -step * kwhy_random_uniform(&chain->random), high = low + step;

	for (int i = 0; i < STEPS_OUT && density(chain, low) > floor; i++)
		low -= step;
	for (int i = 0; i < STEPS_OUT && density(chain, high) > floor; i++)
		high += step;
	for (int i = 0; i < SHRINKS_MAX; i++) {
		double distance = low + (high - low) * kwhy_random_uniform(&chain->random);

		if (density(chain, distance) > floor)
			return distance;
		*(distance < 0 ? &low : &high) = distance;
	}
	return 0;
}

static void move_alone(struct chain *chain, double distance)
{
	const double *row = chain->fit->curvature + chain->parameter * chain->fit->size;

	chain->position[chain->parameter] += distance;
	for (size_t i = 0; i < chain->moving; i++)
		chain->gradient[i] -= distance * row[i];
}

static void move_power(struct chain *chain, size_t c)
{
	double before_w = chain->position[c];

	chain->parameter = c;
	chain->logs[c] += slice(chain, density_of_power, LOG_STEP);
	move_alone(chain, exp(chain->logs[c]) - before_w);
}

static void move_other(struct chain *chain, enum kwhy_posterior_parameter parameter)
{
	density_at *density = parameter == KWHY_PARAMETER_IDLE ? density_of_idle : density_of_response;

	chain->parameter = chain->classes + parameter;
	move_alone(chain, slice(chain, density, OTHER_STEP));
}

/*
 * Draws the parameter UNIT (logarithm of the power of a full grid). Given the powers of the classes, it is
 * normally distributed.
 */
static void move_unit(struct chain *chain)
{
	const struct kwhy_posterior_prior *prior = prior_of(chain);
	struct kwhy_normal unit = prior->other[KWHY_PARAMETER_UNIT];
	double precision = 1 / (unit.sd * unit.sd), sum = precision * unit.mean;

	for (size_t c = 0; c < chain->classes; c++) {
		double weight = 1 / (prior->class_log[c].sd * prior->class_log[c].sd);

		if (!prior->tied[c])
			continue;
		precision += weight;
		sum += weight * (chain->logs[c] - prior->class_log[c].mean);
	}
	chain->position[chain->classes + KWHY_PARAMETER_UNIT] = sum / precision +
		kwhy_random_normal(&chain->random) / sqrt(precision);
}

static void draw_line(struct chain *chain)
{
	const struct kwhy_posterior_fit *fit = chain->fit;

	for (size_t i = 0; i < fit->size; i++)
		chain->line[i] = kwhy_random_normal(&chain->random);
	kwhy_matrix_solve_upper(fit->factor, fit->size, chain->line);
	for (size_t c = 0; c < chain->classes; c++)
		chain->line[c] *= exp(fit->mode[c]);
	chain->slope = chain->line_curvature = 0;
	for (size_t a = 0; a < chain->moving; a++) {
		const double *row = fit->curvature + a * fit->size;

		chain->curvature_times_line[a] = 0;
		for (size_t b = 0; b < chain->moving; b++)
			chain->curvature_times_line[a] += row[b] * chain->line[b];
		chain->slope += chain->gradient[a] * chain->line[a];
		chain->line_curvature += chain->curvature_times_line[a] * chain->line[a];
	}
}

static void move_along_line(struct chain *chain)
{
	double distance;

	draw_line(chain);
	distance = slice(chain, density_of_line, LINE_STEP);
	for (size_t i = 0; i < chain->moving; i++) {
		chain->position[i] += distance * chain->line[i];
		chain->gradient[i] -= distance * chain->curvature_times_line[i];
	}
	for (size_t c = 0; c < chain->classes; c++)
		chain->logs[c] = log(chain->position[c]);
}

/* Log density of the prior at the position, with respect to watts. */
static double prior_density(const struct chain *chain)
{
	const double *other = chain->position + chain->classes;
	double sum = 0;

	if (fabs(other[KWHY_PARAMETER_TAU]) > KWHY_TAU_REACH ||
		fabs(other[KWHY_PARAMETER_DELAY]) > KWHY_DELAY_REACH)
		return -INFINITY;
	for (size_t c = 0; c < chain->classes; c++) {
		double log_power = log(chain->position[c]);

		sum += kwhy_posterior_log_class(prior_of(chain), c, log_power, unit_of(chain)) - log_power +
			kwhy_posterior_log_limit(prior_of(chain), c, idle_of(chain) + chain->position[c]);
	}
	for (size_t i = 0; i < KWHY_PARAMETER_NOISE; i++)
		sum += kwhy_posterior_log_other(chain->model, i, other[i]);
	return sum;
}

/*
 * Derivative of the log prior of a parameter other than a class power. This prior is normal, so a central
 * difference is exact.
 */
static double other_force(const struct chain *chain, size_t i)
{
	double at = chain->position[chain->classes + i];

	return (kwhy_posterior_log_other(chain->model, i, at + 0.5) -
		kwhy_posterior_log_other(chain->model, i, at - 0.5));
}

/*
 * Sets `force` to the gradient of the log density at the position, with parameters in standard deviations of
 * the fit.
 */
static void find_force(struct chain *chain)
{
	const struct kwhy_posterior_prior *prior = prior_of(chain);
	const double limit_sd_w = kwhy_posterior_limit_sd_w(prior);
	double *force = chain->force, *other = force + chain->classes;

	memcpy(force, chain->gradient, chain->moving * sizeof(*force));
	for (size_t i = 0; i < KWHY_PARAMETER_NOISE; i++)
		other[i] += other_force(chain, i);
	for (size_t c = 0; c < chain->classes; c++) {
		const double sd = prior->class_log[c].sd, power_w = chain->position[c];
		const double away = (log(power_w) - prior->class_log[c].mean -
					    (prior->tied[c] ? unit_of(chain) : 0)) /
			(sd * sd);
		const double beyond = kwhy_posterior_beyond_limit(prior, c, idle_of(chain) + power_w);

		force[c] -= (away + 1) / power_w;
		other[KWHY_PARAMETER_UNIT] += prior->tied[c] ? away : 0;
		if (beyond > 0) {
			force[c] -= beyond / limit_sd_w;
			other[KWHY_PARAMETER_IDLE] -= beyond / limit_sd_w;
		}
	}
	kwhy_matrix_solve_lower(chain->root, chain->moving, force);
}

static void update_momentum(struct chain *chain, double time)
{
	find_force(chain);
	for (size_t i = 0; i < chain->moving; i++)
		chain->momentum[i] += time * chain->force[i];
}

/*
 * Moves the position along the momentum for `time`, and adds the change of the log likelihood to *gain.
 * False: a power of a class is no longer above 0, and the position is no valid one.
 */
static bool update_position(struct chain *chain, double time, double *gain)
{
	double *step = chain->line;

	for (size_t i = 0; i < chain->moving; i++)
		step[i] = time * chain->momentum[i];
	kwhy_matrix_solve_upper(chain->root, chain->moving, step);
	for (size_t a = 0; a < chain->moving; a++) {
		const double *row = chain->fit->curvature + a * chain->fit->size;

		chain->curvature_times_line[a] = 0;
		for (size_t b = 0; b < chain->moving; b++)
			chain->curvature_times_line[a] += row[b] * step[b];
		*gain += step[a] * (chain->gradient[a] - chain->curvature_times_line[a] / 2);
	}
	for (size_t i = 0; i < chain->moving; i++) {
		chain->position[i] += step[i];
		chain->gradient[i] -= chain->curvature_times_line[i];
		if (i < chain->classes && !(chain->position[i] > 0))
			return false;
	}
	return true;
}

static double kinetic_energy(const struct chain *chain)
{
	double sum = 0;

	for (size_t i = 0; i < chain->moving; i++)
		sum += chain->momentum[i] * chain->momentum[i] / 2;
	return sum;
}

/*
 * Runs a trajectory from a random momentum. Returns the probability with which its end, the new position, is
 * to be accepted.
 */
static double propose(struct chain *chain)
{
	const double step = chain->step_size * (0.8 + 0.4 * kwhy_random_uniform(&chain->random));
	const double steps = fmin(ceil(TRAJECTORY_SDS / step), LEAPFROG_STEPS_MAX);
	double gain = -prior_density(chain);

	for (size_t i = 0; i < chain->moving; i++)
		chain->momentum[i] = kwhy_random_normal(&chain->random);
	gain += kinetic_energy(chain);
	update_momentum(chain, step / 2);
	for (double i = 1; i <= steps; i++) {
		if (!update_position(chain, step, &gain))
			return 0;
		update_momentum(chain, i < steps ? step : step / 2);
	}
	gain += prior_density(chain) - kinetic_energy(chain);
	return isnan(gain) ? 0 : fmin(1, exp(gain));
}

static double hmc_transition(struct chain *chain)
{
	const size_t bytes = chain->moving * sizeof(double);
	double taken;

	memcpy(chain->before, chain->position, bytes);
	memcpy(chain->before + chain->moving, chain->gradient, bytes);
	taken = propose(chain);
	if (kwhy_random_uniform(&chain->random) >= taken) {
		memcpy(chain->position, chain->before, bytes);
		memcpy(chain->gradient, chain->before + chain->moving, bytes);
		return taken;
	}
	for (size_t c = 0; c < chain->classes; c++)
		chain->logs[c] = log(chain->position[c]);
	return taken;
}

/*
 * Adapts the step size during burn-in so that ACCEPTED_RATIO of the trajectories are accepted (Robbins and
 * Monro 1951).
 */
static void tune_step_size(struct chain *chain, double taken)
{
	chain->transitions++;
	chain->step_size *= exp((taken - ACCEPTED_RATIO) / sqrt(chain->transitions));
	chain->step_size = fmin(fmax(chain->step_size, STEP_SIZE_MIN), 1);
}

static void sweep(struct chain *chain, bool tune)
{
	double taken;

	for (size_t c = 0; c < chain->classes; c++)
		move_power(chain, c);
	move_unit(chain);
	move_other(chain, KWHY_PARAMETER_IDLE);
	move_other(chain, KWHY_PARAMETER_TAU);
	move_other(chain, KWHY_PARAMETER_DELAY);
	for (int i = 0; i < KWHY_PARAMETER_NOISE; i++)
		move_along_line(chain);
	taken = hmc_transition(chain);
	if (tune)
		tune_step_size(chain, taken);
}

/*
 * Converts the Cholesky factor of the fit's precision matrix from logarithms of powers to watts, at the
 * current position.
 */
static void find_root(struct chain *chain)
{
	for (size_t row = 0; row < chain->moving; row++)
		for (size_t column = 0; column <= row; column++)
			chain->root[row * chain->moving + column] =
				chain->fit->factor[row * chain->fit->size + column] /
				(row < chain->classes ? chain->position[row] : 1);
}

static enum kwhy_status chain_init(struct chain *chain, uint64_t seed, struct kwhy_error *error)
{
	const struct kwhy_posterior_fit *fit = chain->fit;
	size_t size = fit->size;
	double *block = calloc((9 + size) * size, sizeof(*block));

	if (!block)
		return kwhy_fail_memory(error, "the fit of powers");
	chain->classes = chain->model->prior->class_count;
	chain->moving = size - KWHY_NOISE_PARAMETERS;
	chain->logs = block;
	chain->position = block + size;
	chain->gradient = block + 2 * size;
	chain->line = block + 3 * size;
	chain->curvature_times_line = block + 4 * size;
	chain->momentum = block + 5 * size;
	chain->force = block + 6 * size;
	chain->before = block + 7 * size;
	chain->root = block + 9 * size;
	chain->step_size = STEP_SIZE_FIRST;
	memcpy(chain->logs, fit->mode, size * sizeof(double));
	memcpy(chain->gradient, fit->gradient, size * sizeof(double));
	for (size_t i = 0; i < size; i++)
		chain->position[i] = i < chain->classes ? exp(fit->mode[i]) : fit->mode[i];
	find_root(chain);
	kwhy_random_init(&chain->random, seed);
	return KWHY_OK;
}

static void keep(const struct chain *chain, double *out_draw)
{
	memcpy(out_draw, chain->position, chain->fit->size * sizeof(double));
	memcpy(out_draw, chain->logs, chain->classes * sizeof(double));
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
		sweep(&chain, true);
	for (size_t i = 0; i < count; i++) {
		sweep(&chain, false);
		keep(&chain, out_draws + i * fit->size);
	}
	free(chain.logs);
	return KWHY_OK;
}
