/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_LLM_SHOW_H
#define KWHY_CLI_LLM_SHOW_H

#include "cli/llm/meter.h"
#include "llm/compat.h"
#include "llm/joules.h"
#include "llm/prompt.h"
#include "llm/summary.h"
#include "report/report.h"

/* One load and its results. */
struct kwhy_llm_row {
	/* name of a load of --design or --trace; NULL: reports show its rate or concurrency */
	const char *name;
	struct kwhy_llm_length words,
		max_tokens; /* words: length of a made-up prompt in words or, with --prompt-tokens, in tokens;
			       max_tokens: largest number of tokens of an answer */
	struct kwhy_llm_load load;
	struct kwhy_llm_summary summary;
	int64_t steady_start_unix_ns; /* start of the steady window */
	struct kwhy_llm_energy gross, net;
	struct kwhy_llm_compat compat;
};

struct kwhy_llm_result {
	const char *url;
	const char *meters; /* host whose meters were read; NULL: this host */
	const struct kwhy_llm_question *question;
	const struct kwhy_llm_row *rows;
	size_t row_count;
	struct kwhy_llm_energy idle;
	const struct kwhy_llm_joules *joules; /* energies of single requests; its loads[0] is the idle server
						 before the loads, loads[1 + i] is the load rows[i] */
	const char *ended; /* the reason why the remaining loads were not run; NULL: all were run */
	const char *slo;   /* the limits of good answers as the user gave them; NULL: none */
	const struct kwhy_llm_row
		*best;	  /* of the loads that kept the limits `slo`, the one with the most answers that kept
			     them; NULL: no load kept them, or there are none */
	bool has_details; /* whether the text contains the tables of tokens, latencies and energies, too
			     (--details) */
	const char *tokenizer; /* tokenizer's file, which counts the tokens that the server does not state;
				  NULL: none */
};

void kwhy_llm_text(
	const struct kwhy_llm_result *result, const struct kwhy_text_style *style, struct kwhy_text *out);
void kwhy_llm_json(const struct kwhy_llm_result *result, struct kwhy_text *out);

#endif
