/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_KINETO_WALK_H
#define KWHY_IMPORT_KINETO_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Walks over the tokens of a JSON text (json_bridge.h) and checks its grammar on the way: every value passed
 * was well-formed but for the escapes inside strings and the digits of numbers, which whoever uses them
 * checks. The token after the last points at a NUL, which no rule of the grammar takes: a walk stops there by
 * itself.
 */
struct kwhy_kineto_walk {
	const char *text;
	const uint32_t *token; /* the next */
	const char *fault;     /* what the grammar wanted where the walk stopped; the place is *token */
};

/* A piece of the text. */
struct kwhy_kineto_span {
	uint32_t at, length;
};

/* Values nested deeper are refused. */
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

/* From `at` to the token `next`, without the white space before it. */
static inline struct kwhy_kineto_span kwhy_kineto_walk_span(
	const struct kwhy_kineto_walk *walk, uint32_t at, uint32_t next)
{
	while (next > at + 1 && (unsigned char)walk->text[next - 1] <= ' ')
		next--;
	return (struct kwhy_kineto_span){.at = at, .length = next - at};
}

/* A key and its colon; the span is the key without its quotes. */
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

/* The same, and gives its text. */
bool kwhy_kineto_walk_value(struct kwhy_kineto_walk *walk, struct kwhy_kineto_span *out);

/* After a value inside an object: passes what is left of the object with its '}'. */
bool kwhy_kineto_walk_skip_members(struct kwhy_kineto_walk *walk);

#endif
