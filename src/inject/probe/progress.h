/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_PROGRESS_H
#define KWHY_INJECT_PROBE_PROGRESS_H

#include "inject/probe/probe.h"

/*
 * Opens the progress file (recording/probe_progress.h) in the folder KWHY_RECORD_DIR, if the launcher has
 * made it.
 */
void kwhy_probe_progress_open(char *(*get)(const char *name));

/*
 * Reviews the wanted accounts and appends the progress to the file as one row. Only one thread may call it.
 */
void kwhy_probe_progress_tell(struct kwhy_probe *probe, int64_t now_mono_ns);

#endif
