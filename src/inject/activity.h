/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_ACTIVITY_H
#define KWHY_INJECT_ACTIVITY_H

#include "inject/call_switch.h"
#include "inject/options.h"
#include "inject/pool.h"
#include "vendor/cupti.h"

/*
 * CUPTI's activity records of this process: what is asked for, and the buffers they come in. One thread at a
 * time starts, switches or stops it.
 */
struct kwhy_inject_activity {
	struct kwhy_cupti cupti;
	struct kwhy_inject_pool pool;
	const struct kwhy_inject_options *options;
	int64_t offset_ns; /* from CUPTI's clock to CLOCK_MONOTONIC; 0: CUPTI uses ours */
	bool clock_tells;  /* CUPTI shows the clock it uses: ours, unless another client has put in its own */
	bool runs;
	unsigned kinds; /* of the options, and what has been added since */
	struct kwhy_inject_call_switch calls;
};

/*
 * Starts what the options ask for; buffers are taken from `wanted` and come to `done`. KWHY_E_UNSUPPORTED,
 * with the reason, where CUPTI is missing, too old or taken; nothing runs then.
 */
KWHY_MUST_USE enum kwhy_status kwhy_inject_activity_start(struct kwhy_inject_activity *activity,
	const struct kwhy_inject_options *options, kwhy_cupti_buffer_wanted *wanted,
	kwhy_cupti_buffer_done *done, struct kwhy_error *error);

/*
 * Collects nothing new any more, or again what it did; it does after the start. Records of what was launched
 * before still come.
 */
void kwhy_inject_activity_switch(struct kwhy_inject_activity *activity, bool is_on);

/* While collection is off, of a CUPTI that has recorded no calls: it is asked for them in another way from
 * now on. */
void kwhy_inject_activity_give_up_single_calls(struct kwhy_inject_activity *activity);

/* Lets CUPTI hand over its buffers; all of them, complete or not, when `forced`. Holds no lock. */
void kwhy_inject_activity_flush(struct kwhy_inject_activity *activity, bool forced);

/* False: another client has taken CUPTI over since the start, as far as one can tell. */
bool kwhy_inject_activity_is_ours(const struct kwhy_inject_activity *activity);

/* Records that CUPTI dropped since the last call. */
uint64_t kwhy_inject_activity_dropped(struct kwhy_inject_activity *activity);

#endif
