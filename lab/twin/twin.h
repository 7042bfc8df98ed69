/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_TWIN_TWIN_H
#define LAB_TWIN_TWIN_H

#include "gpu/gpu.h"

/*
 * `twin`, the reference workload of many small transfers (lab/README.md): 22 agents steer a field of
 * 256 x 256 cells a rank and read nearly two thousand values of it in every step. All sums are of integers
 * and every float is rounded once, so that every way to run it gives the same bits; those are what is
 * checked. One thread.
 */
enum {
	LAB_TWIN_STEPS = 288, /* of a whole run */
	LAB_TWIN_RANKS_MAX = 8,
	LAB_TWIN_OBSERVED_MAX = 1878, /* values that agents see in a step */
	LAB_TWIN_SLOT_FLOATS = 5 *
		70 /* of a step in the history: 70 cells of T, U, W, F and now and then V */
};

struct lab_twin_shape {
	uint32_t steps; /* 1 to LAB_TWIN_STEPS */
	uint32_t ranks; /* 1 to LAB_TWIN_RANKS_MAX, stacked as a ring */
	bool closed;	/* what agents send depends on what they saw */
};

/* --- On one core --- */

/* What a step must come to. */
struct lab_twin_step {
	uint64_t field;	   /* X: of T and U of all ranks */
	uint64_t observed; /* Y: of what the agents saw, in this and all steps before */
	uint32_t peak;	   /* M: bits of the highest |T| */
};

struct lab_twin_answer {
	struct lab_twin_step *steps; /* [shape.steps] */
	float *history;		     /* [shape.steps][LAB_TWIN_SLOT_FLOATS]; V is 0 where none is kept */
};

/* Plainly: 0.13 s for a whole run of one rank. KWHY_E_INPUT: a shape out of bounds. */
KWHY_MUST_USE enum kwhy_status lab_twin_reference(
	const struct lab_twin_shape *shape, struct lab_twin_answer *out, struct kwhy_error *error);
void lab_twin_answer_done(struct lab_twin_answer *answer);

/* --- On GPUs, in every variant: each changes one thing of another --- */

struct lab_twin;

/* Who starts the work of a step. */
enum lab_twin_host { LAB_TWIN_CALLS, LAB_TWIN_GRAPHS, LAB_TWIN_DEVICE, LAB_TWIN_REFERENCE };

struct lab_twin_variant {
	const char *id, *title, *after, *change; /* see struct lab_variant */
	bool pageable;				 /* the host's memory; else it is pinned */
	bool batched;				 /* copies go by one call of the driver that takes many */
	bool waits_each;			 /* for every copy by itself */
	uint32_t scattered;			 /* bytes between observations on the device; 0: packed */
	enum lab_twin_host host;
	bool mapped;  /* in- and outbox are the host's memory; nothing is copied */
	bool doubled; /* the field has two buffers */
	bool apart;   /* a field a rank, each on its own GPU where there are several */
	/* The parts of a step; NULL: there is none, or it is in the graph. */
	void (*send)(struct lab_twin *twin, uint32_t step);
	void (*compute)(struct lab_twin *twin, uint32_t step);
	void (*fetch)(struct lab_twin *twin, uint32_t step);
};

extern const struct lab_twin_variant lab_twin_variants[]; /* the last one is the reference */
extern const size_t lab_twin_variant_count;

struct lab_twin_request {
	struct kwhy_gpu *const *gpus;
	uint32_t gpu_count; /* variants that are not apart use the first alone */
	struct lab_twin_shape shape;
	const struct lab_twin_variant *variant;
	bool by_nccl; /* collectives; else they are our own */
};

enum lab_twin_way { LAB_TWIN_TO_GPU, LAB_TWIN_FROM_GPU, LAB_TWIN_WITHIN, LAB_TWIN_WAY_COUNT };

/* What one run asked of the driver. */
struct lab_twin_tally {
	uint64_t calls; /* of the driver; a collective counts as one */
	uint64_t waits;
	uint64_t copies[LAB_TWIN_WAY_COUNT], bytes[LAB_TWIN_WAY_COUNT];
	uint64_t kernels; /* of ours that ran, graphs' included; without those of collectives */
	uint64_t collectives;
};

struct lab_twin_result {
	double run_s;	/* from the first launch until all is done */
	double *step_s; /* [shape.steps] of the caller, or NULL; by the device's clock where it starts them */
	double busy_s;	/* the device was at it, by its events; NAN: they cannot tell: lab_twin_busy() */
	struct lab_twin_tally tally;
};

/* Opened once, a variant runs as often as wanted. */
KWHY_MUST_USE enum kwhy_status lab_twin_open(
	const struct lab_twin_request *request, struct lab_twin **out, struct kwhy_error *error);
void lab_twin_close(struct lab_twin *twin); /* NULL is allowed */

/*
 * One whole run, held against `answer`, which must be of the same shape. KWHY_E_INPUT, naming variant and
 * step, where a bit is wrong. `poisoned`: every buffer is filled with a pattern before a step writes it, and
 * nothing is read before its event was reached; slower.
 */
KWHY_MUST_USE enum kwhy_status lab_twin_run(struct lab_twin *twin, const struct lab_twin_answer *answer,
	bool poisoned, struct lab_twin_result *out, struct kwhy_error *error);

/*
 * Seconds that the device works in a run, were it never to wait for the host (lab/gate.h), its copies of
 * page-locked memory and without waits in between. Two more runs. KWHY_E_UNSUPPORTED on several GPUs, for a
 * run in one launch, and where a gate does not hold.
 */
KWHY_MUST_USE enum kwhy_status lab_twin_busy(const struct lab_twin_request *request,
	const struct lab_twin_answer *answer, double *out_busy_s, struct kwhy_error *error);

#endif
