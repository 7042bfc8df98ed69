/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_LLM_PLAN_H
#define KWHY_CLI_LLM_PLAN_H

#include "cli/llm/show.h"

/* The options of `kwhy llm`. Strings are borrowed. */
struct kwhy_llm_options {
	const char *url, *model, *concurrency, *rate, *prompts, *endpoint, *device, *replay, *output;
	const char *meters, *meters_token, *meters_ca, *requests;
	double seconds, ramp, stall, idle;
	uint64_t words, max_tokens, seed;
	bool ignore_eos, no_energy, json, quiet, design;
};

enum { KWHY_LLM_LOADS_MAX = 64 };

/* What the options ask for: the loads, one after the other, and what their requests ask. */
struct kwhy_llm_plan {
	const struct kwhy_llm_options *options;
	struct kwhy_llm_question question;
	struct kwhy_llm_row rows[KWHY_LLM_LOADS_MAX];
	size_t row_count;
	struct kwhy_text text; /* content of the file with prompts */
	const char **prompts;
};

/* Makes a plan. KWHY_E_USAGE: the options are wrong. Call kwhy_llm_plan_done() also after a failure. */
KWHY_MUST_USE enum kwhy_status kwhy_llm_plan_make(
	const struct kwhy_llm_options *options, struct kwhy_llm_plan *plan, struct kwhy_error *error);
void kwhy_llm_plan_done(struct kwhy_llm_plan *plan);

#endif
