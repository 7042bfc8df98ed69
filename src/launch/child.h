/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAUNCH_CHILD_H
#define KWHY_LAUNCH_CHILD_H

#include "base/status.h"
#include "launch/signals.h"
#include "launch/tee.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A command to run in the process group of this process and with its open files, as a shell script does. Only
 * one thread may run commands, one at a time.
 */
struct kwhy_child_request {
	char *const *argv; /* arguments, NULL at the end; argv[0] is looked up in PATH unless it contains a
			      slash */
	char *const *environment; /* texts "NAME=value", NULL at the end; `environment` NULL: the environment
				     of this process */
	/*
	 * function that receives the command's standard output and standard error, which are also passed
	 * through to those of this process; NULL: the command writes to them directly
	 */
	kwhy_output_seen *seen;
	bool hides_output; /* if `seen` is set: do not pass the output through to this process's streams */
	void (*started)(void *context); /* called when the command has been started; NULL: not called */
	/* called when the command has ended, before the rest of its output is passed on; NULL: not called */
	void (*ended)(void *context);
	/* time in ns between calls of tick() while the command runs; 0: tick() is never called */
	int64_t tick_ns;
	void (*tick)(void *context);
	void *context; /* first argument of seen(), started(), ended() and tick() */
};

enum { KWHY_EXIT_NOT_EXECUTABLE = 126, KWHY_EXIT_NOT_FOUND = 127, KWHY_EXIT_SIGNALLED = 128 };

struct kwhy_child_end {
	int64_t start_mono_ns, end_mono_ns;
	int64_t user_ns,
		/*
		 * CPU time, in user and in kernel mode, of the command and of all its descendants that their
		 * parents waited for
		 */
		system_ns;
	/*
	 * peak resident size of the largest single process among the command and these descendants; 0:
	 * unknown, because none exceeded the size of kwhy, as whose copy each command begins
	 */
	int64_t max_rss_bytes;
	int exit;     /* exit status as a shell reports it: 128 + signal if a signal killed the command */
	int signal;   /* the signal that killed the command; 0: no signal did */
	bool has_run; /* whether the command was started */
	bool left_running; /* whether descendants of the command still run */
};

/*
 * Runs the command and returns KWHY_OK when it has ended, whatever its exit status. KWHY_E_INPUT: the command
 * could not be started, and out->exit is 127 (not found) or 126. Descendants of the command that outlive
 * their parents become children of this process, so that out->left_running can be found. The function does
 * not wait for these descendants to end.
 */
KWHY_MUST_USE enum kwhy_status kwhy_child_run(const struct kwhy_child_request *request,
	struct kwhy_signals *signals, struct kwhy_child_end *out, struct kwhy_error *error);

#endif
