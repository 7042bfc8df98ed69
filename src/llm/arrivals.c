/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/arrivals.h"

#include <math.h>

/*
 * Draws from a gamma distribution with the given shape and scale 1 (Marsaglia and Tsang 2000, by rejection; a
 * shape below 1 by their formula for shape + 1).
 */
static double gamma_of(struct kwhy_random *random, double shape)
{
	double boost = 1, d, c;

	if (shape < 1) {
		boost = pow(kwhy_random_uniform(random), 1 / shape);
		shape += 1;
	}
	d = shape - 1.0 / 3;
	c = 1 / sqrt(9 * d);
	for (;;) {
		double x = kwhy_random_normal(random), v = 1 + c * x;

		v = v * v * v;
		if (v > 0 && log(kwhy_random_uniform(random)) < 0.5 * x * x + d - d * v + d * log(v))
			return boost * d * v;
	}
}

static double gap_s(struct kwhy_llm_arrivals *arrivals)
{
	const struct kwhy_llm_arrival_plan *plan = &arrivals->plan;

	switch (plan->kind) {
	case KWHY_LLM_CONSTANT:
		return 1 / plan->rate_per_s;
	case KWHY_LLM_BURST:
		return gamma_of(&arrivals->random, plan->burstiness) / plan->burstiness / plan->rate_per_s;
	default:
		return -log(kwhy_random_uniform(&arrivals->random)) / plan->rate_per_s;
	}
}

void kwhy_llm_arrivals_init(
	struct kwhy_llm_arrivals *arrivals, const struct kwhy_llm_arrival_plan *plan, int64_t start_ns)
{
	*arrivals = (struct kwhy_llm_arrivals){.plan = *plan, .start_ns = start_ns, .next_ns = start_ns};
	kwhy_random_init(&arrivals->random, plan->seed);
	kwhy_llm_arrivals_step(arrivals);
}

void kwhy_llm_arrivals_step(struct kwhy_llm_arrivals *arrivals)
{
	const struct kwhy_llm_arrival_plan *plan = &arrivals->plan;

	if (plan->kind != KWHY_LLM_LOGGED)
		arrivals->next_ns += llround(fmin(gap_s(arrivals) * 1e9, 1e18));
	else if (arrivals->index < plan->log_count)
		arrivals->next_ns = arrivals->start_ns + llround(plan->log[arrivals->index++].at_s * 1e9);
	else
		arrivals->next_ns = INT64_MAX;
}
