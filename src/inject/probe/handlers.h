/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_HANDLERS_H
#define KWHY_INJECT_PROBE_HANDLERS_H

#include "inject/probe/memory.h"
#include "vendor/cupti_abi.h"

/* What the prober does at a call of the driver. */
enum kwhy_probe_handler {
	KWHY_PROBE_IGNORED,
	KWHY_PROBE_LAUNCH,
	KWHY_PROBE_LAUNCH_WITH,
	KWHY_PROBE_LAUNCH_COOPERATIVE,
	KWHY_PROBE_LAUNCH_OVER_DEVICES,
	KWHY_PROBE_LAUNCH_GRAPH,
	KWHY_PROBE_MAKE_GRAPH,
	KWHY_PROBE_UPDATE_GRAPH,
	KWHY_PROBE_SET_KERNEL, /* of an executable graph */
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
	KWHY_PROBE_OTHER /* changes memory: waits for the end of a burst */
};

/* By the driver's name of the call; *out_is_of_thread: its stream NULL is the thread's
 * ("cuLaunchKernel_ptsz"). Pure. */
enum kwhy_probe_handler kwhy_probe_handler_of(const char *name, bool *out_is_of_thread);

/* Bytes of each element that a memset sets; 0: it is a copy. */
unsigned kwhy_probe_handler_width(enum kwhy_probe_handler handler);

/* Behind a call that did not fail: the memory that it gave, or shared with other processes; of other calls
 * all is 0. */
void kwhy_probe_handler_given(enum kwhy_probe_handler handler, const struct kwhy_cupti_callback *data,
	struct kwhy_probe_allocation *out);

#endif
