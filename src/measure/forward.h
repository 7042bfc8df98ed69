/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MEASURE_FORWARD_H
#define KWHY_MEASURE_FORWARD_H

#include "measure/regions.h"

/*
 * Passes the regions and the work that a program reports to a session of libkwhy on to kwhy's own tools that
 * watch the program. Under `kwhy record`, regions become ranges of the recording; the library that
 * CUDA_INJECTION64_PATH names records them. Under `kwhy record` and `kwhy stat`, work becomes lines of the
 * file that KWHY_WORK_FILE names. Use from one thread at a time.
 */
struct kwhy_forward;

/*
 * Opens the connection to the tools that watch the program. NULL: no tool watches it, or out of memory; every
 * function below accepts NULL.
 */
struct kwhy_forward *kwhy_forward_open(void);

/*
 * Passes on an event that the session's collector has taken. Events of one thread must come in order of time.
 * `name` is the name of the event's region or unit.
 */
void kwhy_forward_event(struct kwhy_forward *forward, const struct kwhy_event *event, const char *name);

/* Writes the work that was passed on since the last flush to the work file. */
void kwhy_forward_flush(struct kwhy_forward *forward);
void kwhy_forward_close(struct kwhy_forward *forward);

#endif
