/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_FLOW_ROSTER_H
#define LAB_FLOW_ROSTER_H

#include "lab/flow/flow.h"

/*
 * Who is where, kept on the host: the exact half of `flow`. A flow has a row; a flow that left or merged
 * gives its row to a new one, whose number is the next. Which of them gets which number changes nothing.
 */
struct lab_flow_roster {
	struct lab_flow_shape shape;
	uint64_t *at;	 /* [flows] at the start of a step */
	uint64_t *fresh; /* [flows] after a step: 0, or step + 1 << 32 | number of the new flow in this row */
	uint32_t *next;	 /* [flows] from who is left on, one row to the next of those that merged; NONE: no
			    more */
	uint64_t *owners; /* [cells] step + 1 << 32 | row */
	uint32_t next_number;
};

KWHY_MUST_USE enum kwhy_status lab_flow_roster_open(
	const struct lab_flow_shape *shape, struct lab_flow_roster *out, struct kwhy_error *error);
void lab_flow_roster_done(struct lab_flow_roster *roster);
void lab_flow_roster_reset(struct lab_flow_roster *roster);

/* Who is in the row `moved[row]` after all moves leaves, merges or stays. */
void lab_flow_roster_step(
	struct lab_flow_roster *roster, uint32_t step, const uint64_t *moved, struct lab_flow_step *out);

#endif
