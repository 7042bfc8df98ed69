/* SPDX-License-Identifier: Apache-2.0 */
#include "import/lines.h"

#include "base/csv_line.h"
#include "import/input.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW_BYTES = 1 << 20 };

struct kwhy_lines {
	const char *path;
	bool partial, input_ended, ended_early;
	struct kwhy_input *input;
	char *window; /* WINDOW_BYTES of the decompressed file; bytes [at, filled) are not read yet */
	size_t at, filled;
	uint64_t number;
};

enum kwhy_status kwhy_lines_open(
	const char *path, bool partial, struct kwhy_lines **out, struct kwhy_error *error)
{
	struct kwhy_lines *lines = calloc(1, sizeof(*lines));
	enum kwhy_status status;

	if (!lines)
		return kwhy_fail_memory(error, "reading lines");
	lines->path = path;
	lines->partial = partial;
	lines->window = malloc(WINDOW_BYTES);
	if (lines->window)
		status = kwhy_input_open(path, &lines->input, error);
	else
		status = kwhy_fail_memory(error, "reading lines");
	if (status) {
		kwhy_lines_close(lines);
		return status;
	}
	*out = lines;
	return KWHY_OK;
}

void kwhy_lines_close(struct kwhy_lines *lines)
{
	if (!lines)
		return;
	kwhy_input_close(lines->input);
	free(lines->window);
	free(lines);
}

bool kwhy_lines_ended_early(const struct kwhy_lines *lines)
{
	return lines->ended_early;
}

/* Moves the unread bytes to the front of the buffer and reads more of the file after them. */
static enum kwhy_status refill(struct kwhy_lines *lines, struct kwhy_error *error)
{
	enum kwhy_status status;
	size_t left = lines->filled - lines->at, got;

	memmove(lines->window, lines->window + lines->at, left);
	lines->at = 0;
	lines->filled = left;
	status = kwhy_input_read(lines->input, lines->window + left, WINDOW_BYTES - left, &got, error);
	if (status == KWHY_E_INPUT && lines->partial) {
		lines->ended_early = true;
		lines->input_ended = true;
		return KWHY_OK;
	}
	if (status)
		return status;
	lines->filled += got;
	lines->input_ended = got == 0;
	return KWHY_OK;
}

/* Removes a UTF-8 byte order mark, which editors of Windows write at the start of a file. */
static void drop_mark(struct kwhy_line *line)
{
	struct kwhy_span span = kwhy_csv_line_unmarked((struct kwhy_span){line->bytes, line->length});

	line->bytes += line->length - span.length;
	line->length = span.length;
}

static enum kwhy_status fail_long(const struct kwhy_lines *lines, struct kwhy_error *error)
{
	return kwhy_fail(error, KWHY_E_INPUT,
		"%s, line %" PRIu64 ": is longer than 64 KiB; is this a CSV file?", lines->path,
		lines->number);
}

enum kwhy_status kwhy_lines_next(
	struct kwhy_lines *lines, struct kwhy_line *out, bool *out_end, struct kwhy_error *error)
{
	const char *newline = NULL;
	size_t searched = 0, length;

	lines->number++;
	for (;;) {
		size_t left = lines->filled - lines->at;

		newline = memchr(lines->window + lines->at + searched, '\n', left - searched);
		if (newline || lines->input_ended)
			break;
		if (left > KWHY_LINES_LONGEST)
			return fail_long(lines, error);
		searched = left;
		if (refill(lines, error))
			return error->status;
	}
	length = newline ? (size_t)(newline - lines->window) - lines->at : lines->filled - lines->at;
	if (length > KWHY_LINES_LONGEST)
		return fail_long(lines, error);
	out->bytes = lines->window + lines->at;
	out->length = length;
	out->number = lines->number;
	out->ended = newline != NULL;
	*out_end = !newline && out->length == 0;
	lines->at += out->length + out->ended;
	if (lines->number == 1)
		drop_mark(out);
	return KWHY_OK;
}
