/* SPDX-License-Identifier: Apache-2.0 */
#include "report/shown_name.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ELLIPSIS "\xE2\x80\xA6"

/* State while the names of one table column are shortened. */
struct shortening {
	struct kwhy_arena *arena;
	size_t count, columns;
	const char *const *names; /* [count] original names */
	const char **full;	  /* [count] safe and simplified names of any length */
	const char **shown;
};

static bool is_number(const char *text, size_t length)
{
	size_t digits = strspn(text, "0123456789-ul");

	return length > 0 &&
		(digits >= length || (length == 4 && memcmp(text, "true", 4) == 0) ||
			(length == 5 && memcmp(text, "false", 5) == 0));
}

/*
 * Drops numbers, `true` and `false` at the start of the arguments of the outermost template, since they say
 * little: foo<4, Add> becomes foo<Add>.
 */
static const char *without_numbers(struct kwhy_arena *arena, const char *name)
{
	const char *open = strchr(name, '<');
	const char *argument = open ? open + 1 : NULL;

	if (!open)
		return name;
	for (const char *comma;
		(comma = strchr(argument, ',')) && is_number(argument, (size_t)(comma - argument));)
		argument = comma + 1 + (comma[1] == ' ');
	return argument == open + 1
		? name
		: kwhy_arena_printf(arena, "%.*s%s", (int)(open + 1 - name), name, argument);
}

/*
 * Shortens the first `length` bytes of `text` to `columns` with an ellipsis in the middle, so that a name
 * like foo_bar_kernel keeps both ends.
 */
static char *elide(struct kwhy_arena *arena, const char *text, size_t length, size_t columns)
{
	char *word = kwhy_arena_printf(arena, "%.*s", (int)length, text);
	size_t width, tail = columns / 3, skip;

	if (!word)
		return NULL;
	width = kwhy_shown_columns(word);
	if (width <= columns || columns < 8)
		return width <= columns ? word : kwhy_shown_cut(arena, word, columns);
	skip = kwhy_shown_fit(word, width - tail);
	/* a character of two columns that lies across the cut is dropped */
	while (kwhy_shown_columns(word + skip) > tail)
		skip += kwhy_shown_fit(word + skip, 2);
	return kwhy_arena_printf(arena, "%.*s" ELLIPSIS "%s", (int)kwhy_shown_fit(word, columns - 1 - tail),
		word, word + skip);
}

/*
 * Shortens a name to `columns` columns. An instance of a template is first written without numbers; if that
 * is too long, it keeps at most 11/20 of the columns for the template's own name and fills the rest with the
 * start of its arguments.
 */
static const char *shorten(struct kwhy_arena *arena, const char *name, size_t columns)
{
	const char *slim, *open;
	char *base, *joined;

	if (kwhy_shown_columns(name) <= columns)
		return name;
	slim = without_numbers(arena, name);
	if (!slim || kwhy_shown_columns(slim) <= columns)
		return slim;
	open = strchr(slim, '<');
	if (!open || open == slim)
		return elide(arena, slim, strlen(slim), columns);
	base = elide(arena, slim, (size_t)(open - slim), columns * 11 / 20);
	joined = base ? kwhy_arena_printf(arena, "%s%s", base, open) : NULL;
	return joined ? kwhy_shown_cut(arena, joined, columns) : NULL;
}

static size_t equal_bytes(const char *a, const char *b)
{
	size_t i = 0;

	while (a[i] && a[i] == b[i])
		i++;
	while (i && ((unsigned char)a[i] & 0xC0) == 0x80)
		i--;
	return i;
}

/*
 * Shortens a name in another way, if its shortened form equals that of another name: a third of the columns
 * has its start, the rest what begins six bytes before the first difference. `equal` is the number of bytes
 * at the start of both names that are equal.
 */
static const char *from_difference(const struct shortening *work, const char *name, size_t equal)
{
	size_t head = kwhy_shown_fit(name, work->columns / 3);
	const char *tail = name + (equal > 6 ? equal - 6 : 0);
	char *joined;

	while (tail > name && ((unsigned char)*tail & 0xC0) == 0x80)
		tail--;
	if (tail <= name + head)
		return kwhy_shown_cut(work->arena, name, work->columns);
	joined = kwhy_arena_printf(work->arena, "%.*s" ELLIPSIS "%s", (int)head, name, tail);
	return joined ? kwhy_shown_cut(work->arena, joined, work->columns) : NULL;
}

