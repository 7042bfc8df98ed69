/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_CRITICAL_H
#define KWHY_WHATIF_CRITICAL_H

#include "whatif/graph.h"

/*
 * In ns. In longer pauses between calls the host is assumed to do nothing, so they do not count as host time.
 * The value is chosen, not measured.
 */
enum { KWHY_WHATIF_PAUSE_MAX_NS = 1000000000 };

/*
 * Host-limited time in ns of the last simulation: the time on its critical path that host threads spend in
 * calls, without waits for the device, and in pauses between calls. It counts from the first start of work.
 * The critical path is the chain of links that decided when the last work ended. Takes time proportional to
 * the length of the path.
 */
int64_t kwhy_whatif_host_limited_ns(const struct kwhy_whatif_graph *graph);

#endif
