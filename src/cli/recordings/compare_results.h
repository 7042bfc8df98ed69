/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RECORDINGS_COMPARE_RESULTS_H
#define KWHY_CLI_RECORDINGS_COMPARE_RESULTS_H

#include "cli/command.h"
#include "cli/output.h"
#include "report/compare.h"

#include <stdbool.h>

/* Where and how `kwhy compare` writes a comparison of runs, or of results of `kwhy stat` or `kwhy llm`. */
struct kwhy_compare_outputs {
	const struct kwhy_text_style *style;
	const char *output; /* path of the output; NULL: standard output */
	enum kwhy_output_form form;
	const char *summary; /* path of the summary in Markdown; NULL: none is written */
};

/* Conditions of --fail-if, and whether each is met; `exceeded`: at least one is. Must be zero-initialised. */
struct kwhy_compare_gates {
	struct kwhy_condition *conditions;
	struct kwhy_verdict *verdicts;
	size_t count;
	bool exceeded;
};

/* Reads one condition, as kwhy_condition_parse() does. */
typedef enum kwhy_status kwhy_compare_gate_parse(
	const char *text, struct kwhy_condition *out, struct kwhy_error *error);

KWHY_MUST_USE enum kwhy_status kwhy_compare_gates_parse(struct kwhy_compare_gates *gates,
	const struct kwhy_strings *texts, kwhy_compare_gate_parse *parse, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_compare_gates_check(
	struct kwhy_compare_gates *gates, const struct kwhy_comparison *comparison, struct kwhy_error *error);
void kwhy_compare_gates_done(struct kwhy_compare_gates *gates);

/*
 * Functions that render a comparison, and the comparison, which is passed to them as `comparison`. It is one
 * of runs, of results of `kwhy stat`, or of results of `kwhy llm`.
 */
struct kwhy_compare_renderer {
	const void *comparison;
	enum kwhy_status (*text)(const void *comparison, const struct kwhy_conditions *conditions,
		const struct kwhy_text_style *style, struct kwhy_text *out, struct kwhy_error *error);
	enum kwhy_status (*json)(const void *comparison, const struct kwhy_conditions *conditions,
		struct kwhy_text *out, struct kwhy_error *error);
	/* renders the comparison as HTML; NULL: the comparison has no page */
	enum kwhy_status (*page)(const void *comparison, const struct kwhy_conditions *conditions,
		struct kwhy_text *out, struct kwhy_error *error);
};

/* Writes the output and, if requested, the summary. */
KWHY_MUST_USE enum kwhy_status kwhy_compare_write(const struct kwhy_compare_renderer *renderer,
	const struct kwhy_compare_gates *gates, const struct kwhy_compare_outputs *outputs,
	struct kwhy_error *error);

/* Compares two results of `kwhy stat`. */
KWHY_MUST_USE enum kwhy_status kwhy_compare_results(char *const paths[2], struct kwhy_compare_gates *gates,
	const struct kwhy_compare_outputs *outputs, struct kwhy_error *error);

/*
 * Compares results of `kwhy llm`, whose files are named in `paths`: the first counts[0] of them with the next
 * counts[1].
 */
KWHY_MUST_USE enum kwhy_status kwhy_compare_llm_results(char *const *paths, const size_t counts[2],
	struct kwhy_compare_gates *gates, const struct kwhy_compare_outputs *outputs,
	struct kwhy_error *error);

#endif
