/* SPDX-License-Identifier: Apache-2.0 */
/* The criteria of a good measurement of transfers between GPUs, each with the figures that it judges. */
#include "pairs/analysis.h"

#include "fit/median.h"
#include "model/meter.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define VARIATION_MAX 0.05
#define DRIFT_MAX 0.001
#define REPEAT_RATIO 0.02
#define REPEAT_SHARE 0.95
#define SMALL_BYTES (UINT64_C(4) << 10)
#define WIDTH_MAX 0.02
#define LINE_ERROR_MAX 0.05
#define LIMIT_SHARE 0.8

static enum kwhy_status add(struct kwhy_pairs *pairs, const char *name, enum kwhy_pair_verdict verdict,
	const char *why, struct kwhy_error *error)
{
	struct kwhy_pair_criterion *items = kwhy_arena_grow(
		&pairs->arena, pairs->criteria, pairs->criterion_count, sizeof(*items));

	if (!items || !why)
		return kwhy_fail_memory(error, "criteria of pairs");
	pairs->criteria = items;
	items[pairs->criterion_count++] = (struct kwhy_pair_criterion){name, why, verdict};
	return KWHY_OK;
}

static enum kwhy_pair_verdict passes(bool is_good)
{
	return is_good ? KWHY_PAIR_PASS : KWHY_PAIR_FAIL;
}

static enum kwhy_status judge_completeness(struct kwhy_pairs *pairs, struct kwhy_error *error)
{
	size_t count = pairs->planned_count > pairs->config_count ? pairs->planned_count
								  : pairs->config_count;
	size_t run = 0, thin = 0;

	for (size_t i = 0; i < pairs->config_count; i++) {
		const struct kwhy_pair_config *config = &pairs->configs[i];

		run += config->sample_count > 0;
		thin += config->sample_count > 0 && config->sample_count < KWHY_PAIR_SAMPLES_MIN &&
			config->load != KWHY_PAIR_REFERENCE;
	}
	if (pairs->is_foreign) /* in another program's trace, the number of samples that were requested is
				  unknown */
		thin = 0;
	return add(pairs, "all configurations were run", passes(run == count && !thin),
		thin ? kwhy_arena_printf(&pairs->arena, "%zu of %zu, %zu of them with fewer than %d samples",
			       run, count, thin, KWHY_PAIR_SAMPLES_MIN)
		     : kwhy_arena_printf(&pairs->arena, "%zu of %zu", run, count),
		error);
}

/*
 * Repeatability: in each configuration the standard deviation is at most 5 % of the mean. The text states the
 * median of these ratios.
 */
static enum kwhy_status judge_variation(struct kwhy_pairs *pairs, struct kwhy_error *error)
{
	double *values = calloc(pairs->config_count + 1, sizeof(*values));
	struct kwhy_median median;
	size_t count = 0, wide = 0, rows = 0, wide_rows = 0;
	const char *why;

	if (!values)
		return kwhy_fail_memory(error, "variations");
	for (size_t i = 0; i < pairs->config_count; i++) {
		double ratio = pairs->configs[i].deviation_s / pairs->configs[i].mean_s;

		if (pairs->configs[i].sample_count < 2 || !isfinite(ratio))
			continue;
		wide += ratio > VARIATION_MAX;
		values[count++] = ratio;
		if (pairs->configs[i].clock == KWHY_PAIR_BACK_TO_BACK) {
			rows++;
			wide_rows += ratio > VARIATION_MAX;
		}
	}
	kwhy_median_of(values, count, &median);
	free(values);
	if (!count)
		return add(pairs, "repetitions vary by less than 5 %", KWHY_PAIR_UNKNOWN, "no repetitions",
			error);
	why = kwhy_arena_printf(&pairs->arena,
		"median %.3g %%, %zu of %zu configurations above 5 %%, back to back %zu of %zu",
		100 * median.median, wide, count, wide_rows, rows);
	return add(pairs, "repetitions vary by less than 5 %", passes(wide == 0), why, error);
}

