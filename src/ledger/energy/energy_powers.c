/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/energy_powers.h"

#include "base/linear.h"
#include "base/sort.h"
#include "ledger/energy/clean_idle.h"
#include "ledger/energy/energy_mode.h"
#include "ledger/energy/energy_priors.h"
#include "ledger/probing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * CELLS_MAX and READINGS_MIN limit the readings in use to CELLS_MAX / (number of power classes + 1), but
 * never to fewer than READINGS_MIN. For each class, a reading takes 4 bytes at each of the 27 points of the
 * response grid, and adds to the time of a draw.
 */
#define QUANTILE_95_SDS 1.645 /* 95 % quantile of a normal density, in standard deviations */
#define CELLS_MAX 60000
#define READINGS_MIN 1000

/*
 * Numbers of draws from the posterior: DRAWS_OF_FEW for at most CLASSES_FEW power classes, DRAWS_OF_MANY for
 * more, because the Markov chain mixes more slowly with many classes. With these numbers, the ends of a 90 %
 * interval differ between two seeds by a few hundredths of its width.
 */
#define DRAWS_OF_FEW 800
#define DRAWS_OF_MANY 1600
#define CLASSES_FEW 16

/* Time for which a reading shows an activity after its end, in time constants of the meter's low-pass. */
#define MEMORY_TAUS 6

/*
 * The readings contradict a learnt power (one from --powers) if its logarithm differs by more than this many
 * standard deviations from that of the power inferred without it.
 */
#define OVERRULED_SPREADS 3.0

/*
 * Number of windows with enabled performance counters whose readings are not used: all of them, because the
 * power that enabled counters draw was subtracted and only its mean is known; none (0) if the windows are
 * more than half of the hull, because too few readings would be left.
 */
static size_t find_counting(const struct kwhy_powers_question *question)
{
	const struct kwhy_counter_windows *counters = &question->meters->counters;
	const struct kwhy_window *hull = &question->covered->hull;
	const int64_t length_ns = kwhy_counter_windows_ns(counters, hull->start_ns, hull->end_ns);

	return length_ns > (hull->end_ns - hull->start_ns) / 2 ? 0 : counters->count;
}

static int compare_starts(const void *a, const void *b)
{
	return kwhy_sort_by(
		((const struct kwhy_window *)a)->start_ns, ((const struct kwhy_window *)b)->start_ns);
}

/* Sorts the windows and joins those that overlap. Returns their number. */
static size_t join(struct kwhy_window *windows, size_t count)
{
	size_t kept = 0;

	qsort(windows, count, sizeof(*windows), compare_starts);
	for (size_t i = 0; i < count; i++)
		if (!kept || windows[i].start_ns > windows[kept - 1].end_ns)
			windows[kept++] = windows[i];
		else if (windows[i].end_ns > windows[kept - 1].end_ns)
			windows[kept - 1].end_ns = windows[i].end_ns;
	return kept;
}

/*
 * Lists the times whose readings are not used, and counts bursts of kwhy probe in `powers`. There are three
 * kinds of such times: the idle level changes or is elevated; a burst ran at another clock than the program's
 * work, or its clock fell; performance counters were enabled. The caller frees *out.
 */
static enum kwhy_status find_unsettled(struct kwhy_inference *inference, struct kwhy_window **out,
	size_t *out_count, struct kwhy_error *error)
{
	const struct kwhy_powers_question *question = inference->question;
	struct kwhy_powers *powers = inference->powers;
	struct kwhy_probing_unlike unlike;
	struct kwhy_window *all;
	const struct kwhy_counter_windows *counters = &question->meters->counters;
	const size_t counting = find_counting(question);
	size_t bursts;
	enum kwhy_status status = kwhy_probing_unlike_find(
		question->recording, question->device, &unlike, error);

	if (status)
		return status;
	powers->burst_count = unlike.all_count;
	powers->throttled_count = unlike.throttled_count;
	powers->other_clock_count = unlike.clock_count;
	bursts = unlike.throttled_count + unlike.clock_count;
	all = calloc(bursts + counting + KWHY_UNSETTLED_MAX, sizeof(*all));
	if (!all) {
		free(unlike.windows);
		return kwhy_fail_memory(error, "power readings");
	}
	*out_count = kwhy_clean_unsettled(question->device_ledger, all);
	for (size_t i = 0; i < bursts; i++)
		all[(*out_count)++] = unlike.windows[i];
	for (size_t i = 0; i < counting; i++)
		all[(*out_count)++] = (struct kwhy_window){
			counters->items[i].start_ns, counters->items[i].end_ns};
	*out_count = join(all, *out_count);
	*out = all;
	free(unlike.windows);
	return KWHY_OK;
}

