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
	const char *name; /* name of the load; NULL: its rate or concurrency names it */
	struct kwhy_llm_length words,
		max_tokens; /* words: words of a prompt, unless prompts come from a file; max_tokens: largest
			       number of tokens of an answer */
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
	const struct kwhy_llm_joules
		*joules; /* energies of single requests; loads[0] is the idle server, loads[1 + i] is row i */
	const char *ended; /* the reason why the remaining loads were not run; NULL: all were run */
	const char *slo;   /* the limits of good answers as the user gave them; NULL: none */
	const struct kwhy_llm_row
		*best; /* among the loads that kept the limits, the one with most good answers; NULL: none */
	bool has_details;      /* whether the text contains all tables */
	const char *tokenizer; /* tokenizer's file, which counts the tokens that the server does not state;
				  NULL: none */
};

void kwhy_llm_text(
	const struct kwhy_llm_result *result, const struct kwhy_text_style *style, struct kwhy_text *out);
void kwhy_llm_json(const struct kwhy_llm_result *result, struct kwhy_text *out);

#endif
