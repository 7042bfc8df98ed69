/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/energy_powers.h"

#include "base/linear.h"
#include "ledger/energy/clean_idle.h"
#include "ledger/energy/energy_priors.h"
#include "ledger/probing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * CELLS_MAX is the largest product of the number of readings and the number of classes + 1, unless there are
 * at most READINGS_MIN readings. For each class a reading needs a feature of 4 bytes at each of the 27 grid
 * points, and it adds to the time of a draw.
 */
#define QUANTILE_95_SDS 1.645 /* 95 % quantile of a normal density, in standard deviations */
#define CELLS_MAX 60000
#define READINGS_MIN 1000

/*
 * Numbers of draws at which two seeds agree to a few hundredths of an interval. The chain mixes more slowly
 * if there are many classes.
 */
#define DRAWS_OF_FEW 800
#define DRAWS_OF_MANY 1600
#define CLASSES_FEW 16

/*
 * Steps of the response grid in standard deviations of the prior, and upper bounds of the steps, beyond which
 * interpolation is not accurate.
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
 * If the mean length of activities over the standard deviation of the delay lies between these bounds, the
 * fit is started at several delays.
 */
#define AMBIGUOUS_MIN 0.3
#define AMBIGUOUS_MAX 4.0
#define STARTS_SIDE 2
#define START_SPREADS 0.7
#define START_STEP_S 0.45e-3

/* Time for which a reading shows an activity after its end, in time constants. */
#define MEMORY_TAUS 6

/*
 * Least difference between a learnt power and that from the readings alone, in standard deviations, at which
 * the readings contradict the learnt power.
 */
#define OVERRULED_SPREADS 3.0

struct inference {
	const struct kwhy_powers_question *question;
	struct kwhy_powers *powers;
	struct kwhy_normal tau_s, delay_s;
	struct kwhy_power_readings readings;
	struct kwhy_response_grid grid;
	struct kwhy_response_features features;
	struct kwhy_posterior_prior prior;
	struct kwhy_posterior_model model;
	struct kwhy_posterior_fit fit;
	double *shared_w2, *draws;
	int grids; /* number of response grids tried after the first one */
};

/*
 * Lists times whose readings are not used: the idle level changes in them, or a probe's burst lowered the
 * clocks.
 */
static enum kwhy_status find_unsettled(
	struct inference *inference, struct kwhy_window **out, size_t *out_count, struct kwhy_error *error)
{
	const struct kwhy_powers_question *question = inference->question;
	struct kwhy_powers *powers = inference->powers;
	struct kwhy_window *all, *throttled;
	enum kwhy_status status = kwhy_probing_throttled(question->recording, question->device, &throttled,
		&powers->throttled_count, &powers->burst_count, error);

	if (status)
		return status;
	all = calloc(powers->throttled_count + KWHY_UNSETTLED_MAX, sizeof(*all));
	if (!all) {
		free(throttled);
		return kwhy_fail_memory(error, "power readings");
	}
	*out_count = kwhy_clean_unsettled(question->device_ledger, all);
	for (size_t i = 0; i < powers->throttled_count; i++)
		all[*out_count + i] = throttled[i];
	*out_count += powers->throttled_count;
	*out = all;
	free(throttled);
	return KWHY_OK;
}

static enum kwhy_status take_readings(struct inference *inference, struct kwhy_error *error)
{
	const struct kwhy_powers_question *question = inference->question;
	size_t most = CELLS_MAX / (question->classes->count + 1), unsettled_count;
	struct kwhy_window *unsettled;
	struct kwhy_reading_limits limits = {
		.most = most > READINGS_MIN ? most : READINGS_MIN,
		.memory_ns = llround(1e9 * (inference->delay_s.mean + MEMORY_TAUS * inference->tau_s.mean)),
		.profile = question->options->profile,
		.ignore_counter = question->options->ignore_counter,
	};
	enum kwhy_status status = find_unsettled(inference, &unsettled, &unsettled_count, error);

	if (status)
		return status;
	limits.unsettled = unsettled;
	limits.unsettled_count = unsettled_count;
	status = kwhy_power_readings_init(
		&inference->readings, question->meters, question->covered, &limits, error);
	free(unsettled);
	return status;
}

static enum kwhy_status see(struct inference *inference, struct kwhy_error *error)
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

static void first_grid(struct inference *inference)
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

/* Sets the parameters to the means of the prior. */
static void start_mode(struct inference *inference)
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
 * Moves the middle of the grid to the mode, and reduces the steps to what the uncertainty of the response
 * needs. False: the grid was good, and stays.
 */
static bool move_grid(struct inference *inference, double tau_sd, double delay_sd)
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

