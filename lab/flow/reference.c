/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/flow/flow.h"

#include "base/clock.h"
#include "lab/flow/books.h"
#include "lab/flow/lines.h"
#include "lab/flow/rules.h"

#include <stdlib.h>

enum { E = KWHY_FLOW_ENERGIES, H = KWHY_FLOW_STATE };

/* --- Weights --- */

static float weight(uint64_t table, uint64_t i, float scale)
{
	return kwhy_splitmix_unit(kwhy_splitmix(table * UINT64_C(0x9E3779B97F4A7C15) + i)) * scale;
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
				halves[m->half + (m->first + j) * m->inputs + k] = kwhy_flow_half(value);
		}
}

static void make_sines(float *weights)
{
	for (uint32_t k = 0; k < 4; k++)
		for (uint32_t v = 0; v < 1024; v++) {
			double angle = (double)((float)(1u << k) * 0.0625f * (float)v);

			weights[KWHY_FLOW_SINES + k * 1024 + v] = (float)sin(angle);
			weights[KWHY_FLOW_COSINES + k * 1024 + v] = (float)cos(angle);
		}
}

void kwhy_flow_weights(float *weights, uint16_t *halves)
{
	static const struct matrix matrices[] = {
		{1, KWHY_FLOW_LAYER, KWHY_FLOW_INPUTS, KWHY_FLOW_LAYER, 0, KWHY_FLOW_W1, KWHY_FLOW_HALF_W1,
			0.125f},
		{3, E, KWHY_FLOW_LAYER, E, 0, KWHY_FLOW_W2, KWHY_FLOW_HALF_W2, 0.125f},
		{5, KWHY_FLOW_GATES, KWHY_FLOW_INPUTS, KWHY_FLOW_GATES, 0, KWHY_FLOW_WI, KWHY_FLOW_HALF_WI,
			0.0625f},
		{6, KWHY_FLOW_GATES, H, KWHY_FLOW_GATES, 0, KWHY_FLOW_WH, KWHY_FLOW_HALF_WH, 0.0625f},
		{9, E, H, KWHY_FLOW_OUTPUTS, 0, KWHY_FLOW_WO, KWHY_FLOW_HALF_WO, 0.0625f},
		{10, KWHY_FLOW_LOGITS, H, KWHY_FLOW_OUTPUTS, E, KWHY_FLOW_WO, KWHY_FLOW_HALF_WO, 0.0625f},
	};
	static const struct {
		uint32_t table, place, count;
		float scale;
	} biases[] = {{2, KWHY_FLOW_B1, KWHY_FLOW_LAYER, 0.125f}, {4, KWHY_FLOW_B2, E, 0.125f},
		{7, KWHY_FLOW_BI, KWHY_FLOW_GATES, 0.0625f}, {8, KWHY_FLOW_BH, KWHY_FLOW_GATES, 0.0625f}};

	memset(weights, 0, KWHY_FLOW_WEIGHTS * sizeof(*weights));
	if (halves)
		memset(halves, 0, KWHY_FLOW_HALVES * sizeof(*halves));
	for (size_t i = 0; i < sizeof(matrices) / sizeof(matrices[0]); i++)
		make_matrix(&matrices[i], weights, halves);
	for (size_t i = 0; i < sizeof(biases) / sizeof(biases[0]); i++)
		for (uint32_t k = 0; k < biases[i].count; k++)
			weights[biases[i].place + k] = weight(biases[i].table, k, biases[i].scale);
	make_sines(weights);
}

/* --- The run --- */

struct world {
	struct kwhy_flow_books books;
	float *weights, *e, *h, *outputs; /* e: before the step; outputs: [flows][OUTPUTS] after it */
	uint64_t *moved;
	double sum_out;
};

/* One flow-step, in place. */
static void advance(struct world *world, uint32_t row)
{
	float *h = world->h + (size_t)row * H, *e = world->e + (size_t)row * E,
	      *outputs = world->outputs + (size_t)row * KWHY_FLOW_OUTPUTS;
	const float *w = world->weights;
	float in[KWHY_FLOW_INPUTS], u[KWHY_FLOW_LAYER], a[KWHY_FLOW_INPUTS], gi[KWHY_FLOW_GATES],
		gh[KWHY_FLOW_GATES];

	kwhy_flow_input(&world->books.shape, w, world->books.at[row], e, in);
	kwhy_flow_product(in, w + KWHY_FLOW_W1, u, KWHY_FLOW_INPUTS, KWHY_FLOW_LAYER);
	for (uint32_t j = 0; j < KWHY_FLOW_LAYER; j++)
		u[j] = fmaxf(u[j] + w[KWHY_FLOW_B1 + j], 0);
	kwhy_flow_product(u, w + KWHY_FLOW_W2, a, KWHY_FLOW_LAYER, E);
	for (uint32_t j = 0; j < E; j++) {
		a[j] += w[KWHY_FLOW_B2 + j];
		a[E + j] = e[j];
	}
	kwhy_flow_product(a, w + KWHY_FLOW_WI, gi, KWHY_FLOW_INPUTS, KWHY_FLOW_GATES);
	kwhy_flow_product(h, w + KWHY_FLOW_WH, gh, H, KWHY_FLOW_GATES);
	for (uint32_t j = 0; j < H; j++)
		h[j] = kwhy_flow_gate(w, gi, gh, j, h[j]);
	kwhy_flow_product(h, w + KWHY_FLOW_WO, outputs, H, KWHY_FLOW_OUTPUTS);
	for (uint32_t j = 0; j < E; j++)
		outputs[j] = tanhf(outputs[j]);
}

