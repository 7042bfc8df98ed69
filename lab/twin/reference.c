/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/twin/inside.h"

#include <stdlib.h>

/* --- The agents --- */

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

/* --- The field --- */

/* State of a run. The cells of all ranks are stored one after the other, as one ring. */
struct world {
	size_t cells; /* number of cells of all ranks */
	float *memory, *t, *u, *next_t;
	float controls[AGENTS][CONTROLS], gains[AGENTS][GAINS];
	struct lab_twin_agents agents;
	int64_t sums[AGENTS];
	struct lab_twin_step step;
};

/*
 * Adds a cell after a step to the sums, the peak and the checksum, and, if it is one of the first KEPT cells,
 * copies its values to the history. kept: T, U, W, F and V.
 */
static void conclude(struct world *world, uint32_t step, size_t i, const float kept[5], float *slot)
{
	uint32_t t = __float_as_uint(kept[0]), u = __float_as_uint(kept[1]), height = t & 0x7fffffff;

	world->sums[district((uint32_t)(i % CELLS))] += fixed(kept[0]);
	world->step.peak = height > world->step.peak ? height : world->step.peak;
	world->step.field += t * (2 * (uint64_t)i + 1) + u * (2 * (uint64_t)i + 0x10001);
	for (size_t k = 0; i < KEPT && k < 4u + keeps_v(step); k++)
		slot[k * KEPT + i] = kept[k];
}

/*
 * Computes the row of cells that begins at index `row`. The ranks are one ring, so its last row borders on
 * its first.
 */
static void advance_row(struct world *world, uint32_t step, size_t row, float *slot)
{
	const float *here = world->t + row, *north = row ? here - WIDTH : here + world->cells - WIDTH,
		    *south = row + WIDTH < world->cells ? here + WIDTH : world->t;
	float *u = world->u + row;

	for (size_t x = 0; x < WIDTH; x++) {
		const float *gains = world->gains[district((uint32_t)((row + x) % CELLS))];
		float across = here[(x + WIDTH - 1) % WIDTH] + here[(x + 1) % WIDTH],
		      f = fmaf(gains[0], here[x], gains[1]),
		      l = fmaf(-4.0f, here[x], (north[x] + south[x]) + across), v = fmaf(0.125f, l, here[x]),
		      w = fmaf(0x1p-8f, f, v);
		const float kept[5] = {limit(w), fmaf(gains[2], w, 0.9375f * u[x]), w, f, v};

		world->next_t[row + x] = kept[0];
		u[x] = kept[1];
		conclude(world, step, row + x, kept, slot);
	}
}

static void advance(struct world *world, uint32_t step, float *slot)
{
	float *old_t = world->t;

	memset(world->sums, 0, sizeof(world->sums));
	world->step = (struct lab_twin_step){0};
	for (size_t row = 0; row < world->cells; row += WIDTH)
		advance_row(world, step, row, slot);
	world->t = world->next_t;
	world->next_t = old_t;
}

static void look(struct world *world, uint32_t step)
{
	int64_t *seen = world->agents.seen;

	memset(seen, 0, sizeof(world->agents.seen));
	for (uint32_t q = 0; q < observed(step); q++)
		seen[q % AGENTS] += is_wide(q) ? world->sums[q / 8 % AGENTS] + q
					       : fixed(world->t[looks_at(step, q)]);
	lab_twin_agents_fold(&world->agents);
	world->step.observed = world->agents.folded;
}

static void run(struct world *world, uint32_t steps, struct lab_twin_answer *out)
{
	for (size_t i = 0; i < world->cells; i++)
		world->t[i] = start((uint32_t)(i / CELLS), (uint32_t)(i % CELLS));
	for (uint32_t step = 0; step < steps; step++) {
		lab_twin_agents_send(&world->agents, step, world->controls);
		for (uint32_t i = 0; i < AGENTS * GAINS; i++)
			world->gains[i / GAINS][i % GAINS] = gain(world->controls[i / GAINS], i % GAINS);
		advance(world, step, out->history + (size_t)step * SLOT);
		look(world, step);
		out->steps[step] = world->step;
	}
}

enum kwhy_status lab_twin_shape_check(const struct lab_twin_shape *shape, struct kwhy_error *error)
{
	if (shape->steps >= 1 && shape->steps <= STEPS && shape->ranks >= 1 && shape->ranks <= RANKS_MAX)
		return KWHY_OK;
	return kwhy_fail(error, KWHY_E_INPUT,
		"twin: %u steps of %u ranks; there may be 1 to %d steps and 1 to %d ranks", shape->steps,
		shape->ranks, STEPS, RANKS_MAX);
}

void lab_twin_answer_done(struct lab_twin_answer *answer)
{
	free(answer->steps);
	free(answer->history);
	*answer = (struct lab_twin_answer){0};
}

enum kwhy_status lab_twin_reference(
	const struct lab_twin_shape *shape, struct lab_twin_answer *out, struct kwhy_error *error)
{
	struct world world = {.cells = (size_t)shape->ranks * CELLS, .agents.closed = shape->closed};
	struct lab_twin_answer answer = {0};
	enum kwhy_status status = lab_twin_shape_check(shape, error);

	if (status)
		return status;
	world.memory = calloc(3 * world.cells, sizeof(*world.memory));
	answer.steps = calloc(shape->steps, sizeof(*answer.steps));
	answer.history = calloc((size_t)shape->steps * SLOT, sizeof(*answer.history));
	if (world.memory && answer.steps && answer.history) {
		world.t = world.memory;
		world.u = world.t + world.cells;
		world.next_t = world.u + world.cells;
		run(&world, shape->steps, &answer);
		*out = answer;
	} else {
		status = kwhy_fail_memory(error, "the field of twin");
		lab_twin_answer_done(&answer);
	}
	free(world.memory);
	return status;
}
