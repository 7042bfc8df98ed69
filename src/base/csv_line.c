/* SPDX-License-Identifier: Apache-2.0 */
#include "base/csv_line.h"

#include <stdbool.h>
#include <string.h>

/*
 * Takes a quoted field and turns its doubled quotes into single ones in place. *at moves from the opening
 * quote to the character after the closing one. False: there is no closing quote.
 */
static bool take_quoted(char *line, size_t length, size_t *at, struct kwhy_span *out)
{
	size_t from = *at + 1, to = from;

	out->bytes = line + from;
	for (;;) {
		const char *quote = memchr(line + from, '"', length - from);
		size_t run = quote ? (size_t)(quote - (line + from)) : length - from;

		if (to != from)
			memmove(line + to, line + from, run);
		from += run;
		to += run;
		if (from + 1 >= length || line[from + 1] != '"')
			break;
		line[to++] = '"';
		from += 2;
	}
	out->length = (size_t)(line + to - out->bytes);
	*at = from + 1;
	return from < length;
}

static bool take_field(char *line, size_t length, size_t *at, struct kwhy_span *out)
{
	size_t start = *at;
	const char *comma;

	while (start < length && kwhy_span_is_space(line[start]))
		start++;
	if (start < length && line[start] == '"') {
		if (!take_quoted(line, length, &start, out))
			return false;
		while (start < length && kwhy_span_is_space(line[start]))
			start++;
		*at = start;
		return start == length || line[start] == ',';
	}
	comma = memchr(line + start, ',', length - start);
	*at = comma ? (size_t)(comma - line) : length;
	*out = kwhy_span_trim((struct kwhy_span){line + start, *at - start});
	return true;
}

const char *kwhy_csv_line_split(
	char *line, size_t length, struct kwhy_span fields[KWHY_CSV_LINE_FIELDS], size_t *out_count)
{
	size_t at = 0;

	*out_count = 0;
	for (;; at++) {
		if (*out_count == KWHY_CSV_LINE_FIELDS)
			return "has more than 512 columns; is this a CSV file?";
		if (!take_field(line, length, &at, &fields[*out_count]))
			return "a quoted field does not end before the next comma or the end of the line; "
			       "double the quotes inside it";
		++*out_count;
		if (at >= length)
			return NULL;
	}
}

size_t kwhy_csv_line_find(
	const struct kwhy_span *fields, size_t field_count, const char *name, size_t *out_field)
{
	size_t count = 0;

	for (size_t field = 0; field < field_count; field++)
		if (kwhy_span_is(fields[field], name) && count++ == 0)
			*out_field = field;
	return count;
}

struct kwhy_span kwhy_csv_line_unmarked(struct kwhy_span line)
{
	if (line.length >= 3 && !memcmp(line.bytes, "\xEF\xBB\xBF", 3))
		return (struct kwhy_span){line.bytes + 3, line.length - 3};
	return line;
}
