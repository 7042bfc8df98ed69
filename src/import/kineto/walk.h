/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_KINETO_WALK_H
#define KWHY_IMPORT_KINETO_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Walks over the tokens of a JSON text (json_bridge.h) and checks its grammar. Every value passed was
 * well-formed except for the escapes inside strings and the digits of numbers, which their users check. The
 * token after the last points at a NUL, which no rule of the grammar accepts, so a walk stops there by
 * itself.
 */
struct kwhy_kineto_walk {
	const char *text;
	const uint32_t *token; /* the next token */
	const char *fault;     /* what the grammar expected at *token, where the walk stopped */
};

/* A piece of the text. */
struct kwhy_kineto_span {
	uint32_t at, length;
};

/* Nesting depth beyond which values are refused. */
#define KWHY_KINETO_DEPTH_MAX 512

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

/* The text from `at` to the token `next`, without the white space before that token. */
static inline struct kwhy_kineto_span kwhy_kineto_walk_span(
	const struct kwhy_kineto_walk *walk, uint32_t at, uint32_t next)
{
	while (next > at + 1 && (unsigned char)walk->text[next - 1] <= ' ')
		next--;
	return (struct kwhy_kineto_span){.at = at, .length = next - at};
}

/* Passes a key and its colon. The span is the key without its quotes. */
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

/* Passes a value of any kind. */
bool kwhy_kineto_walk_skip(struct kwhy_kineto_walk *walk);

/* Passes a value of any kind and gives its text. */
bool kwhy_kineto_walk_value(struct kwhy_kineto_walk *walk, struct kwhy_kineto_span *out);

/* After a value inside an object: passes the remaining members and the '}' of the object. */
bool kwhy_kineto_walk_skip_members(struct kwhy_kineto_walk *walk);

#endif
