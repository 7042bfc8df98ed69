/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_GATE_H
#define LAB_GATE_H

#include "gpu/gpu.h"

/*
 * Measures how long a GPU works on queued work if the GPU never waits for the host. A gate holds the queued
 * work back; after its release the work runs between two events. While no gate is set, hold, release and
 * reserve do nothing. While a gate is closed, nothing may wait for the GPU, or allocate or free its memory.
 */
struct lab_gate {
	struct kwhy_gpu *gpu;
	struct kwhy_gpu_stream *stream;	    /* borrowed */
	struct kwhy_gpu_event *start, *end; /* events around the work; also used to time without a gate */
	struct kwhy_gpu_gate *gate;	    /* NULL: no gate is set */
	bool held;
	uint32_t queued; /* number of launches queued since lab_gate_hold() */
	double busy_ns;	 /* time of the work that was held back since lab_gate_set(), ns */
};

KWHY_MUST_USE enum kwhy_status lab_gate_open(
	struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream, struct lab_gate *out, struct kwhy_error *error);
void lab_gate_close(struct lab_gate *gate);

/* Sets the gate, until lab_gate_lift(). */
KWHY_MUST_USE enum kwhy_status lab_gate_set(struct lab_gate *gate, struct kwhy_error *error);
void lab_gate_lift(struct lab_gate *gate);

/*
 * Work that is queued between hold and release runs without a break. A full queue would block the host before
 * it opens the gate. So callers call lab_gate_reserve() before they queue more, which releases the work in
 * parts if there is too much.
 */
KWHY_MUST_USE enum kwhy_status lab_gate_hold(struct lab_gate *gate, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status lab_gate_release(struct lab_gate *gate, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status lab_gate_reserve(struct lab_gate *gate, struct kwhy_error *error);

/* Time between the two events, s. */
KWHY_MUST_USE enum kwhy_status lab_gate_elapsed(
	const struct lab_gate *gate, double *out_s, struct kwhy_error *error);

#endif
