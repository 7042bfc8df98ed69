/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WATCH_SCREEN_H
#define KWHY_WATCH_SCREEN_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a cell means; watch/terminal.c chooses attributes and colours for it. */
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
 * A text in memory: lines of `columns` cells each, to which lines are appended. If memory runs out, `failed`
 * is set, and further calls do nothing; check it once at the end. Before use, set `columns` (at least 1) and
 * `ascii`, and all other fields to 0. Free it by kwhy_screen_done().
 */
struct kwhy_screen {
	size_t columns;
	bool ascii; /* whether to replace characters that are not ASCII, by "?", and a micro sign by "u" */
	size_t lines, capacity;
	struct kwhy_cell *cells;
	bool failed;
};

void kwhy_screen_done(struct kwhy_screen *screen);
/* Removes all lines and keeps their memory. */
void kwhy_screen_clear(struct kwhy_screen *screen);

/* Appends a line of blanks in this style; the functions below write into the last line. */
void kwhy_screen_begin_line(struct kwhy_screen *screen, enum kwhy_style style);

/*
 * Writes a text from `column` on; what is beyond the end of the line is cut. Returns the column after the
 * uncut text.
 */
size_t kwhy_screen_put(struct kwhy_screen *screen, size_t column, enum kwhy_style style, const char *utf8);
/*
 * Writes a text whose last character is in column - 1; if it is longer than `column`, it starts in column 0.
 */
void kwhy_screen_put_left_of(
	struct kwhy_screen *screen, size_t column, enum kwhy_style style, const char *utf8);
void kwhy_screen_put_code(struct kwhy_screen *screen, size_t column, enum kwhy_style style, uint32_t code);

/* The cell at a line and column, which must exist. */
struct kwhy_cell kwhy_screen_cell(const struct kwhy_screen *screen, size_t line, size_t column);

/* Appends all lines to `out` as UTF-8 text, without styles and without blanks at line ends. */
void kwhy_screen_write(const struct kwhy_screen *screen, struct kwhy_text *out);

#endif
