/* SPDX-License-Identifier: Apache-2.0 */
#define NCURSES_WIDECHAR 1
#include "watch/terminal.h"

#include <curses.h>
#include <stdio.h>
#include <stdlib.h>

struct kwhy_terminal {
	SCREEN *screen;
	attr_t attributes[KWHY_STYLE_COUNT];
	short pairs[KWHY_STYLE_COUNT];
};

static void choose_styles(struct kwhy_terminal *terminal, bool color)
{
	static const struct {
		attr_t attribute;
		short color; /* foreground colour; -1: that of the terminal */
	} rows[KWHY_STYLE_COUNT] = {
		[KWHY_STYLE_PLAIN] = {A_NORMAL, -1},
		[KWHY_STYLE_TITLE] = {A_REVERSE, -1},
		[KWHY_STYLE_NAME] = {A_BOLD, -1},
		[KWHY_STYLE_QUIET] = {A_DIM, -1},
		[KWHY_STYLE_CURVE] = {A_NORMAL, COLOR_GREEN},
		[KWHY_STYLE_WARNING] = {A_BOLD, COLOR_YELLOW},
		[KWHY_STYLE_FAULT] = {A_BOLD, COLOR_RED},
	};
	bool paints = color && has_colors() && start_color() == OK && use_default_colors() == OK;

	for (int s = 0; s < KWHY_STYLE_COUNT; s++) {
		short pair = (short)(s + 1); /* number of a pair of foreground and background colours; ncurses
						has its default in pair 0 */

		terminal->attributes[s] = rows[s].attribute;
		if (paints && rows[s].color >= 0 && init_pair(pair, rows[s].color, -1) == OK)
			terminal->pairs[s] = pair;
	}
}

enum kwhy_status kwhy_terminal_open(bool color, struct kwhy_terminal **out, struct kwhy_error *error)
{
	struct kwhy_terminal *terminal = calloc(1, sizeof(*terminal));

	if (!terminal)
		return kwhy_fail_memory(error, "the terminal");
	terminal->screen = newterm(NULL, stdout, stdin);
	if (!terminal->screen) {
		free(terminal);
		return kwhy_fail(
			error, KWHY_E_UNSUPPORTED, "the terminal cannot be prepared; use kwhy watch --once");
	}
	noecho();
	cbreak();
	nodelay(stdscr, TRUE);
	keypad(stdscr, TRUE);
	set_escdelay(25);
	curs_set(0);
	choose_styles(terminal, color);
	*out = terminal;
	return KWHY_OK;
}

void kwhy_terminal_close(struct kwhy_terminal *terminal)
{
	if (!terminal)
		return;
	endwin();
	delscreen(terminal->screen);
	free(terminal);
}

struct kwhy_terminal_size kwhy_terminal_size(const struct kwhy_terminal *terminal)
{
	(void)terminal;
	return (struct kwhy_terminal_size){(size_t)COLS, (size_t)LINES};
}

static void show_line(
	const struct kwhy_terminal *terminal, const struct kwhy_screen *screen, size_t line, int at)
{
	for (size_t column = 0; column < screen->columns && column < (size_t)COLS; column++) {
		struct kwhy_cell cell = kwhy_screen_cell(screen, line, column);
		wchar_t code[2] = {(wchar_t)cell.code, L'\0'};
		cchar_t wide;

		if (setcchar(&wide, code, terminal->attributes[cell.style], terminal->pairs[cell.style],
			    NULL) == OK)
			mvadd_wch(at, (int)column, &wide);
	}
}

void kwhy_terminal_show(struct kwhy_terminal *terminal, const struct kwhy_screen *screen, size_t scrolled)
{
	erase();
	for (int at = 0; at < LINES; at++) {
		size_t line = at == 0 ? 0 : (size_t)at + scrolled;

		if (line < screen->lines)
			show_line(terminal, screen, line, at);
	}
	refresh();
}

enum kwhy_key kwhy_terminal_key(struct kwhy_terminal *terminal)
{
	static const struct {
		int typed;
		enum kwhy_key key;
	} keys[] = {{ERR, KWHY_KEY_NONE}, {'q', KWHY_KEY_QUIT}, {'Q', KWHY_KEY_QUIT}, {KEY_UP, KWHY_KEY_UP},
		{'k', KWHY_KEY_UP}, {KEY_DOWN, KWHY_KEY_DOWN}, {'j', KWHY_KEY_DOWN},
		{KEY_PPAGE, KWHY_KEY_PAGE_UP}, {KEY_NPAGE, KWHY_KEY_PAGE_DOWN}, {' ', KWHY_KEY_PAGE_DOWN},
		{KEY_HOME, KWHY_KEY_TOP}, {'g', KWHY_KEY_TOP}, {KEY_RESIZE, KWHY_KEY_RESIZE}};
	int typed = getch();

	(void)terminal;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i].typed == typed)
			return keys[i].key;
	return KWHY_KEY_OTHER;
}
