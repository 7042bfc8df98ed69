/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_FLOW_FLOW_H
#define KWHY_LAB_FLOW_FLOW_H

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
	KWHY_FLOW_WIDTH = 100, /* of the lattice, which is periodic across */
	KWHY_FLOW_HEIGHT = 100,
	KWHY_FLOW_DEPTH = 50, /* a step goes one deeper */
	KWHY_FLOW_FLOWS = 1000,
	KWHY_FLOW_STEPS = 60,
	KWHY_FLOW_FLOWS_MOST = 100000,
	KWHY_FLOW_STEPS_MOST = 4000,
	KWHY_FLOW_ENERGIES = 32, /* e of a flow */
	KWHY_FLOW_STATE = 256,	 /* h of a flow */
	KWHY_FLOW_PLACE = 16,	 /* numbers of a cell */
	KWHY_FLOW_INPUTS = 64,
	KWHY_FLOW_LAYER = 64,
	KWHY_FLOW_GATES = 3 * KWHY_FLOW_STATE,
	KWHY_FLOW_LOGITS = 6,
	KWHY_FLOW_OUTPUTS = 40, /* energies, logits, and two that are always 0 */
	/* Of a flow-step: multiplications and additions of all its matrices. */
	KWHY_FLOW_FLOP = 523264
};

struct kwhy_flow_shape {
	uint32_t flows; /* at the start of each step: who left or merged is replaced. 0 to FLOWS_MOST */
	uint32_t steps; /* 1 to STEPS_MOST */
	bool by_argmax; /* where a flow goes depends on its state; else on its number and the step alone */
	uint32_t width, height, depth; /* 1 to 1000 each */
};

/* The lattice as specified. */
struct kwhy_flow_shape kwhy_flow_shape_of(uint32_t flows, uint32_t steps, bool by_argmax);
KWHY_MUST_USE enum kwhy_status kwhy_flow_shape_check(
	const struct kwhy_flow_shape *shape, struct kwhy_error *error);

/* What a step must come to, exactly. */
struct kwhy_flow_step {
	uint64_t places; /* sum over who is left, of the mixed place times 2 t + 1, modulo 2^64 */
	uint32_t merged, exited;
};

struct kwhy_flow_answer {
	struct kwhy_flow_shape shape;
	struct kwhy_flow_step *steps;		  /* [shape.steps] */
	uint64_t spawned, merged, exited, places; /* over all steps */
	uint32_t active;			  /* left after the last */
	uint64_t *texts; /* [shape.steps] of the lines of each step, exactly (flow/lines.h); NULL: not asked
			    for */
	uint64_t *at;	 /* [active] their numbers and places, ascending (flow/rules.h) */
	float *e, *h;	 /* [active][ENERGIES] and [active][STATE]; NULL: not asked for */
	double sum_e, sum_h; /* of those; NAN: not asked for */
	double sum_out;	     /* of e of all that left */
	double seconds;	     /* it took, with all parts that were asked for */
};

/*
 * What is worked out beside places, which take little: numbers half a million multiplications and additions a
 * flow-step, texts some microseconds for each flow that leaves or begins after the first.
 */
enum { KWHY_FLOW_NUMBERS = 1, KWHY_FLOW_TEXTS = 2 };

/* Runs it on one core; `parts` are added up, and argmax has numbers without being asked. KWHY_E_INPUT for a
 * shape out of bounds. End with kwhy_flow_answer_done(). */
KWHY_MUST_USE enum kwhy_status kwhy_flow_reference(const struct kwhy_flow_shape *shape, unsigned parts,
	struct kwhy_flow_answer *out, struct kwhy_error *error);
void kwhy_flow_answer_done(struct kwhy_flow_answer *answer);

#endif
