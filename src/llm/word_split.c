/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/word_split.h"

#include "base/dso.h"

#include <string.h>

/* options of pcre2.h: UTF-8, Unicode's classes, no empty match, and a text that was checked before */
#define OPTION_UTF UINT32_C(0x00080000)
#define OPTION_UCP UINT32_C(0x00020000)
#define OPTION_NOT_EMPTY UINT32_C(0x00000004)
#define OPTION_NO_UTF_CHECK UINT32_C(0x40000000)
#define JIT_COMPLETE UINT32_C(1)
#define NO_MATCH (-1)

#define ROW(slot, name)                                                                  \
	{                                                                                \
		"pcre2_" name "_8", offsetof(struct kwhy_pcre2, slot), KWHY_DSO_REQUIRED \
	}
static const struct kwhy_dso_symbol symbols[] = {
	ROW(compile, "compile"),
	ROW(jit_compile, "jit_compile"),
	ROW(code_free, "code_free"),
	ROW(match_data_create, "match_data_create"),
	ROW(match_data_free, "match_data_free"),
	ROW(get_ovector_pointer, "get_ovector_pointer"),
	ROW(match, "match"),
};

enum kwhy_status kwhy_word_split_open(struct kwhy_word_split *split, struct kwhy_error *error)
{
	static const char *const sonames[] = {"libpcre2-8.so.0", NULL};
	static const struct kwhy_dso_library library = {
		.title = "PCRE2 (package libpcre2-8-0), which splits texts for --tokenizer,",
		.sonames = sonames,
		.symbols = symbols,
		.symbol_count = sizeof(symbols) / sizeof(symbols[0]),
		.table_bytes = sizeof(struct kwhy_pcre2)};
	void *handle = NULL;
	enum kwhy_status status = kwhy_dso_open(&library, &split->pcre2, &handle, error);

	if (status)
		return status;
	split->pcre2.library = handle;
	split->match = split->pcre2.match_data_create(1, NULL);
	return split->match ? KWHY_OK : kwhy_fail_memory(error, "the tokenizer");
}

void kwhy_word_split_close(struct kwhy_word_split *split)
{
	for (size_t i = 0; i < split->count; i++)
		split->pcre2.code_free(split->patterns[i]);
	if (split->match)
		split->pcre2.match_data_free(split->match);
	kwhy_dso_close(split->pcre2.library);
	*split = (struct kwhy_word_split){0};
}

enum kwhy_status kwhy_word_split_add(
	struct kwhy_word_split *split, const char *pattern, struct kwhy_error *error)
{
	int code = 0;
	size_t at = 0;
	void *compiled;

	if (split->count == KWHY_WORD_SPLITS_MAX)
		return kwhy_fail(error, KWHY_E_INPUT, "the tokenizer splits words in more than %d ways",
			KWHY_WORD_SPLITS_MAX);
	compiled = split->pcre2.compile(
		(const uint8_t *)pattern, strlen(pattern), OPTION_UTF | OPTION_UCP, &code, &at, NULL);
	if (!compiled)
		return kwhy_fail(error, KWHY_E_INPUT,
			"the tokenizer's expression '%.80s' is not one that PCRE2 knows (at character %zu)",
			pattern, at);
	(void)split->pcre2.jit_compile(
		compiled, JIT_COMPLETE); /* fails where PCRE2 has no JIT; it then matches without */
	split->patterns[split->count++] = compiled;
	return KWHY_OK;
}

/*
 * Splits a part by the expressions from index `at` on, each applied to the parts that the expression before
 * it made, and passes the parts that the last expression makes to `take`.
 */
static enum kwhy_status split_part(const struct kwhy_word_split *split, size_t at, const char *text,
	size_t length, kwhy_word_take *take, void *context, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	size_t from = 0;

	if (!length)
		return KWHY_OK;
	if (at == split->count)
		return take(context, text, length, error);
	while (!status && from < length) {
		const size_t *ends = split->pcre2.get_ovector_pointer(split->match);
		/*
		 * The first match checks that all of the text is UTF-8. With a check at every match, the time
		 * would grow with the square of the length.
		 */
		const uint32_t checked = from || at ? OPTION_NO_UTF_CHECK : 0;
		int found = split->pcre2.match(split->patterns[at], (const uint8_t *)text, length, from,
			OPTION_NOT_EMPTY | checked, split->match, NULL);
		size_t start = found >= 0 ? ends[0] : length, end = found >= 0 ? ends[1] : length;

		/*
		 * refuses matches that start before `from` or end before they start, which old versions of
		 * PCRE2 return for some expressions, because the loop would not end
		 */
		if (found < NO_MATCH || start < from || end <= from || end < start)
			return kwhy_fail(error, KWHY_E_INPUT,
				"a text cannot be split into tokens: it is not UTF-8, or too long (PCRE2: "
				"%d)",
				found);
		status = split_part(split, at + 1, text + from, start - from, take, context, error);
		if (!status)
			status = split_part(split, at + 1, text + start, end - start, take, context, error);
		from = end;
	}
	return status;
}

enum kwhy_status kwhy_word_split_each(const struct kwhy_word_split *split, const char *text, size_t length,
	kwhy_word_take *take, void *context, struct kwhy_error *error)
{
	return split_part(split, 0, text, length, take, context, error);
}
