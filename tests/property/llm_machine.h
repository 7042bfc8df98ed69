/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_PROPERTY_LLM_MACHINE_H
#define KWHY_TESTS_PROPERTY_LLM_MACHINE_H

#include "base/random.h"
#include "llm/divide.h"

/*
 * A simulated server of language models with continuous batching, and the meter of its GPU. It processes one
 * prompt at a time, before any further step; a step generates one token for each answer under way. Each
 * prompt, prompt token, cached token, output token, token of an output token's context and step takes known
 * joules.
 */
enum { MACHINE_READINGS_MAX = 256, MACHINE_PHASES_MAX = 16 };

struct machine {
	double idle_w, prompt_j, cached_j, batch_j, output_j, step_j, context_j;
	double prompt_token_s, step_s,
		step_request_s; /* step_request_s: additional time of a step for each answer in it */
	double meter_noise;	/* standard deviation of the energy between two readings, relative */
	int64_t meter_period_ns, meter_update_ns; /* periods of the readings, and of the counter's updates */
	struct kwhy_random random;
	int64_t now_ns;
	double phase_deviation; /* standard deviation, over phases, of the joules of equal work, relative */
	double phase_factor;	/* factor on the joules of all work in the current phase, random with
				   phase_deviation */
	int64_t phase_end_ns[MACHINE_PHASES_MAX];
	size_t phase_count;
	/*
	 * [count] the true energy since the start, joules[i] at time at_ns[i]; power is constant in between
	 */
	int64_t *at_ns;
	double *joules;
	size_t count, capacity;
	struct kwhy_llm_run run;      /* the records that a client would make */
	double *prefill_j, *decode_j; /* [record] true joules of the request */
	size_t truth_capacity;
	struct kwhy_llm_reading readings[MACHINE_READINGS_MAX];
	size_t reading_count;
};

/* A phase of load. Lengths are uniform between half and one and a half of their means. */
struct phase {
	double seconds;
	unsigned concurrency; /* number of requests in flight in a closed loop; 0: none, the server is idle */
	double prompt, cached_share, output; /* mean lengths in tokens; an output of 1 is a prompt alone */
};

void machine_init(struct machine *machine, uint64_t seed);
void machine_run(struct machine *machine, const struct phase *phase);
void machine_read(struct machine *machine); /* makes the readings of all phases so far */
void machine_done(struct machine *machine);

#endif
