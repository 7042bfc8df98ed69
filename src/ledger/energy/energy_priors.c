/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/energy_priors.h"

#include "base/quantile.h"
#include "model/response.h"

#include <math.h>
#include <stdlib.h>

/*
 * Prior standard deviations of a meter's time constant and delay. TAU_WIDENED and DELAY_WIDENED: factors by
 * which the standard deviations that were measured on one card are multiplied for other cards of the same
 * kind. If a profile states the response, its own standard deviations are used, but at least
 * RESPONSE_SD_MIN_S, because the response grid has no finer steps.
 */
#define TAU_WIDENED 2
#define DELAY_WIDENED 1.5
#define RESPONSE_SD_MIN_S 0.2e-3

#define IDLE_SD_W 3.0
/*
 * Priors (mean, standard deviation) of the logarithms of four parameters of enum kwhy_posterior_parameter.
 * Their medians are 4 W (noise of a reading), 0.1 (ALIAS: share of the variance), 0.5 ms (error of time
 * stamps) and 1 % (scatter of a class's activities about its mean power).
 */
#define NOISE_PRIOR ((struct kwhy_normal){1.386294361, 1.0})
#define ALIAS_PRIOR ((struct kwhy_normal){-2.302585093, 1.0})
#define STAMP_PRIOR ((struct kwhy_normal){-7.600902460, 0.7})
#define VARY_PRIOR ((struct kwhy_normal){-4.605170186, 0.7})

/*
 * Idle level with a context as a share of the power limit: 0.17 on the H200, 0.13 to 0.2 on A100, V100 and
 * desktop cards.
 */
#define IDLE_OF_LIMIT 0.17
#define IDLE_OF_LIMIT_SPREAD 0.06

/* Ratio of the idle level without a context to that with one: 0.64 on the H200. */
#define CLEAN_OF_IDLE 0.6
#define CLEAN_OF_IDLE_SPREAD 0.2

/*
 * A reading counts as idle if its features, summed over all power classes and all meter responses of the
 * grid, are below QUIET_SHARE: nothing ran in its window, and the device had a context. Fewer than QUIET_MIN
 * idle readings are not used.
 */
#define QUIET_SHARE 1e-3
#define QUIET_MIN 5

/*
 * Smallest plausible power above idle, in watts, of a kernel that fills the device. Smaller values come from
 * wrong units.
 */
#define UNIT_MIN_W 1.0

/*
 * Prior of the power above idle of a kernel that fills the device, if the readings hardly show it: median, as
 * a share of the range from the idle level to the power limit, and additional standard deviation of the
 * logarithm. Loads that saturate an H200 or H100 take 0.4 to 1 of the range (`kwhy bench ops`); most work
 * takes less.
 */
#define UNIT_OF_SPACE 0.6
#define UNIT_OF_SPACE_SPREAD 0.6
/*
 * Mean power above idle, in watts, up to which readings say little about the work: idle levels drift by half
 * of it.
 */
#define LEVEL_UNSURE_W 1.0

static bool is_known(struct kwhy_measured measured)
{
	return !isnan(measured.value) && measured.value > 0;
}

static struct kwhy_normal normal_of(struct kwhy_measured measured, double spread_least)
{
	return (struct kwhy_normal){measured.value, fmax(measured.sd, spread_least)};
}

/*
 * Response (time constant and delay) of a meter. A meter without a low-pass gets that of the 20 ms samples of
 * a GPU, because the fit needs a time constant to begin with.
 */
static struct kwhy_response low_pass_of(uint32_t meter, const struct kwhy_profile *profile)
{
	const struct kwhy_response response = kwhy_response_of_profile(meter, profile);

	if (response.time_constant_s > 0)
		return response;
	return kwhy_response_of_profile(
		kwhy_meters_ranked(KWHY_METER_OWNER_GPU, KWHY_METER_ROLE_SAMPLES).items[0], profile);
}

bool kwhy_priors_response(uint32_t meter, const struct kwhy_profile *profile, struct kwhy_normal *out_tau_s,
	struct kwhy_normal *out_delay_s)
{
	const struct kwhy_response response = low_pass_of(meter, profile);
	const double sd_s = response.time_constant_sd_s, delay_sd_s = response.delay_sd_s;

