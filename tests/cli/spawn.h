/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_CLI_SPAWN_H
#define KWHY_TESTS_CLI_SPAWN_H

#include "base/text.h"

/* A run of the built program; `words` are its arguments, ended by NULL. */
struct spawn {
	const char *const *words;
	const char *folder;	 /* working directory; NULL: that of the test */
	const char *stdout_to;	 /* file for stdout instead of a pipe; NULL: a pipe */
	const char *environment; /* "NAME=VALUE" of one more variable to set; NULL: none */
	int pending;		 /* signal that is blocked and pending when the program starts; 0: none */
	bool ignores_children;	 /* starts with SIGCHLD ignored, as started by some daemons */
};

/* Result of a run. Both texts have data, "" if the program wrote nothing. */
struct spawned {
	int exit; /* exit status; negative: the signal that ended the program */
	struct kwhy_text out, err;
};

struct spawned spawn_run(const struct spawn *spawn);
void spawned_done(struct spawned *spawned);

/* Runs the built program with these arguments and no other settings. */
#define SPAWN(...) spawn_run(&(struct spawn){.words = (const char *const[]){__VA_ARGS__, NULL}})

#endif
