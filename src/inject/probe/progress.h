/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_PROGRESS_H
#define KWHY_INJECT_PROBE_PROGRESS_H

#include "inject/probe/probe.h"

/* Where the launcher has made the file of recording/probe_progress.h in KWHY_RECORD_DIR: opens it. */
void kwhy_probe_progress_open(char *(*get)(const char *name));

/* Reviews what is known, and appends it there. One thread. */
void kwhy_probe_progress_tell(struct kwhy_probe *probe, int64_t now_mono_ns);

#endif
