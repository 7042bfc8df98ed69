/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_GATE_H
#define LAB_GATE_H

#include "gpu/gpu.h"

/*
 * How long a GPU works at what the host queues, were it never to wait for the host: what is queued is held
 * back by a gate and then runs by itself between two events. Without a gate hold, release and room do
 * nothing. Behind a closed gate nobody may wait for the GPU, nor allocate or free its memory.
 */
struct lab_gate {
	struct kwhy_gpu *gpu;
	struct kwhy_gpu_stream *stream;	    /* borrowed */
	struct kwhy_gpu_event *start, *end; /* also for whoever times without a gate */
	struct kwhy_gpu_gate *gate;	    /* NULL: nothing is held back */
	bool held;
	uint32_t queued; /* after it */
	double busy_ns;	 /* of what was held back since lab_gate_set() */
};

KWHY_MUST_USE enum kwhy_status lab_gate_open(
	struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream, struct lab_gate *out, struct kwhy_error *error);
void lab_gate_close(struct lab_gate *gate);

/* From here on there is a gate, up to lab_gate_lift(). */
KWHY_MUST_USE enum kwhy_status lab_gate_set(struct lab_gate *gate, struct kwhy_error *error);
void lab_gate_lift(struct lab_gate *gate);

/* What is queued from hold to release runs whole. A full queue would block the host before it opens the gate:
 * whatever queues asks for room, which lets long work run in parts. */
KWHY_MUST_USE enum kwhy_status lab_gate_hold(struct lab_gate *gate, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status lab_gate_release(struct lab_gate *gate, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status lab_gate_reserve(struct lab_gate *gate, struct kwhy_error *error);

/* Seconds between the two events. */
KWHY_MUST_USE enum kwhy_status lab_gate_elapsed(
	const struct lab_gate *gate, double *out_s, struct kwhy_error *error);

#endif
