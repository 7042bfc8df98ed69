/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/screen.h"

#include "base/text.h"

#include <stdlib.h>

enum { LINES_FIRST = 32, REPLACEMENT = 0xFFFD, MICRO_SIGN = 0xB5 };

void kwhy_screen_done(struct kwhy_screen *screen)
{
	free(screen->cells);
	*screen = (struct kwhy_screen){.columns = screen->columns, .ascii = screen->ascii};
}

void kwhy_screen_clear(struct kwhy_screen *screen)
{
	screen->lines = 0;
}

static bool reserve(struct kwhy_screen *screen)
{
	size_t wider = screen->capacity ? 2 * screen->capacity : LINES_FIRST;
	struct kwhy_cell *cells;

	if (screen->lines < screen->capacity)
		return true;
	cells = reallocarray(screen->cells, wider * screen->columns, sizeof(*cells));
	if (!cells)
		return false;
	screen->cells = cells;
	screen->capacity = wider;
	return true;
}

static struct kwhy_cell *at(const struct kwhy_screen *screen, size_t line, size_t column)
{
	return &screen->cells[line * screen->columns + column];
}

void kwhy_screen_begin_line(struct kwhy_screen *screen, enum kwhy_style style)
{
	if (!reserve(screen))
		screen->failed = true;
	if (screen->failed)
		return;
	for (size_t column = 0; column < screen->columns; column++)
		*at(screen, screen->lines, column) = (struct kwhy_cell){' ', (uint8_t)style};
	screen->lines++;
}

void kwhy_screen_put_code(struct kwhy_screen *screen, size_t column, enum kwhy_style style, uint32_t code)
{
	if (screen->failed || screen->lines == 0 || column >= screen->columns)
		return;
	if (screen->ascii && code > '~')
		code = code == MICRO_SIGN ? 'u' : '?';
	*at(screen, screen->lines - 1, column) = (struct kwhy_cell){code, (uint8_t)style};
}

/*
 * Decodes the character at *utf8 and advances *utf8 beyond it. Returns its code point; for an invalid byte
 * sequence or a control character, REPLACEMENT.
 */
static uint32_t decode(const char **utf8)
{
	static const struct {
		uint8_t mask, lead;
		uint32_t least;
		int more;
	} forms[] = {
		{0x80, 0x00, 0, 0}, {0xE0, 0xC0, 0x80, 1}, {0xF0, 0xE0, 0x800, 2}, {0xF8, 0xF0, 0x10000, 3}};
	const uint8_t *bytes = (const uint8_t *)*utf8;

	for (size_t f = 0; f < sizeof(forms) / sizeof(forms[0]); f++) {
		uint32_t code = bytes[0] & (uint8_t)~forms[f].mask;
		int i = 1;

		if ((bytes[0] & forms[f].mask) != forms[f].lead)
			continue;
		for (; i <= forms[f].more && (bytes[i] & 0xC0) == 0x80; i++)
			code = code << 6 | (bytes[i] & 0x3F);
		*utf8 += i;
		if (i <= forms[f].more || code < forms[f].least || code < ' ' || code == 0x7F ||
			code > 0x10FFFF || (code >= 0x80 && code < 0xA0))
			return REPLACEMENT;
		return code;
	}
	(*utf8)++;
	return REPLACEMENT;
}

size_t kwhy_screen_put(struct kwhy_screen *screen, size_t column, enum kwhy_style style, const char *utf8)
{
	for (; *utf8; column++)
		kwhy_screen_put_code(screen, column, style, decode(&utf8));
	return column;
}

void kwhy_screen_put_left_of(
	struct kwhy_screen *screen, size_t column, enum kwhy_style style, const char *utf8)
{
	size_t length = kwhy_text_columns(utf8);

	kwhy_screen_put(screen, length < column ? column - length : 0, style, utf8);
}

struct kwhy_cell kwhy_screen_cell(const struct kwhy_screen *screen, size_t line, size_t column)
{
	return *at(screen, line, column);
}

void kwhy_screen_write(const struct kwhy_screen *screen, struct kwhy_text *out)
{
	char bytes[4];

	if (screen->failed)
		out->failed = true;
	for (size_t line = 0; !screen->failed && line < screen->lines; line++) {
		size_t end = screen->columns;

		while (end > 0 && at(screen, line, end - 1)->code == ' ')
			end--;
		for (size_t column = 0; column < end; column++)
			kwhy_text_add_bytes(
				out, bytes, kwhy_text_encode(at(screen, line, column)->code, bytes));
		kwhy_text_add(out, "\n");
	}
}
