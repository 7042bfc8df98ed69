/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RUN_RECORD_PROGRESS_H
#define KWHY_CLI_RUN_RECORD_PROGRESS_H

#include "cli/run/probe_watch.h"
#include "sensor/sensor.h"

#include <stdbool.h>

/*
 * The line of --progress on standard error: for how long a recording runs, how large it is, or, where it is
 * probed, what is known, and what its devices draw. On a terminal one line that is drawn anew, else one every
 * ten seconds.
 */
struct kwhy_record_progress {
	const char *folder;
	const struct kwhy_sensors *sensors;
	struct kwhy_probe_watch *watch; /* NULL: the command is not probed */
	int64_t start_mono_ns, last_mono_ns;
	bool is_drawn;
};

/* Once a second. */
void kwhy_record_progress_show(struct kwhy_record_progress *progress, int64_t now_mono_ns);
/* Wipes a line that is drawn. */
void kwhy_record_progress_end(struct kwhy_record_progress *progress);

#endif
