/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_SESSION_H
#define KWHY_INJECT_SESSION_H

#include "inject/collection.h"
#include "inject/ranges.h"

#include <stdbool.h>

/*
 * The one recording of this process. Any failure ends in less being recorded: no function here reports an
 * error to the program, prints, or ends the program. A child after fork records nothing, unless it
 * initialises CUDA itself: then it gets a recording of its own.
 */

/*
 * Starts the recording as the environment says, unless it is running; any thread may call it. False: nothing
 * is to be recorded.
 */
bool kwhy_inject_session_begin(void);

/* Starts the collection of activity by CUPTI, once. If that fails, a note in the recording says why. */
void kwhy_inject_session_begin_activity(void);

/* Where ranges are to be put; NULL: ranges are not recorded now. */
struct kwhy_inject_ranges *kwhy_inject_session_ranges(void);

/*
 * The collection that the start and end of ranges must be passed to; NULL: collection does not depend on
 * ranges.
 */
struct kwhy_inject_collection *kwhy_inject_session_collection(void);

/* Records an ended range of the program; any thread that may wait for the file can call it. */
void kwhy_inject_session_take_range(const char *name, int64_t start_mono_ns, int64_t end_mono_ns);

/*
 * Writes everything that is known at `now_mono_ns` to the file. A thread of the session calls it once a
 * period.
 */
void kwhy_inject_session_flush(int64_t now_mono_ns);

#endif
