/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/mcp/server.h"

#include <signal.h>

static enum kwhy_status run(const struct kwhy_invocation *invocation, struct kwhy_error *error)
{
	const struct sigaction ignore = {.sa_handler = SIG_IGN};

	(void)invocation;
	/*
	 * without SIGPIPE, writing to a client that has closed its end fails with an error, which ends the
	 * server, instead of killing the process
	 */
	sigaction(SIGPIPE, &ignore, NULL);
	return kwhy_mcp_serve(stdin, stdout, error);
}

static const struct kwhy_option options_table[] = {
	KWHY_OPTION_ROW_HELP,
	KWHY_OPTION_ROW_END,
};

const struct kwhy_command kwhy_command_mcp = {
	.name = "mcp",
	.operands = "",
	.summary = "Answer an agent's questions on recordings (Model Context Protocol).",
	.details = "Speaks version " KWHY_MCP_VERSION
		   " of the protocol over standard input and output: JSON-RPC, one message a line. Tools: "
		   "open, brief, findings, account, whatif, compare. It only reads.",
	.options = options_table,
	.options_bytes = sizeof(char),
	.run = run,
};
