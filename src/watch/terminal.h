/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WATCH_TERMINAL_H
#define KWHY_WATCH_TERMINAL_H

#include "base/status.h"
#include "watch/screen.h"

/* The whole terminal, which ncurses draws. At most one exists, and only one thread may use it. */
struct kwhy_terminal;

/*
 * Opens the terminal. Call it after kwhy_terminal_kind_check(). KWHY_E_UNSUPPORTED: this terminal cannot be
 * prepared.
 */
KWHY_MUST_USE enum kwhy_status kwhy_terminal_open(
	bool color, struct kwhy_terminal **out, struct kwhy_error *error);
/* Restores the terminal. NULL: does nothing. */
void kwhy_terminal_close(struct kwhy_terminal *terminal);

struct kwhy_terminal_size {
	size_t columns, lines;
};
struct kwhy_terminal_size kwhy_terminal_size(const struct kwhy_terminal *terminal);

/* Shows the screen's first line and, below it, the screen's lines from number 1 + scrolled on. */
void kwhy_terminal_show(struct kwhy_terminal *terminal, const struct kwhy_screen *screen, size_t scrolled);

enum kwhy_key {
	KWHY_KEY_NONE, /* no key was pressed since the last call */
	KWHY_KEY_OTHER,
	KWHY_KEY_QUIT,
	KWHY_KEY_UP,
	KWHY_KEY_DOWN,
	KWHY_KEY_PAGE_UP,
	KWHY_KEY_PAGE_DOWN,
	KWHY_KEY_TOP,
	KWHY_KEY_RESIZE
};

/* Returns the next pressed key; it does not wait for one. */
enum kwhy_key kwhy_terminal_key(struct kwhy_terminal *terminal);

#endif
