/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_ACTIVITY_H
#define KWHY_INJECT_ACTIVITY_H

#include "inject/call_switch.h"
#include "inject/options.h"
#include "inject/pool.h"
#include "vendor/cupti.h"

/*
 * The collection of CUPTI's activity records in this process, and the pool of buffers that they are written
 * to. Only one thread at a time may start it or switch it.
 */
struct kwhy_inject_activity {
	struct kwhy_cupti cupti;
	struct kwhy_inject_pool pool;
	const struct kwhy_inject_options *options;
	int64_t offset_ns; /* added to CUPTI's times to get CLOCK_MONOTONIC; 0: CUPTI uses CLOCK_MONOTONIC
			      itself */
	bool clock_tells;  /* whether CUPTI showed at the start that it uses kwhy's clock. If it shows another
			      clock later, another CUPTI client has registered one and so taken CUPTI over */
	bool runs;
	unsigned kinds; /* kinds of records to collect, as bits of enum kwhy_inject_kind: options->kinds and
			   those that the session adds after the start */
	struct kwhy_inject_call_switch calls;
};

/*
 * Starts collecting the kinds of records that the options name. CUPTI calls `wanted` to get a buffer and
 * `done` to return one. Fails with KWHY_E_UNSUPPORTED and the reason where CUPTI is missing, too old or used
 * by another client; nothing is collected then.
 */
KWHY_MUST_USE enum kwhy_status kwhy_inject_activity_start(struct kwhy_inject_activity *activity,
	const struct kwhy_inject_options *options, kwhy_cupti_buffer_wanted *wanted,
	kwhy_cupti_buffer_done *done, struct kwhy_error *error);

/*
 * Pauses or resumes collection, which is on after the start. Records of work that was launched before a pause
 * still arrive.
 */
void kwhy_inject_activity_switch(struct kwhy_inject_activity *activity, bool is_on);

/*
 * Makes CUPTI select calls by whole domains from now on (inject/call_switch.h). Needed for a CUPTI that
 * recorded no call although single calls were enabled. Call it while collection is off.
 */
void kwhy_inject_activity_give_up_single_calls(struct kwhy_inject_activity *activity);

/*
 * Makes CUPTI return the buffers that are full; with `forced`, also those that are partly filled. CUPTI then
 * calls `done`, so the caller must hold no lock that `done` takes.
 */
void kwhy_inject_activity_flush(struct kwhy_inject_activity *activity, bool forced);

/* Whether CUPTI still records for kwhy. False: another client has taken CUPTI over since the start. */
bool kwhy_inject_activity_is_ours(const struct kwhy_inject_activity *activity);

/* Number of records that CUPTI has dropped since the last call. */
uint64_t kwhy_inject_activity_dropped(struct kwhy_inject_activity *activity);

#endif
