/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_LINES_ROWS_H
#define KWHY_INJECT_LINES_ROWS_H

#include "inject/labels.h"
#include "inject/lines/stacks.h"

/*
 * Frames that were written, by 64 bits of a hash of the frame and all that called it; when three quarters are
 * taken it is emptied, and frames are written again under new numbers.
 */
enum { KWHY_STACK_NODES = 1 << 14 };

struct kwhy_stack_nodes {
	uint32_t last, known;
	struct {
		uint64_t hash; /* 0: free */
		uint32_t number;
	} by_hash[KWHY_STACK_NODES];
};

/* Writes the stacks that were taken: frames that are new, and a sample each. One thread at a time. */
void kwhy_stacks_write(
	struct kwhy_stacks *stacks, struct kwhy_stack_nodes *nodes, struct kwhy_inject_labels *labels);

#endif
