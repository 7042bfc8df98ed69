/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAUNCH_CHILD_H
#define KWHY_LAUNCH_CHILD_H

#include "base/status.h"
#include "launch/signals.h"
#include "launch/tee.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Runs a command as a shell does, in this process's group and with its open files. It measures the command's
 * time and memory. Only one thread may run commands, one at a time.
 */
struct kwhy_child_request {
	char *const *argv;	  /* ends with NULL; argv[0] is searched for in PATH */
	char *const *environment; /* settings NAME=value, ends with NULL; NULL: this process's environment */
	/*
	 * receives what the command writes to both output streams; the output is still passed through. NULL:
	 * the command writes directly to this process's outputs
	 */
	kwhy_output_seen *seen;
	bool hides_output;		/* `seen` alone receives the output */
	void (*started)(void *context); /* called when the command has been started; NULL: not called */
	/* called when the command has ended, before the rest of its output is passed on; NULL: not called */
	void (*ended)(void *context);
	/* longest time between calls of tick() while the command runs; 0: tick() is not called */
	int64_t tick_ns;
	void (*tick)(void *context);
	void *context; /* argument of the functions above */
};

enum { KWHY_EXIT_NOT_EXECUTABLE = 126, KWHY_EXIT_NOT_FOUND = 127, KWHY_EXIT_SIGNALLED = 128 };

struct kwhy_child_end {
	int64_t start_mono_ns, end_mono_ns;
	int64_t user_ns,
		/* processor time of the command and of those of its children for which it waited */
		system_ns;
	/*
	 * largest resident size of any one of these processes; 0: unknown, because each of them began with
	 * the memory of this process and none grew beyond it
	 */
	int64_t max_rss_bytes;
	int exit;     /* exit status as a shell reports it: 128 + signal if a signal killed the command */
	int signal;   /* the signal that killed the command; 0: no signal did */
	bool has_run; /* whether the command was started */
	bool left_running; /* whether processes that the command started are still running */
};

/*
 * Runs the command and returns KWHY_OK when it has ended, whatever its exit status. KWHY_E_INPUT: the command
 * could not be started, and out->exit is 127 (not found) or 126. Processes that outlive their parents become
 * children of this process, so that out->left_running can report them. They are not waited for.
 */
KWHY_MUST_USE enum kwhy_status kwhy_child_run(const struct kwhy_child_request *request,
	struct kwhy_signals *signals, struct kwhy_child_end *out, struct kwhy_error *error);

#endif
