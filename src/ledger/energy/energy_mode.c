/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/energy_mode.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Steps of the response grid (time constants and delays of the meter at which the model is computed).
 * _OF_SPREAD: in standard deviations of the prior, later of the posterior. _MAX: above these, interpolation
 * in the grid is not accurate. _MIN: no finer steps are needed. TAU_STEP_MAX and TAU_STEP_MIN are shares of
 * the time constant.
 */
#define TAU_STEP_OF_SPREAD 1.5
#define TAU_STEP_MAX 0.3
#define DELAY_STEP_OF_SPREAD 0.75
#define DELAY_STEP_MAX_S 0.75e-3
#define DELAY_STEP_MIN_S 0.2e-3
#define TAU_STEP_MIN 0.02
#define TAU_MIN_S 1e-3
#define DRIFT_PASSES 2
#define GRIDS_MAX 4

/*
 * The fit is started at several delays if the mean duration of activities, divided by the prior standard
 * deviation of the delay, lies between AMBIGUOUS_MIN and AMBIGUOUS_MAX: at STARTS_SIDE delays on each side of
 * the prior mean, START_SPREADS standard deviations apart.
 */
#define AMBIGUOUS_MIN 0.3
#define AMBIGUOUS_MAX 4.0
#define STARTS_SIDE 2
#define START_SPREADS 0.7
#define START_STEP_S 0.45e-3

enum kwhy_status kwhy_inference_features(struct kwhy_inference *inference, struct kwhy_error *error)
{
	const struct kwhy_powers_question *question = inference->question;
	struct kwhy_response_walk walk = {
		.recording = question->recording,
		.device_ledger = question->device_ledger,
		.classes = question->classes,
		.covered = question->covered,
		.device = question->device,
		.sm_count = kwhy_power_sm_count(
			question->recording, question->device, question->options->profile),
	};

	kwhy_response_features_done(&inference->features);
	return kwhy_response_features_init(
		&inference->features, &inference->grid, &inference->readings, &walk, error);
}

void kwhy_inference_first_grid(struct kwhy_inference *inference)
{
	inference->grid = (struct kwhy_response_grid){
		.tau_s = inference->tau_s.mean,
		.delay_s = inference->delay_s.mean,
		.tau_step_s = fmin(
			TAU_STEP_OF_SPREAD * inference->tau_s.sd, TAU_STEP_MAX * inference->tau_s.mean),
		.delay_step_s = fmin(fmax(DELAY_STEP_OF_SPREAD * inference->delay_s.sd, DELAY_STEP_MIN_S),
			DELAY_STEP_MAX_S),
	};
}

/*
 * Sets the parameters to the means of the prior; time constant and delay to the middle of the response
 * grid.
 */
static void start_mode(struct kwhy_inference *inference)
{
	const struct kwhy_posterior_prior *prior = &inference->prior;
	double *other = inference->fit.mode + prior->class_count;

	for (size_t i = 0; i < KWHY_PARAMETER_COUNT; i++)
		other[i] = prior->other[i].mean;
	other[KWHY_PARAMETER_TAU] = other[KWHY_PARAMETER_DELAY] = 0;
	for (size_t c = 0; c < prior->class_count; c++)
		inference->fit.mode[c] = prior->class_log[c].mean +
			(prior->tied[c] ? other[KWHY_PARAMETER_UNIT] : 0);
}

/*
 * Moves the middle of the response grid to the mode, and makes its steps as fine as the posterior standard
 * deviations (tau_sd, delay_sd, in steps) ask for. Rescales the mode's parameters to the new grid. False: the
 * mode lies well inside the grid, whose steps are fine enough; nothing changed.
 */
static bool move_grid(struct kwhy_inference *inference, double tau_sd, double delay_sd)
{
	struct kwhy_response_grid *grid = &inference->grid, before = *grid;
	double *other = inference->fit.mode + inference->prior.class_count;
	double *tau = &other[KWHY_PARAMETER_TAU], *delay = &other[KWHY_PARAMETER_DELAY];
	double tau_s = grid->tau_s + *tau * grid->tau_step_s;
	double delay_s = grid->delay_s + *delay * grid->delay_step_s;

	grid->tau_s = fmax(tau_s, TAU_MIN_S);
	grid->delay_s = delay_s;
	grid->tau_step_s = fmin(
		fmax(TAU_STEP_OF_SPREAD * tau_sd * before.tau_step_s, TAU_STEP_MIN * grid->tau_s),
		fmin(before.tau_step_s, TAU_STEP_MAX * grid->tau_s));
	grid->delay_step_s = fmin(before.delay_step_s,
		fmax(DELAY_STEP_OF_SPREAD * delay_sd * before.delay_step_s, DELAY_STEP_MIN_S));
	if (fabs(*tau) < 1 && fabs(*delay) < 1.5 && grid->delay_step_s > 0.7 * before.delay_step_s) {
		*grid = before;
		return false;
	}
	*tau = (tau_s - grid->tau_s) / grid->tau_step_s;
	*delay = 0;
	return true;
}

/*
 * Climbs to the mode of the posterior density, moves the response grid, and climbs again, until the mode lies
 * well inside the grid or GRIDS_MAX grids were tried.
 */
static enum kwhy_status climb(struct kwhy_inference *inference, struct kwhy_error *error)
{
	size_t classes = inference->prior.class_count;
	double tau_sd, delay_sd;
	enum kwhy_status status = kwhy_posterior_fit_climb(&inference->fit, &inference->model, NULL, error);