static void begin_row(struct world *world, uint32_t row)
{
	for (uint32_t k = 0; k < E; k++)
		world->e[(size_t)row * E + k] = kwhy_flow_start_energy(
			(uint32_t)(world->books.at[row] >> 32), k);
	memset(world->h + (size_t)row * H, 0, H * sizeof(*world->h));
}

/* What those that merged carry is their mean; what left is added up. */
static void settle_row(struct world *world, uint32_t row)
{
	float *e = world->e + (size_t)row * E;
	uint32_t count = 0;

	if (world->books.fresh[row]) {
		bool left = kwhy_flow_z(world->moved[row]) >= world->books.shape.depth;

		for (uint32_t k = 0; left && k < E; k++)
			world->sum_out += (double)world->outputs[(size_t)row * KWHY_FLOW_OUTPUTS + k];
		return;
	}
	memset(e, 0, E * sizeof(*e));
	for (uint32_t i = row; i != KWHY_FLOW_NONE; i = world->books.next[i], count++)
		for (uint32_t k = 0; k < E; k++)
			e[k] += world->outputs[(size_t)i * KWHY_FLOW_OUTPUTS + k];
	for (uint32_t k = 0; k < E; k++)
		e[k] /= (float)count;
}

static void run_step(struct world *world, uint32_t step, bool numbers, bool last, struct kwhy_flow_step *out)
{
	const struct kwhy_flow_shape *shape = &world->books.shape;

	for (uint32_t row = 0; row < shape->flows; row++) {
		if (numbers)
			advance(world, row);
		world->moved[row] = kwhy_flow_move(shape, world->books.at[row], step,
			numbers ? world->outputs + (size_t)row * KWHY_FLOW_OUTPUTS + E : NULL);
	}
	kwhy_flow_books_step(&world->books, step, world->moved, out);
	for (uint32_t row = 0; numbers && row < shape->flows; row++)
		settle_row(world, row);
	for (uint32_t row = 0; numbers && !last && row < shape->flows; row++)
		if (world->books.fresh[row])
			begin_row(world, row);
}

/* The line of a row's new flow is the same in every precision; of who left, all but what it carries. */
static uint64_t tokens_of_row(const struct world *world, uint32_t row)
{
	uint64_t sum, at = world->books.at[row];
	char line[KWHY_FLOW_LINE_BYTES];
	float e[E];

	for (uint32_t k = 0; k < E; k++)
		e[k] = kwhy_flow_start_energy((uint32_t)(at >> 32), k);
	kwhy_flow_line_write(at, e, line);
	sum = kwhy_flow_line_read(line, KWHY_FLOW_LINE_WORDS, e);
	if (kwhy_flow_z(world->moved[row]) < world->books.shape.depth)
		return sum;
	kwhy_flow_line_write(world->moved[row], e, line);
	return sum + kwhy_flow_line_read(line, KWHY_FLOW_LINE_PLACES, e);
}

static uint64_t tokens_of_step(const struct world *world, uint32_t step)
{
	uint64_t sum = 0;

	for (uint32_t row = 0; row < world->books.shape.flows; row++)
		if (world->books.fresh[row])
			sum += tokens_of_row(world, row);
	return sum * (2 * (uint64_t)step + 1);
}

