/* SPDX-License-Identifier: Apache-2.0 */
#include "fit/formula.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 64, DEPTH_MOST = 32 };

/* A formula while it is read, from left to right. */
struct reader {
	const char *text, *at;
	kwhy_formula_find *find;
	void *context;
	struct kwhy_error *error;
	int depth;
};

static enum kwhy_status wrong(struct reader *reader, const char *words)
{
	return kwhy_fail(reader->error, KWHY_E_INPUT, "'%.200s' at byte %zu: %s", reader->text,
		(size_t)(reader->at - reader->text) + 1, words);
}

static char peek(struct reader *reader)
{
	while (*reader->at == ' ')
		reader->at++;
	return *reader->at;
}

/* Joules, seconds, bytes, FLOP or a count: an amount that belongs to the window it was taken in. */
static bool is_amount(const struct kwhy_figure *figure)
{
	int powers = 0;

	for (int i = 0; i < KWHY_DIMENSION_COUNT; i++) {
		if (figure->unit.powers[i] < 0)
			return false;
		powers += figure->unit.powers[i];
	}
	return powers <= 1;
}

static bool has_window(const struct kwhy_figure *figure, const char *window)
{
	for (size_t i = 0; i < figure->window_count; i++)
		if (strcmp(figure->windows[i], window) == 0)
			return true;
	return false;
}

/* What was found of one figure holds for all that is made of it. */
static void join(struct kwhy_figure *into, const struct kwhy_figure *other)
{
	into->mixes_windows |= other->mixes_windows;
	into->mixes_units |= other->mixes_units;
	into->rests_on_wrong |= other->rests_on_wrong;
	for (size_t i = 0; i < other->window_count; i++)
		if (!has_window(into, other->windows[i]) && into->window_count < KWHY_FORMULA_WINDOWS_MAX)
			into->windows[into->window_count++] = other->windows[i];
}

static bool are_of_different_windows(const struct kwhy_figure *a, const struct kwhy_figure *b)
{
	if (!a->window_count || !b->window_count || !is_amount(a) || !is_amount(b))
		return false;
	for (size_t i = 0; i < b->window_count; i++)
		if (!has_window(a, b->windows[i]))
			return true;
	return a->window_count != b->window_count;
}

static void set_ends(struct kwhy_figure *figure, const double ends[4])
{
	figure->low = fmin(fmin(ends[0], ends[1]), fmin(ends[2], ends[3]));
	figure->high = fmax(fmax(ends[0], ends[1]), fmax(ends[2], ends[3]));
}

static void add(struct kwhy_figure *a, const struct kwhy_figure *b, int sign)
{
	a->mixes_windows |= are_of_different_windows(a, b);
	a->mixes_units |= !kwhy_unit_is_alike(&a->unit, &b->unit);
	a->low += sign > 0 ? b->low : -b->high;
	a->high += sign > 0 ? b->high : -b->low;
	a->is_sum = true;
	join(a, b);
}

static void multiply(struct kwhy_figure *a, const struct kwhy_figure *b)
{
	const double ends[4] = {a->low * b->low, a->low * b->high, a->high * b->low, a->high * b->high};

	for (int i = 0; i < KWHY_DIMENSION_COUNT; i++)
		a->unit.powers[i] += b->unit.powers[i];
	set_ends(a, ends);
	a->is_sum = false;
	join(a, b);
}

static enum kwhy_status divide(struct reader *reader, struct kwhy_figure *a, const struct kwhy_figure *b)
{
	const double ends[4] = {a->low / b->low, a->low / b->high, a->high / b->low, a->high / b->high};

	if (b->low <= 0 && b->high >= 0)
		return wrong(reader, "divides by what may be 0");
	a->mixes_windows |= are_of_different_windows(a, b);
	for (int i = 0; i < KWHY_DIMENSION_COUNT; i++)
		a->unit.powers[i] -= b->unit.powers[i];
	set_ends(a, ends);
	a->is_sum = false;
	join(a, b);
	return KWHY_OK;
}

static enum kwhy_status read_sum(struct reader *reader, struct kwhy_figure *out);

