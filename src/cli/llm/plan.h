/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_LLM_PLAN_H
#define KWHY_CLI_LLM_PLAN_H

#include "cli/llm/show.h"

/* The options of `kwhy llm`. Strings are not copied. */
struct kwhy_llm_options {
	const char *url, *model, *concurrency, *rate, *prompts, *endpoint, *device, *replay, *output;
	const char *meters, *meters_token, *meters_ca, *requests, *windows, *recording, *result;
	const char *words, *max_tokens; /* distributions of lengths (llm/length.h) */
	const char *tokenizer, *prompt_tokens;
	const char *arrivals, *slo, *trace, *compat;
	double seconds, ramp, stall, idle, burstiness, trace_speed;
	uint64_t seed, turns, shared_words;
	bool ignore_eos, no_energy, json, quiet, design, search, no_stream, details;
};

enum { KWHY_LLM_LOADS_MAX = 64 };

/*
 * The plan that follows from the options: the loads, which run one after another, and what their requests
 * ask for.
 */
struct kwhy_llm_plan {
	const struct kwhy_llm_options *options;
	struct kwhy_llm_question question;
	struct kwhy_llm_row rows[KWHY_LLM_LOADS_MAX];
	size_t row_count;
	struct kwhy_llm_dialogs dialogs;  /* dialogs from the file of prompts or of the trace */
	struct kwhy_llm_word_costs costs; /* number of tokens of each word of made-up prompts */
	struct kwhy_llm_limits limits;
	enum kwhy_llm_compat_tool compat;
	double good_share; /* share of a load's requests that must keep the limits */
};

/* Makes a plan. KWHY_E_USAGE: the options are wrong. Call kwhy_llm_plan_done() also after a failure. */
KWHY_MUST_USE enum kwhy_status kwhy_llm_plan_make(
	const struct kwhy_llm_options *options, struct kwhy_llm_plan *plan, struct kwhy_error *error);
/*
 * Adds the next load of the search for the highest rate within the limits. Call it after the loads so far
 * were run. Adds none if the search has ended or was not requested.
 */
KWHY_MUST_USE enum kwhy_status kwhy_llm_plan_search(struct kwhy_llm_plan *plan, struct kwhy_error *error);

/* Whether a load that was run has the required share of good answers. */
bool kwhy_llm_plan_is_good(const struct kwhy_llm_plan *plan, const struct kwhy_llm_row *row);

void kwhy_llm_plan_done(struct kwhy_llm_plan *plan);

#endif
