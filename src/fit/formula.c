/* SPDX-License-Identifier: Apache-2.0 */
#include "fit/formula.h"

#include "fit/slope.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 64, DEPTH_MAX = 32, NAMES_MAX = 8 };

/* A name in a formula, and its figure. */
struct named {
	char name[NAME_BYTES];
	struct kwhy_formula_figure figure;
	int uses;
};

/* State of the parser, which reads the formula from left to right. */
struct reader {
	const char *text, *at;
	kwhy_formula_find *find;
	void *context;
	struct kwhy_error *error;
	int depth;
	struct named names[NAMES_MAX];
	size_t name_count;
	bool has_more_names; /* the formula has more than NAMES_MAX names */
};

/* The value of a part of a formula that has been parsed, with its slopes. */
struct term {
	struct kwhy_formula_figure figure;
	struct kwhy_slope_bounds slopes[NAMES_MAX]; /* bounds of the value's derivative with respect to each
						       name in reader.names */
};

static struct kwhy_slope_bounds range_of(const struct kwhy_formula_figure *figure)
{
	return (struct kwhy_slope_bounds){figure->low, figure->high};
}

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

/*
 * Whether a figure is an amount (joules, seconds, bytes, FLOP or a count). Amounts may be added or divided by
 * one another only if they are of the same window (mixes_windows).
 */
static bool is_amount(const struct kwhy_formula_figure *figure)
{
	int powers = 0;

	for (int i = 0; i < KWHY_DIMENSION_COUNT; i++) {
		if (figure->unit.powers[i] < 0)
			return false;
		powers += figure->unit.powers[i];
	}
	return powers <= 1;
}

static bool has_window(const struct kwhy_formula_figure *figure, const char *window)
{
	for (size_t i = 0; i < figure->window_count; i++)
		if (strcmp(figure->windows[i], window) == 0)
			return true;
	return false;
}

/* Adds the windows and properties (mixes_windows and so on) of an operand to those of the result. */
static void join(struct kwhy_formula_figure *into, const struct kwhy_formula_figure *other)
{
	into->mixes_windows |= other->mixes_windows;
	into->mixes_units |= other->mixes_units;
	into->depends_on_wrong |= other->depends_on_wrong;
	for (size_t i = 0; i < other->window_count; i++)
		if (!has_window(into, other->windows[i]) && into->window_count < KWHY_FORMULA_WINDOWS_MAX)
			into->windows[into->window_count++] = other->windows[i];
}

static bool are_of_different_windows(const struct kwhy_formula_figure *a, const struct kwhy_formula_figure *b)
{
	if (!a->window_count || !b->window_count || !is_amount(a) || !is_amount(b))
		return false;
	for (size_t i = 0; i < b->window_count; i++)
		if (!has_window(a, b->windows[i]))
			return true;
	return a->window_count != b->window_count;
}

static void set_range(struct kwhy_formula_figure *figure, struct kwhy_slope_bounds range)
{
	figure->low = range.low;
	figure->high = range.high;
}

static void add(struct term *a, const struct term *b, int sign)
{
	a->figure.mixes_windows |= are_of_different_windows(&a->figure, &b->figure);
	a->figure.mixes_units |= !kwhy_unit_is_alike(&a->figure.unit, &b->figure.unit);
	for (size_t i = 0; i < NAMES_MAX; i++)
		a->slopes[i] = kwhy_range_sum(a->slopes[i], b->slopes[i], sign);
	set_range(&a->figure, kwhy_range_sum(range_of(&a->figure), range_of(&b->figure), sign));
	a->figure.is_sum = true;
	join(&a->figure, &b->figure);
}

static void multiply(struct term *a, const struct term *b)
{
	struct kwhy_slope_bounds by = range_of(&b->figure);

	for (int i = 0; i < KWHY_DIMENSION_COUNT; i++)
		a->figure.unit.powers[i] += b->figure.unit.powers[i];
	for (size_t i = 0; i < NAMES_MAX; i++)
		a->slopes[i] = kwhy_slope_product(range_of(&a->figure), a->slopes[i], by, b->slopes[i]);
	set_range(&a->figure, kwhy_range_product(range_of(&a->figure), by));
	a->figure.is_sum = false;
	join(&a->figure, &b->figure);
}

static enum kwhy_status divide(struct reader *reader, struct term *a, const struct term *b)
{
	struct kwhy_slope_bounds by = range_of(&b->figure);