/* Latency: the widths of the confidence intervals of small sizes' medians, relative to the medians. */
static enum kwhy_status judge_latency(struct kwhy_pairs *pairs, struct kwhy_error *error)
{
	size_t count = 0, narrow = 0;

	for (size_t i = 0; i < pairs->config_count; i++) {
		const struct kwhy_pair_config *config = &pairs->configs[i];
		double width = (config->summary.high_s - config->summary.low_s) / config->summary.median_s;

		if (!config->sample_count || config->bytes > SMALL_BYTES || config->load != KWHY_PAIR_ALONE)
			continue;
		count++;
		narrow += width <= WIDTH_MAX;
	}
	return add(pairs, "latencies are stable",
		count ? passes((double)narrow >= REPEAT_SHARE * (double)count) : KWHY_PAIR_UNKNOWN,
		kwhy_arena_printf(&pairs->arena,
			"medians of %zu of %zu configurations up to 4 KiB are known within 2 %%", narrow,
			count),
		error);
}

static double median_part(const struct kwhy_pair_config *config, size_t from, size_t to, size_t step)
{
	double values[KWHY_PAIR_SAMPLES_MAX];
	struct kwhy_median median;
	size_t count = 0;

	for (size_t i = from; i < to; i += step)
		values[count++] = config->samples[i].seconds;
	kwhy_median_of(values, count, &median);
	return median.median;
}

static enum kwhy_status judge_drift(struct kwhy_pairs *pairs, struct kwhy_error *error)
{
	static const char name[] = "times drift by less than 0.1 %";

	for (size_t i = 0; i < pairs->config_count; i++) {
		const struct kwhy_pair_config *config = &pairs->configs[i];
		size_t count = config->sample_count;
		double ratio;

		if (config->load != KWHY_PAIR_REFERENCE || count < 9)
			continue;
		ratio = median_part(config, count - count / 3, count, 1) /
				median_part(config, 0, count / 3, 1) -
			1;
		return add(pairs, name, passes(fabs(ratio) < DRIFT_MAX),
			kwhy_arena_printf(&pairs->arena,
				"the reference's last third took %+.2g %% of its first", 100 * ratio),
			error);
	}
	return add(pairs, name, KWHY_PAIR_UNKNOWN, "too few samples of the reference", error);
}

static enum kwhy_status judge_clocks(struct kwhy_pairs *pairs, struct kwhy_error *error)
{
	static const char name[] = "clocks drift by less than 10 ppm";
	struct kwhy_pair_compared_clock clocks[KWHY_PAIR_CLOCKS_MAX], *worst = clocks;
	size_t count = kwhy_pairs_list_clocks(pairs, clocks), grades[KWHY_PAIR_CLOCK_GRADE_COUNT] = {0};
	double least = 0, most = 0;

	if (!count)
		return add(pairs, name, KWHY_PAIR_UNKNOWN,
			"not kept: the run did not reach its end, or an older kwhy kept it", error);
	for (size_t i = 0; i < count; i++) {
		grades[kwhy_pair_drift_grade(clocks[i].drift)]++;
		least = fmax(least, kwhy_pair_drift_least(clocks[i].drift));
		most = fmax(most, kwhy_pair_drift_most(clocks[i].drift));
		if (fabs(clocks[i].drift->ppm) > fabs(worst->drift->ppm))
			worst = &clocks[i];
	}
	return add(pairs, name,
		least >= KWHY_PAIR_DRIFT_MAX_PPM	 ? KWHY_PAIR_FAIL
			: most < KWHY_PAIR_DRIFT_MAX_PPM ? KWHY_PAIR_PASS
							 : KWHY_PAIR_UNKNOWN,
		kwhy_arena_printf(&pairs->arena,
			"%zu excellent, %zu good, %zu to investigate, %zu unknown; most %.3g ± %.2g ppm, %s "
			"%u",
			grades[KWHY_PAIR_CLOCK_EXCELLENT], grades[KWHY_PAIR_CLOCK_GOOD],
			grades[KWHY_PAIR_CLOCK_INVESTIGATE], grades[KWHY_PAIR_CLOCK_UNKNOWN],
			worst->drift->ppm, worst->drift->half_width_ppm, worst->what, worst->number),
		error);
}