/* Climbs, moves the grid and climbs again until the mode lies well inside the grid. */
static enum kwhy_status climb(struct inference *inference, struct kwhy_error *error)
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
		status = see(inference, error);
		if (!status)
			status = kwhy_posterior_fit_climb(&inference->fit, &inference->model, NULL, error);
	}
	return status;
}

/*
 * Climbs from the means of the prior and from the best point of a scan. Keeps the mode with the higher
 * density.
 */
static enum kwhy_status start_here(struct inference *inference, double *out_density, struct kwhy_error *error)
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
 * Whether a loop may have several maxima. It may if its activities are about as long as the delay is
 * uncertain: shorter ones cause no ripple in the readings, and longer ones cannot be confused.
 */
static bool is_ambiguous(const struct inference *inference)
{
	const struct kwhy_powers_question *question = inference->question;
	const size_t *first = question->recording->activities.first + question->device;
	double sd_ns = 1e9 * inference->delay_s.sd, length_ns = 0;

	for (size_t c = 0; c < question->classes->count; c++)
		length_ns += question->classes->priors[c].time_ns / (double)(first[1] - first[0]);
	return length_ns > AMBIGUOUS_MIN * sd_ns && length_ns < AMBIGUOUS_MAX * sd_ns;
}

/*
 * Starts at several delays with a fine grid around each. Keeps the mode with the highest density, and its
 * grid.
 */
static enum kwhy_status start_often(struct inference *inference, double *best, struct kwhy_error *error)
{
	struct kwhy_response_grid *grid = &inference->grid, best_grid = *grid;
	size_t bytes = inference->fit.size * sizeof(*best);
	double best_density = -INFINITY, density;
	enum kwhy_status status = KWHY_OK;

	grid->delay_step_s = fmin(grid->delay_step_s, START_STEP_S);
	for (int side = -STARTS_SIDE; !status && side <= STARTS_SIDE; side++) {
		grid->delay_s = inference->delay_s.mean + side * START_SPREADS * inference->delay_s.sd;
		status = see(inference, error);
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
	return status ? status : see(inference, error);
}

static enum kwhy_status start(struct inference *inference, struct kwhy_error *error)
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

/*
 * Climbs to the mode, with steps in between that make the likelihood realistic: drift is removed from the
 * readings, similar readings share an error, and autocorrelation tempers the likelihood.
 */
static enum kwhy_status settle(struct inference *inference, struct kwhy_error *error)
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

static enum kwhy_status fit(struct inference *inference, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_priors_init(
		&inference->prior, inference->question, &inference->features, &inference->readings, error);

	if (status)
		return status;
	inference->prior.other[KWHY_PARAMETER_TAU] = inference->tau_s;
	inference->prior.other[KWHY_PARAMETER_DELAY] = inference->delay_s;
	inference->model = (struct kwhy_posterior_model){
		&inference->features, &inference->readings, &inference->prior, NULL, 1};
	inference->shared_w2 = calloc(inference->readings.count + 1, sizeof(double));
	status = inference->shared_w2 ? kwhy_posterior_fit_init(&inference->fit, &inference->model, error)
				      : kwhy_fail_memory(error, "power readings");
	if (!status)
		status = start(inference, error);
	return status ? status : settle(inference, error);
}

static enum kwhy_status draw(struct inference *inference, struct kwhy_error *error)
{
	struct kwhy_powers *powers = inference->powers;

	powers->draw_count = inference->prior.class_count > CLASSES_FEW ? DRAWS_OF_MANY : DRAWS_OF_FEW;
	inference->draws = calloc(powers->draw_count * inference->fit.size, sizeof(*inference->draws));
	if (!inference->draws)
		return kwhy_fail_memory(error, "draws of the powers");
	return kwhy_posterior_draw(&inference->fit, &inference->model, inference->question->options->seed,
		powers->draw_count, inference->draws, error);
}

static enum kwhy_status powers_init(struct kwhy_powers *powers, size_t classes, struct kwhy_error *error)
{
	powers->class_count = classes;
	powers->net_w = calloc(classes + 1, sizeof(double));
	powers->prior_net_w = calloc(classes + 1, sizeof(double));
	powers->posterior_ratio = calloc(classes + 1, sizeof(double));
	powers->in_place_ratio = calloc(classes + 1, sizeof(double));
	powers->draws_net_w = calloc(powers->draw_count * (classes + 1), sizeof(double));
	powers->draws_idle_w = calloc(powers->draw_count + 1, sizeof(double));
	if (powers->net_w && powers->prior_net_w && powers->posterior_ratio && powers->in_place_ratio &&
		powers->draws_net_w && powers->draws_idle_w)
		return KWHY_OK;
	kwhy_powers_done(powers);
	return kwhy_fail_memory(error, "draws of the powers");
}

struct moments {
	double mean, sd;
};

/* Mean and standard deviation of one parameter over the draws. */
static struct moments moments_of(const struct inference *inference, size_t parameter)
{
	size_t count = inference->powers->draw_count;
	double sum = 0, squares = 0;

