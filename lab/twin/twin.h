/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_TWIN_TWIN_H
#define LAB_TWIN_TWIN_H

#include "gpu/gpu.h"

/*
 * `twin`, the reference workload of many small transfers (lab/README.md). 22 agents control a field of 256
 * x 256 cells per rank and read nearly two thousand of its values in every step. All sums are sums of
 * integers and every float is rounded once, so all variants must give the same bits, which is checked. For
 * one thread.
 */
enum {
	LAB_TWIN_STEPS = 288, /* number of steps in a whole run */
	LAB_TWIN_RANKS_MAX = 8,
	LAB_TWIN_OBSERVED_MAX = 1878, /* values that agents see in a step */
	LAB_TWIN_SLOT_FLOATS = 5 *
		/*
		 * floats that a step adds to the history: 70 cells of each of T, U, W, F and, in some steps,
		 * V
		 */
		70
};

struct lab_twin_shape {
	uint32_t steps; /* number of steps, 1 to LAB_TWIN_STEPS */
	uint32_t ranks; /* number of ranks, 1 to LAB_TWIN_RANKS_MAX, which form a ring */
	bool closed;	/* whether what agents send depends on what they saw */
};

/* --- On one core --- */

/* Exact results of a step. */
struct lab_twin_step {
	uint64_t field;	   /* checksum X of the fields T and U over all ranks */
	uint64_t observed; /* checksum Y of what the agents saw, in this step and all before */
	uint32_t peak;	   /* M: the bits of the largest |T| */
};

struct lab_twin_answer {
	struct lab_twin_step *steps; /* [shape.steps] results of each step */
	/*
	 * [shape.steps][LAB_TWIN_SLOT_FLOATS] the first 70 cells of T, U, W, F and V after each step; V is 0
	 * in steps that do not keep it
	 */
	float *history;
};

/*
 * Computes a run on one core of the host; 288 steps with one rank take 0.13 s. KWHY_E_INPUT: the shape is out
 * of bounds. End with lab_twin_answer_done().
 */
KWHY_MUST_USE enum kwhy_status lab_twin_reference(
	const struct lab_twin_shape *shape, struct lab_twin_answer *out, struct kwhy_error *error);
void lab_twin_answer_done(struct lab_twin_answer *answer);

/* --- On GPUs. Each variant changes one thing of another variant. --- */

struct lab_twin;

/*
 * What launches the kernels of a step: calls of the driver by the host, a graph launch, or the device itself
 * in one kernel for the whole run; LAB_TWIN_REFERENCE is the computation on the host alone.
 */
enum lab_twin_host { LAB_TWIN_CALLS, LAB_TWIN_GRAPHS, LAB_TWIN_DEVICE, LAB_TWIN_REFERENCE };

struct lab_twin_variant {
	const char *id, *title, *after, *change; /* see struct lab_row */
	/* true: the host's memory is pageable; false: it is page-locked */
	bool pageable;
	/* true: all copies of one direction in a step are queued by one call of the driver */
	bool batched;
	bool waits_each; /* true: the host waits for each copy before it queues the next */
	/* bytes from one observation to the next on the device; 0: they are packed */
	uint32_t scattered;
	enum lab_twin_host host;
	/*
	 * true: kernels read the controls from and write the observations to mapped host memory, so that
	 * nothing is copied
	 */
	bool mapped;
	bool doubled; /* true: T has two buffers; a step reads one and writes the other */
	/*
	 * true: each rank has a field of its own, on its own GPU if there are several; false: all ranks are
	 * one field on the first GPU
	 */
	bool apart;
	/*
	 * Queue the parts of step `step`: what agents send, the kernels, what agents see. NULL: the variant
	 * has no such part.
	 */
	void (*send)(struct lab_twin *twin, uint32_t step);
	void (*compute)(struct lab_twin *twin, uint32_t step);
	void (*fetch)(struct lab_twin *twin, uint32_t step);
};

extern const struct lab_twin_variant lab_twin_variants[]; /* all variants; the last one is the reference */
extern const size_t lab_twin_variant_count;

struct lab_twin_request {
	struct kwhy_gpu *const *gpus;
	uint32_t gpu_count; /* number of GPUs; variants that are not `apart` use only the first */
	struct lab_twin_shape shape;
	const struct lab_twin_variant *variant;
	bool by_nccl; /* true: NCCL makes the collectives; false: kernels of kwhy-lab do */
};

enum lab_twin_way { LAB_TWIN_TO_GPU, LAB_TWIN_FROM_GPU, LAB_TWIN_WITHIN, LAB_TWIN_WAY_COUNT };

/* Counts of what a run requested from the driver. */
struct lab_twin_tally {
	uint64_t calls; /* calls of the driver, where a collective counts as one */
	uint64_t waits;
	uint64_t copies[LAB_TWIN_WAY_COUNT], bytes[LAB_TWIN_WAY_COUNT];
	uint64_t kernels; /* number of the workload's kernels that ran, including those in graphs, but not
			     those of collectives */
	uint64_t collectives;
};

struct lab_twin_result {
	double run_s; /* time from the first launch to the end of all work */
	/*
	 * [shape.steps] time of each step, memory of the caller; NULL: not wanted. By the device's clock if
	 * the device starts the steps.
	 */
	double *step_s;
	/*
	 * time between the device's events before and after the run, if it is one launch; NAN: the host
	 * launches the steps, see lab_twin_busy()
	 */
	double busy_s;
	struct lab_twin_tally tally;
};

/* Opens a variant, which can then be run any number of times. */
KWHY_MUST_USE enum kwhy_status lab_twin_open(
	const struct lab_twin_request *request, struct lab_twin **out, struct kwhy_error *error);
void lab_twin_close(struct lab_twin *twin); /* NULL is allowed */

/*
 * Makes one whole run and compares it with `answer`, which must be of the same shape. KWHY_E_INPUT: a bit
 * differs; the error names variant and step. With `poisoned` the outboxes are overwritten before each step
 * and the history before the run, and the history is compared, too, so that a missing write is noticed; such
 * a run is slower.
 */
KWHY_MUST_USE enum kwhy_status lab_twin_run(struct lab_twin *twin, const struct lab_twin_answer *answer,
	bool poisoned, struct lab_twin_result *out, struct kwhy_error *error);

/*
 * Time that the device works in a run if it never waits for the host, s, measured with a gate (lab/gate.h).
 * Copies use page-locked memory, and the host does not wait within a step. Opens the variant again and makes
 * two runs. KWHY_E_UNSUPPORTED: there are several GPUs, a run is one launch, or no gate can hold the work.
 */
KWHY_MUST_USE enum kwhy_status lab_twin_busy(const struct lab_twin_request *request,
	const struct lab_twin_answer *answer, double *out_busy_s, struct kwhy_error *error);

#endif
