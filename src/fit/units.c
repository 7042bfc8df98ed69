/* SPDX-License-Identifier: Apache-2.0 */
#include "fit/units.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define JOULE     \
	{         \
		1 \
	}
#define SECOND       \
	{            \
		0, 1 \
	}
#define BYTE            \
	{               \
		0, 0, 1 \
	}
#define FLOP               \
	{                  \
		0, 0, 0, 1 \
	}
#define GRAM                  \
	{                     \
		0, 0, 0, 0, 1 \
	}
#define METRE                    \
	{                        \
		0, 0, 0, 0, 0, 1 \
	}
#define WATT          \
	{             \
		1, -1 \
	}
#define FLOP_PER_S          \
	{                   \
		0, -1, 0, 1 \
	}
#define ONE       \
	{         \
		0 \
	}

static const struct word {
	const char *text;
	bool takes_prefix;
	struct kwhy_unit unit;
} words[] = {
	{"J", true, {1, JOULE}},
	{"Wh", true, {3600, JOULE}},
	{"W", true, {1, WATT}},
	{"s", true, {1, SECOND}},
	{"min", false, {60, SECOND}},
	{"h", false, {3600, SECOND}},
	{"day", false, {86400, SECOND}},
	{"year", false, {KWHY_DAYS_PER_YEAR * 86400, SECOND}},
	{"B", true, {1, BYTE}},
	{"byte", false, {1, BYTE}},
	{"bytes", false, {1, BYTE}},
	{"bit", true, {0.125, BYTE}},
	{"KiB", false, {1024, BYTE}},
	{"MiB", false, {1048576, BYTE}},
	{"GiB", false, {1073741824, BYTE}},
	{"FLOP", true, {1, FLOP}},
	{"FLOPS", true, {1, FLOP_PER_S}},
	{"FMA", false, {2, FLOP}},
	{"g", true, {1, GRAM}},
	{"m", true, {1, METRE}},
	{"mile", false, {1609.344, METRE}},
	{"miles", false, {1609.344, METRE}},
	{"%", false, {0.01, ONE}},
	{"ppm", false, {1e-6, ONE}},
	{"x", false, {1, ONE}},
	{"1", false, {1, ONE}},
};

/* Words for counted things, which count as the number 1 in a unit: J/token is J. */
static const char *const counts[] = {"op", "ops", "transfer", "transfers", "copies", "kernel", "kernels",
	"collective", "collectives", "sync", "syncs", "step", "steps", "run", "runs", "token", "tokens",
	"sample", "samples", "cell", "cells", "flow", "flows", "element", "elements", "size", "sizes", "pair",
	"pairs", "config", "configs", "line", "lines", "order", "orders", "point", "points", "layer",
	"layers"};

static const struct {
	const char *text;
	double factor;
} prefixes[] = {{"f", 1e-15}, {"p", 1e-12}, {"n", 1e-9}, {"u", 1e-6}, {"\xC2\xB5", 1e-6}, {"\xCE\xBC", 1e-6},
	{"m", 1e-3}, {"k", 1e3}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {"P", 1e15}};

static const struct word *find(const char *text, size_t length)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i].text) == length && memcmp(words[i].text, text, length) == 0)
			return &words[i];
	return NULL;
}

static bool is_counted(const char *text, size_t length)
{
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		if (strlen(counts[i]) == length && memcmp(counts[i], text, length) == 0)
			return true;
	return length == 0;
}

/*
 * Parses a word with or without an SI prefix. The whole word is tried first, so that "min" is a minute, not a
 * milli-inch.
 */
static bool parse_word(const char *text, size_t length, struct kwhy_unit *out)
{
	const struct word *word = find(text, length);

	*out = (struct kwhy_unit){.factor = 1};
	if (word) {
		*out = word->unit;
		return true;
	}
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		size_t skip = strlen(prefixes[i].text);

		if (skip >= length || memcmp(prefixes[i].text, text, skip) != 0)
			continue;
		word = find(text + skip, length - skip);
		if (word && word->takes_prefix) {
			*out = word->unit;
			out->factor *= prefixes[i].factor;
			return true;
		}
	}
	return is_counted(text, length);
}

bool kwhy_unit_parse(const char *text, struct kwhy_unit *out)
{
	int sign = 1;

	*out = (struct kwhy_unit){.factor = 1};
	for (;;) {
		size_t length = strcspn(text, "/*");
		struct kwhy_unit word;

		if (!parse_word(text, length, &word))
			return false;
		out->factor = sign > 0 ? out->factor * word.factor : out->factor / word.factor;
		for (int i = 0; i < KWHY_DIMENSION_COUNT; i++)
			out->powers[i] += sign * word.powers[i];
		if (!text[length])
			return true;
		sign = text[length] == '/' ? -1 : 1;
		text += length + 1;
	}
}

bool kwhy_unit_is_alike(const struct kwhy_unit *a, const struct kwhy_unit *b)
{
	return memcmp(a->powers, b->powers, sizeof(a->powers)) == 0;
}

static size_t add_words(char *out, size_t used, const struct kwhy_unit *unit, int sign)
{
	static const char *const names[KWHY_DIMENSION_COUNT] = {"J", "s", "B", "FLOP", "g", "m"};

	for (int i = 0; i < KWHY_DIMENSION_COUNT; i++)
		for (int n = 0; n < sign * unit->powers[i] && used + 8 < KWHY_UNIT_BYTES; n++)
			used += (size_t)snprintf(out + used, KWHY_UNIT_BYTES - used, "%s%s",
				sign < 0       ? "/"
					: used ? "*"
					       : "",
				names[i]);
	return used;
}

const char *kwhy_unit_name(char out[KWHY_UNIT_BYTES], const struct kwhy_unit *unit)
{
	static const int watt[KWHY_DIMENSION_COUNT] = WATT;

	*out = '\0';
	if (memcmp(unit->powers, watt, sizeof(watt)) == 0)
		snprintf(out, KWHY_UNIT_BYTES, "W");
	else
		add_words(out, add_words(out, 0, unit, 1), unit, -1);
	return out;
}
