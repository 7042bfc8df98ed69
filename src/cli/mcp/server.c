/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/mcp/server.h"

#include "cli/mcp/answers.h"

#include "cli/mcp/tools.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Longest message, bytes. A longer line is skipped and answered with an error. */
enum { LINE_MAX_BYTES = 1 << 20 };

#define DUMP_FLAGS (JSON_COMPACT | JSON_REAL_PRECISION(9))

/* Codes of JSON-RPC 2.0. */
enum { PARSE_ERROR = -32700, INVALID_REQUEST = -32600, NO_METHOD = -32601, INVALID_PARAMS = -32602 };

struct server {
	FILE *in, *out;
	struct kwhy_mcp_runs runs;
	char *line; /* [LINE_MAX_BYTES + 1] the message that is being read, without its line feed */
};

enum line {
	LINE_READ,
	LINE_TOO_LONG,
	LINE_NONE, /* the input has ended */
};

static enum line read_line(struct server *server, size_t *out_length)
{
	size_t length = 0;
	bool is_long = false;
	int c;

	while ((c = getc(server->in)) != EOF && c != '\n') {
		if (length == LINE_MAX_BYTES)
			is_long = true;
		else
			server->line[length++] = (char)c;
	}
	server->line[length] = '\0';
	*out_length = length;
	if (c == EOF && !length)
		return LINE_NONE;
	return is_long ? LINE_TOO_LONG : LINE_READ;
}

/*
 * Sends a message, and consumes the reference to it. If `message` is NULL, it could not be made:
 * KWHY_E_MEMORY.
 */
static enum kwhy_status send_message(struct server *server, json_t *message, struct kwhy_error *error)
{
	char *text = message ? json_dumps(message, DUMP_FLAGS) : NULL;
	bool sent;

	json_decref(message);
	if (!text)
		return kwhy_fail_memory(error, "an answer");
	sent = fputs(text, server->out) >= 0 && putc('\n', server->out) != EOF && fflush(server->out) == 0;
	free(text);
	if (!sent)
		return kwhy_fail(error, KWHY_E_IO, "cannot write to the client: %s", strerror(errno));
	return KWHY_OK;
}

/*
 * Makes the JSON-RPC answer that reports an error in request `id`; id NULL: the request's id is unknown, and
 * null in the answer. Returns NULL if memory is exhausted.
 */
static json_t *failure(const json_t *id, int code, const char *message)
{
	return json_pack("{s:s, s:O?, s:{s:i, s:o}}", "jsonrpc", "2.0", "id", id, "error", "code", code,
		"message", kwhy_mcp_text(message));
}

/*
 * Makes the JSON-RPC answer to request `id` with this result, and consumes the reference to the result. NULL:
 * out of memory.
 */
static json_t *success(const json_t *id, json_t *result)
{
	return result ? json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id", id, "result", result) : NULL;
}

static const char *version_for(const json_t *params)
{
	static const char *const versions[] = {KWHY_MCP_VERSION, "2025-06-18", "2025-03-26", "2024-11-05"};
	const char *asked = json_string_value(json_object_get(params, "protocolVersion"));

	for (size_t i = 0; asked && i < sizeof(versions) / sizeof(versions[0]); i++)
		if (strcmp(asked, versions[i]) == 0)
			return versions[i];
	return KWHY_MCP_VERSION;
}

static json_t *initialize(const json_t *params)
{
	return json_pack("{s:s, s:{s:{}}, s:{s:s, s:s, s:s}, s:s}", "protocolVersion", version_for(params),
		"capabilities", "tools", "serverInfo", "name", "kwhy", "title",
		"kwhy: joules and seconds of GPU programs", "version", KWHY_VERSION, "instructions",
		"Open a recording or trace of a GPU program with 'open', then ask 'brief' for what it cost, "
		"where that went and what to do; 'findings' and 'account' have the details, 'whatif' "
		"projects changes, 'compare' says what differs between two runs. null is 'unknown', never 0. "
		"Nothing is written.");
}

/*
 * Makes the result of a tool call: `object` as structured content and as text or, if `object` is NULL, the
 * text `problem` with "isError" true. NULL: out of memory.
 */
static json_t *content_of(json_t *object, const char *problem)
{
	char *text = object ? json_dumps(object, DUMP_FLAGS) : NULL;
	json_t *content = NULL;

	if (object && text)
		content = json_pack("{s:[{s:s, s:s}], s:O, s:b}", "content", "type", "text", "text", text,
			"structuredContent", object, "isError", 0);
	else if (!object)
		content = json_pack("{s:[{s:s, s:o}], s:b}", "content", "type", "text", "text",
			kwhy_mcp_text(problem), "isError", 1);
	free(text);
	return content;
}

