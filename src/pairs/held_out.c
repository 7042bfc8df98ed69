/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests how well the fits of single pairs predict measurements that were not fitted: of other sizes, of both
 * directions at the same time, and of several pairs at the same time.
 */
#include "pairs/analysis.h"

#include "fit/median.h"

#include <math.h>
#include <stdlib.h>

/*
 * Flows through the busiest port. In the model of most simulators, a port sends and receives at the same
 * time, and its flows get equal shares of its rate.
 */
static unsigned flows_of(const struct kwhy_pairs *pairs, const struct kwhy_pair_config *config)
{
	enum kwhy_pair_link_kind way = pairs->routes[config->source][config->target].way;

	switch (config->load) {
	case KWHY_PAIR_SAME_SOURCE:
	case KWHY_PAIR_SAME_TARGET:
		return 2;
	case KWHY_PAIR_ALL_TO_ALL:
		return pairs->gpu_count - 1;
	case KWHY_PAIR_FROM_HOST: /* NVLink and PCIe are separate ports */
		return way == KWHY_PAIR_NVSWITCH || way == KWHY_PAIR_NVLINK ? 1 : 2;
	default:
		return 1;
	}
}

static const struct kwhy_pair_link *link_of(
	const struct kwhy_pairs *pairs, const struct kwhy_pair_config *config)
{
	for (size_t i = 0; i < pairs->loggp_count; i++)
		if (pairs->links[i].source == config->source && pairs->links[i].target == config->target)
			return &pairs->links[i];
	return NULL;
}

/* Relative error of the predicted time; NAN: there is no prediction for the pair or the size. */
static double error_of(const struct kwhy_pairs *pairs, const struct kwhy_pair_config *config)
{
	const struct kwhy_pair_link *link = link_of(pairs, config);
	double predicted_s;

	if (!link || config->bytes < KWHY_PAIR_LINE_FROM_BYTES)
		return NAN;
	predicted_s = link->alpha.value + flows_of(pairs, config) * link->beta.value * (double)config->bytes;
	return predicted_s / config->summary.median_s - 1;
}

static enum kwhy_status add(struct kwhy_pairs *pairs, const char *what, const char *model, unsigned flows,
	double *errors, size_t count, struct kwhy_error *error)
{
	struct kwhy_pair_held_out *items;
	struct kwhy_median median;
	double worst = 0;

	if (!count)
		return KWHY_OK;
	items = kwhy_arena_grow(&pairs->arena, pairs->held_outs, pairs->held_out_count, sizeof(*items));
	if (!items)
		return kwhy_fail_memory(error, "held-out rows of pairs");
	for (size_t i = 0; i < count; i++)
		worst = fabs(errors[i]) > fabs(worst) ? errors[i] : worst;
	kwhy_median_of(errors, count, &median);
	pairs->held_outs = items;
	items[pairs->held_out_count++] = (struct kwhy_pair_held_out){
		what, model, flows, count, median.median, worst};
	return KWHY_OK;
}

static enum kwhy_status add_sizes(struct kwhy_pairs *pairs, double *errors, struct kwhy_error *error)
{
	size_t count = 0;
	double worst = 0;
	enum kwhy_status status;

	for (size_t i = 0; i < pairs->curve_count; i++) {
		const struct kwhy_pair_curve *curve = &pairs->curves[i];

		if (curve->engine != KWHY_PAIR_WRITE || curve->load != KWHY_PAIR_ALONE ||
			curve->clock != KWHY_PAIR_BACK_TO_BACK || !isfinite(curve->held_out_median_ratio))
			continue;
		errors[count++] = curve->held_out_median_ratio;
		worst = fmax(worst, curve->held_out_worst_ratio);
	}
	status = add(pairs, "other sizes", "straight pieces fitted without them", 0, errors, count, error);
	if (!status && count)
		pairs->held_outs[pairs->held_out_count - 1].worst_ratio = worst;
	return status;
}

static enum kwhy_status add_shares(struct kwhy_pairs *pairs, enum kwhy_pair_engine engine,
	enum kwhy_pair_load load, double *errors, struct kwhy_error *error)
{
	bool is_exchange = kwhy_pair_is_exchange(engine);
	unsigned flows = 0;
	size_t count = 0;

	for (size_t i = 0; i < pairs->config_count; i++) {
		const struct kwhy_pair_config *config = &pairs->configs[i];
		double ratio;

		if (!config->sample_count || config->engine != engine || config->load != load ||
			config->clock != KWHY_PAIR_BACK_TO_BACK)
			continue;
		ratio = error_of(pairs, config);
		if (!isfinite(ratio))
			continue;
		flows = flows_of(pairs, config);
		errors[count++] = ratio;
	}
	return add(pairs, is_exchange ? "both directions concurrently" : kwhy_pair_load_name(load),
		flows > 1 ? "flows share a port in equal parts" : "no other work interferes", flows, errors,
		count, error);
}

enum kwhy_status kwhy_pairs_hold_out(struct kwhy_pairs *pairs, struct kwhy_error *error)
{
	size_t most = pairs->config_count + pairs->curve_count + 1;
	double *errors = calloc(most, sizeof(*errors));
	enum kwhy_status status;

	if (!errors)
		return kwhy_fail_memory(error, "held-out rows of pairs");
	status = add_sizes(pairs, errors, error);
	if (!status)
		status = add_shares(pairs, KWHY_PAIR_EXCHANGE, KWHY_PAIR_ALONE, errors, error);
	for (int load = KWHY_PAIR_SAME_SOURCE; !status && load < KWHY_PAIR_REFERENCE; load++)
		status = add_shares(pairs, KWHY_PAIR_WRITE, (enum kwhy_pair_load)load, errors, error);
	free(errors);
	return status;
}