static int by_number(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

/* Who is left: first as number << 32 | row, to be put in order. */
static void take_survivors(const struct world *world, struct kwhy_flow_answer *out)
{
	for (uint32_t row = 0; row < out->shape.flows; row++)
		if (!world->books.fresh[row])
			out->at[out->active++] = world->moved[row] >> 32 << 32 | row;
	qsort(out->at, out->active, sizeof(*out->at), by_number);
	out->sum_e = out->sum_h = out->e ? 0 : NAN;
	for (uint32_t i = 0; i < out->active; i++) {
		uint32_t row = (uint32_t)out->at[i];

		out->at[i] = world->moved[row];
		if (!out->e)
			continue;
		memcpy(out->e + (size_t)i * E, world->e + (size_t)row * E, E * sizeof(*out->e));
		memcpy(out->h + (size_t)i * H, world->h + (size_t)row * H, H * sizeof(*out->h));
		for (uint32_t k = 0; k < E; k++)
			out->sum_e += (double)out->e[(size_t)i * E + k];
		for (uint32_t k = 0; k < H; k++)
			out->sum_h += (double)out->h[(size_t)i * H + k];
	}
}

static void run(struct world *world, bool numbers, struct kwhy_flow_answer *out)
{
	uint32_t steps = out->shape.steps;

	for (uint32_t row = 0; numbers && row < out->shape.flows; row++)
		begin_row(world, row);
	for (uint32_t step = 0; step < steps; step++) {
		struct kwhy_flow_step *now = &out->steps[step];

		run_step(world, step, numbers, step + 1 == steps, now);
		if (out->texts)
			out->texts[step] = tokens_of_step(world, step);
		out->merged += now->merged;
		out->exited += now->exited;
		out->places += now->places;
	}
	take_survivors(world, out);
	/* Those that would begin the next step are not counted. */
	out->spawned = world->books.next_number - out->steps[steps - 1].merged - out->steps[steps - 1].exited;
	out->sum_out = numbers ? world->sum_out : NAN;
}

static enum kwhy_status make_room(
	struct world *world, unsigned parts, struct kwhy_flow_answer *out, struct kwhy_error *error)
{
	size_t rows = (size_t)out->shape.flows + 1;

	out->steps = calloc(out->shape.steps, sizeof(*out->steps));
	out->at = calloc(rows, sizeof(*out->at));
	world->moved = calloc(rows, sizeof(*world->moved));
	if (parts & KWHY_FLOW_TEXTS)
		out->texts = calloc(out->shape.steps, sizeof(*out->texts));
	if (!out->steps || !out->at || !world->moved || (parts & KWHY_FLOW_TEXTS && !out->texts))
		return kwhy_fail_memory(error, "flows");
	if (!(parts & KWHY_FLOW_NUMBERS))
		return KWHY_OK;
	out->e = calloc(rows * E, sizeof(*out->e));
	out->h = calloc(rows * H, sizeof(*out->h));
	world->e = calloc(rows * E, sizeof(*world->e));
	world->h = calloc(rows * H, sizeof(*world->h));
	world->outputs = calloc(rows * KWHY_FLOW_OUTPUTS, sizeof(*world->outputs));
	world->weights = calloc(KWHY_FLOW_WEIGHTS, sizeof(*world->weights));
	if (!out->e || !out->h || !world->e || !world->h || !world->outputs || !world->weights)
		return kwhy_fail_memory(error, "the numbers of flows");
	kwhy_flow_weights(world->weights, NULL);
	return KWHY_OK;
}

struct kwhy_flow_shape kwhy_flow_shape_of(uint32_t flows, uint32_t steps, bool by_argmax)
{
	return (struct kwhy_flow_shape){
		flows, steps, by_argmax, KWHY_FLOW_WIDTH, KWHY_FLOW_HEIGHT, KWHY_FLOW_DEPTH};
}

enum kwhy_status kwhy_flow_shape_check(const struct kwhy_flow_shape *shape, struct kwhy_error *error)
{
	if (shape->flows > KWHY_FLOW_FLOWS_MOST || shape->steps < 1 || shape->steps > KWHY_FLOW_STEPS_MOST)
		return kwhy_fail(error, KWHY_E_INPUT,
			"flow: %u flows for %u steps; there may be up to %d flows and 1 to %d steps",
			shape->flows, shape->steps, KWHY_FLOW_FLOWS_MOST, KWHY_FLOW_STEPS_MOST);
	if (shape->width - 1 > 999 || shape->height - 1 > 999 || shape->depth - 1 > 999)
		return kwhy_fail(error, KWHY_E_INPUT,
			"flow: a lattice of %u x %u x %u cells; each may be 1 to 1000", shape->width,
			shape->height, shape->depth);
	return KWHY_OK;
}

enum kwhy_status kwhy_flow_reference(const struct kwhy_flow_shape *shape, unsigned parts,
	struct kwhy_flow_answer *out, struct kwhy_error *error)
{
	int64_t start_ns = kwhy_clock_mono_ns();
	struct world world = {0};
	enum kwhy_status status;

	*out = (struct kwhy_flow_answer){.shape = *shape};
	if (shape->by_argmax)
		parts |= KWHY_FLOW_NUMBERS;
	status = kwhy_flow_shape_check(shape, error);
	if (!status)
		status = kwhy_flow_books_open(shape, &world.books, error);
	if (!status)
		status = make_room(&world, parts, out, error);
	if (!status)
		run(&world, parts & KWHY_FLOW_NUMBERS, out);
	out->seconds = (double)(kwhy_clock_mono_ns() - start_ns) * 1e-9;
	kwhy_flow_books_done(&world.books);
	free(world.moved);
	free(world.e);
	free(world.h);
	free(world.outputs);
	free(world.weights);
	if (status)
		kwhy_flow_answer_done(out);
	return status;
}

void kwhy_flow_answer_done(struct kwhy_flow_answer *answer)
{
	free(answer->steps);
	free(answer->texts);
	free(answer->at);
	free(answer->e);
	free(answer->h);
	*answer = (struct kwhy_flow_answer){0};
}
