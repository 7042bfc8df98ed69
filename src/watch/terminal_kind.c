/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/terminal_kind.h"

#include <curses.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <term.h> /* for setupterm() and tigetstr(); defines macros with short common names, so no other file includes it */
#include <unistd.h>

/*
 * Makes ncurses search also the usual folders of terminal descriptions, by TERMINFO_DIRS, unless that is set:
 * an ncurses that was built elsewhere searches only the folders of its own build. The last folder is
 * ../share/terminfo next to the program, where a portable copy of kwhy has such descriptions.
 */
static void add_places(void)
{
	static const char places[] = "/etc/terminfo:/lib/terminfo:/usr/share/terminfo:/usr/lib/terminfo:"
				     "/usr/local/share/terminfo";
	char program[PATH_MAX], list[2 * PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
	char *slash;

	if (length <= 0)
		return;
	program[length] = '\0';
	slash = strrchr(program, '/');
	*slash = '\0';
	snprintf(list, sizeof(list), "%s:%s/../share/terminfo", places, program);
	setenv("TERMINFO_DIRS", list, 0);
}

enum kwhy_status kwhy_terminal_kind_check(struct kwhy_error *error)
{
	const char *name = secure_getenv("TERM");
	char *place;
	bool places;
	int known = 0;

	add_places();
	if (!name || !*name)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"TERM names no terminal; set it, or use kwhy watch --once");
	if (setupterm(NULL, STDOUT_FILENO, &known) != OK)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"this machine does not know the terminal '%.60s'; try TERM=xterm, or kwhy watch "
			"--once",
			name);
	place = tigetstr("cup");
	places = place && place != (char *)-1;
	(void)del_curterm(cur_term);
	if (!places)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"the terminal '%.60s' cannot place text; use kwhy watch --once", name);
	return KWHY_OK;
}
