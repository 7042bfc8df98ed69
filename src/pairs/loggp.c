/* SPDX-License-Identifier: Apache-2.0 */
#include "pairs/analysis.h"

#include <math.h>

#define LARGE_FROM_BYTES (UINT64_C(1) << 20)

/* Time of the smallest size that was measured with this engine and clock. */
static struct kwhy_pair_figure smallest(const struct kwhy_pairs *pairs, enum kwhy_pair_engine engine,
	enum kwhy_pair_clock clock, uint32_t source, uint32_t target)
{
	const struct kwhy_pair_config *best = NULL;

	for (size_t i = 0; i < pairs->config_count; i++) {
		const struct kwhy_pair_config *config = &pairs->configs[i];

		if (config->sample_count && config->engine == engine && config->clock == clock &&
			config->load == KWHY_PAIR_ALONE && config->source == source &&
			config->target == target && (!best || config->bytes < best->bytes))
			best = config;
	}
	if (!best)
		return (struct kwhy_pair_figure){NAN, NAN, NAN};
	return (struct kwhy_pair_figure){best->summary.median_s, best->summary.low_s, best->summary.high_s};
}

static enum kwhy_status add(
	struct kwhy_pairs *pairs, uint32_t source, uint32_t target, struct kwhy_error *error)
{
	const struct kwhy_pair_config key = {.engine = KWHY_PAIR_WRITE, .source = source, .target = target};
	struct kwhy_pair_loggp *items = kwhy_arena_grow(
		&pairs->arena, pairs->loggps, pairs->loggp_count, sizeof(*items));
	struct kwhy_pair_link *links = kwhy_arena_grow(
		&pairs->arena, pairs->links, pairs->loggp_count, sizeof(*links));
	struct kwhy_pair_line line;

	if (!items || !links)
		return kwhy_fail_memory(error, "parameters of pairs");
	kwhy_pair_line_fit(pairs, &key, KWHY_PAIR_LINE_FROM_BYTES, &line);
	pairs->links = links;
	links[pairs->loggp_count] = (struct kwhy_pair_link){source, target, line.alpha, line.beta};
	kwhy_pair_line_fit(pairs, &key, LARGE_FROM_BYTES, &line);
	pairs->loggps = items;
	items[pairs->loggp_count] = (struct kwhy_pair_loggp){.source = source,
		.target = target,
		.o_send = smallest(pairs, KWHY_PAIR_WRITE, KWHY_PAIR_CALL, source, target),
		.o_receive = {NAN, NAN, NAN}, /* unknown, because the target's host takes no part in a copy */
		.g = smallest(pairs, KWHY_PAIR_WRITE, KWHY_PAIR_BACK_TO_BACK, source, target),
		.big = line.beta,
		.latency = smallest(pairs, KWHY_PAIR_PUT, KWHY_PAIR_BACK_TO_BACK, source, target)};
	if (!isfinite(items[pairs->loggp_count].latency.value))
		items[pairs->loggp_count].latency = smallest(
			pairs, KWHY_PAIR_PING_PONG, KWHY_PAIR_BACK_TO_BACK, source, target);
	pairs->loggp_count++;
	return KWHY_OK;
}

enum kwhy_status kwhy_pairs_fit_loggp(struct kwhy_pairs *pairs, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (uint32_t source = 0; source < pairs->gpu_count; source++)
		for (uint32_t target = 0; !status && target < pairs->gpu_count; target++)
			if (source != target)
				status = add(pairs, source, target, error);
	return status;
}