	if (by.low <= 0 && by.high >= 0)
		return wrong(reader, "divides by what may be 0; divide by a figure that is not");
	a->figure.mixes_windows |= are_of_different_windows(&a->figure, &b->figure);
	for (int i = 0; i < KWHY_DIMENSION_COUNT; i++)
		a->figure.unit.powers[i] -= b->figure.unit.powers[i];
	set_range(&a->figure, kwhy_range_quotient(range_of(&a->figure), by));
	for (size_t i = 0; i < NAMES_MAX; i++)
		a->slopes[i] = kwhy_slope_quotient(range_of(&a->figure), a->slopes[i], by, b->slopes[i]);
	a->figure.is_sum = false;
	join(&a->figure, &b->figure);
	return KWHY_OK;
}

static enum kwhy_status read_sum(struct reader *reader, struct term *out);

static enum kwhy_status read_number(struct reader *reader, struct term *out)
{
	char *end, unit[NAME_BYTES];
	double value = strtod(reader->at, &end);
	size_t length;

	*out = (struct term){.figure = {.low = value, .high = value, .unit.factor = 1}};
	if (end == reader->at || !isfinite(value))
		return wrong(reader, "is neither a number nor a name; write one of them there");
	reader->at = end;
	if (*end != '[')
		return KWHY_OK;
	length = strcspn(end + 1, "]");
	if (length >= sizeof(unit) || end[1 + length] != ']')
		return wrong(reader, "a unit stands between [ and ]; write it as in 40[pJ]");
	memcpy(unit, end + 1, length);
	unit[length] = '\0';
	if (!kwhy_unit_parse(unit, &out->figure.unit))
		return wrong(reader, "has a unit that is not known; write it as in 40[pJ] or 3[MB/s]");
	out->figure.low = out->figure.high = value * out->figure.unit.factor;
	reader->at = end + length + 2;
	return KWHY_OK;
}

static enum kwhy_status read_bracket(struct reader *reader, struct term *out)
{
	enum kwhy_status status;

	if (++reader->depth > DEPTH_MAX)
		return wrong(reader, "is nested too deep; give a part of it a row of its own");
	reader->at++;
	status = read_sum(reader, out);
	reader->depth--;
	if (status)
		return status;
	if (peek(reader) != ')')
		return wrong(reader, "lacks a ); close the bracket");
	reader->at++;
	return KWHY_OK;
}

/*
 * Reads the argument of log10 or sqrt in brackets, which must be above 0 and have no unit, and applies the
 * function `name`.
 */
static enum kwhy_status read_function(struct reader *reader, const char *name, struct term *out)
{
	bool is_log = strcmp(name, "log10") == 0;
	const struct kwhy_unit none = {.factor = 1};
	enum kwhy_status status = read_bracket(reader, out);
	double low = out->figure.low, high = out->figure.high;
	struct kwhy_slope_bounds slope;

	if (status)
		return status;
	if (!kwhy_unit_is_alike(&out->figure.unit, &none) || !(low > 0))
		return wrong(reader, "takes a figure above 0 without a unit; give it such a one");
	slope = is_log ? (struct kwhy_slope_bounds){1 / (high * log(10)), 1 / (low * log(10))}
		       : (struct kwhy_slope_bounds){0.5 / sqrt(high), 0.5 / sqrt(low)};
	for (size_t i = 0; i < NAMES_MAX; i++)
		out->slopes[i] = kwhy_range_product(out->slopes[i], slope);
	out->figure.low = is_log ? log10(low) : sqrt(low);
	out->figure.high = is_log ? log10(high) : sqrt(high);
	return KWHY_OK;
}

/* Finds a name among those that the formula has used so far; NULL: it is new. */
static struct named *known_name(struct reader *reader, const char *name)
{
	for (size_t i = 0; i < reader->name_count; i++)
		if (strcmp(reader->names[i].name, name) == 0)
			return &reader->names[i];
	return NULL;
}

static enum kwhy_status find_name(struct reader *reader, const char *name, struct term *out)
{
	struct named *named = known_name(reader, name);
	enum kwhy_status status = KWHY_OK;

