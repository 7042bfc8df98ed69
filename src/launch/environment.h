/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAUNCH_ENVIRONMENT_H
#define KWHY_LAUNCH_ENVIRONMENT_H

#include "base/status.h"

#include <stddef.h>

/*
 * The environment of commands to come: a copy of ours. Ours itself stays as it is: libraries of vendors read
 * it at any time, on the thread that samples too, and a change meanwhile ends the program.
 */
struct kwhy_environment {
	char **settings; /* NAME=value, ended by NULL; NULL: nothing was set, it is ours */
	size_t count;
};

/* value NULL: not set, whatever it is in ours. One thread each; zero-initialised before the first. */
KWHY_MUST_USE enum kwhy_status kwhy_environment_set(
	struct kwhy_environment *environment, const char *name, const char *value, struct kwhy_error *error);
void kwhy_environment_done(struct kwhy_environment *environment);

#endif