static enum kwhy_status take_readings(struct kwhy_inference *inference, struct kwhy_error *error)
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

static enum kwhy_status fit(struct kwhy_inference *inference, struct kwhy_error *error)
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
		status = kwhy_inference_start(inference, error);
	return status ? status : kwhy_inference_settle(inference, error);
}

static enum kwhy_status draw(struct kwhy_inference *inference, struct kwhy_error *error)
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

/* Mean and standard deviation over the draws of one parameter, such as the logarithm of a power. */
static struct moments moments_of(const struct kwhy_inference *inference, size_t parameter)
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

/* Standard deviation in watts, over the draws, of a power class's power above idle. */
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
 * Ratio of the posterior to the prior standard deviation of a power class's power. It is computed for the
 * logarithm of the power and for the power in watts; the smaller ratio is returned. Copies that draw little
 * above idle have a wide logarithm even if their few watts are known well. The prior's standard deviation in
 * watts is half of the distance between its 5 and 95 % quantiles, divided by QUANTILE_95_SDS.
 */
static double posterior_ratio_of(
	const struct kwhy_inference *inference, size_t class, double prior_spread, double prior_net_w)
{
	const double prior_sd_w = fabs(prior_net_w) * sinh(QUANTILE_95_SDS * prior_spread) / QUANTILE_95_SDS;

	return fmin(
		moments_of(inference, class).sd / prior_spread, sd_w(inference->powers, class) / prior_sd_w);
}

static void keep_classes(struct kwhy_inference *inference)
{
	const struct kwhy_posterior_prior *prior = &inference->prior;
	struct kwhy_powers *powers = inference->powers;
	size_t classes = prior->class_count;

	for (size_t c = 0; c < classes; c++) {
		double unit = prior->tied[c] ? prior->other[KWHY_PARAMETER_UNIT].mean : 0;
		/*
		 * If a class's prior is tied to the power of a full grid (a kernel that fills the device),
		 * the prior uncertainty of that power counts, too. It is taken as KWHY_UNIT_SPREAD even where
		 * the prior is wider, since otherwise the readings would seem more decisive than they are.
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

static void keep_rest(struct kwhy_inference *inference)
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

/* Infers the powers from inference->readings; if there are none, the powers are those of the priors. */
static enum kwhy_status infer_once(struct kwhy_inference *inference, struct kwhy_error *error)
{
	struct kwhy_powers *powers = inference->powers;
	size_t quiet_count = 0;
	double quiet_w;
	enum kwhy_status status;

	kwhy_inference_first_grid(inference);
	status = kwhy_inference_features(inference, error);
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

/*
 * Drops readings that no powers fit, and counts them in unfitted_count. The powers are then those of the
 * priors.
 */
static enum kwhy_status infer_unfitted(struct kwhy_inference *inference, struct kwhy_error *error)
{
	inference->powers->unfitted_count = inference->readings.count;
	kwhy_power_readings_done(&inference->readings);
	return infer_once(inference, error);
}

/* Standard deviation, over the draws, of the logarithm of a power class's power above idle. */
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
 * Whether powers that were inferred without learnt powers contradict learnt_w of `prior`. A contradicted
 * power is not used: the recording that it comes from is taken to have had other work by this name.
 */
static bool is_contradicted(
	const struct kwhy_powers *powers, size_t class, const struct kwhy_power_prior *prior)
{
	double away = log(powers->net_w[class] / prior->learnt_w);

	return fabs(away) > OVERRULED_SPREADS * hypot(prior->learnt_sd, log_spread(powers, class));
}

/*
 * Discards the powers and infers them again, from newly taken readings: in the current ones, drift was
 * removed that was found with the discarded powers.
 */
static enum kwhy_status infer_again(struct kwhy_inference *inference, struct kwhy_error *error)
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
 * Infers the powers without learnt powers, then again with those learnt powers that the first result does not
 * contradict. learnt_w[class_count]: learnt powers above idle in watts; NAN: none.
 */
static enum kwhy_status infer_with_learnt(
	struct kwhy_inference *inference, const double *learnt_w, struct kwhy_error *error)
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

static enum kwhy_status infer(struct kwhy_inference *inference, struct kwhy_error *error)
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
	struct kwhy_inference inference = {.question = question, .powers = powers};
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
