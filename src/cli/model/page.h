/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_MODEL_PAGE_H
#define KWHY_CLI_MODEL_PAGE_H

#include "cli/command.h"
#include "cli/output.h"
#include "fit/interval.h"
#include "report/json/writer.h"
#include "report/table.h"
#include "report/text_context.h"

/* Options that all `kwhy model` commands have. Each command writes one answer as text or as JSON. */
struct kwhy_model_options {
	const char *output;
	bool json;
};

#define KWHY_OPTION_ROWS_MODEL(type, member)                                                  \
	{"output", 'o', "FILE", "write there; .txt or .json says the form", KWHY_OPTION_TEXT, \
		offsetof(type, member.output)},                                               \
	{                                                                                     \
		"json", 0, NULL, "write JSON", KWHY_OPTION_FLAG, offsetof(type, member.json)  \
	}

/*
 * Finds the form of the answer, text or JSON. To be called before long work, because it fails if the
 * extension of the output path is neither .txt nor .json or if the folder of the path does not exist.
 */
KWHY_MUST_USE enum kwhy_status kwhy_model_form_of(
	const struct kwhy_model_options *options, enum kwhy_output_form *out, struct kwhy_error *error);

struct kwhy_model_page {
	const char *name; /* name of the answer and, in an output folder, of its file */
	bool is_json;
	struct kwhy_text text;
	struct kwhy_text_style style;
	struct kwhy_text_context context; /* text context for kwhy_text_context_linef(), which wraps lines */
	struct kwhy_json json;		  /* writer of the members of the answer's JSON object */
};

/*
 * Begins an answer. `name` is not copied; with "cost" the JSON has the schema "kwhy.model.cost/1". The page
 * must stay at its address until it ends.
 */
KWHY_MUST_USE enum kwhy_status kwhy_model_page_begin(struct kwhy_model_page *page,
	const struct kwhy_model_options *options, const char *name, struct kwhy_error *error);

/* Ends an answer: writes it if `status` is KWHY_OK. In any case frees the page and returns the status. */
KWHY_MUST_USE enum kwhy_status kwhy_model_page_end(struct kwhy_model_page *page,
	const struct kwhy_model_options *options, enum kwhy_status status, struct kwhy_error *error);

/* Writes a whole page: begins it, calls `fill` to write the answer, and ends it. */
typedef void kwhy_model_page_fill(const void *answer, struct kwhy_model_page *page);
KWHY_MUST_USE enum kwhy_status kwhy_model_page_write(const struct kwhy_model_options *options,
	const char *name, kwhy_model_page_fill *fill, const void *answer, struct kwhy_error *error);

/* Adds a cell with a value and its interval: "1.83 kJ ±0.40 %", "0.22 J -75 +298 %" or "n/a". */
void kwhy_interval_cell(struct kwhy_table *table, struct kwhy_interval interval, const char *unit);

/*
 * Writes the line that states the confidence level (95 %) of a table's intervals, if has_any says that the
 * table has intervals.
 */
void kwhy_interval_level(struct kwhy_model_page *page, bool has_any);

/* Writes a JSON object {"value","low","high"} on one line. */
void kwhy_interval_json(struct kwhy_json *json, const char *key, struct kwhy_interval interval);

#endif
