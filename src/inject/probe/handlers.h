/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_HANDLERS_H
#define KWHY_INJECT_PROBE_HANDLERS_H

#include "inject/probe/memory.h"
#include "vendor/cupti_abi.h"

/* Kinds of driver calls that the prober handles. */
enum kwhy_probe_handler {
	KWHY_PROBE_IGNORED,
	KWHY_PROBE_LAUNCH,
	KWHY_PROBE_LAUNCH_WITH,
	KWHY_PROBE_LAUNCH_COOPERATIVE,
	KWHY_PROBE_LAUNCH_OVER_DEVICES,
	KWHY_PROBE_LAUNCH_GRAPH,
	KWHY_PROBE_MAKE_GRAPH,
	KWHY_PROBE_UPDATE_GRAPH,
	KWHY_PROBE_SET_KERNEL, /* sets parameters of a node of an executable graph */
	KWHY_PROBE_SET_CHILD,
	KWHY_PROBE_SET_NODE,
	KWHY_PROBE_SET_ENABLED,
	KWHY_PROBE_END_GRAPH,
	KWHY_PROBE_ALLOCATE,
	KWHY_PROBE_ALLOCATE_PITCH,
	KWHY_PROBE_FREE,
	KWHY_PROBE_MAP,
	KWHY_PROBE_UNMAP,
	KWHY_PROBE_SHARE,
	KWHY_PROBE_OPEN_SHARED,
	KWHY_PROBE_COPY,
	KWHY_PROBE_SET_8,
	KWHY_PROBE_SET_16,
	KWHY_PROBE_SET_32,
	KWHY_PROBE_OTHER /* another call that changes memory: it waits for the end of a burst */
};

/*
 * The kind of a call, from the driver's name for it. *out_is_of_thread: NULL stands for the thread's own
 * default stream in this form of the call ("cuLaunchKernel_ptsz"). Pure.
 */
enum kwhy_probe_handler kwhy_probe_handler_of(const char *name, bool *out_is_of_thread);

/* Bytes of each element that a memset sets; 0: the call is a copy. */
unsigned kwhy_probe_handler_width(enum kwhy_probe_handler handler);

/*
 * After a call that succeeded: the memory that it allocated or shared with other processes. All 0 for other
 * calls.
 */
void kwhy_probe_handler_given(enum kwhy_probe_handler handler, const struct kwhy_cupti_callback *data,
	struct kwhy_probe_allocation *out);

#endif
