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
	LAB_FLOW_FLOWS_MAX = 100000,
	LAB_FLOW_STEPS_MAX = 4000,
	/* Of a flow-step: multiplications and additions of all its matrices. */
	LAB_FLOW_FLOP = 523264
};

struct lab_flow_shape {
	uint32_t flows; /* at the start of each step: who left or merged is replaced. 0 to FLOWS_MAX */
	uint32_t steps; /* 1 to STEPS_MAX */
	bool by_argmax; /* where a flow goes depends on its state; else on its number and the step alone */
	uint32_t width, height, depth; /* 1 to 1000 each */
};

/* The lattice as specified. */
struct lab_flow_shape lab_flow_shape_of(uint32_t flows, uint32_t steps, bool by_argmax);

/* What a step must come to, exactly. */
struct lab_flow_step {
	uint64_t places; /* sum over who is left, of the mixed place times 2 t + 1, modulo 2^64 */
	uint32_t merged, exited;
};

/*
 * Who is where, kept on the host: the exact half of `flow`. A flow has a row; a flow that left or merged
 * gives its row to a new one, whose number is the next. Which of them gets which number changes nothing.
 */
struct lab_flow_roster {
	struct lab_flow_shape shape;
	uint64_t *at;	 /* [flows] at the start of a step */
	uint64_t *moved; /* [flows] after it, the caller's to fill in */
	uint64_t *fresh; /* [flows] after a step: 0, or step + 1 << 32 | number of the new flow in this row */
	uint64_t *owners; /* [cells] step + 1 << 32 | row */
	uint32_t *next;	  /* [flows] from who is left on, one row to the next of those that merged; NONE: no
			     more */
	uint32_t next_number;
};

/* Lays it out in memory, of at least the bytes that it gives; NULL: says the bytes alone. */
size_t lab_flow_roster_place(const struct lab_flow_shape *shape, void *memory, struct lab_flow_roster *out);
void lab_flow_roster_reset(struct lab_flow_roster *roster);

/* Who is in the row `moved[row]` after all moves leaves, merges or stays. */
void lab_flow_roster_step(struct lab_flow_roster *roster, uint32_t step, struct lab_flow_step *out);

/* Flows, one a row: their numbers and places (kernels/args.cu), and what they carry. */
struct lab_flow_rows {
	uint32_t count;
	uint64_t *at, *fresh; /* the latter as in a roster */
	float *e, *h;	      /* [count][32] and [count][256]; NULL: not asked for */
};

KWHY_MUST_USE enum kwhy_status lab_flow_rows_open(
	uint32_t count, bool numbers, struct lab_flow_rows *out, struct kwhy_error *error);
void lab_flow_rows_done(struct lab_flow_rows *rows);

/* Those that are left after the last of `steps`, in the order of their numbers. */
KWHY_MUST_USE enum kwhy_status lab_flow_rows_take(const struct lab_flow_rows *rows, uint32_t steps,
	struct lab_flow_rows *out, struct kwhy_error *error);

struct lab_flow_answer {
	struct lab_flow_shape shape;
	struct lab_flow_step *steps; /* [shape.steps] */
	uint64_t spawned;	     /* over all steps */
	struct lab_flow_rows left;   /* after the last, in the order of their numbers */
	double sum_out;		     /* of e of all that left; NAN: not asked for */
};

/*
 * Runs it on one core. `numbers`: also what flows carry, half a million multiplications and additions a
 * flow-step; argmax has them without being asked.  End with
 * lab_flow_answer_done().
 */
KWHY_MUST_USE enum kwhy_status lab_flow_reference(const struct lab_flow_shape *shape, bool numbers,
	struct lab_flow_answer *out, struct kwhy_error *error);
void lab_flow_answer_done(struct lab_flow_answer *answer);

#endif
