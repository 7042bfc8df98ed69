/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/tokenizer.h"

#include "base/file.h"
#include "base/text.h"
#include "llm/bpe.h"
#include "llm/word_split.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define FILE_BYTES_MAX ((size_t)128 << 20)
#define BLANK "\xe2\x96\x81" /* U+2581; tokenizers that merge characters write it for a space */
/* GPT-2's expression for words, for files that only name the pre-tokenizer ByteLevel */
#define GPT2_WORDS "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"

/*
 * When a space (or U+2581) is added before a text, or before the text after a special token:
 * PREFIX_IF_MISSING: unless that text begins with a space; PREFIX_IF_MISSING_AT_START: at the start of the
 * whole text only, unless it begins with a space.
 */
enum prefix { PREFIX_NEVER, PREFIX_IF_MISSING, PREFIX_IF_MISSING_AT_START, PREFIX_ALWAYS };

struct kwhy_llm_tokenizer {
	struct kwhy_bpe bpe;
	struct kwhy_word_split split;
	enum prefix prefix;
	bool blanks; /* spaces are written as U+2581 */
	/* special tokens: texts that are always one token, such as "<|endoftext|>" */
	struct special {
		char *text;
		uint32_t number;
		const char *next; /* the first place of this token in the rest of the text, or the end of
				     the text if it does not occur there; NULL: not searched yet */
	} * specials;
	size_t special_count;
	const char *path; /* valid while the file is read */
};

static enum kwhy_status refuse(const struct kwhy_llm_tokenizer *tokenizer, const char *part, const char *name,
	struct kwhy_error *error)
{
	return kwhy_fail(error, KWHY_E_INPUT,
		"%.200s: its %s is %.60s, which kwhy does not know; leave out --tokenizer, and tokens are "
		"those "
		"that the server states",
		tokenizer->path, part, name);
}

static const char *type_of(const json_t *object)
{
	const char *type = json_string_value(json_object_get(object, "type"));

	return type ? type : "";
}

/* --- Normalizers and pre-tokenizers --- */

typedef enum kwhy_status part_reader(
	struct kwhy_llm_tokenizer *tokenizer, const json_t *part, struct kwhy_error *error);

/*
 * Calls `reader` for a normalizer or pre-tokenizer of the file or, if it is a Sequence, for each element of
 * its member `list`. Does nothing for NULL and JSON null.
 */
static enum kwhy_status read_parts(struct kwhy_llm_tokenizer *tokenizer, const json_t *part, const char *list,
	part_reader *reader, struct kwhy_error *error)
{
	const json_t *parts = json_object_get(part, list);
	enum kwhy_status status = KWHY_OK;

	if (!part || json_is_null(part))
		return KWHY_OK;
	if (strcmp(type_of(part), "Sequence") != 0)
		return reader(tokenizer, part, error);
	for (size_t i = 0; !status && i < json_array_size(parts); i++)
		status = read_parts(tokenizer, json_array_get(parts, i), list, reader, error);
	return status;
}

static enum kwhy_status read_normalizer(
	struct kwhy_llm_tokenizer *tokenizer, const json_t *part, struct kwhy_error *error)
{
	const char *type = type_of(part);
	const char *content = json_string_value(json_object_get(part, "content"));
	const char *from = json_string_value(json_object_get(json_object_get(part, "pattern"), "String"));
	const char *before = json_string_value(json_object_get(part, "prepend"));

	if (strcmp(type, "NFC") == 0)
		return KWHY_OK;
	if (strcmp(type, "Prepend") == 0 && before && strcmp(before, BLANK) == 0) {
		tokenizer->prefix = PREFIX_ALWAYS;
		return KWHY_OK;
	}
	if (strcmp(type, "Replace") == 0 && from && content && strcmp(from, " ") == 0 &&
		strcmp(content, BLANK) == 0) {
		tokenizer->blanks = true;
		return KWHY_OK;
	}
	return refuse(tokenizer, "normalizer", type, error);
}

static enum kwhy_status read_byte_level(
	struct kwhy_llm_tokenizer *tokenizer, const json_t *part, struct kwhy_error *error)
{
	tokenizer->bpe.by_bytes = true;
	if (json_is_true(json_object_get(part, "add_prefix_space")))
		tokenizer->prefix = PREFIX_IF_MISSING;
	if (json_is_false(json_object_get(part, "use_regex")))
		return KWHY_OK;
	return kwhy_word_split_add(&tokenizer->split, GPT2_WORDS, error);
}

static enum kwhy_status read_split(
	struct kwhy_llm_tokenizer *tokenizer, const json_t *part, struct kwhy_error *error)
{
	const char *behavior = json_string_value(json_object_get(part, "behavior"));
	const char *regex = json_string_value(json_object_get(json_object_get(part, "pattern"), "Regex"));

	if (!regex || !behavior || strcmp(behavior, "Isolated") != 0)
		return refuse(tokenizer, "pre-tokenizer", "a Split other than Isolated by a Regex", error);
	return kwhy_word_split_add(&tokenizer->split, regex, error);
}