	while (!status && inference->grids < GRIDS_MAX) {
		status = kwhy_posterior_fit_sd(&inference->fit, classes + KWHY_PARAMETER_TAU, &tau_sd, error);
		if (!status)
			status = kwhy_posterior_fit_sd(
				&inference->fit, classes + KWHY_PARAMETER_DELAY, &delay_sd, error);
		if (status || !move_grid(inference, tau_sd, delay_sd))
			break;
		inference->grids++;
		status = kwhy_inference_features(inference, error);
		if (!status)
			status = kwhy_posterior_fit_climb(&inference->fit, &inference->model, NULL, error);
	}
	return status;
}

/*
 * Climbs to a mode of the posterior density twice: from the means of the prior, and from the point that
 * kwhy_posterior_scan() finds. Keeps the mode with the higher density.
 */
static enum kwhy_status start_here(
	struct kwhy_inference *inference, double *out_density, struct kwhy_error *error)
{
	struct kwhy_posterior_fit scanned;
	double scanned_density;
	enum kwhy_status status = kwhy_posterior_fit_init(&scanned, &inference->model, error);

	if (status)
		return status;
	start_mode(inference);
	status = kwhy_posterior_fit_climb(&inference->fit, &inference->model, out_density, error);
	if (!status)
		status = kwhy_posterior_scan(&inference->model, scanned.mode, error);
	if (!status)
		status = kwhy_posterior_fit_climb(&scanned, &inference->model, &scanned_density, error);
	if (!status && scanned_density > *out_density) {
		memcpy(inference->fit.mode, scanned.mode, scanned.size * sizeof(*scanned.mode));
		*out_density = scanned_density;
	}
	kwhy_posterior_fit_done(&scanned);
	return status;
}

/*
 * Whether the posterior density may have several maxima along the delay. That is possible if activities are
 * on average about as long as the prior standard deviation of the delay: in a loop of activities of that
 * length, a delay that is longer or shorter by one activity fits as well. Shorter activities cause no ripple
 * in the readings, and longer ones cannot be confused with their neighbours.
 */
static bool is_ambiguous(const struct kwhy_inference *inference)
{
	const struct kwhy_powers_question *question = inference->question;
	const size_t *first = question->recording->activities.first + question->device;
	double sd_ns = 1e9 * inference->delay_s.sd, length_ns = 0;

	for (size_t c = 0; c < question->classes->count; c++)
		length_ns += question->classes->priors[c].time_ns / (double)(first[1] - first[0]);
	return length_ns > AMBIGUOUS_MIN * sd_ns && length_ns < AMBIGUOUS_MAX * sd_ns;
}

/*
 * Climbs from several delays, each with a response grid of its own with finer steps of the delay. Keeps the
 * mode with the highest density, and its grid. best[fit.size] is scratch memory.
 */
static enum kwhy_status start_often(struct kwhy_inference *inference, double *best, struct kwhy_error *error)
{
	struct kwhy_response_grid *grid = &inference->grid, best_grid = *grid;
	size_t bytes = inference->fit.size * sizeof(*best);
	double best_density = -INFINITY, density;
	enum kwhy_status status = KWHY_OK;

	grid->delay_step_s = fmin(grid->delay_step_s, START_STEP_S);
	for (int side = -STARTS_SIDE; !status && side <= STARTS_SIDE; side++) {
		grid->delay_s = inference->delay_s.mean + side * START_SPREADS * inference->delay_s.sd;
		status = kwhy_inference_features(inference, error);
		if (!status)
			status = start_here(inference, &density, error);
		if (status || density <= best_density)
			continue;
		best_density = density;
		best_grid = *grid;
		memcpy(best, inference->fit.mode, bytes);
	}
	*grid = best_grid;
	memcpy(inference->fit.mode, best, bytes);
	return status ? status : kwhy_inference_features(inference, error);
}

enum kwhy_status kwhy_inference_start(struct kwhy_inference *inference, struct kwhy_error *error)
{
	double *best, density;
	enum kwhy_status status;

	if (!is_ambiguous(inference))
		return start_here(inference, &density, error);
	best = calloc(inference->fit.size, sizeof(*best));
	if (!best)
		return kwhy_fail_memory(error, "the fit of powers");
	status = start_often(inference, best, error);
	free(best);
	return status;
}

enum kwhy_status kwhy_inference_settle(struct kwhy_inference *inference, struct kwhy_error *error)
{
	struct kwhy_power_readings *readings = &inference->readings;
	double *read_w = malloc((readings->count + 1) * sizeof(*read_w));
	enum kwhy_status status = read_w ? climb(inference, error)
					 : kwhy_fail_memory(error, "power readings");

	for (size_t i = 0; !status && i < readings->count; i++)
		read_w[i] = readings->items[i].power_w;
	for (int pass = 0; !status && pass < DRIFT_PASSES; pass++) {
		status = kwhy_posterior_detrend(
			&inference->model, inference->fit.mode, read_w, readings, error);
		if (!status)
			status = climb(inference, error);
	}
	free(read_w);
	if (!status)
		status = kwhy_posterior_share(
			&inference->model, inference->fit.mode, inference->shared_w2, error);
	inference->model.shared_w2 = inference->shared_w2;
	if (!status)
		status = climb(inference, error);
	if (!status)
		status = kwhy_posterior_temper(
			&inference->model, inference->fit.mode, &inference->model.temper, error);
	return status ? status : climb(inference, error);
}
