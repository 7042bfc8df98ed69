/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/prompt.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Makes the HTTP body of the request for the last turn of dialog number `at`. */
static void ask(const struct kwhy_llm_dialogs *dialogs, size_t at)
{
	const struct kwhy_llm_question question = {.model = "m",
		.dialogs = dialogs->items,
		.dialog_count = dialogs->count,
		.words = {.a = 1},
		.max_tokens = {.a = 1}};
	struct kwhy_error error;
	char *body = NULL;

	if (dialogs->items[at].words > 2000)
		return;
	if (!kwhy_llm_body(&question, at, kwhy_llm_turns(&question, at) - 1, &body, &error) && !body)
		abort();
	free(body);
}

/*
 * Fuzzes the reader of files of prompts. The first byte of the input selects the format, the others are the
 * file. Requests are made from at most 16 dialogs of it.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const paths[] = {"p.txt", "p.jsonl", "p.json"};
	struct kwhy_llm_dialogs dialogs;
	struct kwhy_error error;

	if (!size)
		return 0;
	if (!kwhy_llm_dialogs_read(paths[data[0] % 3], (const char *)data + 1, size - 1, &dialogs, &error))
		for (size_t i = 0; i < dialogs.count && i < 16; i++)
			ask(&dialogs, i);
	kwhy_llm_dialogs_done(&dialogs);
	return 0;
}
