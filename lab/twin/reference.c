/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/twin/inside.h"

#include <stdlib.h>

/* All ranks' fields, one behind the other. */
struct world {
	size_t cells; /* of all ranks */
	float *memory, *t, *u, *f, *l, *v, *w;
	float controls[AGENTS][CONTROLS], gains[AGENTS][GAINS];
	struct lab_twin_agents agents;
	int64_t sums[AGENTS];
	uint32_t peak;
};

/* The ring of ranks is one field whose last row borders on its first. */
static void spread(struct world *world)
{
	for (size_t row = 0; row < world->cells; row += WIDTH) {
		const float *here = world->t + row, *north = row ? here - WIDTH : here + world->cells - WIDTH,
			    *south = row + WIDTH < world->cells ? here + WIDTH : world->t;

		for (size_t x = 0; x < WIDTH; x++) {
			const float *gains = world->gains[district((row + x) % CELLS)];
			float across = here[(x + WIDTH - 1) % WIDTH] + here[(x + 1) % WIDTH];

			world->f[row + x] = fmaf(gains[0], here[x], gains[1]);
			world->l[row + x] = fmaf(-4.0f, here[x], (north[x] + south[x]) + across);
		}
	}
}

static void advance(struct world *world)
{
	float *t = world->t, *u = world->u, *v = world->v, *w = world->w;
	const float *f = world->f, *l = world->l;

	for (size_t i = 0; i < world->cells; i++) {
		float gain_u = world->gains[district((uint32_t)(i % CELLS))][2];

		v[i] = fmaf(0.125f, l[i], t[i]);
		w[i] = fmaf(0x1p-8f, f[i], v[i]);
		u[i] = fmaf(gain_u, w[i], 0.9375f * u[i]);
		t[i] = limit(w[i]);
	}
}

static void add_up(struct world *world)
{
	memset(world->sums, 0, sizeof(world->sums));
	world->peak = 0;
	for (size_t i = 0; i < world->cells; i++) {
		uint32_t bits = __float_as_uint(fabsf(world->t[i]));

		world->sums[district((uint32_t)(i % CELLS))] += fixed(world->t[i]);
		world->peak = bits > world->peak ? bits : world->peak;
	}
}

static uint64_t check(const struct world *world)
{
	uint64_t sum = 0;

	for (uint64_t j = 0; j < world->cells; j++)
		sum += __float_as_uint(world->t[j]) * (2 * j + 1) +
			__float_as_uint(world->u[j]) * (2 * j + 0x10001);
	return sum;
}

static void look(struct world *world, uint32_t step)
{
	int64_t *seen = world->agents.seen;

	memset(seen, 0, sizeof(world->agents.seen));
	for (uint32_t q = 0; q < observed(step); q++)
		seen[q % AGENTS] += is_wide(q) ? world->sums[q / 8 % AGENTS] + q
					       : fixed(world->t[looks_at(step, q)]);
	lab_twin_agents_fold(&world->agents);
}

static void keep(struct world *world, uint32_t step, float *slot)
{
	const float *fields[] = {world->t, world->u, world->w, world->f, world->v};

	for (size_t i = 0; i < 4u + keeps_v(step); i++)
		memcpy(slot + i * KEPT, fields[i], KEPT * sizeof(*slot));
}

static void run(struct world *world, uint32_t steps, struct lab_twin_answer *out)
{
	for (size_t i = 0; i < world->cells; i++)
		world->t[i] = start((uint32_t)(i / CELLS), (uint32_t)(i % CELLS));
	for (uint32_t step = 0; step < steps; step++) {
		lab_twin_agents_send(&world->agents, step, world->controls);
		for (uint32_t i = 0; i < AGENTS * GAINS; i++)
			world->gains[i / GAINS][i % GAINS] = gain(world->controls[i / GAINS], i % GAINS);
		spread(world);
		advance(world);
		add_up(world);
		keep(world, step, out->history + (size_t)step * SLOT);
		look(world, step);
		out->steps[step] = (struct lab_twin_step){check(world), world->agents.folded, world->peak};
	}
}

enum kwhy_status lab_twin_shape_check(const struct lab_twin_shape *shape, struct kwhy_error *error)
{
	if (shape->steps >= 1 && shape->steps <= STEPS && shape->ranks >= 1 && shape->ranks <= RANKS_MOST)
		return KWHY_OK;
	return kwhy_fail(error, KWHY_E_INPUT,
		"twin: %u steps of %u ranks; there may be 1 to %d steps and 1 to %d ranks", shape->steps,
		shape->ranks, STEPS, RANKS_MOST);
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
	float **fields[] = {&world.t, &world.u, &world.f, &world.l, &world.v, &world.w};
	enum kwhy_status status = lab_twin_shape_check(shape, error);

	if (status)
		return status;
	world.memory = calloc(6 * world.cells, sizeof(*world.memory));
	answer.steps = calloc(shape->steps, sizeof(*answer.steps));
	answer.history = calloc((size_t)shape->steps * SLOT, sizeof(*answer.history));
	if (world.memory && answer.steps && answer.history) {
		for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
			*fields[i] = world.memory + i * world.cells;
		run(&world, shape->steps, &answer);
		*out = answer;
	} else {
		status = kwhy_fail_memory(error, "the field of twin");
		lab_twin_answer_done(&answer);
	}
	free(world.memory);
	return status;
}
