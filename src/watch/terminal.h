/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WATCH_TERMINAL_H
#define KWHY_WATCH_TERMINAL_H

#include "base/status.h"
#include "watch/screen.h"

/*
 * The terminal as ncurses draws it: the whole window. At most one may be open, and only one thread may use
 * it.
 */
struct kwhy_terminal;

/*
 * Opens the terminal and clears its window. Call kwhy_terminal_kind_check() first. color: use colours, if the
 * terminal has them. KWHY_E_UNSUPPORTED: ncurses cannot use this terminal.
 */
KWHY_MUST_USE enum kwhy_status kwhy_terminal_open(
	bool color, struct kwhy_terminal **out, struct kwhy_error *error);
/* Gives the terminal back as it was before. NULL: does nothing. */
void kwhy_terminal_close(struct kwhy_terminal *terminal);

struct kwhy_terminal_size {
	size_t columns, lines;
};
struct kwhy_terminal_size kwhy_terminal_size(const struct kwhy_terminal *terminal);

/*
 * Shows line 0 of the screen in the first line of the window and, below it, the lines from 1 + scrolled on,
 * as far as they fit.
 */
void kwhy_terminal_show(struct kwhy_terminal *terminal, const struct kwhy_screen *screen, size_t scrolled);

enum kwhy_key {
	KWHY_KEY_NONE, /* no key was pressed since the last call of kwhy_terminal_key() */
	KWHY_KEY_OTHER,
	KWHY_KEY_QUIT,
	KWHY_KEY_UP,
	KWHY_KEY_DOWN,
	KWHY_KEY_PAGE_UP,
	KWHY_KEY_PAGE_DOWN,
	KWHY_KEY_TOP,
	KWHY_KEY_RESIZE
};

/* Returns the next key that was pressed, or KWHY_KEY_NONE; it does not wait. */
enum kwhy_key kwhy_terminal_key(struct kwhy_terminal *terminal);

#endif
