/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_LINES_ROWS_H
#define KWHY_INJECT_LINES_ROWS_H

#include "inject/labels.h"
#include "inject/lines/stacks.h"

/*
 * The frames that were already written. A frame is found by a 64-bit hash of itself and all its callers. When
 * three quarters of the table are used, the table is emptied, and frames are written again under new numbers.
 */
enum { KWHY_STACK_NODES = 1 << 14 };

struct kwhy_stack_nodes {
	uint32_t last, known;
	struct {
		uint64_t hash; /* 0: the entry is free */
		uint32_t number;
	} by_hash[KWHY_STACK_NODES];
};

/*
 * Writes the stacks in the queue: a FRAME record for each frame that was not written yet and a SAMPLE record
 * for each stack that has frames. Only one thread at a time may call it.
 */
void kwhy_stacks_write(
	struct kwhy_stacks *stacks, struct kwhy_stack_nodes *nodes, struct kwhy_inject_labels *labels);

#endif
