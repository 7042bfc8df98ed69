/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_RESULTS_LLM_H
#define KWHY_IMPORT_RESULTS_LLM_H

#include "base/arena.h"
#include "base/statistics.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A result of `kwhy llm --json`: figures of each load, of requests by length, and of all loads together.
 * Strings lie in the result's arena.
 */
struct kwhy_read_llm_figure {
	const char *of;	  /* what the figure describes: a load, "8 concurrent" or "4 /s"; requests by length,
			     "64 to 255 tokens"; "all loads"; "the best load" */
	const char *name; /* such as "ttft.p99" */
	const char *unit; /* "": the figure is a ratio */
	bool is_main;	  /* whether reports show the figure without --verbose */
	/*
	 * one value with its 95 % interval, if the file states an interval; count 0 and NAN: the file states
	 * no value
	 */
	struct kwhy_estimate estimate;
};

/*
 * The steady window of a load, and the answers and tokens that arrived in it. NAN: the file does not state
 * it.
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
	const char *slo;   /* limits that a good answer keeps; "": none were given */
	struct kwhy_read_llm_figure *figures;
	size_t figure_count;
	const char **loads; /* names of the loads, in the file's order; a number follows a name that occurs
			       again */
	struct kwhy_read_llm_steady *steady; /* [load_count] */
	size_t load_count;
};

/* Reads a result. KWHY_E_INPUT: `json` is no result of kwhy llm of a known version, or has no load. */
KWHY_MUST_USE enum kwhy_status kwhy_read_llm_of(struct kwhy_read_llm *llm, const char *label,
	const char *json, size_t length, struct kwhy_error *error);
void kwhy_read_llm_done(struct kwhy_read_llm *llm);

/*
 * Name and unit of the figure with this index, of all figures that a result may have. name NULL: the index is
 * past the last figure.
 */
struct kwhy_read_llm_name {
	const char *name, *unit;
};
struct kwhy_read_llm_name kwhy_read_llm_name_at(size_t index);

#endif
