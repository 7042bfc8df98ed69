/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_COLLECTOR_H
#define KWHY_INJECT_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Starts the session's thread, which opens and closes windows (inject/collection.h) when they are due and
 * calls kwhy_inject_session_flush() every options.period_ms.
 */
void kwhy_inject_collector_start(void);

/* Waits at most two seconds until the thread has ended. Called after the end of the session. */
void kwhy_inject_collector_stop(void);

/*
 * Switches collection on or off, unless another client has taken CUPTI over. Returns the time on
 * CLOCK_MONOTONIC right after the switch. It is the function `switch_to` of struct kwhy_inject_collection.
 */
int64_t kwhy_inject_collector_switch(void *context, bool is_on);

/*
 * Makes CUPTI return its buffers, with `forced` also those that are partly filled. Returns the number of
 * records that CUPTI has dropped since the last flush.
 */
uint64_t kwhy_inject_collector_flush(bool forced);

#endif
