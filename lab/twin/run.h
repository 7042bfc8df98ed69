/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_TWIN_RUN_H
#define KWHY_LAB_TWIN_RUN_H

#include "gpu/gpu.h"
#include "lab/twin/twin.h"

/*
 * `twin` on GPUs, in every variant: each changes one thing of another (lab/README.md). A variant is
 * opened once and then runs as often as wanted; each run is held against the reference's bits. One thread.
 */
enum kwhy_twin_host { KWHY_TWIN_CALLS, KWHY_TWIN_GRAPHS, KWHY_TWIN_DEVICE };

struct kwhy_twin;

struct kwhy_twin_variant {
	const char *id, *title;
	const char *after;  /* the variant that it changes; NULL: the first */
	const char *change; /* what it changes */
	enum kwhy_gpu_host_kind memory;
	bool waits_each;	  /* for every copy by itself */
	uint32_t scattered;	  /* bytes between observations on the device; 0: packed */
	enum kwhy_twin_host host; /* who starts the work of a step */
	bool mapped;		  /* in- and outbox are the host's memory; nothing is copied */
	bool doubled;		  /* the field has two buffers */
	bool apart;		  /* a field a rank, each on its own GPU where there are several */
	uint32_t reduce_every;
	/* A step's parts; NULL: there is none, or it is in the graph. */
	enum kwhy_status (*send)(struct kwhy_twin *twin, uint32_t step, struct kwhy_error *error);
	enum kwhy_status (*compute)(struct kwhy_twin *twin, uint32_t step, struct kwhy_error *error);
	enum kwhy_status (*fetch)(struct kwhy_twin *twin, uint32_t step, struct kwhy_error *error);
};

extern const struct kwhy_twin_variant kwhy_twin_variants[];
extern const size_t kwhy_twin_variant_count;

const struct kwhy_twin_variant *kwhy_twin_variant_find(const char *id, size_t length); /* may be NULL */

enum kwhy_twin_collectives { KWHY_TWIN_COLLECTIVES_OWN, KWHY_TWIN_COLLECTIVES_NCCL };

struct kwhy_twin_request {
	struct kwhy_gpu *const *gpus;
	uint32_t gpu_count;	      /* variants that are not apart use the first alone */
	struct kwhy_twin_shape shape; /* reduce_every is the variant's */
	const struct kwhy_twin_variant *variant;
	enum kwhy_twin_collectives collectives;
};

/* What one run asked of the driver. */
struct kwhy_twin_tally {
	uint64_t calls; /* of the driver; a collective counts as one */
	uint64_t launches, graphs, batches, waits;
	uint64_t h2d_copies, h2d_bytes, d2h_copies, d2h_bytes, d2d_copies, d2d_bytes;
	uint64_t kernels; /* of ours that ran, graphs' included; without those of collectives */
	uint64_t collectives;
};

struct kwhy_twin_result {
	double run_s;	/* from the first launch until all is done */
	double *step_s; /* [shape.steps]; by the host's clock, or the device's where it starts the steps */
	double busy_s;	/* the device was at it, by its events; NAN: they cannot tell: kwhy_twin_busy() */
	struct kwhy_twin_tally tally;
};

KWHY_MUST_USE enum kwhy_status kwhy_twin_open(
	const struct kwhy_twin_request *request, struct kwhy_twin **out, struct kwhy_error *error);
void kwhy_twin_close(struct kwhy_twin *twin); /* NULL is allowed */

/*
 * One whole run, held against `answer`, which must be of the same shape. KWHY_E_INPUT, naming variant and
 * step, where a bit is wrong. `poisoned`: every buffer is filled with a pattern before a step writes it, and
 * nothing is read before its event was reached; slower. out->step_s is the caller's, and may be NULL.
 */
KWHY_MUST_USE enum kwhy_status kwhy_twin_run(struct kwhy_twin *twin, const struct kwhy_twin_answer *answer,
	bool poisoned, struct kwhy_twin_result *out, struct kwhy_error *error);

/*
 * Seconds that the device works in a run, were it never to wait for the host: each step is queued whole
 * behind a gate (64 calls at a time where it has more) and then runs by itself between two events, its copies
 * of page-locked memory and without waits in between; the median of a few runs, each held against `answer`.
 * For variants whose steps the host starts. KWHY_E_UNSUPPORTED on several GPUs, for others, and where a gate
 * does not hold.
 */
KWHY_MUST_USE enum kwhy_status kwhy_twin_busy(const struct kwhy_twin_request *request,
	const struct kwhy_twin_answer *answer, double *out_busy_s, struct kwhy_error *error);

/*
 * What no variant that asks the host in every step can beat: launches of a graph that copies as much as a
 * step reads, each waited for. step_s[count].
 */
KWHY_MUST_USE enum kwhy_status kwhy_twin_floor(
	struct kwhy_gpu *gpu, double *step_s, uint32_t count, struct kwhy_error *error);

#endif
