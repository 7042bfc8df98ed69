/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/flow/flow.h"

#include "lab/flow/device.h"
#include "lab/flow/roster.h"
#include "lab/next.h"
#include "lab/parts.h"

#include <stdlib.h>

/* --- Weights --- */

static float weight(uint64_t table, uint64_t i, float scale)
{
	return unit(mix(table * UINT64_C(0x9E3779B97F4A7C15) + i)) * scale;
}

/* bfloat16, rounded to the nearest, ties to even. */
static uint16_t half_of(float value)
{
	uint32_t bits = __float_as_uint(value);

	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* A matrix of a table; `whole` has `stride` outputs a row, of which these begin at `first`. */
struct matrix {
	uint32_t table, outputs, inputs, stride, first, whole, half;
	float scale;
};

static void make_matrix(const struct matrix *m, float *weights, uint16_t *halves)
{
	for (uint32_t j = 0; j < m->outputs; j++)
		for (uint32_t k = 0; k < m->inputs; k++) {
			float value = weight(m->table, (uint64_t)j * m->inputs + k, m->scale);

			weights[m->whole + k * m->stride + m->first + j] = value;
			if (halves)
				halves[m->half + (m->first + j) * m->inputs + k] = half_of(value);
		}
}

static void make_sines(float *weights)
{
	for (uint32_t k = 0; k < 4; k++)
		for (uint32_t v = 0; v < 1024; v++) {
			double angle = (double)((float)(1u << k) * 0.0625f * (float)v);

			weights[SINES + k * 1024 + v] = (float)sin(angle);
			weights[COSINES + k * 1024 + v] = (float)cos(angle);
		}
}

void lab_flow_weights(float *weights, uint16_t *halves)
{
	static const struct matrix matrices[] = {
		{1, IN, IN, IN, 0, W1, HALF_W1, 0.125f},
		{3, E, IN, E, 0, W2, HALF_W2, 0.125f},
		{5, GATES, IN, GATES, 0, WI, HALF_WI, 0.0625f},
		{6, GATES, H, GATES, 0, WH, HALF_WH, 0.0625f},
		{9, E, H, OUT, 0, WO, HALF_WO, 0.0625f},
		{10, LAB_FLOW_LOGITS, H, OUT, E, WO, HALF_WO, 0.0625f},
	};
	static const struct {
		uint32_t table, place, count;
		float scale;
	} biases[] = {
		{2, B1, IN, 0.125f}, {4, B2, E, 0.125f}, {7, BI, GATES, 0.0625f}, {8, BH, GATES, 0.0625f}};

	memset(weights, 0, WEIGHTS * sizeof(*weights));
	if (halves)
		memset(halves, 0, HALVES * sizeof(*halves));
	for (size_t i = 0; i < sizeof(matrices) / sizeof(matrices[0]); i++)
		make_matrix(&matrices[i], weights, halves);
	for (size_t i = 0; i < sizeof(biases) / sizeof(biases[0]); i++)
		for (uint32_t k = 0; k < biases[i].count; k++)
			weights[biases[i].place + k] = weight(biases[i].table, k, biases[i].scale);
	make_sines(weights);
}

/* --- The run --- */

/* What the host forms of kernels work on; without numbers only who is where. */
struct world {
	struct lab_flow_roster roster;
	struct lab_flow_args args;
	char *memory;
	bool numbers;
};

static void run_step(struct world *world, uint32_t step, struct lab_flow_step *out)
{
	const struct lab_flow_shape *shape = &world->roster.shape;
	const struct lab_flow_args lattice = lattice_of(shape);
	size_t half = step % 2 * (size_t)shape->flows;
	uint64_t *moved = (uint64_t *)kwhy_gpu_at(world->args.moved) + half,
		 *fresh = (uint64_t *)kwhy_gpu_at(world->args.fresh) + half;
	uint32_t *next = (uint32_t *)kwhy_gpu_at(world->args.next) + half;

	if (world->numbers)
		lab_flow_host_advance(&world->args, step);
	for (uint32_t row = 0; !world->numbers && row < shape->flows; row++)
		moved[row] = move_fixed(&lattice, world->roster.at[row], step);
	lab_flow_roster_step(&world->roster, step, moved, out);
	memcpy(fresh, world->roster.fresh, shape->flows * sizeof(*fresh));
	memcpy(next, world->roster.next, shape->flows * sizeof(*next));
	if (world->numbers)
		lab_flow_host_settle(&world->args, step);
}

static int by_number(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

/* Who is left: first as number << 32 | row, to be put in order. */
static void take_survivors(const struct world *world, struct lab_flow_answer *out)
{
	const float *e = kwhy_gpu_at(world->args.e), *h = kwhy_gpu_at(world->args.h_rows);

	for (uint32_t row = 0; row < out->shape.flows; row++)
		if (!world->roster.fresh[row])
			out->at[out->active++] = world->roster.at[row] >> 32 << 32 | row;
	qsort(out->at, out->active, sizeof(*out->at), by_number);
	out->sum_e = out->sum_h = out->e ? 0 : NAN;
	for (uint32_t i = 0; i < out->active; i++) {
		uint32_t row = (uint32_t)out->at[i];

		out->at[i] = world->roster.at[row];
		if (!out->e)
			continue;
		memcpy(out->e + (size_t)i * E, e + (size_t)row * E, E * sizeof(*out->e));
		memcpy(out->h + (size_t)i * H, h + (size_t)row * H, H * sizeof(*out->h));
		for (uint32_t k = 0; k < E; k++)
			out->sum_e += (double)out->e[(size_t)i * E + k];
		for (uint32_t k = 0; k < H; k++)
			out->sum_h += (double)out->h[(size_t)i * H + k];
	}
}

static void run(struct world *world, struct lab_flow_answer *out)
{
	uint32_t steps = out->shape.steps;

	if (world->numbers)
		lab_flow_host_begin(&world->args);
	for (uint32_t step = 0; step < steps; step++) {
		struct lab_flow_step *now = &out->steps[step];

		run_step(world, step, now);
		out->merged += now->merged;
		out->exited += now->exited;
		out->places += now->places;
	}
	take_survivors(world, out);
	/* Those that would begin the next step are not counted. */
	out->spawned = world->roster.next_number - out->steps[steps - 1].merged -
		out->steps[steps - 1].exited;
	out->sum_out = NAN;
	if (world->numbers)
		out->sum_out = (double)*(int64_t *)kwhy_gpu_at(world->args.out) * 0x1p-32;
}

/* The parts of the world's memory, from `start` on; gives the bytes of all. */
static size_t lay_out(struct world *world, uint64_t start)
{
	struct lab_flow_args *a = &world->args;
	const size_t rows = (size_t)a->flows + 1, cells = (size_t)a->width * a->height * a->depth,
		     floats = world->numbers ? rows * sizeof(float) : 0;
	const struct lab_part parts[] = {{&a->moved, 2 * rows * sizeof(uint64_t)},
		{&a->fresh, 2 * rows * sizeof(uint64_t)}, {&a->next, 2 * rows * sizeof(uint32_t)},
		{&a->at, rows * sizeof(uint64_t)}, {&a->records, a->steps * sizeof(struct lab_flow_step)},
		{&a->out, sizeof(int64_t)}, {&a->times, (a->steps + 1) * sizeof(uint64_t)},
		{&a->weights, WEIGHTS * sizeof(float)},
		{&a->cells, world->numbers ? cells * PLACE * sizeof(float) : 0}, {&a->e, E * floats},
		{&a->h_rows, H * floats}, {&a->outputs_rows, OUT * floats}, {&a->in, IN * floats},
		{&a->u, IN * floats}, {&a->a, IN * floats}, {&a->gi, GATES * floats},
		{&a->gh, GATES * floats}};
	size_t bytes = lab_parts_place(parts, sizeof(parts) / sizeof(parts[0]), start);

	a->h = a->h_rows;
	a->outputs = a->outputs_rows;
	return bytes;
}

static enum kwhy_status make_room(struct world *world, struct lab_flow_answer *out, struct kwhy_error *error)
{
	const struct lab_flow_shape *shape = &out->shape;
	size_t rows = (size_t)shape->flows + 1;

	world->args = lattice_of(shape);
	world->args.by_row = 1;
	world->memory = calloc(lay_out(world, 0), 1);
	out->steps = calloc(shape->steps, sizeof(*out->steps));
	out->at = calloc(rows, sizeof(*out->at));
	if (world->numbers) {
		out->e = calloc(rows * E, sizeof(*out->e));
		out->h = calloc(rows * H, sizeof(*out->h));
	}
	if (!world->memory || !out->steps || !out->at || (world->numbers && (!out->e || !out->h)))
		return kwhy_fail_memory(error, "flows");
	lay_out(world, kwhy_gpu_address(world->memory));
	lab_flow_weights(kwhy_gpu_at(world->args.weights), NULL);
	return KWHY_OK;
}

struct lab_flow_shape lab_flow_shape_of(uint32_t flows, uint32_t steps, bool by_argmax)
{
	return (struct lab_flow_shape){
		flows, steps, by_argmax, LAB_FLOW_WIDTH, LAB_FLOW_HEIGHT, LAB_FLOW_DEPTH};
}

enum kwhy_status lab_flow_shape_check(const struct lab_flow_shape *shape, struct kwhy_error *error)
{
	if (shape->flows > LAB_FLOW_FLOWS_MOST || shape->steps < 1 || shape->steps > LAB_FLOW_STEPS_MOST)
		return kwhy_fail(error, KWHY_E_INPUT,
			"flow: %u flows for %u steps; there may be up to %d flows and 1 to %d steps",
			shape->flows, shape->steps, LAB_FLOW_FLOWS_MOST, LAB_FLOW_STEPS_MOST);
	if (shape->width - 1 > 999 || shape->height - 1 > 999 || shape->depth - 1 > 999)
		return kwhy_fail(error, KWHY_E_INPUT,
			"flow: a lattice of %u x %u x %u cells; each may be 1 to 1000", shape->width,
			shape->height, shape->depth);
	return KWHY_OK;
}

enum kwhy_status lab_flow_reference(const struct lab_flow_shape *shape, bool numbers,
	struct lab_flow_answer *out, struct kwhy_error *error)
{
	struct world world = {.numbers = numbers || shape->by_argmax};
	enum kwhy_status status = lab_flow_shape_check(shape, error);

	*out = (struct lab_flow_answer){.shape = *shape};
	NEXT(status, lab_flow_roster_open(shape, &world.roster, error));
	NEXT(status, make_room(&world, out, error));
	if (!status)
		run(&world, out);
	lab_flow_roster_done(&world.roster);
	free(world.memory);
	if (status)
		lab_flow_answer_done(out);
	return status;
}

void lab_flow_answer_done(struct lab_flow_answer *answer)
{
	free(answer->steps);
	free(answer->at);
	free(answer->e);
	free(answer->h);
	*answer = (struct lab_flow_answer){0};
}