/*
 * Adds a note on each clock whose drift is above KWHY_PAIR_DRIFT_WARN_PPM in its whole confidence interval.
 */
static enum kwhy_status warn_of_clocks(struct kwhy_pairs *pairs, struct kwhy_error *error)
{
	struct kwhy_pair_compared_clock clocks[KWHY_PAIR_CLOCKS_MAX];
	size_t count = kwhy_pairs_list_clocks(pairs, clocks);
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < count; i++) {
		const struct kwhy_pair_drift *drift = clocks[i].drift;
		char note[160];

		if (!(kwhy_pair_drift_least(drift) > KWHY_PAIR_DRIFT_WARN_PPM))
			continue;
		snprintf(note, sizeof(note),
			"warning: the clock of %s %u drifts by %.3g ± %.2g ppm, more than %d, against that "
			"of %s",
			clocks[i].what, clocks[i].number, drift->ppm, drift->half_width_ppm,
			KWHY_PAIR_DRIFT_WARN_PPM, clocks[i].is_host ? "rank 0" : "its host");
		status = kwhy_pairs_add_note(pairs, note, error);
	}
	return status;
}

static enum kwhy_status judge_throttling(struct kwhy_pairs *pairs, struct kwhy_error *error)
{
	size_t known = 0, held = 0;

	for (size_t i = 0; i < pairs->config_count; i++) {
		const struct kwhy_transfer_conditions *now = &pairs->configs[i].conditions;

		known += pairs->configs[i].sample_count > 0 && isfinite(now->clock_hz);
		held += (now->throttle_bits & ~(unsigned)KWHY_THROTTLE_IDLE) != 0;
	}
	return add(pairs, "nothing was throttled", !known ? KWHY_PAIR_UNKNOWN : passes(held == 0),
		known ? kwhy_arena_printf(&pairs->arena, "%zu of %zu configurations", held, known)
		      : "no sensor reports it",
		error);
}

/*
 * Repeatability of medians: compares the median of the odd repetitions of each configuration with that of the
 * even ones. Both sets of repetitions cover the whole run.
 */
static enum kwhy_status judge_repetition(struct kwhy_pairs *pairs, struct kwhy_error *error)
{
	size_t count = 0, close = 0;

	for (size_t i = 0; i < pairs->config_count; i++) {
		const struct kwhy_pair_config *config = &pairs->configs[i];
		size_t samples = config->sample_count;

		if (samples < 10)
			continue;
		count++;
		close += fabs(median_part(config, 0, samples, 2) / median_part(config, 1, samples, 2) - 1) <=
			REPEAT_RATIO;
	}
	return add(pairs, "results repeat within 2 % at 95 % of the points",
		count ? passes((double)close >= REPEAT_SHARE * (double)count) : KWHY_PAIR_UNKNOWN,
		kwhy_arena_printf(&pairs->arena,
			"%zu of %zu, odd against even repetitions of this run; two runs say more", close,
			count),
		error);
}

/*
 * Whether curves of this engine and clock are judged: those of writes that the source GPU runs back to back
 * or, in another program's traces, of isolated NCCL kernels.
 */
static bool is_judged(
	const struct kwhy_pairs *pairs, enum kwhy_pair_engine engine, enum kwhy_pair_clock clock)
{
	return pairs->is_foreign ? engine == KWHY_PAIR_NCCL && clock == KWHY_PAIR_ISOLATED
				 : engine == KWHY_PAIR_WRITE && clock == KWHY_PAIR_BACK_TO_BACK;
}

static enum kwhy_status judge_regimes(struct kwhy_pairs *pairs, struct kwhy_error *error)
{
	size_t count = 0, distinct = 0;