	*out_tau_s = (struct kwhy_normal){response.time_constant_s,
		response.has_time_constant     ? fmax(sd_s, RESPONSE_SD_MIN_S)
			: response.is_measured ? TAU_WIDENED * sd_s
					       : sd_s};
	*out_delay_s = (struct kwhy_normal){response.delay_s,
		response.has_delay	       ? fmax(delay_sd_s, RESPONSE_SD_MIN_S)
			: response.is_measured ? DELAY_WIDENED * delay_sd_s
					       : delay_sd_s};
	return response.has_time_constant && response.has_delay;
}

static bool is_quiet(const struct kwhy_response_features *features, size_t reading)
{
	double filled = 0;

	for (size_t column = 0; column < KWHY_GRID_POINTS * features->class_count; column++)
		filled += fabs((double)features->net[column * features->reading_count + reading]);
	return filled < QUIET_SHARE;
}

/* Share of a reading's averaging window in which the device had no context. */
static double clean_share(const struct kwhy_powers_question *question,
	const struct kwhy_response_features *features, size_t reading)
{
	uint32_t clean = question->classes->clean;
	size_t column = KWHY_GRID_MIDDLE * features->class_count + clean;

	return clean == KWHY_NONE ? 0 : -(double)features->net[column * features->reading_count + reading];
}

enum kwhy_status kwhy_priors_quiet(const struct kwhy_response_features *features,
	const struct kwhy_power_readings *readings, double *out_power_w, size_t *out_count,
	struct kwhy_error *error)
{
	double *powers_w = malloc((readings->count + 1) * sizeof(*powers_w));
	size_t count = 0;

	if (!powers_w)
		return kwhy_fail_memory(error, "power readings");
	for (size_t i = 0; i < readings->count; i++)
		if (is_quiet(features, i))
			powers_w[count++] = readings->items[i].power_w;
	*out_count = count >= QUIET_MIN ? count : 0;
	*out_power_w = count >= QUIET_MIN ? kwhy_middle_real(powers_w, count) : NAN;
	free(powers_w);
	return KWHY_OK;
}

/*
 * Lowest reading in W whose window is wholly time with a context; if there is none, the mean power of the
 * metered total; if that is empty, 0.
 */
static double least_power(const struct kwhy_powers_question *question,
	const struct kwhy_response_features *features, const struct kwhy_power_readings *readings)
{
	double least_w = INFINITY;

	for (size_t i = 0; i < readings->count; i++)
		if (!(clean_share(question, features, i) > 0))
			least_w = fmin(least_w, readings->items[i].power_w);
	if (isinf(least_w) && question->total->sum_ns > 0)
		least_w = (double)question->total->sum_nj / (double)question->total->sum_ns;
	return isinf(least_w) ? 0 : least_w;
}

/*
 * Prior of the idle level with a context in W: the level that the recording states, else the profile's, else
 * the median of idle readings, else IDLE_OF_LIMIT of the power limit if that is below the lowest reading,
 * else half of the lowest reading.
 */
static struct kwhy_normal idle_prior(const struct kwhy_powers_question *question, double quiet_w,
	const struct kwhy_response_features *features, const struct kwhy_power_readings *readings)
{
	const struct kwhy_device *device = &question->recording->devices[question->device];
	const struct kwhy_profile *profile = question->options->profile;
	double least_w = least_power(question, features, readings), limit_w = (double)device->limit_mw * 1e-3;

	if (device->context_idle_mw > 0)
		return (struct kwhy_normal){(double)device->context_idle_mw * 1e-3, IDLE_SD_W};
	if (profile && is_known(profile->context_idle_w))
		return normal_of(profile->context_idle_w, IDLE_SD_W);
	if (!isnan(quiet_w))
		return (struct kwhy_normal){quiet_w, fmax(IDLE_SD_W, quiet_w / 10)};
	if (device->limit_mw > 0 && IDLE_OF_LIMIT * limit_w < least_w)
		return (struct kwhy_normal){IDLE_OF_LIMIT * limit_w, IDLE_OF_LIMIT_SPREAD * limit_w};
	return (struct kwhy_normal){least_w / 2, fmax(least_w / 4, IDLE_SD_W)};
}

/* Mean in W of the readings whose window is wholly time without a context; NAN: there are none. */
static double mean_clean_power(const struct kwhy_powers_question *question,
	const struct kwhy_response_features *features, const struct kwhy_power_readings *readings)
{
	double sum_w = 0;
	size_t count = 0;

	for (size_t i = 0; i < readings->count; i++) {
		if (clean_share(question, features, i) < 1 - QUIET_SHARE)
			continue;
		sum_w += readings->items[i].power_w;
		count++;
	}
	return count ? sum_w / (double)count : NAN;
}