static enum kwhy_status read_metaspace(
	struct kwhy_llm_tokenizer *tokenizer, const json_t *part, struct kwhy_error *error)
{
	const char *scheme = json_string_value(json_object_get(part, "prepend_scheme"));
	const char *replacement = json_string_value(json_object_get(part, "replacement"));

	if (!replacement || strcmp(replacement, BLANK) != 0)
		return refuse(tokenizer, "pre-tokenizer", "Metaspace with another character", error);
	tokenizer->blanks = true;
	if (scheme ? strcmp(scheme, "never") != 0 : !json_is_false(json_object_get(part, "add_prefix_space")))
		tokenizer->prefix = scheme && strcmp(scheme, "first") == 0 ? PREFIX_IF_MISSING_AT_START
									   : PREFIX_IF_MISSING;
	return KWHY_OK;
}

static enum kwhy_status read_pre_tokenizer(
	struct kwhy_llm_tokenizer *tokenizer, const json_t *part, struct kwhy_error *error)
{
	const char *type = type_of(part);

	if (strcmp(type, "ByteLevel") == 0)
		return read_byte_level(tokenizer, part, error);
	if (strcmp(type, "Split") == 0)
		return read_split(tokenizer, part, error);
	if (strcmp(type, "Metaspace") == 0)
		return read_metaspace(tokenizer, part, error);
	if (strcmp(type, "Digits") == 0)
		return kwhy_word_split_add(&tokenizer->split,
			json_is_true(json_object_get(part, "individual_digits")) ? "\\p{N}" : "\\p{N}+",
			error);
	return refuse(tokenizer, "pre-tokenizer", type, error);
}

/* --- The file --- */

static enum kwhy_status read_specials(
	struct kwhy_llm_tokenizer *tokenizer, const json_t *list, struct kwhy_error *error)
{
	tokenizer->specials = calloc(json_array_size(list) + 1, sizeof(*tokenizer->specials));
	if (!tokenizer->specials)
		return kwhy_fail_memory(error, "the tokenizer");
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *item = json_array_get(list, i);
		const char *text = json_string_value(json_object_get(item, "content"));
		struct special *special = &tokenizer->specials[tokenizer->special_count];

		if (!text || !*text)
			continue;
		special->number = (uint32_t)json_integer_value(json_object_get(item, "id"));
		special->text = strdup(text);
		if (!special->text)
			return kwhy_fail_memory(error, "the tokenizer");
		tokenizer->special_count++;
	}
	return KWHY_OK;
}

static enum kwhy_status read_model(
	struct kwhy_llm_tokenizer *tokenizer, const json_t *model, struct kwhy_error *error)
{
	static const char *const affixes[] = {"continuing_subword_prefix", "end_of_word_suffix"};

	/* files from 2020 do not state the type */
	if (*type_of(model) ? strcmp(type_of(model), "BPE") != 0 : !json_object_get(model, "merges"))
		return refuse(tokenizer, "model", *type_of(model) ? type_of(model) : "not stated", error);
	for (size_t i = 0; i < sizeof(affixes) / sizeof(affixes[0]); i++) {
		const char *affix = json_string_value(json_object_get(model, affixes[i]));

		if (affix && *affix)
			return refuse(tokenizer, "model", "BPE with marks at the ends of words", error);
	}
	return kwhy_bpe_read(&tokenizer->bpe, model, tokenizer->path, error);
}

static enum kwhy_status read_root(
	struct kwhy_llm_tokenizer *tokenizer, const json_t *root, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_word_split_open(&tokenizer->split, error);

	if (!status)
		status = read_parts(tokenizer, json_object_get(root, "normalizer"), "normalizers",
			read_normalizer, error);
	if (!status)
		status = read_parts(tokenizer, json_object_get(root, "pre_tokenizer"), "pretokenizers",
			read_pre_tokenizer, error);
	if (!status)
		status = read_specials(tokenizer, json_object_get(root, "added_tokens"), error);
	if (!status)
		status = read_model(tokenizer, json_object_get(root, "model"), error);
	/* a text can be split before each U+2581, unless a token contains U+2581 after other text */
	if (!status && tokenizer->blanks && !kwhy_bpe_crosses(&tokenizer->bpe, BLANK))
		status = kwhy_word_split_add(&tokenizer->split, BLANK "*[^" BLANK "]+|" BLANK "+", error);
	return status;
}

