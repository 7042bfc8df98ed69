/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_CRITICAL_H
#define KWHY_WHATIF_CRITICAL_H

#include "whatif/graph.h"

/* ns; in longer pauses the host is taken not to compute. Our choice. */
enum { KWHY_WHATIF_PAUSE_MAX_NS = 1000000000 };

/*
 * Host-limited time of the last play, ns: the time on its critical path that host threads spend in calls, not
 * counting waits for the device, and in pauses between calls. It is counted from the first start of work on.
 * The critical path is the chain of links that decided when the last work ended. Takes O(its length) time.
 */
int64_t kwhy_whatif_host_limited_ns(const struct kwhy_whatif_graph *graph);

#endif
