/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_TWIN_AGENTS_H
#define LAB_TWIN_AGENTS_H

#include "lab/twin/twin.h"

/* The agents of `twin` on the host: what they saw, and what they do about it. */
struct lab_twin_agents {
	bool closed;
	int64_t seen[LAB_TWIN_AGENTS];
	uint64_t observed; /* Y so far */
};

/* Writes what they send in a step over `controls`; what is not sent stays. */
void lab_twin_agents_send(const struct lab_twin_agents *agents, uint32_t step,
	float controls[LAB_TWIN_AGENTS][LAB_TWIN_CONTROLS]);

/* The same without gaps, one agent's behind the other's; gives how many floats. */
uint32_t lab_twin_agents_pack(const struct lab_twin_agents *agents, uint32_t step, float *out);

/* Looks at all observations of a step. `scattered`: bytes from one to the next; 0: they are packed. */
void lab_twin_agents_look(
	struct lab_twin_agents *agents, uint32_t step, const void *outbox, uint32_t scattered);

#endif
