/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_KINETO_WALK_H
#define KWHY_IMPORT_KINETO_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Moves over the tokens of a JSON text (json_bridge.h) and checks its grammar. The escapes in strings and the
 * digits of numbers are not checked here. A NUL follows the text and is its last token; no rule of the
 * grammar accepts a NUL, so a walk cannot pass the end of the text.
 */
struct kwhy_kineto_walk {
	const char *text;
	const uint32_t *token; /* the next token */
	const char *fault;     /* what was expected at *token, for messages; set when a function below returns
				  false */
};

/* Bytes [at, at + length) of the text. */
struct kwhy_kineto_span {
	uint32_t at, length;
};

/* Largest depth of nested values; deeper values are refused. */
#define KWHY_KINETO_DEPTH_MAX 512
/* The text that walk->fault has if a value is nested deeper. */
#define KWHY_KINETO_LESS_DEEP "a value that is nested less deeply"

static inline char kwhy_kineto_walk_peek(const struct kwhy_kineto_walk *walk)
{
	return walk->text[*walk->token];
}

static inline bool kwhy_kineto_walk_fail(struct kwhy_kineto_walk *walk, const char *fault)
{
	walk->fault = fault;
	return false;
}

static inline bool kwhy_kineto_walk_take(struct kwhy_kineto_walk *walk, char wanted, const char *fault)
{
	if (kwhy_kineto_walk_peek(walk) != wanted)
		return kwhy_kineto_walk_fail(walk, fault);
	walk->token++;
	return true;
}

/* The bytes from offset `at` up to the token at offset `next`, without the white space before that token. */
static inline struct kwhy_kineto_span kwhy_kineto_walk_span(
	const struct kwhy_kineto_walk *walk, uint32_t at, uint32_t next)
{
	while (next > at + 1 && (unsigned char)walk->text[next - 1] <= ' ')
		next--;
	return (struct kwhy_kineto_span){.at = at, .length = next - at};
}

/* Skips a key and its colon, and gives the key without its quotes. */
static inline bool kwhy_kineto_walk_key(struct kwhy_kineto_walk *walk, struct kwhy_kineto_span *out)
{
	uint32_t at = *walk->token;

	if (!kwhy_kineto_walk_take(walk, '"', "a key in quotes"))
		return false;
	*out = kwhy_kineto_walk_span(walk, at, *walk->token);
	out->at++;
	out->length -= 2;
	return kwhy_kineto_walk_take(walk, ':', "':' after a key");
}

/* Skips a value that does not begin with a quote or a digit; called by kwhy_kineto_walk_skip(). */
bool kwhy_kineto_walk_skip_other(struct kwhy_kineto_walk *walk);

/* Skips a value of any type. Most are strings and numbers, which are one token. */
static inline bool kwhy_kineto_walk_skip(struct kwhy_kineto_walk *walk)
{
	char first = kwhy_kineto_walk_peek(walk);

	if (first != '"' && (first < '0' || first > '9'))
		return kwhy_kineto_walk_skip_other(walk);
	walk->token++;
	return true;
}

/* Skips a value of any type and gives its text. */
static inline bool kwhy_kineto_walk_value(struct kwhy_kineto_walk *walk, struct kwhy_kineto_span *out)
{
	uint32_t at = *walk->token;

	if (!kwhy_kineto_walk_skip(walk))
		return false;
	*out = kwhy_kineto_walk_span(walk, at, *walk->token);
	return true;
}

/* Skips the rest of an object, from after a member's value to past the '}'. */
bool kwhy_kineto_walk_skip_members(struct kwhy_kineto_walk *walk);

#endif