	for (size_t i = 0; i < pairs->curve_count; i++) {
		const struct kwhy_pair_curve *curve = &pairs->curves[i];

		if (!is_judged(pairs, curve->engine, curve->clock) || curve->load != KWHY_PAIR_ALONE)
			continue;
		count++;
		distinct += curve->segment_count > 1;
	}
	return add(pairs, "regimes are distinct", count ? passes(distinct == count) : KWHY_PAIR_UNKNOWN,
		kwhy_arena_printf(&pairs->arena, "%zu of %zu curves have more than one", distinct, count),
		error);
}

/*
 * Simulators: the largest relative error of seconds = alpha + beta * bytes, the model of most simulators,
 * from 64 KiB on.
 */
static enum kwhy_status judge_simulators(struct kwhy_pairs *pairs, struct kwhy_error *error)
{
	double worst = NAN;

	for (size_t i = 0; i < pairs->config_count; i++) {
		const struct kwhy_pair_config *config = &pairs->configs[i];
		struct kwhy_pair_line line;

		if (!config->sample_count || !is_judged(pairs, config->engine, config->clock) ||
			config->load != KWHY_PAIR_ALONE || config->bytes < KWHY_PAIR_LINE_FROM_BYTES)
			continue;
		kwhy_pair_line_fit(pairs, config, KWHY_PAIR_LINE_FROM_BYTES, &line);
		worst = fmax(worst,
			fabs((line.alpha.value + line.beta.value * (double)config->bytes) /
					config->summary.median_s -
				1));
	}
	return add(pairs, "a latency and a rate describe it within 5 % from 64 KiB up",
		isfinite(worst) ? passes(worst <= LINE_ERROR_MAX) : KWHY_PAIR_UNKNOWN,
		isfinite(worst) ? kwhy_arena_printf(&pairs->arena, "worst %.2g %%", 100 * worst)
				: "too few sizes from 64 KiB up",
		error);
}

/* Limits: the rate of each pair's fastest engine in one direction, relative to the raw rate of its link. */
static enum kwhy_status judge_limits(struct kwhy_pairs *pairs, struct kwhy_error *error)
{
	static const char name[] = "rates are above 80 % of the links' limits";
	double least = NAN, most = NAN;

	for (uint32_t i = 0; i < pairs->gpu_count; i++)
		for (uint32_t k = 0; k < pairs->gpu_count; k++) {
			const struct kwhy_pair_config *fastest = kwhy_pairs_fastest(pairs, i, k, false);
			double ratio = kwhy_pairs_of_limit(pairs, fastest);

			least = fmin(least, ratio);
			most = fmax(most, ratio);
		}
	if (!isfinite(least))
		return add(pairs, name, KWHY_PAIR_UNKNOWN,
			pairs->route_missing ? pairs->route_missing : "the links' limits are not known",
			error);
	return add(pairs, name, passes(least >= LIMIT_SHARE),
		kwhy_arena_printf(&pairs->arena, "%.1f to %.1f %% of the raw rate", 100 * least, 100 * most),
		error);
}

/*
 * Whether two pairs of GPUs with different routes take different times, so that their confidence intervals do
 * not overlap: 1 or 0; -1: the routes are alike, or a time is missing.
 */
static int look_apart(const struct kwhy_pairs *pairs, const uint32_t a[2], const uint32_t b[2])
{
	const struct kwhy_pair_config *one = kwhy_pairs_fastest(pairs, a[0], a[1], false), *other;
	struct kwhy_pair_config key;

	if (!one || b[0] == b[1] || kwhy_pairs_are_alike(pairs, a[0], a[1], b[0], b[1]))
		return -1;
	key = *one;
	key.source = b[0];
	key.target = b[1];
	other = kwhy_pairs_find(pairs, &key);
	if (!other)
		return -1;
	return one->summary.low_s > other->summary.high_s || one->summary.high_s < other->summary.low_s;
}

static enum kwhy_status judge_topology(struct kwhy_pairs *pairs, struct kwhy_error *error)
{
	uint32_t gpus = pairs->gpu_count;
	size_t unlike = 0, apart = 0;

