/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_FLOW_DEVICE_H
#define LAB_FLOW_DEVICE_H

#include "gpu/gpu.h"
#include "lab/flow/flow.h"

/*
 * What the kernels of `flow` are given, by value, before a step, a first row and a count of rows; as struct
 * args of kernels/flow/args.cu, with addresses of the device. What has two halves is written by turns: in the
 * half of the step's parity.
 */
struct lab_flow_args {
	uint64_t weights; /* float [WEIGHTS] */
	uint64_t halves;  /* bfloat16 [HALVES] */
	uint64_t cells;	  /* float [cells][PLACE] */
	uint64_t at;	  /* uint64 [flows], at the start of a step */
	uint64_t moved;	  /* uint64 [2][flows], after it */
	uint64_t fresh;	 /* uint64 [2][flows]: step + 1 << 32 | number of who comes into a row that is free */
	uint64_t next;	 /* uint32 [2][flows]: rows of those in one cell */
	uint64_t heads;	 /* uint64 [2][cells]: step + 1 << 32 | the first of those rows */
	uint64_t owners; /* uint64 [cells]: who has the lowest number there */
	uint64_t map;	 /* uint32 [slots]: the row in a slot of the dense lattice; NONE: it is empty */
	uint64_t e, h_rows, outputs_rows; /* float [flows][ENERGIES], [STATE], [OUTPUTS] */
	uint64_t in, u, a, gi, gh, h,
		outputs;   /* float, of the rows at hand; the last two may be those above */
	uint64_t h_halves; /* bfloat16 [2][flows][STATE] */
	uint64_t parts;	   /* float [2][TEAM][flows][OUTPUTS] */
	uint64_t numbers;  /* uint32: the next number; blocks at the barrier */
	uint64_t records;  /* struct lab_flow_step [steps] */
	uint64_t out;	   /* int64: sum of e of who left, in units of 2^-32 */
	uint64_t times;	   /* uint64 [steps + 1], ns */
	uint32_t flows, steps, by_argmax;
	uint32_t by_row; /* the host decides who merges: fresh and next come from there */
	uint32_t width, height, depth;
};

enum {
	LAB_FLOW_TEAM = 4,	/* blocks that share the weights in the run in one launch, */
	LAB_FLOW_TILE = 32,	/* and rows that they have at once */
	LAB_FLOW_THREADS = 256, /* of a block, nearly everywhere */
	LAB_FLOW_PRODUCTS = 5
};

/* The kernels, in CUDA C and for the host. */
extern const struct kwhy_gpu_host_kernel lab_flow_host_kernels[];

/* weights[WEIGHTS] and halves[HALVES] of kernels/args.cu; halves may be NULL. */
void lab_flow_weights(float *weights, uint16_t *halves);

/* On the host, of all rows: how they begin, a step up to its moves, and what they begin the next one with. */
void lab_flow_host_begin(const struct lab_flow_args *args);
void lab_flow_host_advance(const struct lab_flow_args *args, uint32_t step);
void lab_flow_host_settle(const struct lab_flow_args *args, uint32_t step);

#endif
