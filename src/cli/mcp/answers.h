/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_MCP_ANSWERS_H
#define KWHY_CLI_MCP_ANSWERS_H

#include "analyse/analysis.h"

#include <jansson.h>

/*
 * The functions below make the answers of the tools of `kwhy mcp`, as JSON. Times are in seconds, energies in
 * joules; null means unknown. A list has at most `limit` rows; the member "left_out" of the object around the
 * list says how many rows were left out. They return NULL if memory is exhausted. The caller owns the
 * objects.
 */
struct kwhy_mcp_question {
	const char *id;		     /* only findings with this id; NULL: all */
	const char *category, *name; /* category: only accounts of this category; name: only accounts whose
					name contains this text; NULL: all */
	json_int_t device;	     /* only accounts of this device; -1: all */
	size_t limit;
};

/*
 * A JSON string with `text`, cut to a limit of bytes with "..." after it, and with invalid UTF-8, as names
 * and truncated messages may have, replaced. JSON null if `text` is NULL.
 */
json_t *kwhy_mcp_text(const char *text);
json_t *kwhy_mcp_run_object(const struct kwhy_analysis *analysis);
json_t *kwhy_mcp_findings(const struct kwhy_analysis *analysis, const struct kwhy_mcp_question *question);
json_t *kwhy_mcp_accounts(const struct kwhy_analysis *analysis, const struct kwhy_mcp_question *question);
json_t *kwhy_mcp_plan(const struct kwhy_plan *plan, size_t limit);
KWHY_MUST_USE enum kwhy_status kwhy_mcp_comparison(const struct kwhy_analysis *a,
	const struct kwhy_analysis *b, size_t limit, json_t **out, struct kwhy_error *error);

#endif
