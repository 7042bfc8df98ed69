/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAUNCH_CHILD_H
#define KWHY_LAUNCH_CHILD_H

#include "base/status.h"
#include "launch/signals.h"
#include "launch/tee.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Runs a command as a shell does, in our process group and with our open files, and measures its time and
 * memory. Only one thread may run a command, one at a time.
 */
struct kwhy_child_request {
	char *const *argv;	  /* ends with NULL; argv[0] is searched in PATH */
	char *const *environment; /* NAME=value, ends with NULL; NULL: our own environment */
	kwhy_output_seen *seen;	  /* receives both output streams, which then pass through us; NULL: the child
				     writes to our own */
	void (*started)(void *context); /* called once the command runs; NULL: not called */
	int64_t tick_ns; /* longest time between calls of tick() while it runs; 0: tick() is not called */
	void (*tick)(void *context);
	void *context; /* passed to the functions above */
};

enum { KWHY_EXIT_NOT_EXECUTABLE = 126, KWHY_EXIT_NOT_FOUND = 127, KWHY_EXIT_SIGNALLED = 128 };

struct kwhy_child_end {
	int64_t start_mono_ns, end_mono_ns;
	int64_t user_ns,
		system_ns; /* processor time of the command and of those of its children that it waited for */
	int64_t max_rss_bytes; /* largest resident size of any of these processes */
	int exit;	       /* exit status as a shell reports it; 128 + signal if it was killed */
	int signal;	       /* signal that killed it; 0: not killed */
	bool has_run;	       /* the command could be started */
	bool left_running;     /* processes that it started are still running */
};

/*
 * Returns KWHY_OK once the command has run, however it ended. A command that cannot be started: KWHY_E_INPUT,
 * and out->exit is 127 (not found) or 126. Processes that outlive their parents become our children, so that
 * they can be reported; they are not waited for.
 */
KWHY_MUST_USE enum kwhy_status kwhy_child_run(const struct kwhy_child_request *request,
	struct kwhy_signals *signals, struct kwhy_child_end *out, struct kwhy_error *error);

#endif