static json_t *call_tool(
	struct server *server, const json_t *id, const json_t *params, struct kwhy_error *error)
{
	const char *name = json_string_value(json_object_get(params, "name"));
	const json_t *arguments = json_object_get(params, "arguments");
	struct kwhy_error problem = {0};
	json_t *object = NULL, *content;
	char message[160];

	if (!name || !kwhy_mcp_tool_is_one(name)) {
		snprintf(
			message, sizeof(message), "Unknown tool: %.80s", name ? name : "its name is missing");
		return failure(id, INVALID_PARAMS, message);
	}
	if (arguments && !json_is_object(arguments))
		return failure(id, INVALID_PARAMS, "arguments must be an object");
	if (kwhy_mcp_tool_call(&server->runs, name, arguments, &object, &problem) == KWHY_E_MEMORY) {
		*error = problem;
		return NULL;
	}
	content = content_of(object, problem.text);
	json_decref(object);
	return success(id, content);
}

/*
 * Makes the answer to a request, which may report that the request is wrong. NULL: out of memory; `error` is
 * then set.
 */
static json_t *answer(
	struct server *server, const json_t *id, const json_t *request, struct kwhy_error *error)
{
	const char *method = json_string_value(json_object_get(request, "method"));
	const json_t *params = json_object_get(request, "params");
	char message[120];

	kwhy_error_set(error, KWHY_E_MEMORY, "not enough memory for an answer");
	if (params && !json_is_object(params))
		return failure(id, INVALID_PARAMS, "params must be an object");
	if (strcmp(method, "initialize") == 0)
		return success(id, initialize(params));
	if (strcmp(method, "ping") == 0)
		return success(id, json_object());
	if (strcmp(method, "tools/list") == 0)
		return success(id, kwhy_mcp_tools_list());
	if (strcmp(method, "tools/call") == 0)
		return call_tool(server, id, params, error);
	snprintf(message, sizeof(message), "Method not found: %.80s", method);
	return failure(id, NO_METHOD, message);
}

/*
 * Whether a message needs no answer: it is a notification, or it is itself an answer, which is ignored
 * because this server sends no requests.
 */
static bool is_silent(const json_t *message)
{
	if (!json_is_object(message))
		return false;
	if (json_object_get(message, "method"))
		return json_is_string(json_object_get(message, "method")) && !json_object_get(message, "id");
	return json_object_get(message, "result") || json_object_get(message, "error");
}

static json_t *answer_message(struct server *server, const json_t *message, struct kwhy_error *error)
{
	const json_t *id = json_object_get(message, "id");
	const char *version = json_string_value(json_object_get(message, "jsonrpc"));

	if (!json_is_object(message))
		return failure(
			NULL, INVALID_REQUEST, "a message is one JSON object; batches are not supported");
	if (!json_is_string(id) && !json_is_integer(id))
		return failure(NULL, INVALID_REQUEST, "id must be a string or an integer");
	if (!version || strcmp(version, "2.0") != 0)
		return failure(id, INVALID_REQUEST, "jsonrpc must be \"2.0\"");
	if (!json_is_string(json_object_get(message, "method")))
		return failure(id, INVALID_REQUEST, "method must be a string");
	return answer(server, id, message, error);
}

static enum kwhy_status take_line(struct server *server, size_t length, struct kwhy_error *error)
{
	json_error_t where;
	json_t *message, *reply;
	char text[JSON_ERROR_TEXT_LENGTH + 64];

	if (strspn(server->line, " \t\r") == length)
		return KWHY_OK;
	message = json_loadb(server->line, length, JSON_DECODE_ANY, &where);
	if (!message) {
		snprintf(text, sizeof(text), "Parse error at byte %d: %s", where.position, where.text);
		return send_message(server, failure(NULL, PARSE_ERROR, text), error);
	}
	if (is_silent(message)) {
		json_decref(message);
		return KWHY_OK;
	}
	reply = answer_message(server, message, error);
	json_decref(message);
	return reply ? send_message(server, reply, error) : error->status;
}

enum kwhy_status kwhy_mcp_serve(FILE *in, FILE *out, struct kwhy_error *error)
{
	struct server server = {.in = in, .out = out, .line = malloc(LINE_MAX_BYTES + 1)};
	enum kwhy_status status = server.line ? KWHY_OK : kwhy_fail_memory(error, "a message");
	enum line line = LINE_READ;
	size_t length;

	while (!status && line != LINE_NONE) {
		line = read_line(&server, &length);
		if (line == LINE_READ)
			status = take_line(&server, length, error);
		else if (line == LINE_TOO_LONG)
			status = send_message(&server,
				failure(NULL, PARSE_ERROR, "Parse error: a message may have 1,048,576 bytes"),
				error);
	}
	kwhy_mcp_runs_done(&server.runs);
	free(server.line);
	return status;
}
