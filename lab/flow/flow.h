/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_FLOW_FLOW_H
#define LAB_FLOW_FLOW_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * `flow`, the reference workload in which few cells of a large lattice are active (lab/README.md). Flows,
 * each with 32 energies and a state of 256 numbers, move through 500,000 cells, merge where they meet, and
 * leave at the far end. On the fixed path (by_argmax is false) their places do not depend on rounding and
 * must be exact. Energies and states are compared with the reference within the tolerance of the precision.
 * One flow moved by one step is a flow-step.
 */
enum {
	LAB_FLOW_WIDTH = 100, /* width of the lattice, which is periodic in width and height */
	LAB_FLOW_HEIGHT = 100,
	LAB_FLOW_DEPTH = 50, /* depth of the lattice; each step moves a flow one cell deeper */
	LAB_FLOW_FLOWS = 1000,
	LAB_FLOW_STEPS = 60,
	LAB_FLOW_FLOWS_MAX = 100000,
	LAB_FLOW_STEPS_MAX = 4000,
	/* multiplications and additions of all matrices in a flow-step */
	LAB_FLOW_FLOP = 523264
};

struct lab_flow_shape {
	/*
	 * number of flows at the start of each step, 0 to LAB_FLOW_FLOWS_MAX; new flows replace those that
	 * left or merged
	 */
	uint32_t flows;
	uint32_t steps; /* 1 to LAB_FLOW_STEPS_MAX */
	/*
	 * true: a flow moves as the network's outputs (logits) demand; false (fixed path): its moves depend
	 * only on its number and the step
	 */
	bool by_argmax;
	uint32_t width, height, depth; /* cells in each direction, 1 to 1000 */
};

/* Shape with the lattice of lab/README.md, LAB_FLOW_WIDTH x LAB_FLOW_HEIGHT x LAB_FLOW_DEPTH cells. */
struct lab_flow_shape lab_flow_shape_of(uint32_t flows, uint32_t steps, bool by_argmax);

/* Exact results of a step. */
struct lab_flow_step {
	/*
	 * places: checksum of all flows that remain after step t: (2 t + 1) times the sum of mix(number << 32
	 * | place), modulo 2^64. merged, exited: number of flows that merged into another and that left the
	 * lattice in this step.
	 */
	uint64_t places;
	uint32_t merged, exited;
};

/*
 * Places of all flows, kept on the host. Each active flow has one of `flows` rows. When a flow leaves or
 * merges, a new flow with the next unused number gets its row. Results do not depend on which of the flows
 * that are new after a step gets which number.
 */
struct lab_flow_roster {
	struct lab_flow_shape shape;
	/* [flows] number and place of each row's flow at the start of a step, packed as in kernels/args.cu */
	uint64_t *at;
	uint64_t *moved; /* [flows] number and place after the step; the caller fills it in */
	/*
	 * [flows] after a step: (step + 1) << 32 | number of the new flow in the row; 0: the row's flow is
	 * not new
	 */
	uint64_t *fresh;
	uint64_t *owners; /* [cells] (step + 1) << 32 | row of the flow that keeps the cell in this step */
	/* [flows] next row in the list of the rows whose flows merged into the same flow; NONE: end of the
	 * list */
	uint32_t *next;
	uint32_t next_number;
};

/*
 * Sets the pointers of a roster into `memory`, and returns the number of bytes that a roster of this shape
 * needs. If `memory` is NULL, it only returns the number.
 */
size_t lab_flow_roster_place(const struct lab_flow_shape *shape, void *memory, struct lab_flow_roster *out);
void lab_flow_roster_reset(struct lab_flow_roster *roster);

/*
 * Ends a step: decides for each row, from moved[row], whether its flow leaves, merges or stays; sets `at` and
 * `fresh` for the next step, and `next`; puts the results of the step into *out.
 */
void lab_flow_roster_step(struct lab_flow_roster *roster, uint32_t step, struct lab_flow_step *out);

/* Flows, one per row: numbers and places (packed as in kernels/args.cu), energies and states. */
struct lab_flow_rows {
	uint32_t count;
	uint64_t *at, *fresh; /* as in struct lab_flow_roster */
	float *e, *h;	      /* e: [count][32] energies; h: [count][256] states; NULL: not wanted */
};

KWHY_MUST_USE enum kwhy_status lab_flow_rows_open(
	uint32_t count, bool numbers, struct lab_flow_rows *out, struct kwhy_error *error);
void lab_flow_rows_done(struct lab_flow_rows *rows);

/*
 * Allocates *out and copies into it the flows of `rows` that did not leave or merge in step `steps` - 1,
 * sorted by number. End with lab_flow_rows_done().
 */
KWHY_MUST_USE enum kwhy_status lab_flow_rows_take(const struct lab_flow_rows *rows, uint32_t steps,
	struct lab_flow_rows *out, struct kwhy_error *error);

struct lab_flow_answer {
	struct lab_flow_shape shape;
	struct lab_flow_step *steps; /* [shape.steps] results of each step */
	uint64_t spawned;	     /* number of new flows over all steps */
	struct lab_flow_rows left;   /* flows left after the last step, sorted by number */
	/* sum of the energies of all flows that left the lattice; NAN: not computed */
	double sum_out;
};

/*
 * Computes a run on one core of the host. With `numbers` it also computes energies and states, which takes
 * half a million multiplications and additions per flow-step; if shape->by_argmax is set, it always does. End
 * with lab_flow_answer_done().
 */
KWHY_MUST_USE enum kwhy_status lab_flow_reference(const struct lab_flow_shape *shape, bool numbers,
	struct lab_flow_answer *out, struct kwhy_error *error);
void lab_flow_answer_done(struct lab_flow_answer *answer);

#endif
