/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/length.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH_MAX 1000000.0

static const char *const names[] = {
	[KWHY_LLM_LENGTH_FIXED] = "",
	[KWHY_LLM_LENGTH_UNIFORM] = "uniform:",
	[KWHY_LLM_LENGTH_NORMAL] = "normal:",
	[KWHY_LLM_LENGTH_LOGNORMAL] = "lognormal:",
};

/* Reads `count` numbers (1 or 2, separated by a comma) into a and b. False: the text is something else. */
static bool read_numbers(const char *text, int count, struct kwhy_llm_length *out)
{
	char *end;

	out->a = strtod(text, &end);
	if (end == text || (count == 2 && *end != ','))
		return false;
	if (count == 2) {
		text = end + 1;
		out->b = strtod(text, &end);
	}
	return end != text && !*end;
}

static bool is_valid(const struct kwhy_llm_length *length)
{
	bool whole = length->a == floor(length->a) && length->a >= 1 && length->a <= LENGTH_MAX;

	switch (length->kind) {
	case KWHY_LLM_LENGTH_FIXED:
		return whole;
	case KWHY_LLM_LENGTH_UNIFORM:
		return whole && length->b == floor(length->b) && length->b >= length->a &&
			length->b <= LENGTH_MAX;
	case KWHY_LLM_LENGTH_NORMAL:
		return length->a >= 1 && length->a <= LENGTH_MAX && length->b >= 0 && length->b <= LENGTH_MAX;
	default:
		return length->a >= 1 && length->a <= LENGTH_MAX && length->b >= 0 && length->b <= 5;
	}
}

enum kwhy_status kwhy_llm_length_read(
	const char *option, const char *text, struct kwhy_llm_length *out, struct kwhy_error *error)
{
	for (size_t kind = sizeof(names) / sizeof(names[0]); kind-- > 0;) {
		size_t length = strlen(names[kind]);

		if (strncmp(text, names[kind], length) != 0)
			continue;
		*out = (struct kwhy_llm_length){.kind = (enum kwhy_llm_length_kind)kind};
		if (read_numbers(text + length, kind == KWHY_LLM_LENGTH_FIXED ? 1 : 2, out) && is_valid(out))
			return KWHY_OK;
		break;
	}
	return kwhy_fail(error, KWHY_E_USAGE,
		"%s takes 1 to 1000000, uniform:LOW,HIGH, normal:MEAN,SD or lognormal:MEDIAN,SIGMA, not "
		"'%.40s'",
		option, text);
}

uint64_t kwhy_llm_length_draw(const struct kwhy_llm_length *length, struct kwhy_random *random)
{
	double value = length->a;

	if (length->kind == KWHY_LLM_LENGTH_UNIFORM)
		value = floor(length->a + (length->b - length->a + 1) * kwhy_random_uniform(random));
	else if (length->kind == KWHY_LLM_LENGTH_NORMAL)
		value += length->b * kwhy_random_normal(random);
	else if (length->kind == KWHY_LLM_LENGTH_LOGNORMAL)
		value *= exp(length->b * kwhy_random_normal(random));
	return (uint64_t)fmin(fmax(round(value), 1), LENGTH_MAX);
}
