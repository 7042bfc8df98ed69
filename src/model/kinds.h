/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_KINDS_H
#define KWHY_MODEL_KINDS_H

/* Kinds of the events of a recording, and their names. */

enum kwhy_activity_kind {
	KWHY_ACTIVITY_KERNEL,
	KWHY_ACTIVITY_COLLECTIVE, /* a kernel that is a collective or a send/receive */
	KWHY_ACTIVITY_GRAPH,	  /* a whole graph launch, whose kernels were not recorded */
	KWHY_ACTIVITY_COPY,
	KWHY_ACTIVITY_MEMSET,
	KWHY_ACTIVITY_KIND_COUNT
};

enum kwhy_copy_kind {
	KWHY_COPY_UNKNOWN,
	KWHY_COPY_H2D,
	KWHY_COPY_D2H,
	KWHY_COPY_D2D,
	KWHY_COPY_P2P,
	KWHY_COPY_H2H,
	KWHY_COPY_KIND_COUNT
};

enum kwhy_memory_kind {
	KWHY_MEMORY_UNKNOWN,
	KWHY_MEMORY_PAGEABLE,
	KWHY_MEMORY_PINNED,
	KWHY_MEMORY_DEVICE,
	KWHY_MEMORY_ARRAY,
	KWHY_MEMORY_MANAGED,
	KWHY_MEMORY_DEVICE_STATIC,
	KWHY_MEMORY_MANAGED_STATIC,
	KWHY_MEMORY_KIND_COUNT
};

/*
 * What launched an activity: the profiled program, or the command `kwhy probe`, which runs activities of its
 * own between those of the program.
 */
enum kwhy_activity_origin {
	KWHY_ORIGIN_PROGRAM,
	KWHY_ORIGIN_REPEAT, /* a kernel of the program that kwhy probe launched again */
	KWHY_ORIGIN_PROBER, /* a copy or hash of memory that kwhy probe made for its repeats */
	KWHY_ORIGIN_COUNT
};

const char *kwhy_activity_kind_name(enum kwhy_activity_kind kind); /* "kernel", ... "memset" */
const char *kwhy_copy_kind_name(enum kwhy_copy_kind kind);	   /* "h2d", ... "unknown" */
const char *kwhy_memory_kind_name(enum kwhy_memory_kind kind);	   /* "pageable", ... "unknown" */

/*
 * What the host does inside an API call. The class decides the category of a device's idle time during the
 * call.
 */
enum kwhy_call_class {
	KWHY_CALL_OTHER,
	KWHY_CALL_LAUNCH, /* queues a kernel, graph, asynchronous copy or memset in a stream */
	KWHY_CALL_COPY,	  /* copies and may block until the copy is done: cudaMemcpy, cuMemcpyHtoD, ... */
	KWHY_CALL_SYNC,	  /* blocks until the device has reached a point in its work */
	KWHY_CALL_ALLOC,  /* allocates device, managed or pinned memory, also from pools */
	KWHY_CALL_FREE,
	KWHY_CALL_CLASS_COUNT
};

const char *kwhy_call_class_name(enum kwhy_call_class class); /* "other", "launch", ... "free" */

/* Class of an API call (cuda*, cu*, hip* and others) by its name without version suffix. */
enum kwhy_call_class kwhy_call_class_of(const char *name);

enum kwhy_range_kind {
	KWHY_RANGE_NVTX,
	KWHY_RANGE_USER, /* other ranges that the program marks, such as user_annotation */
	KWHY_RANGE_STEP, /* one step of a loop: ProfilerStep#N, or a range name that the user declared to be a
			    step */
	KWHY_RANGE_KIND_COUNT
};

#endif
