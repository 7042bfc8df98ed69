/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAUNCH_ENVIRONMENT_H
#define KWHY_LAUNCH_ENVIRONMENT_H

#include "base/status.h"

#include <stddef.h>

/*
 * The environment for commands that will be started: a changed copy of this process's environment. This
 * process's own environment is not changed: vendors' libraries may read it at any time, also in the sampler's
 * thread, and a concurrent change would crash the program.
 */
struct kwhy_environment {
	/*
	 * texts "NAME=value", NULL at the end; `settings` NULL: nothing was set or removed yet, so that
	 * commands get the environment of this process
	 */
	char **settings;
	size_t count;
};

/*
 * Sets a variable in the copy; `value` NULL: removes it from the copy. Only one thread may use an
 * environment. Zero-initialise it first.
 */
KWHY_MUST_USE enum kwhy_status kwhy_environment_set(
	struct kwhy_environment *environment, const char *name, const char *value, struct kwhy_error *error);
void kwhy_environment_done(struct kwhy_environment *environment);

#endif
