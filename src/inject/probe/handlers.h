/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_HANDLERS_H
#define KWHY_INJECT_PROBE_HANDLERS_H

#include "inject/probe/memory.h"
#include "vendor/cupti_abi.h"

/* Kinds of driver calls, by what the prober does at them. */
enum kwhy_probe_handler {
	KWHY_PROBE_IGNORED,
	KWHY_PROBE_LAUNCH,
	KWHY_PROBE_LAUNCH_WITH,
	KWHY_PROBE_LAUNCH_COOPERATIVE,
	KWHY_PROBE_LAUNCH_OVER_DEVICES,
	KWHY_PROBE_LAUNCH_GRAPH,
	KWHY_PROBE_MAKE_GRAPH,
	KWHY_PROBE_UPDATE_GRAPH,
	KWHY_PROBE_SET_KERNEL, /* SET_KERNEL to SET_NODE: set the parameters of a kernel, a child graph or any
				  node of an executable graph */
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
	KWHY_PROBE_OTHER /* another call that may change memory; the prober makes it wait until the burst of
			    another thread has ended */
};

/*
 * The kind of a driver call, by its name. *out_is_of_thread: whether stream NULL means the calling thread's
 * own default stream in this form of the call, as in "cuLaunchKernel_ptsz". Pure.
 */
enum kwhy_probe_handler kwhy_probe_handler_of(const char *name, bool *out_is_of_thread);

/* Bytes per element of a memset of this kind (1, 2 or 4); 0: the call is no memset. */
unsigned kwhy_probe_handler_width(enum kwhy_probe_handler handler);

/*
 * Writes to *out the memory that a successful call has allocated, mapped, opened or shared with other
 * processes (is_shared). For other calls all members are 0.
 */
void kwhy_probe_handler_given(enum kwhy_probe_handler handler, const struct kwhy_cupti_callback *data,
	struct kwhy_probe_allocation *out);

#endif
