/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RUN_PROBE_WATCH_H
#define KWHY_CLI_RUN_PROBE_WATCH_H

#include "base/status.h"
#include "recording/probe_progress.h"

#include <stddef.h>

enum { KWHY_PROBE_PROCESSES = 64 }; /* that are shown; more are left out */

/* How far the processes of a command are, by what they append to a file. */
struct kwhy_probe_watch {
	int file; /* -1: none */
	size_t count;
	struct kwhy_probe_progress_row rows[KWHY_PROBE_PROCESSES];
};

/* Makes the file in the folder of the recording; what is missing is a line on a terminal. */
void kwhy_probe_watch_open(struct kwhy_probe_watch *watch, const char *folder);
void kwhy_probe_watch_close(struct kwhy_probe_watch *watch);

/* "12 of 40 kernels known, 81 % of busy; 250 s left"; "" before any process has said anything. */
void kwhy_probe_watch_write(struct kwhy_probe_watch *watch, char *out, size_t space);

#endif
