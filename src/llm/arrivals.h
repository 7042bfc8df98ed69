/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_ARRIVALS_H
#define KWHY_LLM_ARRIVALS_H

#include "base/random.h"
#include "llm/dialog.h"

enum kwhy_llm_arrival_kind {
	KWHY_LLM_POISSON,  /* gaps are exponential */
	KWHY_LLM_CONSTANT, /* gaps are equal */
	/* gaps have a gamma distribution of shape `burstiness`; below 1 requests come in bursts */
	KWHY_LLM_BURST,
	KWHY_LLM_LOGGED /* requests come at the times of a log */
};

/* When requests of a load are due. */
struct kwhy_llm_arrival_plan {
	enum kwhy_llm_arrival_kind kind;
	double rate_per_s, burstiness;
	const struct kwhy_llm_dialog *log; /* requests of the log in order of time; borrowed */
	size_t log_count;
	uint64_t seed;
};

/* The times at which requests are due, one after the other; next_ns is the next of them. */
struct kwhy_llm_arrivals {
	struct kwhy_llm_arrival_plan plan;
	struct kwhy_random random;
	int64_t start_ns;
	size_t index;
	int64_t next_ns; /* INT64_MAX: there are no more */
};
void kwhy_llm_arrivals_init(
	struct kwhy_llm_arrivals *arrivals, const struct kwhy_llm_arrival_plan *plan, int64_t start_ns);
void kwhy_llm_arrivals_step(struct kwhy_llm_arrivals *arrivals);

#endif
