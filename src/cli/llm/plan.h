/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_LLM_PLAN_H
#define KWHY_CLI_LLM_PLAN_H

#include "cli/llm/show.h"

/* The options of `kwhy llm`. Strings are not copied. */
struct kwhy_llm_options {
	const char *url, *model, *concurrency, *rate, *prompts, *endpoint, *device, *replay, *output;
	const char *meters, *meters_token, *meters_ca, *requests, *windows, *recording, *result;
	const char *words, *max_tokens; /* distributions of the number of words of prompts and of the largest
					   number of tokens of answers (llm/length.h) */
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
	struct kwhy_llm_word_costs costs; /* number of tokens of each word that made-up prompts consist of, if
					     there is a tokenizer */
	struct kwhy_llm_limits limits;
	enum kwhy_llm_compat_tool compat;
	double good_share; /* share of a load's requests that must keep the limits, from 0 to 1 */
};

/*
 * Makes a plan from the options. KWHY_E_USAGE: an option is wrong or does not go with another; other failures
 * are those of reading files. Call kwhy_llm_plan_done() also after a failure.
 */
KWHY_MUST_USE enum kwhy_status kwhy_llm_plan_make(
	const struct kwhy_llm_options *options, struct kwhy_llm_plan *plan, struct kwhy_error *error);
/*
 * Adds the next load of --search, which looks for the highest rate at which a load is good
 * (kwhy_llm_plan_is_good()). To be called when all loads of the plan have run. Adds none if the search has
 * ended or was not requested.
 */
KWHY_MUST_USE enum kwhy_status kwhy_llm_plan_search(struct kwhy_llm_plan *plan, struct kwhy_error *error);

/*
 * Whether the share of a load's requests whose answers kept the limits is at least good_share. False if the
 * load had no requests.
 */
bool kwhy_llm_plan_is_good(const struct kwhy_llm_plan *plan, const struct kwhy_llm_row *row);

void kwhy_llm_plan_done(struct kwhy_llm_plan *plan);

#endif
