/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WATCH_SCREEN_H
#define KWHY_WATCH_SCREEN_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a cell is meant; the terminal decides how that looks. */
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
	uint32_t code; /* Unicode */
	uint8_t style; /* enum kwhy_style */
};

/*
 * Lines of cells of one width, as many as are written. Remembers its own failure: check once at the end.
 * Set `columns` (at least 1) and `ascii`, the rest zero; end with kwhy_screen_done().
 */
struct kwhy_screen {
	size_t columns;
	bool ascii; /* anything else becomes "?", a micro sign "u" */
	size_t lines, capacity;
	struct kwhy_cell *cells;
	bool failed;
};

void kwhy_screen_done(struct kwhy_screen *screen);
/* Takes all lines off. */
void kwhy_screen_clear(struct kwhy_screen *screen);

/* Begins a line of blanks. */
void kwhy_screen_begin_line(struct kwhy_screen *screen, enum kwhy_style style);

/* Writes into the last line from a column on, as far as there is space; gives the column after it. */
size_t kwhy_screen_put(struct kwhy_screen *screen, size_t column, enum kwhy_style style, const char *utf8);
/* The same, so that it ends before a column. */
void kwhy_screen_put_left_of(
	struct kwhy_screen *screen, size_t column, enum kwhy_style style, const char *utf8);
void kwhy_screen_put_code(struct kwhy_screen *screen, size_t column, enum kwhy_style style, uint32_t code);

/* A cell of a line that there is. */
struct kwhy_cell kwhy_screen_cell(const struct kwhy_screen *screen, size_t line, size_t column);

/* Appends the lines without their styles and without blanks at their ends. */
void kwhy_screen_write(const struct kwhy_screen *screen, struct kwhy_text *out);

#endif