/*
 * Prior of the idle level without a context in W: the level that the recording states, else the profile's,
 * else the mean of readings without a context, else CLEAN_OF_IDLE of the level with a context, whose prior is
 * `idle`.
 */
static struct kwhy_normal clean_level(const struct kwhy_powers_question *question,
	const struct kwhy_response_features *features, const struct kwhy_power_readings *readings,
	struct kwhy_normal idle)
{
	const struct kwhy_device *device = &question->recording->devices[question->device];
	const struct kwhy_profile *profile = question->options->profile;
	double mean_w = mean_clean_power(question, features, readings);

	if (device->clean_idle_mw > 0)
		return (struct kwhy_normal){(double)device->clean_idle_mw * 1e-3, IDLE_SD_W};
	if (profile && is_known(profile->clean_idle_w))
		return normal_of(profile->clean_idle_w, IDLE_SD_W);
	if (!isnan(mean_w))
		return (struct kwhy_normal){mean_w, fmax(IDLE_SD_W, mean_w / 10)};
	return (struct kwhy_normal){CLEAN_OF_IDLE * idle.mean, CLEAN_OF_IDLE_SPREAD * idle.mean};
}

/* Prior of the logarithm of the difference in watts between the two idle levels. */
static struct kwhy_normal clean_prior(const struct kwhy_powers_question *question,
	const struct kwhy_response_features *features, const struct kwhy_power_readings *readings,
	struct kwhy_normal idle)
{
	struct kwhy_normal clean = clean_level(question, features, readings, idle);
	double below_w = fmax(idle.mean - clean.mean, UNIT_MIN_W);

	return (struct kwhy_normal){log(below_w), fmin(hypot(idle.sd, clean.sd) / below_w, 1)};
}

/*
 * Mean over the readings of the share of the device that was filled with blocks: the sum over the power
 * classes of their `fill` times the share of a reading's window that they take.
 */
static double mean_fill(
	const struct kwhy_powers_question *question, const struct kwhy_response_features *features)
{
	double sum = 0;

	for (size_t c = 0; c < features->class_count; c++) {
		const float *net = features->net +
			(KWHY_GRID_MIDDLE * features->class_count + c) * features->reading_count;

		for (size_t i = 0; i < features->reading_count; i++)
			sum += question->classes->priors[c].fill * (double)net[i];
	}
	return features->reading_count ? sum / (double)features->reading_count : 0;
}

/*
 * Mean power above idle in watts, and mean share of the device that was filled with blocks. Both are means
 * over the readings or, if these show no work, over the metered total.
 */
struct drawn {
	double above_w, fill;
};

static struct drawn find_drawn(const struct kwhy_powers_question *question,
	const struct kwhy_response_features *features, const struct kwhy_power_readings *readings,
	double idle_w, double clean_below_w)
{
	const struct kwhy_metered_total *total = question->total;
	struct drawn drawn = {-idle_w, mean_fill(question, features)};
	double filled_ns = 0;

	for (size_t i = 0; i < readings->count; i++)
		drawn.above_w += (readings->items[i].power_w +
					 clean_share(question, features, i) * clean_below_w) /
			(double)readings->count;
	if (drawn.fill > 0 && readings->count > 0)
		return drawn;
	if (total->sum_ns <= 0)
		return (struct drawn){0};
	for (size_t c = 0; c < question->classes->count; c++)
		filled_ns += question->classes->priors[c].fill * question->classes->priors[c].time_ns;
	return (struct drawn){
		(double)total->sum_nj / (double)total->sum_ns - idle_w, filled_ns / (double)total->sum_ns};
}

/*
 * Prior of the logarithm of the power above idle of a kernel that fills the device. Its median is
 * drawn->above_w / drawn->fill if the readings clearly show the work, UNIT_OF_SPACE of the range up to the
 * power limit if they do not, and the geometric mean of both, weighted, in between. `level`: the idle level.
 */
static struct kwhy_normal unit_prior(
	const struct kwhy_powers_question *question, const struct drawn *drawn, struct kwhy_normal level)
{
	double idle_w = level.mean,
	       limit_w = (double)question->recording->devices[question->device].limit_mw * 1e-3;
	double space_w = fmax((limit_w > idle_w ? limit_w : idle_w / IDLE_OF_LIMIT) - idle_w, UNIT_MIN_W);
	double shows = fmax(drawn->above_w, 0) / hypot(LEVEL_UNSURE_W, level.sd),
	       reported = shows * shows / (1 + shows * shows);
	double unit_w = drawn->fill > 0 ? fmax(drawn->above_w / drawn->fill, UNIT_MIN_W) : UNIT_MIN_W;
	double guess_w = fmax(UNIT_OF_SPACE * space_w, UNIT_MIN_W);

	return (struct kwhy_normal){reported * log(unit_w) + (1 - reported) * log(guess_w),
		reported * KWHY_UNIT_SPREAD + (1 - reported) * hypot(KWHY_UNIT_SPREAD, UNIT_OF_SPACE_SPREAD)};
}

