/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_CALL_SWITCH_H
#define KWHY_INJECT_CALL_SWITCH_H

#include "vendor/cupti.h"

#include <stdbool.h>

/* Numbers of calls of a domain; CUDA 13.0 has 810 of the driver's and 520 of the runtime's. */
enum { KWHY_INJECT_CALL_NUMBERS = 2048 };

/*
 * Which calls CUPTI records: those that matter (inject/calls.h). CUPTI (13.0) takes a choice of single calls
 * in two ways: each alone, as long as the process has no context; or, at any time, all of a domain less those
 * switched off, which it forgets whenever the domain is switched on. What other ways there seem to be record
 * nothing. One thread at a time.
 */
struct kwhy_inject_call_switch {
	const struct kwhy_cupti *cupti;
	bool can_choose, is_alone;
	struct {
		uint32_t count; /* numbers below it are calls */
		bool matters[KWHY_INJECT_CALL_NUMBERS];
	} domains[2]; /* as CUPTI numbers them, less one */
};

/* Reads what the calls are called. */
void kwhy_inject_call_switch_init(struct kwhy_inject_call_switch *calls, const struct kwhy_cupti *cupti);

/* Records each call that matters, alone: before the process has a context. */
void kwhy_inject_call_switch_begin(struct kwhy_inject_call_switch *calls);

/* Records those that matter, and for a moment others; or none. */
void kwhy_inject_call_switch_turn(struct kwhy_inject_call_switch *calls, bool is_on);

#endif
