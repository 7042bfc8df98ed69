/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MEASURE_FORWARD_H
#define KWHY_MEASURE_FORWARD_H

#include "measure/regions.h"

/*
 * What a program tells a session goes on to those that watch the program: below `kwhy record` its regions
 * become ranges of the recording, by way of the library that CUDA_INJECTION64_PATH names, and below `kwhy
 * record` and `kwhy stat` its work becomes lines in the file that KWHY_WORK_FILE names. One thread at a time.
 */
struct kwhy_forward;

/* NULL: nobody watches, or no memory; every call below takes NULL. */
struct kwhy_forward *kwhy_forward_open(void);

/* An event of the collector, those of one thread in order; `name` is its region's or its unit's. */
void kwhy_forward_event(struct kwhy_forward *forward, const struct kwhy_event *event, const char *name);

/* Work since the last call goes to its file. */
void kwhy_forward_flush(struct kwhy_forward *forward);
void kwhy_forward_close(struct kwhy_forward *forward);

#endif