static void class_prior(
	struct kwhy_posterior_prior *prior, const struct kwhy_power_classes *classes, size_t c, double idle_w)
{
	const struct kwhy_power_prior *class = &classes->priors[c];
	double above_w = class->known_w - idle_w;

	prior->seen[c] = class->learnt_w > 0;
	if (prior->seen[c]) {
		prior->tied[c] = false;
		prior->class_log[c] = (struct kwhy_normal){log(class->learnt_w), class->learnt_sd};
		return;
	}
	if (!(above_w > 1) && class->kind_w > 0) {
		prior->tied[c] = false;
		prior->seen[c] = class->is_counted;
		prior->class_log[c] = (struct kwhy_normal){log(class->kind_w), class->kind_spread};
		return;
	}
	prior->tied[c] = !(above_w > 1);
	if (prior->tied[c]) {
		prior->class_log[c] = (struct kwhy_normal){log(class->fill), class->sd};
		return;
	}
	/* 0.05: the power of a kernel varies with temperature and data by 5 %. */
	prior->class_log[c].mean = log(above_w);
	prior->class_log[c].sd = hypot(0.05, (isnan(class->known_sd_w) ? 0 : class->known_sd_w) / above_w);
}

enum kwhy_status kwhy_priors_init(struct kwhy_posterior_prior *prior,
	const struct kwhy_powers_question *question, const struct kwhy_response_features *features,
	const struct kwhy_power_readings *readings, struct kwhy_error *error)
{
	size_t count = question->classes->count, quiet_count;
	struct kwhy_normal below, level;
	struct drawn drawn;
	double quiet_w;
	enum kwhy_status status = kwhy_priors_quiet(features, readings, &quiet_w, &quiet_count, error);

	if (status)
		return status;
	*prior = (struct kwhy_posterior_prior){
		.class_count = count,
		.class_log = calloc(count + 1, sizeof(*prior->class_log)),
		.tied = calloc(count + 1, sizeof(*prior->tied)),
		.seen = calloc(count + 1, sizeof(*prior->seen)),
	};
	if (!prior->class_log || !prior->tied || !prior->seen) {
		kwhy_priors_done(prior);
		return kwhy_fail_memory(error, "the fit of powers");
	}
	prior->other[KWHY_PARAMETER_IDLE] = idle_prior(question, quiet_w, features, readings);
	below = clean_prior(question, features, readings, prior->other[KWHY_PARAMETER_IDLE]);
	/*
	 * The prior of the power of work uses the median of idle readings as idle level, if there are enough:
	 * an idle level that the recording states, or that the profile has from another card, may be above
	 * all readings.
	 */
	level = isnan(quiet_w) ? prior->other[KWHY_PARAMETER_IDLE] : (struct kwhy_normal){quiet_w, 0};
	drawn = find_drawn(question, features, readings, level.mean, exp(below.mean));
	prior->other[KWHY_PARAMETER_UNIT] = unit_prior(question, &drawn, level);
	prior->limit_w = fmax(0, (double)question->recording->devices[question->device].limit_mw * 1e-3);
	prior->other[KWHY_PARAMETER_NOISE] = NOISE_PRIOR;
	prior->other[KWHY_PARAMETER_ALIAS] = ALIAS_PRIOR;
	prior->other[KWHY_PARAMETER_STAMP] = STAMP_PRIOR;
	prior->other[KWHY_PARAMETER_VARY] = VARY_PRIOR;
	for (size_t c = 0; c < count; c++)
		class_prior(prior, question->classes, c, prior->other[KWHY_PARAMETER_IDLE].mean);
	if (question->classes->clean != KWHY_NONE) {
		prior->tied[question->classes->clean] = false;
		prior->class_log[question->classes->clean] = below;
	}
	return KWHY_OK;
}

void kwhy_priors_done(struct kwhy_posterior_prior *prior)
{
	free(prior->class_log);
	free(prior->tied);
	free(prior->seen);
	*prior = (struct kwhy_posterior_prior){0};
}
