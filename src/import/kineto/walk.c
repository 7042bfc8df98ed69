/* SPDX-License-Identifier: Apache-2.0 */
#include "import/kineto/walk.h"

#include <string.h>

enum value_class { CLASS_NONE, CLASS_SCALAR, CLASS_WORD, CLASS_OBJECT, CLASS_ARRAY };

/*
 * What a value is, by its first byte. CLASS_SCALAR is one token whose text is not checked here; CLASS_WORD is
 * one token whose text skip_word() checks. '-' is a CLASS_WORD, because it may begin a number or -Infinity.
 */
static const unsigned char class_of[256] = {
	['"'] = CLASS_SCALAR,
	['0' ... '9'] = CLASS_SCALAR,
	['-'] = CLASS_WORD,
	['a' ... 'z'] = CLASS_WORD,
	['A' ... 'Z'] = CLASS_WORD,
	['{'] = CLASS_OBJECT,
	['['] = CLASS_ARRAY,
};

static bool skip_value(struct kwhy_kineto_walk *walk, unsigned depth);

/*
 * Skips a negative number, one of JSON's words true, false and null, or a word that printf() and Python write
 * for infinity or NaN. The functions that read numbers refuse all these words.
 */
static bool skip_word(struct kwhy_kineto_walk *walk)
{
	static const char *const words[] = {
		"true", "false", "null", "NaN", "nan", "Infinity", "inf", "INF", "NAN"};
	const char *text = walk->text + *walk->token;
	struct kwhy_kineto_span span = kwhy_kineto_walk_span(walk, walk->token[0], walk->token[1]);
	size_t minus = *text == '-';

	if (minus && span.length > 1 && text[1] >= '0' && text[1] <= '9') {
		walk->token++;
		return true;
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (span.length - minus == strlen(words[i]) &&
			!memcmp(text + minus, words[i], span.length - minus)) {
			walk->token++;
			return true;
		}
	return kwhy_kineto_walk_fail(walk, "a value");
}

/*
 * Skips the members of an object. The walk must be before the first key, or before the key after a ','; it
 * moves past the '}'.
 */
static bool skip_members(struct kwhy_kineto_walk *walk, unsigned depth)
{
	for (;;) {
		if (!kwhy_kineto_walk_take(walk, '"', "a key in quotes"))
			return false;
		if (!kwhy_kineto_walk_take(walk, ':', "':' after a key"))
			return false;
		if (!skip_value(walk, depth))
			return false;
		if (kwhy_kineto_walk_peek(walk) != ',')
			return kwhy_kineto_walk_take(walk, '}', "',' or '}' after a value");
		walk->token++;
	}
}

static bool skip_object(struct kwhy_kineto_walk *walk, unsigned depth)
{
	walk->token++;
	if (kwhy_kineto_walk_peek(walk) == '}') {
		walk->token++;
		return true;
	}
	return skip_members(walk, depth);
}

static bool skip_array(struct kwhy_kineto_walk *walk, unsigned depth)
{
	walk->token++;
	if (kwhy_kineto_walk_peek(walk) == ']') {
		walk->token++;
		return true;
	}
	for (;;) {
		if (!skip_value(walk, depth))
			return false;
		if (kwhy_kineto_walk_peek(walk) != ',')
			return kwhy_kineto_walk_take(walk, ']', "',' or ']' after a value");
		walk->token++;
	}
}

static bool skip_container(struct kwhy_kineto_walk *walk, enum value_class class, unsigned depth)
{
	if (depth == 0)
		return kwhy_kineto_walk_fail(walk, KWHY_KINETO_LESS_DEEP);
	return class == CLASS_OBJECT ? skip_object(walk, depth - 1) : skip_array(walk, depth - 1);
}

static inline bool skip_value(struct kwhy_kineto_walk *walk, unsigned depth)
{
	enum value_class class = class_of[(unsigned char)kwhy_kineto_walk_peek(walk)];

	if (class == CLASS_SCALAR) {
		walk->token++;
		return true;
	}
	if (class == CLASS_NONE)
		return kwhy_kineto_walk_fail(walk, "a value");
	return class == CLASS_WORD ? skip_word(walk) : skip_container(walk, class, depth);
}

bool kwhy_kineto_walk_skip_other(struct kwhy_kineto_walk *walk)
{
	return skip_value(walk, KWHY_KINETO_DEPTH_MAX);
}

bool kwhy_kineto_walk_skip_members(struct kwhy_kineto_walk *walk)
{
	if (kwhy_kineto_walk_peek(walk) != ',')
		return kwhy_kineto_walk_take(walk, '}', "',' or '}' after a value");
	walk->token++;
	return skip_members(walk, KWHY_KINETO_DEPTH_MAX);
}
