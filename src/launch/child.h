/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAUNCH_CHILD_H
#define KWHY_LAUNCH_CHILD_H

#include "base/status.h"
#include "launch/signals.h"
#include "launch/tee.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Runs a command as a shell does, in our process group and with our files, and tells what it took. One at a
 * time, by one thread.
 */
struct kwhy_child_request {
	char *const *argv;		/* ended by NULL; looked for in PATH */
	char *const *environment;	/* NAME=value, ended by NULL; NULL: ours */
	kwhy_output_seen *seen;		/* both output streams pass through us; NULL: the child has our own */
	void (*started)(void *context); /* once it runs; NULL: none */
	int64_t tick_ns;		/* tick() at least this often while it runs; 0: never */
	void (*tick)(void *context);
	void *context; /* of these */
};

enum { KWHY_EXIT_NOT_EXECUTABLE = 126, KWHY_EXIT_NOT_FOUND = 127, KWHY_EXIT_SIGNALLED = 128 };

struct kwhy_child_end {
	int64_t start_mono_ns, end_mono_ns;
	int64_t user_ns, system_ns; /* of it and of those of its children that it waited for */
	int64_t max_rss_bytes;	    /* of the largest of these */
	int exit;		    /* as a shell tells it: 128 + signal when it was killed */
	int signal;		    /* that killed it; 0: none */
	bool has_run;		    /* it could be started */
	bool left_running;	    /* processes that it started live on */
};

/*
 * KWHY_OK once the command has run, however it ended. A command that could not be started: KWHY_E_INPUT,
 * and out->exit is 127 (not found) or 126. Processes that outlive their parents become ours, so that they can
 * be told of; they are not waited for.
 */
KWHY_MUST_USE enum kwhy_status kwhy_child_run(const struct kwhy_child_request *request,
	struct kwhy_signals *signals, struct kwhy_child_end *out, struct kwhy_error *error);

#endif
