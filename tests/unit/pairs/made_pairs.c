/* SPDX-License-Identifier: Apache-2.0 */
#include "made_pairs.h"

#include "bench/pairs/plan.h"
#include "pairs/analysis.h"

double made_pair_s(const struct kwhy_pair_config *config)
{
	double time_s = config->engine == KWHY_PAIR_PUT ? 1.5e-6
		: config->clock == KWHY_PAIR_CALL	? 1e-6
							: 2e-6 + (double)config->bytes / 400e9;

	return config->source == 1 ? 1.2 * time_s : time_s;
}

struct kwhy_pairs *made_pairs(bool with_random)
{
	const struct kwhy_pair_request request = {.least_bytes = 1,
		.most_bytes = 1 << 30,
		.engines = 1u << KWHY_PAIR_WRITE | 1u << KWHY_PAIR_PUT,
		.random_sizes = with_random ? 8 : 0,
		.no_loads = true,
		.seed = 3};
	struct kwhy_pairs *pairs = kwhy_pairs_new();
	struct kwhy_error error;

	assert_non_null(pairs);
	pairs->gpu_count = 2;
	pairs->is_direct[0][1] = pairs->is_direct[1][0] = true;
	pairs->gpus[0].numa_node = 0;
	pairs->gpus[1].numa_node = 1;
	assert_int_equal(kwhy_pair_plan_make(&request, pairs, &error), KWHY_OK);
	for (size_t i = 0; i < pairs->config_count; i++) {
		struct kwhy_pair_config *config = &pairs->configs[i];

		assert_non_null(kwhy_pair_samples(pairs, config));
		for (size_t k = 0; k < MADE_SAMPLES; k++)
			config->samples[k] = (struct kwhy_pair_sample){(int64_t)(1000 * i),
				(int64_t)(1000 * i + 10), made_pair_s(config) * (1 + 1e-4 * (double)(k % 3))};
		config->sample_count = MADE_SAMPLES;
		config->verified = true;
		kwhy_pair_sum_up(config);
	}
	return pairs;
}

struct kwhy_pairs *concluded_pairs(bool with_random)
{
	struct kwhy_pairs *pairs = made_pairs(with_random);
	struct kwhy_error error;

	if (kwhy_pairs_conclude(pairs, &error))
		fail_msg("%s", error.text);
	return pairs;
}
