/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MEASURE_FORWARD_H
#define KWHY_MEASURE_FORWARD_H

#include "measure/regions.h"

/*
 * Passes what a program reports to a session on to the tools that watch the program. Under `kwhy record`,
 * regions become ranges of the recording, through the library that CUDA_INJECTION64_PATH names. Under `kwhy
 * record` and `kwhy stat`, work becomes lines of the file that KWHY_WORK_FILE names. Use from one thread at a
 * time.
 */
struct kwhy_forward;

/* NULL: no tool watches the program, or out of memory. Every function below accepts NULL. */
struct kwhy_forward *kwhy_forward_open(void);

/* An event of the collector, those of one thread in order; `name` is its region's or its unit's. */
void kwhy_forward_event(struct kwhy_forward *forward, const struct kwhy_event *event, const char *name);

/*
 * Passes on an event of the collector; events of one thread are in order. `name` is that of its region or its
 * unit.
 */
void kwhy_forward_flush(struct kwhy_forward *forward);
void kwhy_forward_close(struct kwhy_forward *forward);

#endif
