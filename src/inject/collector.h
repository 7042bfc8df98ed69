/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_COLLECTOR_H
#define KWHY_INJECT_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>

/* Starts the thread of the session: it opens and closes windows and calls kwhy_inject_session_flush(). */
void kwhy_inject_collector_start(void);

/* Waits until it is gone, two seconds at most; after the end of the session. */
void kwhy_inject_collector_stop(void);

/* The gate's switch: collection on or off, unless another client has taken CUPTI over. */
int64_t kwhy_inject_collector_switch(void *context, bool is_on);

/* Lets CUPTI hand over what it has; gives how many records it dropped. */
uint64_t kwhy_inject_collector_flush(bool forced);

#endif
