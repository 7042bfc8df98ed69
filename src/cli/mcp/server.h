/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_MCP_SERVER_H
#define KWHY_CLI_MCP_SERVER_H

#include "base/status.h"

#include <stdio.h>

/* The version of the Model Context Protocol that is offered to clients that ask for an unknown one. */
#define KWHY_MCP_VERSION "2025-11-25"

/*
 * Serves one client of the Model Context Protocol: reads JSON-RPC 2.0 messages from `in`, one per line, and
 * writes one line to `out` for each request, until `in` ends or `out` cannot be written. An invalid message
 * is answered with an error, and the server goes on. KWHY_E_MEMORY: memory is exhausted. KWHY_E_IO: `out`
 * cannot be written, for example because the client has closed its end.
 */
KWHY_MUST_USE enum kwhy_status kwhy_mcp_serve(FILE *in, FILE *out, struct kwhy_error *error);

#endif
