/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_FLOW_BRIDGE_H
#define KWHY_LAB_FLOW_BRIDGE_H

#include "lab/flow/lines.h"

/* The text bridge of a variant that has one. */
struct kwhy_flow_bridge {
	float *left, *come; /* [flows][ENERGIES] of the mail: of who leaves, and of who comes into a row */
	uint64_t *texts;    /* [steps] sums of tokens */
	int64_t out;	    /* of all energies that were read of who left, in units of 2^-32 */
};

struct kwhy_flow;

/* A step's lines, once the device has settled it: of who left, and of who comes for those that left or
 * merged. */
KWHY_MUST_USE enum kwhy_status kwhy_flow_bridge_step(
	struct kwhy_flow *flow, uint32_t step, struct kwhy_error *error);

#endif
