/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_MCP_TOOLS_H
#define KWHY_CLI_MCP_TOOLS_H

#include "analyse/analysis.h"

#include <jansson.h>
#include <stdbool.h>

enum { KWHY_MCP_RUNS_MAX = 8 };

/* A run that the client has opened. */
struct kwhy_mcp_run {
	int64_t id; /* number by which the client refers to the run; 0: the entry is unused */
	struct kwhy_analysis *analysis; /* owned by this struct */
};

/* The runs that one client has opened. If all entries are used, the run that was opened first is closed. */
struct kwhy_mcp_runs {
	struct kwhy_mcp_run items[KWHY_MCP_RUNS_MAX];
	int64_t last_id;
};

void kwhy_mcp_runs_done(struct kwhy_mcp_runs *runs);

/* The list of tools, which is the result of "tools/list". NULL: out of memory. The caller owns it. */
json_t *kwhy_mcp_tools_list(void);
bool kwhy_mcp_tool_is_one(const char *name);

/*
 * Runs the tool with these arguments, which may be NULL. *out becomes a new object that the caller owns.
 * Failures other than KWHY_E_MEMORY are reported to the client, which may correct the arguments. No tool
 * writes or changes a file.
 */
KWHY_MUST_USE enum kwhy_status kwhy_mcp_tool_call(struct kwhy_mcp_runs *runs, const char *name,
	const json_t *arguments, json_t **out, struct kwhy_error *error);

#endif
