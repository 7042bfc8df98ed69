/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_CALL_SWITCH_H
#define KWHY_INJECT_CALL_SWITCH_H

#include "vendor/cupti.h"

#include <stdbool.h>

/*
 * Limit on the numbers that CUPTI gives to the calls of one domain (the driver's or the runtime's). In CUDA
 * 13.0 the driver has 810 calls and the runtime 520.
 */
enum { KWHY_INJECT_CALL_NUMBERS = 2048 };

/*
 * Selects which calls CUPTI records: those for which kwhy_inject_call_matters() is true. CUPTI 13.0 offers
 * two ways to do that.
 *
 * The first way enables each call alone. It must begin before the process has a context, and at least one
 * call of each domain must be enabled when the context is made. From then on each call may be disabled and
 * enabled at any time, as long as nobody switches the domain as a whole.
 *
 * The second way works at any time. It enables a whole domain and then disables single calls. CUPTI forgets
 * which calls were disabled whenever the domain is enabled again, and it inspects every call, which costs
 * more.
 *
 * Only one thread at a time may use this struct.
 */
struct kwhy_inject_call_switch {
	const struct kwhy_cupti *cupti;
	bool can_choose, is_alone;
	struct {
		uint32_t count; /* the domain's calls have the numbers 1 to count - 1 */
		uint32_t stays; /* number of a rarely used call that need not be recorded but is always
				   enabled, so that at least one call of the domain is enabled at any time;
				   0: there is no such call */
		bool matters[KWHY_INJECT_CALL_NUMBERS];
	} domains[2]; /* index: CUPTI's number of the domain, minus 1 */
};

/* Reads the names of all calls, and marks those for which kwhy_inject_call_matters() is true. */
void kwhy_inject_call_switch_init(struct kwhy_inject_call_switch *calls, const struct kwhy_cupti *cupti);

/*
 * Enables each call that matters by itself, without enabling a whole domain. It must run before the process
 * has a context.
 */
void kwhy_inject_call_switch_begin(struct kwhy_inject_call_switch *calls);

/*
 * Enables or disables the calls that matter. If whole domains are switched, other calls may be recorded, too,
 * until they are disabled one by one.
 */
void kwhy_inject_call_switch_set(struct kwhy_inject_call_switch *calls, bool is_on);

/*
 * From now on, kwhy_inject_call_switch_set() enables and disables whole domains, and then disables the calls
 * that do not matter. Needed for a CUPTI that records none of the calls that were enabled one by one. Call it
 * after kwhy_inject_call_switch_set(calls, false).
 */
void kwhy_inject_call_switch_give_up_alone(struct kwhy_inject_call_switch *calls);

#endif
