/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_PROGRESS_H
#define KWHY_INJECT_PROBE_PROGRESS_H

#include "inject/probe/probe.h"

/*
 * Opens the file of the probing's progress (recording/probe_progress.h) in the folder that KWHY_RECORD_DIR
 * names, if the launcher has made that file.
 */
void kwhy_probe_progress_open(char *(*get)(const char *name));

/*
 * Reviews the accounts (kwhy_probe_pace_review()) and appends the progress as a row to the file that
 * kwhy_probe_progress_open() opened. Only one thread may call it.
 */
void kwhy_probe_progress_tell(struct kwhy_probe *probe, int64_t now_mono_ns);

#endif
