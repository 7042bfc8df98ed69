/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WATCH_SCREEN_H
#define KWHY_WATCH_SCREEN_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Meaning of a cell; the terminal decides how it looks. */
enum kwhy_style {
	KWHY_STYLE_PLAIN,
	KWHY_STYLE_TITLE,
	KWHY_STYLE_NAME,
	KWHY_STYLE_QUIET,
	KWHY_STYLE_CURVE,
	KWHY_STYLE_WARNING,
	KWHY_STYLE_FAULT,
	KWHY_STYLE_COUNT
};

struct kwhy_cell {
	uint32_t code; /* a Unicode code point */
	uint8_t style; /* enum kwhy_style */
};

/*
 * A growing list of lines of `columns` cells each. If memory runs out, it sets `failed`; check that once at
 * the end. Set `columns` (at least 1) and `ascii`, and the other fields to zero; end with
 * kwhy_screen_done().
 */
struct kwhy_screen {
	size_t columns;
	bool ascii; /* characters that are not ASCII are shown as "?", and a micro sign as "u" */
	size_t lines, capacity;
	struct kwhy_cell *cells;
	bool failed;
};

void kwhy_screen_done(struct kwhy_screen *screen);
/* Removes all lines. */
void kwhy_screen_clear(struct kwhy_screen *screen);

/* Appends a line of blanks. */
void kwhy_screen_begin_line(struct kwhy_screen *screen, enum kwhy_style style);

/*
 * Writes a text into the last line from `column` on and cuts it at the line's end. Returns the column after
 * the text.
 */
size_t kwhy_screen_put(struct kwhy_screen *screen, size_t column, enum kwhy_style style, const char *utf8);
/* Writes into the last line so that the text ends before `column`. */
void kwhy_screen_put_left_of(
	struct kwhy_screen *screen, size_t column, enum kwhy_style style, const char *utf8);
void kwhy_screen_put_code(struct kwhy_screen *screen, size_t column, enum kwhy_style style, uint32_t code);

/* The cell at a column of an existing line. */
struct kwhy_cell kwhy_screen_cell(const struct kwhy_screen *screen, size_t line, size_t column);

/* Appends the lines to `out` as text, without styles and without blanks at their ends. */
void kwhy_screen_write(const struct kwhy_screen *screen, struct kwhy_text *out);

#endif
