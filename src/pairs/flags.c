/* SPDX-License-Identifier: Apache-2.0 */
#include "pairs/analysis.h"

#include "base/text.h"
#include "fit/median.h"
#include "model/meter.h"

#include <math.h>

#define APART_RATIO 0.1 /* smaller relative differences are not flagged */

enum { PAIRS_MAX = KWHY_PAIR_GPUS_MAX * KWHY_PAIR_GPUS_MAX };

static const char *throttle_text(struct kwhy_pairs *pairs, unsigned bits)
{
	struct kwhy_text text = {0};
	char *copy;

	kwhy_text_add(&text, "the source held its clocks back:");
	for (unsigned bit = 0; bit < KWHY_THROTTLE_COUNT; bit++)
		if (bits >> bit & 1)
			kwhy_text_addf(&text, " %s", kwhy_throttle_name(bit));
	copy = text.failed ? NULL : kwhy_arena_copy(&pairs->arena, text.data);
	kwhy_text_done(&text);
	return copy;
}

static const char *likely_cause(struct kwhy_pairs *pairs, const struct kwhy_pair_config *config)
{
	const struct kwhy_pair_gpu *source = &pairs->gpus[config->source],
				   *target = &pairs->gpus[config->target];
	const struct kwhy_pair_route *route = &pairs->routes[config->source][config->target];
	unsigned bits = config->conditions.throttle_bits & ~(unsigned)KWHY_THROTTLE_IDLE;

	if (!pairs->is_foreign && !pairs->is_direct[config->source][config->target])
		return "no peer access: the bytes go through host memory";
	if (route->lanes < route->lanes_most)
		return kwhy_arena_printf(&pairs->arena, "a downgraded link: %u of %u %s are up", route->lanes,
			route->lanes_most, route->way == KWHY_PAIR_PCIE ? "lanes" : "NVLinks");
	if (bits)
		return throttle_text(pairs, bits);
	if (source->numa_node >= 0 && target->numa_node >= 0 && source->numa_node != target->numa_node)
		return "the two lie on different NUMA nodes";
	return NULL;
}

static enum kwhy_status add(struct kwhy_pairs *pairs, const struct kwhy_pair_config *config, const char *what,
	struct kwhy_error *error)
{
	struct kwhy_pair_flag *items = kwhy_arena_grow(
		&pairs->arena, pairs->flags, pairs->flag_count, sizeof(*items));

	if (!items || !what)
		return kwhy_fail_memory(error, "flags of pairs");
	pairs->flags = items;
	items[pairs->flag_count++] = (struct kwhy_pair_flag){
		config->source, config->target, what, likely_cause(pairs, config)};
	return KWHY_OK;
}

static enum kwhy_status look_at_asymmetry(
	struct kwhy_pairs *pairs, const struct kwhy_pair_config *config, struct kwhy_error *error)
{
	struct kwhy_pair_config key = *config;
	const struct kwhy_pair_config *back;
	double ratio;

	key.source = config->target;
	key.target = config->source;
	back = kwhy_pairs_find(pairs, &key);
	if (!back)
		return KWHY_OK;
	ratio = config->summary.median_s / back->summary.median_s - 1;
	if (!(ratio > APART_RATIO) || !(config->summary.low_s > back->summary.high_s))
		return KWHY_OK;
	return add(pairs, config,
		kwhy_arena_printf(&pairs->arena,
			"%s of %llu byte%s takes %.0f %% longer than the other direction",
			kwhy_pair_engine_name(config->engine), (unsigned long long)config->bytes,
			config->bytes == 1 ? "" : "s", 100 * ratio),
		error);
}

static double median_of_pairs(const struct kwhy_pairs *pairs, const struct kwhy_pair_config *like)
{
	double values[PAIRS_MAX];
	struct kwhy_median median;
	size_t count = 0;

	for (size_t i = 0; i < pairs->config_count && count < PAIRS_MAX; i++) {
		const struct kwhy_pair_config *config = &pairs->configs[i];

		if (config->sample_count && config->engine == like->engine && config->clock == like->clock &&
			config->load == like->load && config->bytes == like->bytes)
			values[count++] = config->summary.median_s;
	}
	kwhy_median_of(values, count, &median);
	return count >= 4 ? median.median : NAN;
}

static enum kwhy_status look_at_outlier(
	struct kwhy_pairs *pairs, const struct kwhy_pair_config *config, struct kwhy_error *error)
{
	double median = median_of_pairs(pairs, config), ratio = config->summary.median_s / median - 1;

	if (!(ratio > APART_RATIO) || !(config->summary.low_s > median))
		return KWHY_OK;
	return add(pairs, config,
		kwhy_arena_printf(&pairs->arena,
			"%s of %llu byte%s takes %.0f %% longer than the median pair",
			kwhy_pair_engine_name(config->engine), (unsigned long long)config->bytes,
			config->bytes == 1 ? "" : "s", 100 * ratio),
		error);
}

/* Finds the smallest size of a write, which shows latency, and the largest, which shows the rate. */
static void find_ends(const struct kwhy_pairs *pairs, uint64_t *out_least, uint64_t *out_most)
{
	*out_least = UINT64_MAX;
	*out_most = 0;
	for (size_t i = 0; i < pairs->config_count; i++) {
		const struct kwhy_pair_config *config = &pairs->configs[i];

		if (!config->sample_count || config->load != KWHY_PAIR_ALONE ||
			config->engine != KWHY_PAIR_WRITE)
			continue;
		*out_least = config->bytes < *out_least ? config->bytes : *out_least;
		*out_most = config->bytes > *out_most ? config->bytes : *out_most;
	}
}

enum kwhy_status kwhy_pairs_find_flags(struct kwhy_pairs *pairs, struct kwhy_error *error)
{
	uint64_t least, most;
	enum kwhy_status status = KWHY_OK;

	find_ends(pairs, &least, &most);
	for (size_t i = 0; !status && i < pairs->config_count; i++) {
		const struct kwhy_pair_config *config = &pairs->configs[i];

		if (!config->sample_count || config->load != KWHY_PAIR_ALONE ||
			config->clock != KWHY_PAIR_BACK_TO_BACK ||
			(config->bytes != least && config->bytes != most))
			continue;
		status = look_at_asymmetry(pairs, config, error);
		if (!status)
			status = look_at_outlier(pairs, config, error);
	}
	return status;
}
