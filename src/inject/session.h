/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_SESSION_H
#define KWHY_INJECT_SESSION_H

#include "inject/collection.h"
#include "inject/ranges.h"

#include <stdbool.h>

/*
 * A session is the recording of this process; there is at most one. After a failure, a part of the recording
 * or all of it ends; no function here prints, ends the program or reports an error to the program. A child of
 * fork records nothing, unless it initialises CUDA itself: then it gets a recording of its own.
 */

/*
 * Starts the recording as the environment says, unless it is running. Any thread may call it. False: this
 * process records nothing.
 */
bool kwhy_inject_session_begin(void);

/*
 * Starts the collection of activity by CUPTI, at the first call only. If that fails, a note in the recording
 * says why.
 */
void kwhy_inject_session_begin_activity(void);

/* The queue of the program's ranges; NULL: ranges are not recorded, or the session is not on. */
struct kwhy_inject_ranges *kwhy_inject_session_ranges(void);

/*
 * The collection to which the start and end of ranges must be reported; NULL: collection does not depend on
 * ranges.
 */
struct kwhy_inject_collection *kwhy_inject_session_collection(void);

/* Records an ended range of the program. May wait for a write to the file. */
void kwhy_inject_session_take_range(const char *name, int64_t start_mono_ns, int64_t end_mono_ns);

/*
 * Makes CUPTI return its full buffers and writes all that was gathered so far to the file; now_mono_ns is the
 * present time. The session's thread calls it every options.period_ms.
 */
void kwhy_inject_session_flush(int64_t now_mono_ns);

#endif
