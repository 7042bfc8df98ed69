/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_TWIN_DEVICE_H
#define LAB_TWIN_DEVICE_H

#include "gpu/gpu.h"
#include "lab/twin/twin.h"

/*
 * What the kernels of `twin` are given, by value, before the number of the step; as struct args of
 * kernels/twin/args.cu, with addresses of the device. `cells` from `first_cell` on are one field: of one rank
 * or of several.
 */
struct lab_twin_args {
	uint64_t t, u, f, l, v, w; /* float [cells]; t has a second half where it is doubled */
	uint64_t controls;	   /* float [AGENTS][CONTROLS] */
	uint64_t gains;		   /* float [AGENTS][GAINS] */
	uint64_t sums;		   /* int64 [AGENTS + 1]: by district, then the peak's bits */
	uint64_t checks;	   /* uint64 [STEPS + 1] */
	uint64_t history;	   /* float [STEPS][SLOT_FLOATS] */
	uint64_t above, below;	   /* float [WIDTH]: rows of the neighbours; 0: the field's own */
	uint64_t inbox, outbox;	   /* where agents' floats come from, and where observations go to */
	uint64_t flag;		   /* uint32: set to step + 1 when the outbox is full; 0: none */
	uint64_t clock;		   /* uint32 [2]: the step, for launches that do not say; blocks done */
	uint64_t run_sums;	   /* int64 [STEPS][AGENTS + 1] of a whole run in one launch */
	uint64_t seen,
		times;	  /* of such a run: uint64 [STEPS] Y; [STEPS + 1] its start and each step's end, ns */
	uint64_t arrived; /* uint32 */
	uint64_t gathered; /* int64 [parts][AGENTS + 1] */
	uint32_t cells, first_cell;
	uint32_t doubled;   /* odd steps read the second half of t and write the first */
	uint32_t scattered; /* bytes from one observation to the next; 0: packed */
	uint32_t steps, closed, reduce_every, parts;
};

/* Instead of a step: the one that the device's clock tells. */
#define LAB_TWIN_BY_CLOCK UINT32_MAX

/* The kernels, in CUDA C and for the host. */
extern const struct kwhy_gpu_source lab_twin_source;
extern const struct kwhy_gpu_host_kernel lab_twin_host_kernels[];

#endif
