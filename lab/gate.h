/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_GATE_H
#define LAB_GATE_H

#include "gpu/gpu.h"

/*
 * Measures the time that a GPU needs for queued work if it never waits for the host. A gate is a kernel that
 * holds a stream; after the gate is opened, the work behind it runs between two events. Before lab_gate_set()
 * and after lab_gate_lift(), hold, release and reserve do nothing. While a gate is closed (after hold, before
 * release), nothing may wait for the GPU, or allocate or free its memory.
 */
struct lab_gate {
	struct kwhy_gpu *gpu;
	struct kwhy_gpu_stream *stream; /* borrowed */
	/* events before and after the work; callers also record them to time work without a gate */
	struct kwhy_gpu_event *start, *end;
	struct kwhy_gpu_gate *gate; /* NULL: no gate is set */
	bool held;
	uint32_t queued; /* number of calls of lab_gate_reserve() since lab_gate_hold() */
	double busy_ns;	 /* sum of the times between the events since lab_gate_set(), ns */
};

KWHY_MUST_USE enum kwhy_status lab_gate_open(
	struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream, struct lab_gate *out, struct kwhy_error *error);
void lab_gate_close(struct lab_gate *gate);

/* Sets the gate, until lab_gate_lift(). */
KWHY_MUST_USE enum kwhy_status lab_gate_set(struct lab_gate *gate, struct kwhy_error *error);
void lab_gate_lift(struct lab_gate *gate);

/*
 * lab_gate_hold() closes the gate, lab_gate_release() opens it and waits for the work behind it. A full queue
 * of the driver would block the host while the gate is closed, for ever. So callers call lab_gate_reserve()
 * before each launch or copy; after 63 of them it releases the work, and holds again.
 */
KWHY_MUST_USE enum kwhy_status lab_gate_hold(struct lab_gate *gate, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status lab_gate_release(struct lab_gate *gate, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status lab_gate_reserve(struct lab_gate *gate, struct kwhy_error *error);

/* Time between `start` and `end`, which must both have passed, s. */
KWHY_MUST_USE enum kwhy_status lab_gate_elapsed(
	const struct lab_gate *gate, double *out_s, struct kwhy_error *error);

#endif