static enum kwhy_status read_number(struct reader *reader, struct kwhy_figure *out)
{
	char *end, unit[NAME_BYTES];
	double value = strtod(reader->at, &end);
	size_t length;

	*out = (struct kwhy_figure){.low = value, .high = value, .unit.factor = 1};
	if (end == reader->at || !isfinite(value))
		return wrong(reader, "is neither a number nor a name");
	reader->at = end;
	if (*end != '[')
		return KWHY_OK;
	length = strcspn(end + 1, "]");
	if (length >= sizeof(unit) || end[1 + length] != ']')
		return wrong(reader, "a unit stands between [ and ]");
	memcpy(unit, end + 1, length);
	unit[length] = '\0';
	if (!kwhy_unit_parse(unit, &out->unit))
		return wrong(reader, "has a unit that is not known");
	out->low = out->high = value * out->unit.factor;
	reader->at = end + length + 2;
	return KWHY_OK;
}

static enum kwhy_status read_bracket(struct reader *reader, struct kwhy_figure *out)
{
	enum kwhy_status status;

	if (++reader->depth > DEPTH_MOST)
		return wrong(reader, "is nested too deep");
	reader->at++;
	status = read_sum(reader, out);
	reader->depth--;
	if (status)
		return status;
	if (peek(reader) != ')')
		return wrong(reader, "lacks a )");
	reader->at++;
	return KWHY_OK;
}

/* log10(x) or sqrt(x): of figures without a unit. */
static enum kwhy_status read_function(struct reader *reader, const char *name, struct kwhy_figure *out)
{
	double (*function)(double) = strcmp(name, "log10") == 0 ? log10 : sqrt;
	const struct kwhy_unit none = {.factor = 1};
	enum kwhy_status status = read_bracket(reader, out);

	if (status)
		return status;
	if (!kwhy_unit_is_alike(&out->unit, &none) || !(out->low > 0))
		return wrong(reader, "takes a figure above 0 without a unit");
	out->low = function(out->low);
	out->high = function(out->high);
	return KWHY_OK;
}

static enum kwhy_status read_name(struct reader *reader, struct kwhy_figure *out)
{
	char name[NAME_BYTES];
	size_t length = 0;

	while (isalnum((unsigned char)reader->at[length]) || reader->at[length] == '_')
		length++;
	if (length >= sizeof(name))
		return wrong(reader, "is a name of more than 63 letters");
	memcpy(name, reader->at, length);
	name[length] = '\0';
	reader->at += length;
	if (peek(reader) == '(' && (strcmp(name, "log10") == 0 || strcmp(name, "sqrt") == 0))
		return read_function(reader, name, out);
	return reader->find(reader->context, name, out, reader->error);
}

static enum kwhy_status read_factor(struct reader *reader, struct kwhy_figure *out)
{
	char next = peek(reader);

	if (next == '(')
		return read_bracket(reader, out);
	if (isalpha((unsigned char)next))
		return read_name(reader, out);
	return read_number(reader, out);
}

static enum kwhy_status read_product(struct reader *reader, struct kwhy_figure *out)
{
	enum kwhy_status status = read_factor(reader, out);
	struct kwhy_figure next;

	while (!status && (peek(reader) == '*' || peek(reader) == '/')) {
		char sign = *reader->at++;

		status = read_factor(reader, &next);
		if (!status && sign == '*')
			multiply(out, &next);
		else if (!status)
			status = divide(reader, out, &next);
	}
	return status;
}

static enum kwhy_status read_sum(struct reader *reader, struct kwhy_figure *out)
{
	enum kwhy_status status = read_product(reader, out);
	struct kwhy_figure next;

	while (!status && (peek(reader) == '+' || peek(reader) == '-')) {
		int sign = *reader->at++ == '+' ? 1 : -1;

		status = read_product(reader, &next);
		if (!status)
			add(out, &next, sign);
	}
	return status;
}

enum kwhy_status kwhy_formula_of(const char *text, kwhy_formula_find *find, void *context,
	struct kwhy_figure *out, struct kwhy_error *error)
{
	struct reader reader = {text, text, find, context, error, 0};
	enum kwhy_status status = read_sum(&reader, out);

	if (!status && peek(&reader))
		return wrong(&reader, "goes on after its end");
	return status;
}
