/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/twin/agents.h"

#include "lab/twin/rules.h"

void kwhy_twin_agents_send(const struct kwhy_twin_agents *agents, uint32_t step,
	float controls[KWHY_TWIN_AGENTS][KWHY_TWIN_CONTROLS])
{
	for (uint32_t a = 0; a < KWHY_TWIN_AGENTS; a++) {
		uint32_t count = kwhy_twin_sends(step, a);

		for (uint32_t k = 0; k < count; k++)
			controls[a][k] = kwhy_twin_payload(step, a, k, agents->closed ? agents->seen[a] : 0);
	}
}

uint32_t kwhy_twin_agents_pack(const struct kwhy_twin_agents *agents, uint32_t step, float *out)
{
	float controls[KWHY_TWIN_AGENTS][KWHY_TWIN_CONTROLS];
	uint32_t total = 0;

	kwhy_twin_agents_send(agents, step, controls);
	for (uint32_t a = 0; a < KWHY_TWIN_AGENTS; a++) {
		uint32_t count = kwhy_twin_sends(step, a);

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
	return kwhy_twin_fixed(narrow);
}

void kwhy_twin_agents_look(
	struct kwhy_twin_agents *agents, uint32_t step, const void *outbox, uint32_t scattered)
{
	uint32_t count = kwhy_twin_observed(step);

	memset(agents->seen, 0, sizeof(agents->seen));
	for (uint32_t q = 0; q < count; q++) {
		size_t at = scattered ? (size_t)scattered * q : kwhy_twin_packed_at(q);

		agents->seen[q % KWHY_TWIN_AGENTS] += value_at(
			(const char *)outbox + at, kwhy_twin_is_wide(q));
	}
	agents->observed = kwhy_twin_fold(agents->observed, agents->seen);
}