	for (size_t i = 0; i < count; i++)
		sum += inference->draws[i * inference->fit.size + parameter];
	sum /= (double)count;
	for (size_t i = 0; i < count; i++) {
		double distance = inference->draws[i * inference->fit.size + parameter] - sum;

		squares += distance * distance;
	}
	return (struct moments){sum, sqrt(squares / (double)count)};
}

/* Standard deviation of a class's power over the draws, in watts. */
static double sd_w(const struct kwhy_powers *powers, size_t class)
{
	double squares = 0;

	for (size_t i = 0; i < powers->draw_count; i++) {
		const double away_w = powers->draws_net_w[i * powers->class_count + class] -
			powers->net_w[class];

		squares += away_w * away_w;
	}
	return sqrt(squares / (double)powers->draw_count);
}

/*
 * Posterior-to-prior ratio of the standard deviation: of the power's logarithm, or of the watts if that ratio
 * is less. A copy that draws little above idle has a wide logarithm, however well its few watts are known.
 * The prior's standard deviation in watts follows from its 5 % and 95 % quantiles.
 */
static double posterior_ratio_of(
	const struct inference *inference, size_t class, double prior_spread, double prior_net_w)
{
	const double prior_sd_w = fabs(prior_net_w) * sinh(QUANTILE_95_SDS * prior_spread) / QUANTILE_95_SDS;

	return fmin(
		moments_of(inference, class).sd / prior_spread, sd_w(inference->powers, class) / prior_sd_w);
}

static void keep_classes(struct inference *inference)
{
	const struct kwhy_posterior_prior *prior = &inference->prior;
	struct kwhy_powers *powers = inference->powers;
	size_t classes = prior->class_count;

	for (size_t c = 0; c < classes; c++) {
		double unit = prior->tied[c] ? prior->other[KWHY_PARAMETER_UNIT].mean : 0;
		/*
		 * the ratio is taken to a prior with the usual standard deviation of the unit power, because
		 * a wider one would make the readings seem decisive
		 */
		double loose = prior->tied[c] ? KWHY_UNIT_SPREAD : 0;
		double sign = c == inference->question->classes->clean ? -1 : 1;

		powers->in_place_ratio[c] = inference->question->classes->priors[c].in_place_ratio;
		powers->prior_net_w[c] = sign * exp(prior->class_log[c].mean + unit);
		for (size_t i = 0; i < powers->draw_count; i++) {
			double net_w = sign * exp(inference->draws[i * inference->fit.size + c]);

			powers->draws_net_w[i * classes + c] = net_w;
			powers->net_w[c] += net_w / (double)powers->draw_count;
		}
		powers->posterior_ratio[c] = posterior_ratio_of(
			inference, c, hypot(prior->class_log[c].sd, loose), powers->prior_net_w[c]);
	}
}

static void keep_rest(struct inference *inference)
{
	struct kwhy_powers *powers = inference->powers;
	size_t classes = inference->prior.class_count;
	struct moments idle = moments_of(inference, classes + KWHY_PARAMETER_IDLE);

	for (size_t i = 0; i < powers->draw_count; i++)
		powers->draws_idle_w[i] = fmax(
			0, inference->draws[i * inference->fit.size + classes + KWHY_PARAMETER_IDLE]);
	powers->idle_w = fmax(0, idle.mean);
	powers->tau_s = inference->grid.tau_s +
		moments_of(inference, classes + KWHY_PARAMETER_TAU).mean * inference->grid.tau_step_s;
	powers->delay_s = inference->grid.delay_s +
		moments_of(inference, classes + KWHY_PARAMETER_DELAY).mean * inference->grid.delay_step_s;
	powers->meter = inference->readings.meter;
	powers->reading_count = inference->readings.count;
	powers->left_out_count = inference->readings.left_out_count;
}

/* Infers the powers from the current readings, of which there may be none. */
static enum kwhy_status infer_once(struct inference *inference, struct kwhy_error *error)
{
	struct kwhy_powers *powers = inference->powers;
	size_t quiet_count = 0;
	double quiet_w;
	enum kwhy_status status;

