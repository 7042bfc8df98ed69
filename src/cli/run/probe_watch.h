/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RUN_PROBE_WATCH_H
#define KWHY_CLI_RUN_PROBE_WATCH_H

#include "base/status.h"
#include "recording/probe_progress.h"

#include <stddef.h>

enum { KWHY_PROBE_PROCESSES = 64 }; /* largest number of processes whose progress is shown */

/* Progress of the processes of a probed command, read from the rows that they append to a file. */
struct kwhy_probe_watch {
	int file; /* file descriptor of that file; -1: there is none */
	size_t count;
	struct kwhy_probe_progress_row rows[KWHY_PROBE_PROCESSES];
};

/*
 * Creates the file in the folder of the recording. If that fails, watch->file remains -1, and
 * kwhy_probe_watch_write() writes "".
 */
void kwhy_probe_watch_open(struct kwhy_probe_watch *watch, const char *folder);
void kwhy_probe_watch_close(struct kwhy_probe_watch *watch);

/* Writes "12 of 40 kernels known, 81 % of busy; 250 s left", or "" if no process has written a row yet. */
void kwhy_probe_watch_write(struct kwhy_probe_watch *watch, char *out, size_t space);

#endif
