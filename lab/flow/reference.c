/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/flow/flow.h"

#include "lab/flow/device.h"
#include "lab/next.h"

#include <stdlib.h>

/* --- Weights --- */

static float weight(uint64_t table, uint64_t i, float scale)
{
	return unit(mix(table * UINT64_C(0x9E3779B97F4A7C15) + i)) * scale;
}

/*
 * A matrix of pseudo-random weights with the seed `table`. A bias is a matrix with one input. The weight from
 * input i to output j is weights[place + i * stride + j].
 */
struct matrix {
	uint32_t table, outputs, inputs, stride, place;
	float scale;
};

static void make_matrix(const struct matrix *m, float *weights)
{
	for (uint32_t j = 0; j < m->outputs; j++)
		for (uint32_t k = 0; k < m->inputs; k++)
			weights[m->place + k * m->stride + j] = weight(
				m->table, (uint64_t)j * m->inputs + k, m->scale);
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

void lab_flow_weights(float *weights)
{
	static const struct matrix matrices[] = {
		{1, IN, IN, IN, W1, 0.125f},
		{2, IN, 1, IN, B1, 0.125f},
		{3, E, IN, IN, W2, 0.125f},
		{4, E, 1, E, B2, 0.125f},
		{5, GATES, IN, GATES, WI, 0.0625f},
		{6, GATES, H, GATES, WH, 0.0625f},
		{7, GATES, 1, GATES, BI, 0.0625f},
		{8, GATES, 1, GATES, BH, 0.0625f},
		{9, E, H, OUT, WO, 0.0625f},
		{10, LOGITS, H, OUT, WO + E, 0.0625f},
	};

	memset(weights, 0, WEIGHTS * sizeof(*weights));
	for (size_t i = 0; i < sizeof(matrices) / sizeof(matrices[0]); i++)
		make_matrix(&matrices[i], weights);
	make_sines(weights);
}

/* --- The run, row by row --- */

/*
 * State of a run of the reference. If neither energies nor states are computed (`weights` is NULL), only the
 * roster is used.
 */
struct world {
	struct lab_flow_roster roster;
	struct lab_flow_args lattice;
	void *memory;		   /* memory of the roster */
	struct lab_flow_rows rows; /* energies and states; its `at` and `fresh` are the roster's */
	/* weights: [WEIGHTS]; outputs: [flows][OUT]; both NULL: no numbers are computed */
	float *weights, *outputs;
	double sum_out;
};

static void fill_inputs(const struct world *world, uint32_t row, float in[IN])
{
	const float *sines = world->weights + SINES, *cosines = world->weights + COSINES;
	uint64_t at = world->roster.at[row], cell = cell_of(&world->lattice, at);

	memcpy(in, world->rows.e + (size_t)row * E, E * sizeof(*in));
	for (uint32_t k = 0; k < PLACE; k++)
		in[E + k] = weight(0x2E4B, cell * PLACE + k, 1);
	for (uint32_t k = 0; k < 4; k++, sines += 1024, cosines += 1024) {
		in[E + PLACE + 4 * k] = sines[x_of(at)];
		in[E + PLACE + 4 * k + 1] = cosines[x_of(at)];
		in[E + PLACE + 4 * k + 2] = sines[y_of(at)];
		in[E + PLACE + 4 * k + 3] = sines[z_of(at)];
	}
}

/* Computes a layer: out = bias + in times the matrix. */
static void add_layer(const float *in, uint32_t inputs, const float *matrix, const float *bias,
	uint32_t outputs, float *out)
{
	memcpy(out, bias, outputs * sizeof(*out));
	lab_flow_add_product(in, inputs, matrix, outputs, out);
}

static float sigmoid(float value)
{
	return 1 / (1 + expf(-value));
}

/*
 * Makes a step of a row's network: replaces the state h, and puts energies and logits into the row's outputs.
 * Merging comes later, in settle().
 */
static void advance(const struct world *world, uint32_t row)
{
	const float *w = world->weights;
	float in[IN], u[IN], a[IN], gi[GATES], gh[GATES], *h = world->rows.h + (size_t)row * H,
							  *out = world->outputs + (size_t)row * OUT;

	fill_inputs(world, row, in);
	add_layer(in, IN, w + W1, w + B1, IN, u);
	for (uint32_t k = 0; k < IN; k++)
		u[k] = fmaxf(u[k], 0);
	memcpy(a, w + B2, E * sizeof(*a));
	memcpy(a + E, in, E * sizeof(*a));
	lab_flow_add_product(u, IN, w + W2, IN, a);
	add_layer(a, IN, w + WI, w + BI, GATES, gi);
	add_layer(h, H, w + WH, w + BH, GATES, gh);
	for (uint32_t j = 0; j < H; j++) {
		float r = sigmoid(gi[j] + gh[j]), z = sigmoid(gi[H + j] + gh[H + j]),
		      n = tanhf(gi[2 * H + j] + r * gh[2 * H + j]);

		h[j] = (1 - z) * n + z * h[j];
	}
	memset(out, 0, OUT * sizeof(*out));
	lab_flow_add_product(h, H, w + WO, OUT, out);
	for (uint32_t k = 0; k < E; k++)
		out[k] = tanhf(out[k]);
}

static void begin(struct world *world, uint32_t row, uint32_t number)
{
	memset(world->rows.h + (size_t)row * H, 0, H * sizeof(float));
	for (uint32_t k = 0; k < E; k++)
		world->rows.e[row * E + k] = start_energy(number, k);
}

/*
 * Sets the energies and the state with which a row's flow starts the next step. The flow that stays where
 * several met gets the mean of their energies; a new flow gets its initial values.
 */
static void settle(struct world *world, uint32_t row)
{
	const struct lab_flow_roster *roster = &world->roster;

	for (uint32_t k = 0; k < E; k++) {
		float sum = 0, count = 0;

		for (uint32_t i = row; i != NONE; i = roster->next[i], count++)
			sum += world->outputs[i * OUT + k];
		world->rows.e[row * E + k] = sum / count;
		if (z_of(roster->moved[row]) >= roster->shape.depth)
			world->sum_out += (double)sum;
	}
	if (roster->fresh[row])
		begin(world, row, (uint32_t)roster->fresh[row]);
}

static void run_step(struct world *world, uint32_t step, struct lab_flow_step *out)
{
	struct lab_flow_roster *roster = &world->roster;
	bool numbers = world->weights != NULL;

	for (uint32_t row = 0; row < roster->shape.flows; row++) {
		uint64_t at = roster->at[row];

		if (numbers)
			advance(world, row);
		roster->moved[row] = roster->shape.by_argmax
			? move_by(&world->lattice, at, world->outputs + (size_t)row * OUT + E)
			: move_fixed(&world->lattice, at, step);
	}
	lab_flow_roster_step(roster, step, out);
	for (uint32_t row = 0; numbers && row < roster->shape.flows; row++)
		settle(world, row);
}

static enum kwhy_status run(struct world *world, struct lab_flow_answer *out, struct kwhy_error *error)
{
	const struct lab_flow_shape *shape = &out->shape;
	const struct lab_flow_step *last = &out->steps[shape->steps - 1];

	for (uint32_t row = 0; world->weights && row < shape->flows; row++)
		begin(world, row, row);
	for (uint32_t step = 0; step < shape->steps; step++)
		run_step(world, step, &out->steps[step]);
	/*
	 * Rows that became free in the last step got new flows from the roster; these never take part in a
	 * step, so they are not counted.
	 */
	out->spawned = world->roster.next_number - last->merged - last->exited;
	out->sum_out = world->weights ? world->sum_out : NAN;
	return lab_flow_rows_take(&world->rows, shape->steps, &out->left, error);
}

static enum kwhy_status open_world(
	struct world *world, bool numbers, struct lab_flow_answer *out, struct kwhy_error *error)
{
	const struct lab_flow_shape *shape = &out->shape;
	enum kwhy_status status = lab_flow_rows_open(shape->flows, numbers, &world->rows, error);

	world->memory = malloc(lab_flow_roster_place(shape, NULL, NULL));
	out->steps = calloc(shape->steps, sizeof(*out->steps));
	if (numbers)
		world->weights = malloc((WEIGHTS + (size_t)shape->flows * OUT) * sizeof(*world->weights));
	if (status || !world->memory || !out->steps || (numbers && !world->weights))
		return kwhy_fail_memory(error, "flows");
	lab_flow_roster_place(shape, world->memory, &world->roster);
	world->roster.at = world->rows.at;
	world->roster.fresh = world->rows.fresh;
	lab_flow_roster_reset(&world->roster);
	world->lattice = lattice_of(shape);
	if (numbers) {
		world->outputs = world->weights + WEIGHTS;
		lab_flow_weights(world->weights);
	}
	return KWHY_OK;
}

struct lab_flow_shape lab_flow_shape_of(uint32_t flows, uint32_t steps, bool by_argmax)
{
	return (struct lab_flow_shape){
		flows, steps, by_argmax, LAB_FLOW_WIDTH, LAB_FLOW_HEIGHT, LAB_FLOW_DEPTH};
}

enum kwhy_status lab_flow_reference(const struct lab_flow_shape *shape, bool numbers,
	struct lab_flow_answer *out, struct kwhy_error *error)
{
	struct world world = {.sum_out = 0};
	enum kwhy_status status;

	*out = (struct lab_flow_answer){.shape = *shape};
	status = open_world(&world, numbers || shape->by_argmax, out, error);
	NEXT(status, run(&world, out, error));
	lab_flow_rows_done(&world.rows);
	free(world.memory);
	free(world.weights);
	if (status)
		lab_flow_answer_done(out);
	return status;
}

void lab_flow_answer_done(struct lab_flow_answer *answer)
{
	free(answer->steps);
	lab_flow_rows_done(&answer->left);
	*answer = (struct lab_flow_answer){0};
}
