/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_TWIN_RUN_H
#define LAB_TWIN_RUN_H

#include "gpu/gpu.h"
#include "lab/twin/twin.h"

/*
 * `twin` on GPUs, in every variant: each changes one thing of another (lab/README.md). A variant is
 * opened once and then runs as often as wanted; each run is held against the reference's bits. One thread.
 */
enum lab_twin_host { LAB_TWIN_CALLS, LAB_TWIN_GRAPHS, LAB_TWIN_DEVICE };

struct lab_twin;

struct lab_twin_variant {
	const char *id, *title;
	const char *after;	 /* the variant that it changes; NULL: the first */
	const char *change;	 /* what it changes */
	bool pageable;		 /* the host's memory; else it is pinned */
	bool batched;		 /* copies go by one call of the driver that takes many */
	bool waits_each;	 /* for every copy by itself */
	uint32_t scattered;	 /* bytes between observations on the device; 0: packed */
	enum lab_twin_host host; /* who starts the work of a step */
	bool mapped;		 /* in- and outbox are the host's memory; nothing is copied */
	bool doubled;		 /* the field has two buffers */
	bool apart;		 /* a field a rank, each on its own GPU where there are several */
	bool sums_seldom;	 /* in every fourth step, instead of in every one */
	/* A step's parts; NULL: there is none, or it is in the graph. */
	enum kwhy_status (*send)(struct lab_twin *twin, uint32_t step, struct kwhy_error *error);
	enum kwhy_status (*compute)(struct lab_twin *twin, uint32_t step, struct kwhy_error *error);
	enum kwhy_status (*fetch)(struct lab_twin *twin, uint32_t step, struct kwhy_error *error);
};

static inline uint32_t lab_twin_reduces_every(const struct lab_twin_variant *variant)
{
	return variant->sums_seldom ? 4 : 1;
}

extern const struct lab_twin_variant lab_twin_variants[];
extern const size_t lab_twin_variant_count;

const struct lab_twin_variant *lab_twin_variant_find(const char *id); /* may be NULL */

enum lab_twin_collectives { LAB_TWIN_COLLECTIVES_OWN, LAB_TWIN_COLLECTIVES_NCCL };

struct lab_twin_request {
	struct kwhy_gpu *const *gpus;
	uint32_t gpu_count;	     /* variants that are not apart use the first alone */
	struct lab_twin_shape shape; /* reduce_every is the variant's */
	const struct lab_twin_variant *variant;
	enum lab_twin_collectives collectives;
};

/* What one run asked of the driver. */
struct lab_twin_tally {
	uint64_t calls; /* of the driver; a collective counts as one */
	uint64_t launches, graphs, batches, waits;
	uint64_t h2d_copies, h2d_bytes, d2h_copies, d2h_bytes, d2d_copies, d2d_bytes;
	uint64_t kernels; /* of ours that ran, graphs' included; without those of collectives */
	uint64_t collectives;
};

struct lab_twin_result {
	double run_s;	/* from the first launch until all is done */
	double *step_s; /* [shape.steps]; by the host's clock, or the device's where it starts the steps */
	double busy_s;	/* the device was at it, by its events; NAN: they cannot tell: lab_twin_busy() */
	struct lab_twin_tally tally;
};

KWHY_MUST_USE enum kwhy_status lab_twin_open(
	const struct lab_twin_request *request, struct lab_twin **out, struct kwhy_error *error);
void lab_twin_close(struct lab_twin *twin); /* NULL is allowed */

/*
 * One whole run, held against `answer`, which must be of the same shape. KWHY_E_INPUT, naming variant and
 * step, where a bit is wrong. `poisoned`: every buffer is filled with a pattern before a step writes it, and
 * nothing is read before its event was reached; slower. out->step_s is the caller's, and may be NULL.
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
