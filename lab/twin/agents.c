/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/twin/agents.h"

#include "lab/twin/rules.h"

void lab_twin_agents_send(const struct lab_twin_agents *agents, uint32_t step,
	float controls[LAB_TWIN_AGENTS][LAB_TWIN_CONTROLS])
{
	for (uint32_t a = 0; a < LAB_TWIN_AGENTS; a++) {
		uint32_t count = sends(step, a);

		for (uint32_t k = 0; k < count; k++)
			controls[a][k] = payload(step, a, k, agents->closed ? agents->seen[a] : 0);
	}
}

uint32_t lab_twin_agents_pack(const struct lab_twin_agents *agents, uint32_t step, float *out)
{
	float controls[LAB_TWIN_AGENTS][LAB_TWIN_CONTROLS];
	uint32_t total = 0;

	lab_twin_agents_send(agents, step, controls);
	for (uint32_t a = 0; a < LAB_TWIN_AGENTS; a++) {
		uint32_t count = sends(step, a);

		memcpy(out + total, controls[a], count * sizeof(*out));
		total += count;
	}
	return total;
}

static int64_t value_at(const char *place, bool is_wide)
{
	int64_t wide;
	float narrow;

	if (is_wide) {
		memcpy(&wide, place, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, place, sizeof(narrow));
	return fixed(narrow);
}

void lab_twin_agents_look(
	struct lab_twin_agents *agents, uint32_t step, const void *outbox, uint32_t scattered)
{
	uint32_t count = observed(step);

	memset(agents->seen, 0, sizeof(agents->seen));
	for (uint32_t q = 0; q < count; q++) {
		size_t at = scattered ? (size_t)scattered * q : packed_at(q);

		agents->seen[q % LAB_TWIN_AGENTS] += value_at((const char *)outbox + at, is_wide(q));
	}
	agents->observed = fold(agents->observed, agents->seen);
}
