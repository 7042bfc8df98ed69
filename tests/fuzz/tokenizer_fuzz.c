/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/tokenizer.h"
#include "trace_input.h"

/*
 * Fuzzes the reader of tokenizer.json and the tokenizer. The input is the file up to its first zero byte;
 * after that comes the text whose tokens are counted.
 */

enum { TEXT_MAX_BYTES = 1000 };

static void count(struct kwhy_llm_tokenizer *tokenizer, const char *text, size_t length)
{
	struct kwhy_error error = {0};
	size_t whole, again;

	if (kwhy_llm_count_tokens(tokenizer, text, length, &whole, &error)) {
		if (!error.text[0])
			abort();
		return;
	}
	if (kwhy_llm_count_tokens(tokenizer, text, length, &again, &error) || again != whole)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	static const char sentence[] = "It's 12 o'clock,  \xc3\xbc"
				       "ber <|end|>\n";
	const uint8_t *end = length ? memchr(data, 0, length) : NULL;
	const size_t text = end ? length - (size_t)(end - data) - 1 : 0;
	struct kwhy_llm_tokenizer *tokenizer = NULL;
	struct kwhy_error error = {0};
	char path[64];
	const int file = input_open(data, end ? (size_t)(end - data) : length, path);

	if (kwhy_llm_tokenizer_open(path, &tokenizer, &error)) {
		if (tokenizer || !error.text[0])
			abort();
	} else {
		count(tokenizer, sentence, sizeof(sentence) - 1);
		if (end)
			count(tokenizer, (const char *)end + 1,
				text < TEXT_MAX_BYTES ? text : TEXT_MAX_BYTES);
	}
	kwhy_llm_tokenizer_close(tokenizer);
	close(file);
	return 0;
}
