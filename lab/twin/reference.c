/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/twin/rules.h"

#include <stdlib.h>

enum { AGENTS = KWHY_TWIN_AGENTS, CELLS = KWHY_TWIN_CELLS, WIDTH = KWHY_TWIN_WIDTH };

/* All ranks' fields, one behind the other. */
struct world {
	struct kwhy_twin_shape shape;
	float *memory, *t, *u, *f, *l, *v, *w;
	size_t cells; /* of all ranks */
	float controls[AGENTS][KWHY_TWIN_CONTROLS], gains[AGENTS][KWHY_TWIN_GAINS];
	int64_t seen[AGENTS], sums[AGENTS];
	uint32_t peak;
	struct kwhy_twin_counts counts;
};

static void send_controls(struct world *world, uint32_t step)
{
	for (uint32_t a = 0; a < AGENTS; a++) {
		uint32_t count = kwhy_twin_sends(step, a);

		for (uint32_t k = 0; k < count; k++)
			world->controls[a][k] = kwhy_twin_payload(
				step, a, k, world->shape.closed ? world->seen[a] : 0);
		world->counts.h2d_copies += count > 0;
		world->counts.h2d_bytes += 4 * count;
	}
}

static void gain(struct world *world)
{
	static const float scales[KWHY_TWIN_GAINS] = {0.25f, 1.0f, 0.125f};

	for (uint32_t a = 0; a < AGENTS; a++)
		for (uint32_t j = 0; j < KWHY_TWIN_GAINS; j++) {
			float sum = world->controls[a][j];

			for (uint32_t k = j + 3; k < KWHY_TWIN_CONTROLS; k += 3)
				sum += world->controls[a][k];
			world->gains[a][j] = sum * scales[j];
		}
}

/* The ring of ranks is one field whose last row borders on its first. */
static void spread(struct world *world)
{
	for (size_t row = 0; row < world->cells; row += WIDTH) {
		const float *here = world->t + row, *north = row ? here - WIDTH : here + world->cells - WIDTH,
			    *south = row + WIDTH < world->cells ? here + WIDTH : world->t;

		for (size_t x = 0; x < WIDTH; x++) {
			const float *gains = world->gains[kwhy_twin_district((row + x) % CELLS)];
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
		float gain_u = world->gains[kwhy_twin_district((uint32_t)(i % CELLS))][2];

		v[i] = fmaf(0.125f, l[i], t[i]);
		w[i] = fmaf(0x1p-8f, f[i], v[i]);
		u[i] = fmaf(gain_u, w[i], 0.9375f * u[i]);
		t[i] = kwhy_twin_limit(w[i]);
	}
}

static void add_up(struct world *world)
{
	memset(world->sums, 0, sizeof(world->sums));
	world->peak = 0;
	for (size_t i = 0; i < world->cells; i++) {
		uint32_t bits = kwhy_twin_bits(fabsf(world->t[i]));

		world->sums[kwhy_twin_district((uint32_t)(i % CELLS))] += kwhy_twin_fixed(world->t[i]);
		world->peak = bits > world->peak ? bits : world->peak;
	}
}

static uint64_t check(const struct world *world)
{
	uint64_t sum = 0;

	for (uint64_t j = 0; j < world->cells; j++)
		sum += kwhy_twin_bits(world->t[j]) * (2 * j + 1) +
			kwhy_twin_bits(world->u[j]) * (2 * j + 0x10001);
	return sum;
}

static void look(struct world *world, uint32_t step)
{
	uint32_t count = kwhy_twin_observed(step);

	memset(world->seen, 0, sizeof(world->seen));
	for (uint32_t q = 0; q < count; q++) {
		bool wide = kwhy_twin_is_wide(q);

		world->seen[q % AGENTS] += wide ? world->sums[q / 8 % AGENTS] + q
						: kwhy_twin_fixed(world->t[kwhy_twin_looks_at(step, q)]);
		world->counts.d2h_bytes += wide ? 8 : 4;
	}
	world->counts.d2h_copies += count;
}

static void keep(struct world *world, uint32_t step, float *slot)
{
	const float *fields[] = {world->t, world->u, world->w, world->f, world->v};
	size_t count = 4 + kwhy_twin_keeps_v(step);

	for (size_t i = 0; i < count; i++)
		memcpy(slot + i * KWHY_TWIN_KEPT, fields[i], KWHY_TWIN_KEPT * sizeof(*slot));
	world->counts.d2d_copies += count;
}

static void run(struct world *world, struct kwhy_twin_answer *out)
{
	uint64_t observed = 0;

	for (size_t i = 0; i < world->cells; i++)
		world->t[i] = kwhy_twin_start((uint32_t)(i / CELLS), (uint32_t)(i % CELLS));
	for (uint32_t step = 0; step < world->shape.steps; step++) {
		send_controls(world, step);
		gain(world);
		spread(world);
		advance(world);
		if (step % world->shape.reduce_every == 0)
			add_up(world);
		keep(world, step, out->history + (size_t)step * KWHY_TWIN_SLOT_FLOATS);
		look(world, step);
		observed = kwhy_twin_fold(observed, world->seen);
		out->steps[step] = (struct kwhy_twin_step){check(world), observed, world->peak};
		world->counts.kernels += 10;
		world->counts.collectives += step % world->shape.reduce_every == 0 ? 4 : 2;
	}
	world->counts.kernels += 6; /* three to begin with and three at the end, of collectives likewise */
	world->counts.collectives += 6;
	out->counts = world->counts;
}

static enum kwhy_status check_shape(const struct kwhy_twin_shape *shape, struct kwhy_error *error)
{
	if (shape->steps < 1 || shape->steps > KWHY_TWIN_STEPS)
		return kwhy_fail(error, KWHY_E_INPUT, "twin: %u steps; a run has 1 to %d", shape->steps,
			KWHY_TWIN_STEPS);
	if (shape->ranks < 1 || shape->ranks > KWHY_TWIN_RANKS_MOST)
		return kwhy_fail(error, KWHY_E_INPUT, "twin: %u ranks; there may be 1 to %d", shape->ranks,
			KWHY_TWIN_RANKS_MOST);
	if (shape->reduce_every < 1)
		return kwhy_fail(error, KWHY_E_INPUT, "twin: sums every 0 steps; 1 is every step");
	return KWHY_OK;
}

void kwhy_twin_answer_done(struct kwhy_twin_answer *answer)
{
	free(answer->steps);
	free(answer->history);
	*answer = (struct kwhy_twin_answer){0};
}

enum kwhy_status kwhy_twin_reference(
	const struct kwhy_twin_shape *shape, struct kwhy_twin_answer *out, struct kwhy_error *error)
{
	struct world world = {.shape = *shape, .cells = (size_t)shape->ranks * CELLS};
	struct kwhy_twin_answer answer = {0};
	enum kwhy_status status = check_shape(shape, error);

	if (status)
		return status;
	world.memory = calloc(6 * world.cells, sizeof(*world.memory));
	answer.steps = calloc(shape->steps, sizeof(*answer.steps));
	answer.history = calloc((size_t)shape->steps * KWHY_TWIN_SLOT_FLOATS, sizeof(*answer.history));
	if (world.memory && answer.steps && answer.history) {
		float **fields[] = {&world.t, &world.u, &world.f, &world.l, &world.v, &world.w};

		for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
			*fields[i] = world.memory + i * world.cells;
		run(&world, &answer);
		*out = answer;
	} else {
		status = kwhy_fail_memory(error, "the field of twin");
		kwhy_twin_answer_done(&answer);
	}
	free(world.memory);
	return status;
}
