/* SPDX-License-Identifier: Apache-2.0 */
#include "pairs/analysis.h"

#include "base/statistics.h"
#include "fit/median.h"

struct kwhy_pair_sample *kwhy_pair_samples(struct kwhy_pairs *pairs, struct kwhy_pair_config *config)
{
	if (!config->samples)
		config->samples = kwhy_arena_alloc(
			&pairs->arena, KWHY_PAIR_SAMPLES_MAX, sizeof(*config->samples));
	return config->samples;
}

static void median_of(const struct kwhy_pair_config *config, struct kwhy_median *out)
{
	double values[KWHY_PAIR_SAMPLES_MAX];

	for (size_t i = 0; i < config->sample_count; i++)
		values[i] = config->samples[i].seconds;
	kwhy_median_of(values, config->sample_count, out);
}

void kwhy_pair_sum_up(struct kwhy_pair_config *config)
{
	double values[KWHY_PAIR_SAMPLES_MAX];
	struct kwhy_estimate estimate;
	struct kwhy_median median;

	median_of(config, &median);
	config->summary = (struct kwhy_transfer_summary){.count = median.count,
		.median_s = median.median,
		.least_s = median.least,
		.p5_s = median.p5,
		.p95_s = median.p95,
		.low_s = median.low,
		.high_s = median.high};
	for (size_t i = 0; i < config->sample_count; i++)
		values[i] = config->samples[i].seconds;
	kwhy_estimate_of(values, config->sample_count, &estimate);
	config->mean_s = estimate.mean;
	config->deviation_s = estimate.deviation;
}

double kwhy_pair_width(const struct kwhy_pair_config *config)
{
	struct kwhy_median median;

	median_of(config, &median);
	return kwhy_median_width(&median);
}
