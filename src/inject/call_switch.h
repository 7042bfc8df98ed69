/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_CALL_SWITCH_H
#define KWHY_INJECT_CALL_SWITCH_H

#include "vendor/cupti.h"

#include <stdbool.h>

/*
 * Limit on CUPTI's numbers for the calls of one domain. CUDA 13.0 has 810 calls in the driver's and 520 in
 * the runtime's.
 */
enum { KWHY_INJECT_CALL_NUMBERS = 2048 };

/*
 * Selects which calls CUPTI records: those that matter (inject/calls.h). CUPTI 13.0 offers two ways to select
 * single calls.
 *
 * The first enables each call alone. This must begin before the process has a context, and at least one call
 * of each domain must be enabled when the context is made. From then on each call may be disabled and enabled
 * at any time, as long as nobody switches the domain as a whole.
 *
 * The second works at any time: it enables a whole domain and then disables single calls, a choice that CUPTI
 * forgets whenever the domain is enabled again. CUPTI then inspects every call, which costs more.
 *
 * Only one thread at a time may use it.
 */
struct kwhy_inject_call_switch {
	const struct kwhy_cupti *cupti;
	bool can_choose, is_alone;
	struct {
		uint32_t count; /* numbers below this one are calls */
		uint32_t stays; /* a rare call that does not matter and stays enabled; 0: the domain has no
				   such call */
		bool matters[KWHY_INJECT_CALL_NUMBERS];
	} domains[2]; /* index: CUPTI's domain number minus 1 */
};

/* Reads the names of all calls and marks those that matter. */
void kwhy_inject_call_switch_init(struct kwhy_inject_call_switch *calls, const struct kwhy_cupti *cupti);

/* Enables each call that matters alone; must run before the process has a context. */
void kwhy_inject_call_switch_begin(struct kwhy_inject_call_switch *calls);

/*
 * Enables or disables the calls that matter. Where they are not enabled alone, other calls may be recorded
 * for a moment, too.
 */
void kwhy_inject_call_switch_set(struct kwhy_inject_call_switch *calls, bool is_on);

/*
 * For a CUPTI that turns out to record none of the calls that are enabled alone: from now on whole domains
 * are enabled, less the calls that do not matter. Call it while no call is enabled.
 */
void kwhy_inject_call_switch_give_up_alone(struct kwhy_inject_call_switch *calls);

#endif
