/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_FLOW_DEVICE_H
#define KWHY_LAB_FLOW_DEVICE_H

#include "gpu/gpu.h"
#include "lab/flow/flow.h"

/*
 * What the kernels of `flow` are given, by value, before a step, a first row and a count of rows; as struct
 * args of kernels/flow/args.cu, with addresses of the device. What has two halves is written by turns: in the
 * half of the step's parity.
 */
struct kwhy_flow_args {
	uint64_t weights; /* float [WEIGHTS] of flow/rules.h */
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
		outputs;	  /* float, of the rows at hand; the last two may be those above */
	uint64_t h_halves;	  /* bfloat16 [2][flows][STATE] */
	uint64_t parts;		  /* float [2][TEAM][flows][OUTPUTS] */
	uint64_t shares;	  /* bfloat16 [TEAM][SHARE]: weights as kernels/flow/wide.cu takes them */
	uint64_t in_images;	  /* bfloat16 [tiles of 64 flows][64][64], as it takes them */
	uint64_t places, facts;	  /* bfloat16 [rows of tiles][INPUTS - ENERGIES]; [2][rows of tiles] of 16
				     bytes: who is there */
	uint64_t members, counts; /* uint32 [2][cells][MEMBERS], uint64 [2][cells]: rows of those in a cell */
	uint64_t numbers;	  /* uint32: the next number; blocks at the barrier */
	uint64_t records;	  /* struct kwhy_flow_step [steps] */
	uint64_t out;		  /* int64: sum of e of who left, in units of 2^-32 */
	uint64_t times;		  /* uint64 [steps + 1], ns */
	uint32_t flows, steps, by_argmax;
	uint32_t by_row; /* the host keeps the books: fresh and next come from there */
	uint32_t width, height, depth;
	uint32_t tile_rows; /* of a team at once, in kwhy_flows_run: a multiple of TILE */
};

enum {
	KWHY_FLOW_TEAM = 4, /* blocks that share the weights in kwhy_flows_run */
	KWHY_FLOW_TILE = 32,
	KWHY_FLOW_TILE_MOST = 128,
	KWHY_FLOW_ROW_BYTES = 1112, /* of shared memory, of a row of a tile */
	KWHY_FLOW_THREADS = 256,    /* of a block, everywhere */
	KWHY_FLOW_PRODUCTS = 5,
	/* Of kernels/flow/wide.cu. */
	KWHY_FLOW_WIDE_ROWS = 64, /* of a tile */
	KWHY_FLOW_WIDE_MEMBERS = 16,
	KWHY_FLOW_WIDE_THREADS = 384,
	KWHY_FLOW_WIDE_SHARE = 64512, /* a block's weights, in 16 bits */
	KWHY_FLOW_WIDE_BYTES = 228608 /* its shared memory */
};

/* The kernels, in CUDA C and for the host. */
extern const struct kwhy_gpu_host_kernel kwhy_flow_host_kernels[];

#endif
