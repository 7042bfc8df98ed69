/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RUN_RECORD_PROGRESS_H
#define KWHY_CLI_RUN_RECORD_PROGRESS_H

#include "cli/run/probe_watch.h"
#include "sensor/sensor.h"

#include <stdbool.h>

/*
 * The line of --progress on standard error. It shows how long a recording has run, its size (for kwhy probe:
 * of how many kernels the power is known), and the total power of its devices. On a terminal the line is
 * redrawn each second; otherwise a new line is written every ten seconds.
 */
struct kwhy_record_progress {
	const char *folder;
	const struct kwhy_sensors *sensors;
	struct kwhy_probe_watch *watch; /* progress of a probed command; NULL: the command is not probed */
	int64_t start_mono_ns, last_mono_ns;
	bool is_drawn;
};

/* Updates the line. To be called once a second. */
void kwhy_record_progress_show(struct kwhy_record_progress *progress, int64_t now_mono_ns);
/* Erases the line if one is drawn. */
void kwhy_record_progress_end(struct kwhy_record_progress *progress);

#endif
