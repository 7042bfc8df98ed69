/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_CLI_SPAWN_H
#define KWHY_TESTS_CLI_SPAWN_H

#include "base/text.h"

/* Runs the built program as a shell would: `words` are its arguments, ended by NULL. */
struct spawn {
	const char *const *words;
	const char *folder;	 /* to run in; NULL: where the test runs */
	const char *stdout_to;	 /* a file for stdout instead of a pipe; NULL: none */
	const char *environment; /* "NAME=VALUE" to set besides; NULL: none */
	int pending;		 /* a signal that came before it looked for any; 0: none */
	bool ignores_children;	 /* started with SIGCHLD ignored, as some daemons start what they run */
};

/* What came of it; both texts are empty strings at least. */
struct spawned {
	int exit; /* negative: the signal that ended it */
	struct kwhy_text out, err;
};

struct spawned spawn_run(const struct spawn *spawn);
void spawned_done(struct spawned *spawned);

/* spawn_run() with words alone. */
#define SPAWN(...) spawn_run(&(struct spawn){.words = (const char *const[]){__VA_ARGS__, NULL}})

#endif
