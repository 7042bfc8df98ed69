/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_RESULTS_LLM_H
#define KWHY_IMPORT_RESULTS_LLM_H

#include "base/arena.h"
#include "base/statistics.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One figure of a result of `kwhy llm --json`. Strings are owned by the result's arena. */
struct kwhy_read_llm_figure {
	const char *of;	  /* what the figure describes: a load, "8 concurrent" or "4 /s"; requests by length,
			     "64 to 255 tokens"; "all loads"; "the best load" */
	const char *name; /* such as "ttft.p99" */
	const char *unit; /* "": the figure has no unit or states a ratio */
	bool is_main;	  /* whether reports show the figure without --verbose */
	/*
	 * The mean with its 95 % interval (low, high); NAN if the file states no interval. count 0: the file
	 * states no value.
	 */
	struct kwhy_estimate estimate;
};

/*
 * The steady window of a load: its time without the start and the end of the load. answers, prompt_tokens,
 * output_tokens: numbers of those that arrived in the window. NAN: the file does not state the number.
 */
struct kwhy_read_llm_steady {
	int64_t start_unix_ns; /* 0: the file does not state it */
	double seconds, answers, prompt_tokens, output_tokens;
};

struct kwhy_read_llm {
	struct kwhy_arena arena;
	const char *label; /* name of the file */
	const char *url, *model;
	const char *asked; /* what the requests were: prompts, lengths, endpoint; two results are comparable
			      if this text is equal */
	const char *slo;   /* the limits (latencies) that a good answer keeps; "": none were given */
	struct kwhy_read_llm_figure *figures;
	size_t figure_count;
	const char **loads; /* names of the loads, in the file's order; a number follows a name that occurs
			       again */
	struct kwhy_read_llm_steady *steady; /* [load_count] */
	size_t load_count;
};

/*
 * Reads a result. KWHY_E_INPUT: `json` is not JSON, does not have the schema kwhy.llm/1, or has no load.
 * `label` names the file.
 */
KWHY_MUST_USE enum kwhy_status kwhy_read_llm_of(struct kwhy_read_llm *llm, const char *label,
	const char *json, size_t length, struct kwhy_error *error);
void kwhy_read_llm_done(struct kwhy_read_llm *llm);

/*
 * Name and unit of figure number `index` of all figures that a result may have; name NULL: there are fewer.
 */
struct kwhy_read_llm_name {
	const char *name, *unit;
};
struct kwhy_read_llm_name kwhy_read_llm_name_at(size_t index);

#endif