static const char *with_number(const struct shortening *work, const char *shown, size_t number)
{
	char suffix[24];
	size_t columns = kwhy_shown_columns(shown), space;

	snprintf(suffix, sizeof(suffix), " ~%zu", number);
	space = work->columns > strlen(suffix) ? work->columns - strlen(suffix) : 0;
	shown = columns <= space ? shown : kwhy_shown_cut(work->arena, shown, space);
	return shown ? kwhy_arena_printf(work->arena, "%s%s", shown, suffix) : NULL;
}

static int compare_shown(const void *a, const void *b, void *context)
{
	const struct shortening *work = context;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	int order = strcmp(work->shown[i], work->shown[j]);

	return order ? order : (i > j) - (i < j);
}

/*
 * Calls from_difference() for `name` and the name whose shortened form is equal (`twin`): without numbers at
 * the start of the template arguments if the names then still differ, else with them.
 */
static const char *from_twin(const struct shortening *work, const char *name, const char *twin)
{
	const char *slim = without_numbers(work->arena, name),
		   *slim_twin = without_numbers(work->arena, twin);

	if (!slim || !slim_twin)
		return NULL;
	if (strcmp(slim, slim_twin) != 0)
		return from_difference(work, slim, equal_bytes(slim, slim_twin));
	return from_difference(work, name, equal_bytes(name, twin));
}

/*
 * Changes the shortened forms of the names order[first] to order[last - 1], which are equal, so that they
 * differ: by a number after each (by_number), or by showing the place where each name differs from the first.
 * Names whose originals are equal stay equal.
 */
static bool part(
	const struct shortening *work, const uint32_t *order, size_t first, size_t last, bool by_number)
{
	for (size_t i = last; i-- > first;) {
		uint32_t at = order[i], twin = order[i == first ? i + 1 : first];
		const char *name = work->full[at];
		const char *next = by_number ? with_number(work, work->shown[at], i - first + 1)
					     : from_twin(work, name, work->full[twin]);

		if (!next)
			return false;
		if (i > first && strcmp(work->names[at], work->names[order[first]]) == 0)
			continue;
		if (!by_number || i > first)
			work->shown[at] = next;
	}
	return true;
}

static bool part_twins(const struct shortening *work, uint32_t *order, bool by_number)
{
	for (size_t i = 0; i < work->count; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, work->count, sizeof(*order), compare_shown, (void *)work);
	for (size_t first = 0, last; first < work->count; first = last) {
		for (last = first + 1; last < work->count; last++)
			if (strcmp(work->shown[order[first]], work->shown[order[last]]) != 0)
				break;
		if (last - first > 1 && !part(work, order, first, last, by_number))
			return false;
	}
	return true;
}

/*
 * Makes the shortened forms of different names differ: first by showing where they differ, then by numbers.
 * Numbers are added twice, since a number added to one name may make it equal to another.
 */
static bool part_all(const struct shortening *work)
{
	uint32_t *order = kwhy_arena_alloc(work->arena, work->count, sizeof(*order));

	return order && part_twins(work, order, false) && part_twins(work, order, true) &&
		part_twins(work, order, true);
}

bool kwhy_shown_names(struct kwhy_arena *arena, const char *const *names, const bool *kernels, size_t count,
	size_t columns, const char **out)
{
	struct shortening work = {
		arena, count, columns, names, kwhy_arena_alloc(arena, count, sizeof(char *)), out};

	for (size_t i = 0; work.full && i < count; i++) {
		const char *clean = kwhy_shown_clean(arena, names[i]);

		work.full[i] = clean && kernels[i] ? kwhy_shown_kernel(arena, clean) : clean;
		out[i] = work.full[i] ? shorten(arena, work.full[i], columns) : NULL;
		if (!out[i])
			return false;
	}
	return work.full && (count == 0 || part_all(&work));
}