	for (uint32_t i = 0; i < gpus * gpus; i++)
		for (uint32_t k = i + 1; k < gpus * gpus; k++) {
			const uint32_t a[] = {i / gpus, i % gpus}, b[] = {k / gpus, k % gpus};
			int differs = look_apart(pairs, a, b);

			unlike += differs >= 0;
			apart += differs == 1;
		}
	if (!unlike)
		return add(pairs, "the topology shows", KWHY_PAIR_UNKNOWN,
			pairs->route_missing ? pairs->route_missing : "all pairs are joined alike", error);
	return add(pairs, "the topology shows", passes(apart == unlike),
		kwhy_arena_printf(&pairs->arena,
			"%zu of %zu combinations of pairs that are joined otherwise take other times", apart,
			unlike),
		error);
}

/*
 * Pinning: transfer times with a host thread that the system places freely, relative to those with a thread
 * on the source GPU's NUMA node.
 */
static enum kwhy_status judge_pinning(struct kwhy_pairs *pairs, struct kwhy_error *error)
{
	static const char name[] = "pinning the host's thread to a NUMA node makes less than 2 %";
	double least = NAN, most = NAN, far = NAN;
	size_t beyond = 0, within = 0;

	for (size_t i = 0; i < pairs->pinning_count; i++) {
		struct kwhy_pair_figure free_ratio = kwhy_pair_pinning_ratio(
						&pairs->pinnings[i], KWHY_PAIR_FREE),
					far_ratio = kwhy_pair_pinning_ratio(
						&pairs->pinnings[i], KWHY_PAIR_FAR);

		least = fmin(least, free_ratio.value);
		most = fmax(most, free_ratio.value);
		far = fmax(far, far_ratio.value);
		beyond += free_ratio.low > 1 + REPEAT_RATIO || free_ratio.high < 1 - REPEAT_RATIO;
		within += free_ratio.low >= 1 - REPEAT_RATIO && free_ratio.high <= 1 + REPEAT_RATIO;
	}
	if (!pairs->pinning_count)
		return add(pairs, name, KWHY_PAIR_UNKNOWN,
			pairs->pinning_missing ? pairs->pinning_missing : "not measured; --pinning does it",
			error);
	return add(pairs, name,
		beyond					 ? KWHY_PAIR_FAIL
			: within == pairs->pinning_count ? KWHY_PAIR_PASS
							 : KWHY_PAIR_UNKNOWN,
		kwhy_arena_printf(&pairs->arena,
			"without it %+.2g to %+.2g %%, surely beyond 2 %% at %zu of %zu points, within at "
			"%zu; on another node at most %+.2g %%",
			100 * (least - 1), 100 * (most - 1), beyond, pairs->pinning_count, within,
			100 * (far - 1)),
		error);
}

enum kwhy_status kwhy_pairs_judge(struct kwhy_pairs *pairs, struct kwhy_error *error)
{
	static enum kwhy_status (*const judges[])(struct kwhy_pairs * pairs, struct kwhy_error * error) = {
		judge_completeness, judge_variation, judge_latency, judge_drift, judge_clocks,
		judge_throttling, judge_repetition, judge_regimes, judge_simulators, judge_limits,
		judge_topology, judge_pinning};
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < sizeof(judges) / sizeof(judges[0]); i++)
		status = judges[i](pairs, error);
	return status ? status : warn_of_clocks(pairs, error);
}

enum kwhy_status kwhy_pairs_conclude(struct kwhy_pairs *pairs, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_pairs_fit_curves(pairs, error);

	if (!status)
		status = kwhy_pairs_fit_loggp(pairs, error);
	if (!status)
		status = kwhy_pairs_hold_out(pairs, error);
	if (!status)
		status = kwhy_pairs_relate(pairs, error);
	if (!status)
		status = kwhy_pairs_find_flags(pairs, error);
	return status ? status : kwhy_pairs_judge(pairs, error);
}
