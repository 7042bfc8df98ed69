/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/twin/inside.h"

void lab_twin_agents_send(
	const struct lab_twin_agents *agents, uint32_t step, float controls[AGENTS][CONTROLS])
{
	for (uint32_t a = 0; a < AGENTS; a++)
		for (uint32_t k = 0; k < sends(step, a); k++)
			controls[a][k] = payload(step, a, k, agents->closed ? agents->seen[a] : 0);
}

uint32_t lab_twin_agents_pack(const struct lab_twin_agents *agents, uint32_t step, float *out)
{
	float controls[AGENTS][CONTROLS];
	uint32_t total = 0;

	lab_twin_agents_send(agents, step, controls);
	for (uint32_t a = 0; a < AGENTS; total += sends(step, a++))
		memcpy(out + total, controls[a], sends(step, a) * sizeof(*out));
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
	struct lab_twin_agents *agents, uint32_t step, const char *outbox, uint32_t scattered)
{
	memset(agents->seen, 0, sizeof(agents->seen));
	for (uint32_t q = 0; q < observed(step); q++)
		agents->seen[q % AGENTS] += value_at(
			outbox + (scattered ? (size_t)scattered * q : packed_at(q)), is_wide(q));
	lab_twin_agents_fold(agents);
}

void lab_twin_agents_fold(struct lab_twin_agents *agents)
{
	for (uint32_t a = 0; a < AGENTS; a++)
		agents->folded = mix(agents->folded ^ (uint64_t)agents->seen[a]);
}
