/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAUNCH_ENVIRONMENT_H
#define KWHY_LAUNCH_ENVIRONMENT_H

#include "base/status.h"

#include <stddef.h>

/*
 * The environment of commands that will be started: a copy of ours. Our own stays unchanged, because vendor
 * libraries may read it at any time, also on the sampler's thread, and a concurrent change would crash the
 * program.
 */
struct kwhy_environment {
	char **settings; /* NAME=value, ends with NULL; NULL: nothing was set, the environment is ours */
	size_t count;
};

/*
 * Sets a variable; value NULL: removes it, even if it is set in ours. Only one thread may use an environment;
 * zero-initialise it first.
 */
KWHY_MUST_USE enum kwhy_status kwhy_environment_set(
	struct kwhy_environment *environment, const char *name, const char *value, struct kwhy_error *error);
void kwhy_environment_done(struct kwhy_environment *environment);

#endif
