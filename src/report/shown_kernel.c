/* SPDX-License-Identifier: Apache-2.0 */
#include "report/shown_name.h"

#include <ctype.h>
#include <string.h>

/*
 * State while the name of a kernel is simplified: the rest of the name, and `length` bytes of the result,
 * which is never longer than the name.
 */
struct simpler {
	const char *read;
	char *out;
	size_t length;
};

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool skip_word(struct simpler *simpler, const char *word)
{
	size_t length = strlen(word);

	if (strncmp(simpler->read, word, length) != 0)
		return false;
	simpler->read += length;
	return true;
}

/*
 * Handles the "::" of "A::B". Drops A, which is at the end of the output, with two exceptions: before a
 * lambda, which has no name, A stays, followed by a space; if A ends in '>' as an instance of a template,
 * "A::" stays.
 */
static void take_scope(struct simpler *simpler)
{
	simpler->read += 2;
	if (*simpler->read == '[' || *simpler->read == '{') {
		simpler->out[simpler->length++] = ' ';
		return;
	}
	if (simpler->length && simpler->out[simpler->length - 1] == '>') {
		memcpy(simpler->out + simpler->length, "::", 2);
		simpler->length += 2;
		return;
	}
	while (simpler->length && is_word(simpler->out[simpler->length - 1]))
		simpler->length--;
}

static const char *closing(const char *open)
{
	size_t depth = 0;

	for (; *open; open++) {
		depth += *open == '(';
		if (*open == ')' && --depth == 0)
			return open;
	}
	return NULL;
}

/*
 * Drops text in parentheses, such as parameters and casts. "(instance 2)" of a lambda becomes "#2", and
 * "operator()" keeps its parentheses.
 */
static void take_parenthesis(struct simpler *simpler)
{
	const char *end = closing(simpler->read);

	if (!end) {
		simpler->read += strlen(simpler->read);
	} else if (strncmp(simpler->read, "(instance ", 10) == 0) {
		simpler->read += 10;
		simpler->out[simpler->length++] = '#';
		while (simpler->read < end)
			simpler->out[simpler->length++] = *simpler->read++;
		simpler->read = end + 1;
	} else if (simpler->length >= 8 && memcmp(simpler->out + simpler->length - 8, "operator", 8) == 0) {
		memcpy(simpler->out + simpler->length, "()", 2);
		simpler->length += 2;
		simpler->read = end + 1;
	} else {
		simpler->read = end + 1;
	}
}

/*
 * Takes a space. It is written unless the output has a space, '<', '[' or nothing before it, or a space, '>',
 * '&', '*' or nothing follows in the name.
 */
static void take_space(struct simpler *simpler)
{
	char before = simpler->length ? simpler->out[simpler->length - 1] : ' ';

	simpler->read++;
	if (before == ' ' || before == '<' || before == '[' || !*simpler->read || *simpler->read == '>' ||
		*simpler->read == ' ' || *simpler->read == '&' || *simpler->read == '*')
		return;
	simpler->out[simpler->length++] = ' ';
}

static void take(struct simpler *simpler)
{
	char before = simpler->length ? simpler->out[simpler->length - 1] : ' ';

	if (skip_word(simpler, "(anonymous namespace)::") || skip_word(simpler, "<unnamed>::"))
		return;
	/* demanglers write this between a lambda and a lambda inside of it */
	if (skip_word(simpler, "::operator()() const") || skip_word(simpler, "::operator ()() const"))
		return;
	if ((before == ' ' || before == '<') &&
		skip_word(simpler, "void ")) /* some demanglers write return types of templates' functions
						within names */
		return;
	if (simpler->read[0] == ':' && simpler->read[1] == ':')
		take_scope(simpler);
	else if (*simpler->read == '(')
		take_parenthesis(simpler);
	else if (*simpler->read == ' ')
		take_space(simpler);
	else
		simpler->out[simpler->length++] = *simpler->read++;
}

char *kwhy_shown_kernel(struct kwhy_arena *arena, const char *name)
{
	struct simpler simpler = {.read = name, .out = kwhy_arena_alloc(arena, strlen(name) + 3, 1)};

	if (!simpler.out)
		return NULL;
	while (*simpler.read)
		take(&simpler);
	while (simpler.length && simpler.out[simpler.length - 1] == ' ')
		simpler.length--;
	simpler.out[simpler.length] = '\0';
	return simpler.length ? simpler.out : kwhy_arena_copy(arena, name);
}
