/* SPDX-License-Identifier: Apache-2.0 */
#include "pairs/analysis.h"

#include <math.h>

#define LARGE_FROM_BYTES (UINT64_C(1) << 20)

/*
 * Median time, with its confidence interval, of the smallest size measured with this engine and clock; NAN:
 * there is none.
 */
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
		.o_receive = {NAN, NAN, NAN}, /* unknown: the target's host takes no part in a copy */
		.g = smallest(pairs, KWHY_PAIR_WRITE, KWHY_PAIR_BACK_TO_BACK, source, target),
		.big = line.beta,
		.latency = smallest(pairs, KWHY_PAIR_PUT, KWHY_PAIR_BACK_TO_BACK, source, target)};
	if (!isfinite(items[pairs->loggp_count].latency.value))
		items[pairs->loggp_count].latency = smallest(
			pairs, KWHY_PAIR_PING_PONG, KWHY_PAIR_BACK_TO_BACK, source, target);
	pairs->loggp_count++;
	return KWHY_OK;
}

bool kwhy_pairs_clock_of(
	const struct kwhy_pairs *pairs, enum kwhy_pair_engine engine, enum kwhy_pair_clock *out)
{
	static const enum kwhy_pair_clock clocks[] = {
		KWHY_PAIR_BACK_TO_BACK, KWHY_PAIR_ISOLATED, KWHY_PAIR_BY_HOST, KWHY_PAIR_QUEUED};

	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++)
		for (size_t k = 0; k < pairs->config_count; k++) {
			const struct kwhy_pair_config *config = &pairs->configs[k];

			if (config->sample_count && config->engine == engine && config->clock == clocks[i] &&
				config->load == KWHY_PAIR_ALONE) {
				*out = clocks[i];
				return true;
			}
		}
	return false;
}

void kwhy_pairs_series_fit(const struct kwhy_pairs *pairs, enum kwhy_pair_engine engine,
	enum kwhy_pair_clock clock, struct kwhy_pair_series *out)
{
	*out = (struct kwhy_pair_series){.pairs = pairs, .engine = engine, .clock = clock, .gap_s = NAN};
	if (kwhy_pair_is_collective(engine))
		return;
	for (uint32_t source = 0; source < pairs->gpu_count; source++)
		for (uint32_t target = 0; target < pairs->gpu_count; target++) {
			const struct kwhy_pair_config key = {
				.engine = engine, .clock = clock, .source = source, .target = target};
			struct kwhy_pair_line line;

			if (source == target)
				continue;
			if (!out->link_count)
				out->gap_s = smallest(pairs, engine, clock, source, target).value;
			kwhy_pair_line_fit(pairs, &key, KWHY_PAIR_LINE_FROM_BYTES, &line);
			out->links[out->link_count++] = (struct kwhy_pair_link){
				source, target, line.alpha, line.beta};
		}
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
