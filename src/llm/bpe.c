/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/bpe.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define NO_RANK UINT32_MAX

/* Number of bytes of the UTF-8 character whose first byte is *text. */
static size_t character_bytes(const char *text)
{
	const unsigned char first = (unsigned char)*text;

	return first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/* Reads a character of UTF-8, which jansson has checked. Returns its number of bytes. */
static size_t read_character(const char *text, uint32_t *out)
{
	const unsigned char first = (unsigned char)*text;
	const size_t length = character_bytes(text);

	*out = length == 1 ? first : first & (0x7fu >> length);
	for (size_t i = 1; i < length; i++)
		*out = *out << 6 | ((unsigned char)text[i] & 0x3f);
	return length;
}

/*
 * GPT-2's vocabulary writes each byte of a token as one character. Whether it writes this byte as the
 * character with the same number.
 */
static bool is_itself(uint32_t byte)
{
	return (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) ||
		(byte >= 0xae && byte <= 0xff);
}

/*
 * The byte for which a character of GPT-2's vocabulary stands; -1: none. The bytes for which is_itself() is
 * false are, in ascending order, the characters from U+0100 on.
 */
static int byte_of(uint32_t character)
{
	uint32_t others = 0x100;

	if (character < 0x100)
		return is_itself(character) ? (int)character : -1;
	for (uint32_t byte = 0; byte < 0x100; byte++)
		if (!is_itself(byte) && others++ == character)
			return (int)byte;
	return -1;
}

/*
 * Writes the bytes of a token of a tokenizer.json to `out`. With by_bytes, each character of `text` stands
 * for a byte; false: a character stands for no byte, as may be in added tokens.
 */
static bool decode(const struct kwhy_bpe *bpe, const char *text, struct kwhy_text *out)
{
	kwhy_text_clear(out);
	while (*text) {
		uint32_t character;
		size_t length = read_character(text, &character);
		int byte = byte_of(character);
		char one = (char)byte;

		if (bpe->by_bytes && byte < 0)
			return false;
		kwhy_text_add_bytes(out, bpe->by_bytes ? &one : text, bpe->by_bytes ? 1 : length);
		text += length;
	}
	return true;
}

static const struct kwhy_map_slot *token_of(
	const struct kwhy_bpe *bpe, const char *text, struct kwhy_text *scratch)
{
	return decode(bpe, text, scratch) && scratch->length
		? kwhy_map_find_bytes(&bpe->tokens, scratch->data, scratch->length)
		: NULL;
}

/* The byte that a token such as "<0x0A>" stands for; -1: the token has another form. */
static int byte_named(const char *text)
{
	char *end;
	unsigned long byte;

	if (strncmp(text, "<0x", 3) != 0 || strlen(text) != 6)
		return -1;
	byte = strtoul(text + 3, &end, 16);
	return strcmp(end, ">") == 0 ? (int)byte : -1;
}

static enum kwhy_status read_tokens(
	struct kwhy_bpe *bpe, const json_t *vocab, struct kwhy_text *scratch, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	const char *text;
	json_t *number;

	json_object_foreach((json_t *)vocab, text, number)
	{
		struct kwhy_map_slot *slot;
		int byte;

		if (!decode(bpe, text, scratch) || !scratch->length)
			continue;
		status = kwhy_map_add_bytes(&bpe->tokens, scratch->data, scratch->length,
			(uint32_t)json_integer_value(number), &slot, error);
		if (status)
			break;
		byte = bpe->by_bytes ? scratch->length == 1 ? (unsigned char)*scratch->data : -1
				     : byte_named(text);
		if (byte < 0)
			continue;
		bpe->bytes[byte] = (uint32_t)json_integer_value(number);
		bpe->has_byte[byte] = true;
	}
	return status;
}

/*
 * Splits a merge, an array of two texts or one text with a space between them, into its two sides. False: it
 * has another form. The caller frees *out_left, in which *out_right may lie.
 */
static bool split_merge(const json_t *merge, char **out_left, const char **out_right)
{
	const char *text = json_string_value(merge), *left = json_string_value(json_array_get(merge, 0));
	char *space;

	*out_right = json_string_value(json_array_get(merge, 1));
	*out_left = text ? strdup(text) : left ? strdup(left) : NULL;
	if (!*out_left || !text)
		return *out_left && *out_right;
	space = strchr(*out_left, ' ');
	if (!space)
		return false;
	*space = '\0';
	*out_right = space + 1;
	return true;
}

/*
 * Adds the merge with this rank, its index in the file. KWHY_E_INPUT: one of its two sides or their
 * concatenation is no token.
 */
static enum kwhy_status read_merge(struct kwhy_bpe *bpe, const json_t *merge, uint32_t rank, const char *path,
	struct kwhy_text *scratch, struct kwhy_error *error)
{
	const struct kwhy_map_slot *left = NULL, *right = NULL, *both = NULL;
	struct kwhy_text joined = {0};
	enum kwhy_status status;
	const char *after;
	char *before;

	if (split_merge(merge, &before, &after)) {
		kwhy_text_addf(&joined, "%s%s", before, after);
		left = token_of(bpe, before, scratch);
		right = token_of(bpe, after, scratch);
		both = joined.failed ? NULL : token_of(bpe, joined.data, scratch);
	}
	if (left && right && both) {
		struct kwhy_map_slot *slot;

		bpe->merged[rank] = both->value;
		status = kwhy_map_add(
			&bpe->ranks, (uint64_t)left->value << 32 | right->value, rank, &slot, error);
	} else {
		status = kwhy_fail(error, KWHY_E_INPUT,
			"%.200s: merge %u is not one of two tokens to a third of its vocabulary", path,
			rank + 1);
	}
	free(before);
	kwhy_text_done(&joined);
	return status;
}

enum kwhy_status kwhy_bpe_read(
	struct kwhy_bpe *bpe, const json_t *model, const char *path, struct kwhy_error *error)
{
	const json_t *merges = json_object_get(model, "merges");
	const char *unknown = json_string_value(json_object_get(model, "unk_token"));
	const json_t *number = unknown ? json_object_get(json_object_get(model, "vocab"), unknown) : NULL;
	struct kwhy_text scratch = {0};
	enum kwhy_status status;

	bpe->whole_words = json_is_true(json_object_get(model, "ignore_merges"));
	bpe->has_unknown = json_is_integer(number);
	bpe->fuses_unknown = json_is_true(json_object_get(model, "fuse_unk"));
	bpe->unknown = (uint32_t)json_integer_value(number);
	bpe->merge_count = json_array_size(merges);
	bpe->merged = calloc(bpe->merge_count + 1, sizeof(*bpe->merged));
	if (!bpe->merged)
		return kwhy_fail_memory(error, "the tokenizer");
	status = read_tokens(bpe, json_object_get(model, "vocab"), &scratch, error);
	if (!status && !bpe->tokens.count)
		status = kwhy_fail(error, KWHY_E_INPUT, "%.200s: its model has no vocabulary", path);
	for (size_t i = 0; !status && i < bpe->merge_count; i++)
		status = read_merge(bpe, json_array_get(merges, i), (uint32_t)i, path, &scratch, error);
	for (size_t byte = 0; !status && bpe->by_bytes && byte < 256; byte++)
		if (!bpe->has_byte[byte] && !bpe->has_unknown)
			status = kwhy_fail(
				error, KWHY_E_INPUT, "%.200s: its vocabulary lacks byte %zu", path, byte);
	kwhy_text_done(&scratch);
	return status;
}

static void scratch_done(struct kwhy_bpe_scratch *scratch)
{
	free(scratch->numbers);
	free(scratch->ranks);
	free(scratch->next);
	free(scratch->previous);
	free(scratch->pairs);
	*scratch = (struct kwhy_bpe_scratch){0};
}

void kwhy_bpe_done(struct kwhy_bpe *bpe)
{
	kwhy_map_done(&bpe->tokens);
	kwhy_map_done(&bpe->ranks);
	free(bpe->merged);
	scratch_done(&bpe->scratch);
	*bpe = (struct kwhy_bpe){0};
}

bool kwhy_bpe_crosses(const struct kwhy_bpe *bpe, const char *mark)
{
	size_t length = strlen(mark);

	for (size_t i = 0; i < bpe->tokens.slot_count; i++) {
		const char *at = bpe->tokens.bytes[i];

		while (at && strncmp(at, mark, length) == 0)
			at += length;
		if (at && strstr(at, mark))
			return true;
	}
	return false;
}

/*
 * Appends, to the `count` tokens in `out`, those of a character that is no token itself: the tokens of its
 * bytes or, if a byte has none, the unknown token. The latter is left out if the tokenizer has none, or if it
 * fuses unknown characters and the token before is one. Returns the number of appended tokens.
 */
static size_t add_bytes(
	const struct kwhy_bpe *bpe, const char *text, size_t length, uint32_t *out, size_t count)
{
	bool follows_unknown = count && out[count - 1] == bpe->unknown;

	for (size_t i = 0; i < length; i++)
		if (!bpe->has_byte[(unsigned char)text[i]]) {
			out[count] = bpe->unknown;
			return bpe->has_unknown && !(bpe->fuses_unknown && follows_unknown);
		}
	for (size_t i = 0; i < length; i++)
		out[count + i] = bpe->bytes[(unsigned char)text[i]];
	return length;
}

/*
 * Writes the tokens of a word before any merge, one for each byte (by_bytes) or character. Returns their
 * number.
 */
static size_t begin_word(const struct kwhy_bpe *bpe, const char *word, size_t length, uint32_t *out)
{
	size_t count = 0;

	for (size_t at = 0, bytes; at < length; at += bytes) {
		const struct kwhy_map_slot *slot = NULL;

		bytes = 1;
		if (!bpe->by_bytes) {
			bytes = character_bytes(word + at);
			bytes = bytes <= length - at ? bytes : length - at;
			slot = kwhy_map_find_bytes(&bpe->tokens, word + at, bytes);
		}
		if (slot)
			out[count++] = slot->value;
		else
			count += add_bytes(bpe, word + at, bytes, out, count);
	}
	return count;
}

static uint32_t rank_of(const struct kwhy_bpe *bpe, uint32_t left, uint32_t right)
{
	const struct kwhy_map_slot *slot = kwhy_map_find(&bpe->ranks, (uint64_t)left << 32 | right);

	return slot ? slot->value : NO_RANK;
}

/* Adds a pair to the min-heap scratch->pairs. */
static void push(struct kwhy_bpe_scratch *scratch, uint64_t pair)
{
	size_t at = scratch->pair_count++;

	while (at && scratch->pairs[(at - 1) / 2] > pair) {
		scratch->pairs[at] = scratch->pairs[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	scratch->pairs[at] = pair;
}

/* Takes the least pair off the min-heap, which must not be empty. */
static uint64_t pop(struct kwhy_bpe_scratch *scratch)
{
	const uint64_t least = scratch->pairs[0], last = scratch->pairs[--scratch->pair_count];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < scratch->pair_count) {
		child += child + 1 < scratch->pair_count && scratch->pairs[child + 1] < scratch->pairs[child];
		if (scratch->pairs[child] >= last)
			break;
		scratch->pairs[at] = scratch->pairs[child];
		at = child;
	}
	scratch->pairs[at] = last;
	return least;
}

/*
 * Sets ranks[at] to the rank of the pair that the token at `at` and the next one form, and adds the pair to
 * the heap if it may be merged.
 */
static void rank_pair(const struct kwhy_bpe *bpe, struct kwhy_bpe_scratch *scratch, size_t at, size_t count)
{
	const size_t after = scratch->next[at];

	scratch->ranks[at] = after < count ? rank_of(bpe, scratch->numbers[at], scratch->numbers[after])
					   : NO_RANK;
	if (scratch->ranks[at] != NO_RANK)
		push(scratch, (uint64_t)scratch->ranks[at] << 32 | at);
}

/*
 * Merges the first `count` tokens of the scratch in place, lowest rank first; returns the number of tokens
 * left.
 */
static size_t merge(const struct kwhy_bpe *bpe, struct kwhy_bpe_scratch *scratch, size_t count)
{
	size_t left = 0;

	scratch->pair_count = 0;
	for (size_t i = 0; i < count; i++) {
		scratch->next[i] = (uint32_t)i + 1;
		scratch->previous[i] = i ? (uint32_t)i - 1 : 0;
	}
	for (size_t i = 0; i < count; i++)
		rank_pair(bpe, scratch, i, count);
	while (scratch->pair_count) {
		const uint64_t pair = pop(scratch);
		const uint32_t rank = (uint32_t)(pair >> 32), at = (uint32_t)pair;
		const size_t right = scratch->next[at];

		if (scratch->ranks[at] != rank)
			continue; /* outdated: one of the two tokens has been merged since the pair was added
				   */
		scratch->numbers[at] = bpe->merged[rank];
		scratch->ranks[right] = NO_RANK;
		scratch->next[at] = scratch->next[right];
		if (scratch->next[at] < count)
			scratch->previous[scratch->next[at]] = at;
		rank_pair(bpe, scratch, at, count);
		if (at)
			rank_pair(bpe, scratch, scratch->previous[at], count);
	}
	for (size_t i = 0; i < count; i = scratch->next[i])
		scratch->numbers[left++] = scratch->numbers[i];
	return left;
}

/*
 * Reserves memory for a word of `bytes` bytes, which has at most as many tokens at the start. At most `bytes`
 * pairs are added at the start and two with each merge, so the heap has 3 * `bytes` elements.
 */
static enum kwhy_status reserve(struct kwhy_bpe_scratch *scratch, size_t bytes, struct kwhy_error *error)
{
	if (bytes <= scratch->capacity)
		return KWHY_OK;
	scratch_done(scratch);
	scratch->numbers = calloc(bytes, sizeof(*scratch->numbers));
	scratch->ranks = calloc(bytes, sizeof(*scratch->ranks));
	scratch->next = calloc(bytes, sizeof(*scratch->next));
	scratch->previous = calloc(bytes, sizeof(*scratch->previous));
	scratch->pairs = calloc(bytes, 3 * sizeof(*scratch->pairs));
	if (!scratch->numbers || !scratch->ranks || !scratch->next || !scratch->previous || !scratch->pairs) {
		scratch_done(scratch);
		return kwhy_fail_memory(error, "the tokens of a text");
	}
	scratch->capacity = bytes;
	return KWHY_OK;
}

enum kwhy_status kwhy_bpe_word(struct kwhy_bpe *bpe, const char *word, size_t length,
	void (*take)(void *context, uint32_t number), void *context, struct kwhy_error *error)
{
	const struct kwhy_map_slot *whole = bpe->whole_words ? kwhy_map_find_bytes(&bpe->tokens, word, length)
							     : NULL;
	enum kwhy_status status;
	size_t count;

	if (whole) {
		take(context, whole->value);
		return KWHY_OK;
	}
	status = reserve(&bpe->scratch, length, error);
	if (status)
		return status;
	count = merge(bpe, &bpe->scratch, begin_word(bpe, word, length, bpe->scratch.numbers));
	for (size_t i = 0; i < count; i++)
		take(context, bpe->scratch.numbers[i]);
	return KWHY_OK;
}
