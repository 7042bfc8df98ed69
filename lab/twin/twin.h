/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_TWIN_TWIN_H
#define LAB_TWIN_TWIN_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * `twin`, the reference workload of many small transfers (lab/README.md): 22 agents steer a field of
 * 256 x 256 cells a rank and read nearly two thousand values of it in every step. All sums are of integers
 * and every float is rounded once, so that every way to run it gives the same bits; those are what is
 * checked.
 */
enum {
	LAB_TWIN_STEPS = 288, /* of a whole run */
	LAB_TWIN_AGENTS = 22,
	LAB_TWIN_CONTROLS = 10, /* floats that an agent may send */
	LAB_TWIN_GAINS = 3,	/* what they come to: per agent */
	LAB_TWIN_WIDTH = 256,
	LAB_TWIN_CELLS = LAB_TWIN_WIDTH * 256, /* a rank */
	LAB_TWIN_KEPT = 70,		       /* cells of each field that a step keeps in its history slot */
	LAB_TWIN_KEPT_FIELDS = 5,	       /* T, U, W, F and now and then V */
	LAB_TWIN_WIDE = 235,		       /* observations of 8 bytes a step */
	LAB_TWIN_OBSERVED_MOST = 1878,
	LAB_TWIN_OBSERVED_BYTES = LAB_TWIN_WIDE * 8 + (LAB_TWIN_OBSERVED_MOST - LAB_TWIN_WIDE) * 4,
	LAB_TWIN_SLOT_FLOATS = LAB_TWIN_KEPT * LAB_TWIN_KEPT_FIELDS,
	LAB_TWIN_RANKS_MOST = 8
};

struct lab_twin_shape {
	uint32_t steps; /* 1 to LAB_TWIN_STEPS */
	uint32_t ranks; /* 1 to LAB_TWIN_RANKS_MOST, stacked as a ring */
	bool closed;	/* what agents send depends on what they saw */
	/* Sums over ranks are made in every so manieth step, from step 0; between, the last ones stand. */
	uint32_t reduce_every;
};

KWHY_MUST_USE enum kwhy_status lab_twin_shape_check(
	const struct lab_twin_shape *shape, struct kwhy_error *error); /* KWHY_E_INPUT: out of bounds */

/* What a step must come to. */
struct lab_twin_step {
	uint64_t field;	   /* X: of T and U of all ranks */
	uint64_t observed; /* Y: of what the agents saw, in this and all steps before */
	uint32_t peak;	   /* M: bits of the highest |T|, as last reduced */
};

struct lab_twin_answer {
	struct lab_twin_step *steps; /* [shape.steps] */
	float *history;		     /* [shape.steps][LAB_TWIN_SLOT_FLOATS]; V is 0 where none is kept */
};

/*
 * Runs it on one core, plainly: 0.13 s for a whole run of one rank. KWHY_E_INPUT for a shape out of bounds.
 * End with lab_twin_answer_done().
 */
KWHY_MUST_USE enum kwhy_status lab_twin_reference(
	const struct lab_twin_shape *shape, struct lab_twin_answer *out, struct kwhy_error *error);
void lab_twin_answer_done(struct lab_twin_answer *answer);

#endif
