/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_FLOW_BOOKS_H
#define KWHY_LAB_FLOW_BOOKS_H

#include "lab/flow/flow.h"

/*
 * Who is where, kept on the host: the exact half of `flow`. A flow has a row; a flow that left or merged
 * gives its row to a new one, whose number is the next. Which of them gets which number changes nothing.
 */
struct kwhy_flow_books {
	struct kwhy_flow_shape shape;
	uint64_t *at;	 /* [flows] at the start of a step */
	uint64_t *fresh; /* [flows] after a step: 0, or step + 1 << 32 | number of the new flow in this row */
	uint32_t *next;	 /* [flows] from who is left on, one row to the next of those that merged; NONE: no
			    more */
	uint64_t *owners; /* [cells] step + 1 << 32 | row */
	uint32_t next_number;
};

KWHY_MUST_USE enum kwhy_status kwhy_flow_books_open(
	const struct kwhy_flow_shape *shape, struct kwhy_flow_books *out, struct kwhy_error *error);
void kwhy_flow_books_done(struct kwhy_flow_books *books);
void kwhy_flow_books_reset(struct kwhy_flow_books *books);

/* Who is in the row `moved[row]` after all moves leaves, merges or stays. */
void kwhy_flow_books_step(
	struct kwhy_flow_books *books, uint32_t step, const uint64_t *moved, struct kwhy_flow_step *out);

#endif
