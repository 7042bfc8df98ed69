/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_KINETO_WALK_H
#define KWHY_IMPORT_KINETO_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Moves over the tokens of a JSON text (json_bridge.h) and checks its grammar. Escapes in strings and digits
 * of numbers are checked by the functions that read them. A NUL follows the text, and the last token is that
 * NUL. No rule of the grammar accepts it, so a walk always stops there.
 */
struct kwhy_kineto_walk {
	const char *text;
	const uint32_t *token; /* the next token */
	const char *fault;     /* what the grammar required at *token, if the walk stopped there */
};

/* A part of the text, from offset `at` on. */
struct kwhy_kineto_span {
	uint32_t at, length;
};

/* Largest depth of nested values; deeper values are refused. */
#define KWHY_KINETO_DEPTH_MAX 512
/* Text of walk->fault at a value that is nested deeper. */
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

/* The text from offset `at` to the token at offset `next`, without white space before that token. */
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

/* Skips a value of more than one token; called by kwhy_kineto_walk_skip(). */
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

/* Skips the remaining members of an object after a value, and its '}'. */
bool kwhy_kineto_walk_skip_members(struct kwhy_kineto_walk *walk);

#endif
