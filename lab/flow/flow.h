/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_FLOW_FLOW_H
#define LAB_FLOW_FLOW_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * `flow`, the reference workload of few active places in a large lattice (lab/README.md): flows with a state
 * of 256 numbers walk through 500,000 cells, merge where they meet and leave at the far end. Where they are
 * is exact in any precision (on the fixed path), what they carry is held against the reference within the
 * tolerance of the precision. One flow moved by one step is a flow-step.
 */
enum {
	LAB_FLOW_WIDTH = 100, /* of the lattice, which is periodic across */
	LAB_FLOW_HEIGHT = 100,
	LAB_FLOW_DEPTH = 50, /* a step goes one deeper */
	LAB_FLOW_FLOWS = 1000,
	LAB_FLOW_STEPS = 60,
	LAB_FLOW_FLOWS_MOST = 100000,
	LAB_FLOW_STEPS_MOST = 4000,
	LAB_FLOW_ENERGIES = 32, /* e of a flow */
	LAB_FLOW_STATE = 256,	/* h of a flow */
	LAB_FLOW_PLACE = 16,	/* numbers of a cell */
	LAB_FLOW_INPUTS = 64,
	LAB_FLOW_LAYER = 64,
	LAB_FLOW_GATES = 3 * LAB_FLOW_STATE,
	LAB_FLOW_LOGITS = 6,
	LAB_FLOW_OUTPUTS = 40, /* energies, logits, and two that are always 0 */
	/* Of a flow-step: multiplications and additions of all its matrices. */
	LAB_FLOW_FLOP = 523264
};

struct lab_flow_shape {
	uint32_t flows; /* at the start of each step: who left or merged is replaced. 0 to FLOWS_MOST */
	uint32_t steps; /* 1 to STEPS_MOST */
	bool by_argmax; /* where a flow goes depends on its state; else on its number and the step alone */
	uint32_t width, height, depth; /* 1 to 1000 each */
};

/* The lattice as specified. */
struct lab_flow_shape lab_flow_shape_of(uint32_t flows, uint32_t steps, bool by_argmax);
KWHY_MUST_USE enum kwhy_status lab_flow_shape_check(
	const struct lab_flow_shape *shape, struct kwhy_error *error);

/* What a step must come to, exactly. */
struct lab_flow_step {
	uint64_t places; /* sum over who is left, of the mixed place times 2 t + 1, modulo 2^64 */
	uint32_t merged, exited;
};

struct lab_flow_answer {
	struct lab_flow_shape shape;
	struct lab_flow_step *steps;		  /* [shape.steps] */
	uint64_t spawned, merged, exited, places; /* over all steps */
	uint32_t active;			  /* left after the last */
	uint64_t *at;	     /* [active] their numbers and places, ascending (flow/rules.h) */
	float *e, *h;	     /* [active][ENERGIES] and [active][STATE]; NULL: not asked for */
	double sum_e, sum_h; /* of those; NAN: not asked for */
	double sum_out;	     /* of e of all that left */
};

/*
 * Runs it on one core. `numbers`: also what flows carry, half a million multiplications and additions a
 * flow-step; argmax has them without being asked. KWHY_E_INPUT for a shape out of bounds. End with
 * lab_flow_answer_done().
 */
KWHY_MUST_USE enum kwhy_status lab_flow_reference(const struct lab_flow_shape *shape, bool numbers,
	struct lab_flow_answer *out, struct kwhy_error *error);
void lab_flow_answer_done(struct lab_flow_answer *answer);

#endif