	*out = (struct term){0};
	if (!named && reader->name_count == NAMES_MAX) {
		reader->has_more_names = true;
		return reader->find(reader->context, name, &out->figure, reader->error);
	}
	if (!named) {
		named = &reader->names[reader->name_count];
		status = reader->find(reader->context, name, &named->figure, reader->error);
		if (status)
			return status;
		reader->name_count++;
		snprintf(named->name, sizeof(named->name), "%s", name);
	}
	named->uses++;
	out->figure = named->figure;
	out->slopes[named - reader->names] = (struct kwhy_slope_bounds){1, 1};
	return KWHY_OK;
}

static enum kwhy_status read_name(struct reader *reader, struct term *out)
{
	char name[NAME_BYTES];
	size_t length = 0;

	while (isalnum((unsigned char)reader->at[length]) || reader->at[length] == '_')
		length++;
	if (length >= sizeof(name))
		return wrong(reader, "is a name of more than 63 letters; give the claim a shorter one");
	memcpy(name, reader->at, length);
	name[length] = '\0';
	reader->at += length;
	if (peek(reader) == '(' && (strcmp(name, "log10") == 0 || strcmp(name, "sqrt") == 0))
		return read_function(reader, name, out);
	return find_name(reader, name, out);
}

static enum kwhy_status read_factor(struct reader *reader, struct term *out)
{
	char next = peek(reader);

	if (next == '(')
		return read_bracket(reader, out);
	if (isalpha((unsigned char)next))
		return read_name(reader, out);
	return read_number(reader, out);
}

static enum kwhy_status read_product(struct reader *reader, struct term *out)
{
	enum kwhy_status status = read_factor(reader, out);
	struct term next;

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

static enum kwhy_status read_sum(struct reader *reader, struct term *out)
{
	enum kwhy_status status = read_product(reader, out);
	struct term next;

	while (!status && (peek(reader) == '+' || peek(reader) == '-')) {
		int sign = *reader->at++ == '+' ? 1 : -1;

		status = read_product(reader, &next);
		if (!status)
			add(out, &next, sign);
	}
	return status;
}

static bool comes_again(const struct reader *reader)
{
	for (size_t i = 0; i < reader->name_count; i++)
		if (reader->names[i].uses > 1)
			return true;
	return false;
}

/*
 * Evaluates the formula again for its lowest (or, with is_highest, highest) result: each figure in which the
 * result is monotonic is set to the end of its interval that gives that result; all other figures keep their
 * intervals.
 */
static struct kwhy_slope_bounds at_ends(const struct reader *of, const struct term *whole, bool is_highest)
{
	struct kwhy_error unused;
	struct reader reader = *of;
	struct term term;

	for (size_t i = 0; i < reader.name_count; i++) {
		struct kwhy_formula_figure *figure = &reader.names[i].figure;

		if (whole->slopes[i].low >= 0)
			figure->low = figure->high = is_highest ? figure->high : figure->low;
		else if (whole->slopes[i].high <= 0)
			figure->low = figure->high = is_highest ? figure->low : figure->high;
	}
	reader.at = reader.text;
	reader.error = &unused;
	return read_sum(&reader, &term) ? range_of(&whole->figure) : range_of(&term.figure);
}

/*
 * Narrows the interval of the result if a name occurs more than once in the formula: so far each occurrence
 * counted as an independent figure. Where the slopes show that the result is monotonic in a figure,
 * evaluating at the ends of that figure gives exact ends of the result.
 */
static void tighten(const struct reader *reader, struct term *whole)
{
	struct kwhy_slope_bounds lowest, highest;

	if (reader->has_more_names || !comes_again(reader))
		return;
	lowest = at_ends(reader, whole, false);
	highest = at_ends(reader, whole, true);
	whole->figure.low = fmax(whole->figure.low, lowest.low);
	whole->figure.high = fmin(whole->figure.high, highest.high);
}

enum kwhy_status kwhy_formula_of(const char *text, kwhy_formula_find *find, void *context,
	struct kwhy_formula_figure *out, struct kwhy_error *error)
{
	struct reader reader = {.text = text, .at = text, .find = find, .context = context, .error = error};
	struct term whole;
	enum kwhy_status status = read_sum(&reader, &whole);

	if (status)
		return status;
	if (peek(&reader))
		return wrong(&reader, "goes on after its end; put + - * or / before the rest");
	tighten(&reader, &whole);
	if (!isfinite(whole.figure.low) || !isfinite(whole.figure.high))
		return wrong(&reader, "is beyond all numbers; write one that ends below 1e308");
	*out = whole.figure;
	return KWHY_OK;
}