	first_grid(inference);
	status = see(inference, error);
	if (!status)
		status = kwhy_priors_quiet(
			&inference->features, &inference->readings, &quiet_w, &quiet_count, error);
	if (!status)
		status = fit(inference, error);
	if (!status)
		status = draw(inference, error);
	if (!status)
		status = powers_init(powers, inference->question->classes->count, error);
	if (!status) {
		keep_classes(inference);
		keep_rest(inference);
		powers->idle_measured = quiet_count > 0;
	}
	free(inference->draws);
	free(inference->shared_w2);
	kwhy_posterior_fit_done(&inference->fit);
	kwhy_priors_done(&inference->prior);
	inference->draws = inference->shared_w2 = NULL;
	inference->grids = 0;
	return status;
}

/* Handles readings that no powers fit: they are dropped, and the prior decides. */
static enum kwhy_status infer_unfitted(struct inference *inference, struct kwhy_error *error)
{
	inference->powers->unfitted_count = inference->readings.count;
	kwhy_power_readings_done(&inference->readings);
	return infer_once(inference, error);
}

/* Standard deviation of the logarithm of a class's power over the draws. */
static double log_spread(const struct kwhy_powers *powers, size_t class)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < powers->draw_count; i++) {
		double away = log(
			fabs(powers->draws_net_w[i * powers->class_count + class] / powers->net_w[class]));

		sum += away / (double)powers->draw_count;
		squares += away * away / (double)powers->draw_count;
	}
	return sqrt(fmax(0, squares - sum * sum));
}

/*
 * Whether the readings alone contradict a power of another recording. That power then belongs to other work.
 */
static bool is_contradicted(
	const struct kwhy_powers *powers, size_t class, const struct kwhy_power_prior *prior)
{
	double away = log(powers->net_w[class] / prior->learnt_w);

	return fabs(away) > OVERRULED_SPREADS * hypot(prior->learnt_sd, log_spread(powers, class));
}

/*
 * Reads the original readings again and infers from them, because the drift that was removed was that of the
 * powers before.
 */
static enum kwhy_status infer_again(struct inference *inference, struct kwhy_error *error)
{
	struct kwhy_powers *powers = inference->powers;
	const struct kwhy_powers before = *powers;
	enum kwhy_status status;

	kwhy_powers_done(powers);
	powers->response_assumed = before.response_assumed;
	powers->overruled_count = before.overruled_count;
	kwhy_power_readings_done(&inference->readings);
	status = take_readings(inference, error);
	return status ? status : infer_once(inference, error);
}

/*
 * Infers from the readings alone, then with those learnt powers that the readings do not contradict.
 * `learnt_w`: [class_count] learnt powers above idle in watts; NAN: no power.
 */
static enum kwhy_status infer_with_learnt(
	struct inference *inference, const double *learnt_w, struct kwhy_error *error)
{
	struct kwhy_power_classes *classes = inference->question->classes;
	struct kwhy_powers *powers = inference->powers;
	enum kwhy_status status = infer_once(inference, error);
	size_t left = 0;

	for (size_t c = 0; !status && c < classes->count; c++) {
		struct kwhy_power_prior *prior = &classes->priors[c];

		prior->learnt_w = learnt_w[c];
		if (!(learnt_w[c] > 0))
			continue;
		if (is_contradicted(powers, c, prior)) {
			prior->learnt_w = NAN;
			powers->overruled_count++;
		} else {
			left++;
		}
	}
	return status || !left ? status : infer_again(inference, error);
}

static enum kwhy_status infer(struct inference *inference, struct kwhy_error *error)
{
	struct kwhy_power_classes *classes = inference->question->classes;
	double *learnt_w = calloc(classes->count + 1, sizeof(*learnt_w));
	enum kwhy_status status;
	size_t count = 0;

	if (!learnt_w)
		return kwhy_fail_memory(error, "learnt powers");
	for (size_t c = 0; c < classes->count; c++) {
		learnt_w[c] = classes->priors[c].learnt_w;
		classes->priors[c].learnt_w = NAN;
		count += learnt_w[c] > 0;
	}
	status = count ? infer_with_learnt(inference, learnt_w, error) : infer_once(inference, error);
	free(learnt_w);
	return status;
}

enum kwhy_status kwhy_powers_infer(
	struct kwhy_powers *powers, const struct kwhy_powers_question *question, struct kwhy_error *error)
{
	struct inference inference = {.question = question, .powers = powers};
	enum kwhy_status status;

	*powers = (struct kwhy_powers){0};
	powers->response_assumed = !kwhy_priors_response(
		question->total->meter, question->options->profile, &inference.tau_s, &inference.delay_s);
	status = take_readings(&inference, error);
	if (!status)
		status = infer(&inference, error);
	if (status == KWHY_E_INPUT && inference.readings.count)
		status = infer_unfitted(&inference, error);
	kwhy_response_features_done(&inference.features);
	kwhy_power_readings_done(&inference.readings);
	return status;
}

void kwhy_powers_done(struct kwhy_powers *powers)
{
	free(powers->net_w);
	free(powers->prior_net_w);
	free(powers->posterior_ratio);
	free(powers->in_place_ratio);
	free(powers->draws_net_w);
	free(powers->draws_idle_w);
	*powers = (struct kwhy_powers){0};
}
