/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/mcp/server.h"
#include "trace_input.h"

#include <jansson.h>

/*
 * Fuzzes the messages that kwhy mcp reads. Each line that it writes must be an answer by JSON-RPC, with
 * either a result or an error.
 */

static void check(char *answers)
{
	for (char *rest = answers, *line; (line = strsep(&rest, "\n")) && *line;) {
		json_t *answer = json_loads(line, 0, NULL);

		if (!answer || !json_is_string(json_object_get(answer, "jsonrpc")) ||
			!json_object_get(answer, "result") == !json_object_get(answer, "error"))
			abort();
		json_decref(answer);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	struct kwhy_error error = {0};
	char *answers = NULL;
	size_t answered = 0;
	FILE *in, *out = open_memstream(&answers, &answered);

	if (!length) {
		fclose(out);
		free(answers);
		return 0;
	}
	in = fmemopen((void *)data, length, "r");
	if (!in || !out || kwhy_mcp_serve(in, out, &error))
		abort();
	fclose(in);
	fclose(out);
	check(answers);
	free(answers);
	return 0;
}