enum kwhy_status kwhy_llm_tokenizer_open(
	const char *path, struct kwhy_llm_tokenizer **out, struct kwhy_error *error)
{
	struct kwhy_llm_tokenizer *tokenizer = calloc(1, sizeof(*tokenizer));
	struct kwhy_text text = {0};
	json_t *root = NULL;
	json_error_t where;
	enum kwhy_status status;

	if (!tokenizer)
		return kwhy_fail_memory(error, "the tokenizer");
	tokenizer->path = path;
	status = kwhy_file_read(path, FILE_BYTES_MAX, &text, error);
	if (!status) {
		root = json_loadb(text.data ? text.data : "", text.length, 0, &where);
		if (!root)
			status = kwhy_fail(error, KWHY_E_INPUT,
				"%.200s line %d: %s; --tokenizer takes a tokenizer.json", path, where.line,
				where.text);
	}
	kwhy_text_done(&text);
	if (!status)
		status = read_root(tokenizer, root, error);
	json_decref(root);
	tokenizer->path = NULL;
	if (status)
		kwhy_llm_tokenizer_close(tokenizer);
	else
		*out = tokenizer;
	return status;
}

void kwhy_llm_tokenizer_close(struct kwhy_llm_tokenizer *tokenizer)
{
	if (!tokenizer)
		return;
	for (size_t i = 0; i < tokenizer->special_count; i++)
		free(tokenizer->specials[i].text);
	free(tokenizer->specials);
	kwhy_bpe_done(&tokenizer->bpe);
	kwhy_word_split_close(&tokenizer->split);
	free(tokenizer);
}

/* --- Texts --- */

struct taker {
	struct kwhy_llm_tokenizer *tokenizer;
	kwhy_llm_take_token *take;
	void *context;
	const char *start; /* start of the whole text */
};

static enum kwhy_status take_word(void *context, const char *word, size_t length, struct kwhy_error *error)
{
	const struct taker *taker = context;

	return kwhy_bpe_word(&taker->tokenizer->bpe, word, length, taker->take, taker->context, error);
}

static bool gets_prefix(const struct taker *taker, const char *text)
{
	enum prefix prefix = taker->tokenizer->prefix;

	if (prefix == PREFIX_NEVER || prefix == PREFIX_ALWAYS)
		return prefix == PREFIX_ALWAYS;
	return *text != ' ' && (prefix == PREFIX_IF_MISSING || text == taker->start);
}

/*
 * Passes on the tokens of a text without special tokens: adds the prefix, replaces spaces, splits it into
 * words and tokenizes each.
 */
static enum kwhy_status take_text(
	const struct taker *taker, const char *text, size_t length, struct kwhy_error *error)
{
	struct kwhy_llm_tokenizer *tokenizer = taker->tokenizer;
	const char *space = tokenizer->blanks ? BLANK : " ";
	struct kwhy_text made = {0};
	enum kwhy_status status;

	if (!length)
		return KWHY_OK;
	if (gets_prefix(taker, text))
		kwhy_text_add(&made, space);
	for (size_t i = 0; i < length; i++)
		if (text[i] == ' ')
			kwhy_text_add(&made, space);
		else
			kwhy_text_add_bytes(&made, text + i, 1);
	status = kwhy_text_check(&made, error);
	if (!status)
		status = kwhy_word_split_each(
			&tokenizer->split, made.data, made.length, take_word, (void *)taker, error);
	kwhy_text_done(&made);
	return status;
}

/*
 * The special token that occurs first from `text` on; if several begin at the same place, the longest of
 * them. NULL: none occurs. A special token is searched for again only if `text` is after the place at which
 * it was found last (special->next).
 */
static const struct special *find_special(
	struct kwhy_llm_tokenizer *tokenizer, const char *text, const char *end)
{
	const struct special *found = NULL;

	for (size_t i = 0; i < tokenizer->special_count; i++) {
		struct special *special = &tokenizer->specials[i];
		const size_t length = strlen(special->text);

		if (!special->next || special->next < text) {
			special->next = memmem(text, (size_t)(end - text), special->text, length);
			special->next = special->next ? special->next : end;
		}
		if (special->next < end &&
			(!found || special->next < found->next ||
				(special->next == found->next && length > strlen(found->text))))
			found = special;
	}
	return found;
}

enum kwhy_status kwhy_llm_tokenize(struct kwhy_llm_tokenizer *tokenizer, const char *text, size_t length,
	kwhy_llm_take_token *take, void *context, struct kwhy_error *error)
{
	const struct taker taker = {tokenizer, take, context, text};
	const char *end = text + length;
	const struct special *special;
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; i < tokenizer->special_count; i++)
		tokenizer->specials[i].next = NULL;
	while (!status && (special = find_special(tokenizer, text, end))) {
		status = take_text(&taker, text, (size_t)(special->next - text), error);
		take(context, special->number);
		text = special->next + strlen(special->text);
	}
	return status ? status : take_text(&taker, text, (size_t)(end - text), error);
}

static void count_one(void *context, uint32_t number)
{
	(void)number;
	++*(size_t *)context;
}

enum kwhy_status kwhy_llm_count_tokens(struct kwhy_llm_tokenizer *tokenizer, const char *text, size_t length,
	size_t *out, struct kwhy_error *error)
{
	*out = 0;
	return kwhy_llm_tokenize(tokenizer, text, length, count_one, out, error);
}
