/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_CALL_SWITCH_H
#define KWHY_INJECT_CALL_SWITCH_H

#include "vendor/cupti.h"

#include <stdbool.h>

/* Numbers of calls of a domain; CUDA 13.0 has 810 of the driver's and 520 of the runtime's. */
enum { KWHY_INJECT_CALL_NUMBERS = 2048 };

/*
 * Which calls CUPTI records: those that matter (inject/calls.h). CUPTI (13.0) takes a choice of single calls
 * in two ways. Each alone: begun before the process has a context, of which one a domain must be on when the
 * context is made; from then on each may be switched off and on at any time, as long as nobody switches the
 * domain as a whole. Or, at any time, all of a domain less those switched off, which it forgets whenever the
 * domain is switched on; CUPTI then looks at every call, which costs more. One thread at a time.
 */
struct kwhy_inject_call_switch {
	const struct kwhy_cupti *cupti;
	bool can_choose, is_alone;
	struct {
		uint32_t count; /* numbers below it are calls */
		uint32_t stays; /* one that is rare and does not matter stays on; 0: there is none */
		bool matters[KWHY_INJECT_CALL_NUMBERS];
	} domains[2]; /* as CUPTI numbers them, less one */
};

/* Reads what the calls are called. */
void kwhy_inject_call_switch_init(struct kwhy_inject_call_switch *calls, const struct kwhy_cupti *cupti);

/* Records each call that matters, alone: before the process has a context. */
void kwhy_inject_call_switch_begin(struct kwhy_inject_call_switch *calls);

/* Records those that matter, or none; where they are not chosen alone for a moment others, too. */
void kwhy_inject_call_switch_set(struct kwhy_inject_call_switch *calls, bool is_on);

/*
 * For a CUPTI that records none of those chosen alone after all: from now on all of a domain less those that
 * do not matter. While none is recorded.
 */
void kwhy_inject_call_switch_give_up_alone(struct kwhy_inject_call_switch *calls);

#endif
