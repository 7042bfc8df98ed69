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
 * A result of `kwhy llm --json`: figures of its loads, of requests by length and of all loads together.
 * Strings lie in the result's arena.
 */
struct kwhy_read_llm_figure {
	const char *of; /* the load: "8 concurrent", "4 /s"; the length: "64 to 255 tokens"; "all loads", "the
			   best load" */
	const char *name; /* such as "ttft.p99" */
	const char *unit; /* "": a ratio */
	bool is_main;	  /* whether it is among the figures that are shown first */
	/* one value with its 95 % interval, if the file states one; count 0 and NAN: the file states no value
	 */
	struct kwhy_estimate estimate;
};

/* The steady window of a load, and what arrived in it. NAN: the file does not state it. */
struct kwhy_read_llm_steady {
	int64_t start_unix_ns; /* 0: the file does not state it */
	double seconds, answers, prompt_tokens, output_tokens;
};

struct kwhy_read_llm {
	struct kwhy_arena arena;
	const char *label; /* name of the file */
	const char *url, *model;
	const char *asked; /* what was asked for: prompts, lengths, endpoint; loads of equal ones are
			      comparable */
	const char *slo;   /* limits of good answers; "": none */
	struct kwhy_read_llm_figure *figures;
	size_t figure_count;
	const char **loads;		     /* names of the loads, in order; equal names are numbered */
	struct kwhy_read_llm_steady *steady; /* [load_count] */
	size_t load_count;
};

/* Reads a result. KWHY_E_INPUT: `json` is no result of kwhy llm of a known version, or has no load. */
KWHY_MUST_USE enum kwhy_status kwhy_read_llm_of(struct kwhy_read_llm *llm, const char *label,
	const char *json, size_t length, struct kwhy_error *error);
void kwhy_read_llm_done(struct kwhy_read_llm *llm);

/* Name and unit of the figures that a result may have. Name NULL: there are fewer than index + 1 of them. */
struct kwhy_read_llm_name {
	const char *name, *unit;
};
struct kwhy_read_llm_name kwhy_read_llm_name_at(size_t index);

#endif
