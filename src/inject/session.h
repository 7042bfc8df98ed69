/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_SESSION_H
#define KWHY_INJECT_SESSION_H

#include "inject/collection.h"
#include "inject/ranges.h"

#include <stdbool.h>

/*
 * The recording of this process, of which there is one. Whatever goes wrong ends in less being recorded:
 * nothing here fails towards the program, prints, or ends it. A child after fork records nothing, unless it
 * initialises CUDA itself: then it gets a recording of its own.
 */

/* Starts it as the environment says, unless it runs; any thread. False: nothing is to be recorded. */
bool kwhy_inject_session_begin(void);

/* Besides the facts: activity by CUPTI, once. A note says why, where that cannot be. */
void kwhy_inject_session_begin_activity(void);

/* Are ranges recorded now? Then where they go; else NULL. */
struct kwhy_inject_ranges *kwhy_inject_session_ranges(void);

/* Does it depend on ranges what is collected? Then who is to be told of them; else NULL. */
struct kwhy_inject_collection *kwhy_inject_session_collection(void);

/* A range of the program's own that has ended; any thread that may wait for the file. */
void kwhy_inject_session_take_range(const char *name, int64_t start_mono_ns, int64_t end_mono_ns);

/*
 * Everything that is known by now goes to the file; `now_mono_ns` is the time. Called every period by a
 * thread of the session.
 */
void kwhy_inject_session_flush(int64_t now_mono_ns);

#endif
