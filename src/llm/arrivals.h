/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_ARRIVALS_H
#define KWHY_LLM_ARRIVALS_H

#include "base/random.h"
#include "llm/dialog.h"

enum kwhy_llm_arrival_kind {
	/* intervals between requests are exponentially distributed with mean 1 / rate_per_s */
	KWHY_LLM_POISSON,
	KWHY_LLM_CONSTANT, /* all intervals are 1 / rate_per_s */
	/*
	 * intervals are gamma-distributed with mean 1 / rate_per_s and shape `burstiness`; below 1, requests
	 * come in bursts
	 */
	KWHY_LLM_BURST,
	KWHY_LLM_LOGGED /* requests come at the times that a log states */
};

/* How the times at which the requests of a load are due are chosen. */
struct kwhy_llm_arrival_plan {
	enum kwhy_llm_arrival_kind kind;
	double rate_per_s, burstiness;
	const struct kwhy_llm_dialog *log; /* requests of the log, sorted by time; not owned */
	size_t log_count;
	uint64_t seed;
};

/*
 * Produces the times at which requests are due: next_ns is the next one, and kwhy_llm_arrivals_step() moves
 * on.
 */
struct kwhy_llm_arrivals {
	struct kwhy_llm_arrival_plan plan;
	struct kwhy_random random;
	int64_t start_ns;
	size_t index;
	int64_t next_ns; /* CLOCK_MONOTONIC; INT64_MAX: no further request */
};
void kwhy_llm_arrivals_init(
	struct kwhy_llm_arrivals *arrivals, const struct kwhy_llm_arrival_plan *plan, int64_t start_ns);
void kwhy_llm_arrivals_step(struct kwhy_llm_arrivals *arrivals);

#endif
