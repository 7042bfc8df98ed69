/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_TWIN_TWIN_H
#define KWHY_LAB_TWIN_TWIN_H

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
	KWHY_TWIN_STEPS = 288, /* of a whole run */
	KWHY_TWIN_AGENTS = 22,
	KWHY_TWIN_CONTROLS = 10, /* floats that an agent may send */
	KWHY_TWIN_GAINS = 3,	 /* what they come to: per agent */
	KWHY_TWIN_WIDTH = 256,
	KWHY_TWIN_CELLS = KWHY_TWIN_WIDTH * 256, /* a rank */
	KWHY_TWIN_SEED = 42,
	KWHY_TWIN_KEPT = 70,	   /* cells of each field that a step keeps in its history slot */
	KWHY_TWIN_KEPT_FIELDS = 5, /* T, U, W, F and now and then V */
	KWHY_TWIN_WIDE = 235,	   /* observations of 8 bytes a step */
	KWHY_TWIN_OBSERVED_MOST = 1878,
	KWHY_TWIN_OBSERVED_BYTES = KWHY_TWIN_WIDE * 8 + (KWHY_TWIN_OBSERVED_MOST - KWHY_TWIN_WIDE) * 4,
	KWHY_TWIN_SLOT_FLOATS = KWHY_TWIN_KEPT * KWHY_TWIN_KEPT_FIELDS,
	KWHY_TWIN_RANKS_MOST = 8
};

struct kwhy_twin_shape {
	uint32_t steps; /* 1 to KWHY_TWIN_STEPS */
	uint32_t ranks; /* 1 to KWHY_TWIN_RANKS_MOST, stacked as a ring */
	bool closed;	/* what agents send depends on what they saw */
	/* Sums over ranks are made in every so manieth step, from step 0; between, the last ones stand. */
	uint32_t reduce_every;
};

/* What a step must come to. */
struct kwhy_twin_step {
	uint64_t field;	   /* X: of T and U of all ranks */
	uint64_t observed; /* Y: of what the agents saw, in this and all steps before */
	uint32_t peak;	   /* M: bits of the highest |T|, as last reduced */
};

/* What a run did, as the source document counted it. */
struct kwhy_twin_counts {
	uint64_t h2d_copies, h2d_bytes, d2h_copies, d2h_bytes, d2d_copies, kernels, collectives;
};

struct kwhy_twin_answer {
	struct kwhy_twin_step *steps; /* [shape.steps] */
	float *history;		      /* [shape.steps][KWHY_TWIN_SLOT_FLOATS]; V is 0 where none is kept */
	struct kwhy_twin_counts counts;
};

/*
 * Runs it on one core, plainly: 0.13 s for a whole run of one rank. KWHY_E_INPUT for a shape out of bounds.
 * End with kwhy_twin_answer_done().
 */
KWHY_MUST_USE enum kwhy_status kwhy_twin_reference(
	const struct kwhy_twin_shape *shape, struct kwhy_twin_answer *out, struct kwhy_error *error);
void kwhy_twin_answer_done(struct kwhy_twin_answer *answer);

#endif
