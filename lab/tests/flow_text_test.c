/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs flow's kernels as CUDA code with all their threads on the host, and compares places, energies and
 * states of flows with the reference.
 */
#include "flow_text.h"

#include "lab/kernels/flow.cu"

#include "lab/flow/device.h"

#include "cmocka_all.h"

enum { BLOCKS = 3, SLOTS = 8 * 6 * 5 + 40 };

static const struct lab_flow_shape small = {40, 6, false, 8, 6, 3};

/* The arguments of the kernels, with all arrays in host memory. */
struct world {
	char *memory, *next;
	struct lab_flow_args a;
	u32 numbers[2], map[SLOTS];
	u64 out;
};

static void *part(struct world *world, size_t bytes)
{
	void *start = world->next;

	world->next += (bytes + 63) / 64 * 64;
	return start;
}

static void world_init(struct world *world, const struct lab_flow_shape *shape)
{
	size_t rows = shape->flows, cells = shape->width * shape->height * shape->depth;
	float *weights;

	*world = (struct world){.memory = aligned_alloc(64, 8 << 20)};
	memset(world->memory, 0, 8 << 20);
	world->next = world->memory;
	weights = part(world, WEIGHTS * sizeof(float));
	lab_flow_weights(weights);
	world->a = (struct lab_flow_args){.weights = weights,
		.cells = part(world, cells * PLACE * sizeof(float)),
		.at = part(world, rows * sizeof(u64)),
		.moved = part(world, 2 * rows * sizeof(u64)),
		.fresh = part(world, 2 * rows * sizeof(u64)),
		.next = part(world, 2 * rows * sizeof(u32)),
		.heads = part(world, 2 * cells * sizeof(u64)),
		.owners = part(world, cells * sizeof(u64)),
		.map = world->map,
		.e = part(world, rows * E * sizeof(float)),
		.h_rows = part(world, rows * H * sizeof(float)),
		.outputs_rows = part(world, rows * OUT * sizeof(float)),
		.in = part(world, SLOTS * IN * sizeof(float)),
		.u = part(world, SLOTS * IN * sizeof(float)),
		.a = part(world, SLOTS * IN * sizeof(float)),
		.gi = part(world, SLOTS * GATES * sizeof(float)),
		.gh = part(world, SLOTS * GATES * sizeof(float)),
		.h_halves = part(world, 2 * rows * H * sizeof(u16)),
		.parts = part(world, 2 * TEAM * rows * OUT * sizeof(float)),
		.numbers = world->numbers,
		.records = part(world, shape->steps * sizeof(struct record)),
		.out = &world->out,
		.times = part(world, (shape->steps + 1) * sizeof(u64)),
		.flows = shape->flows,
		.steps = shape->steps,
		.by_argmax = shape->by_argmax,
		.width = shape->width,
		.height = shape->height,
		.depth = shape->depth};
	world->a.h = world->a.h_rows;
	world->a.outputs = world->a.outputs_rows;
	memset(world->a.owners, 0xff, cells * sizeof(u64));
}

typedef void kernel(const struct lab_flow_args a, u32 step, u32 first, u32 count);

struct call {
	kernel *run;
	const struct lab_flow_args *a;
	u32 step, first, count;
};

static void run_call(void *context)
{
	const struct call *call = context;

	call->run(*call->a, call->step, call->first, call->count);
}

static void run_grid(const struct world *world, kernel *run, u32 step, u32 first, u32 count, u32 blocks)
{
	struct call call = {run, &world->a, step, first, count};

	cuda_text_launch(blocks, THREADS, run_call, &call);
}

static struct lab_flow_answer answer_of(const struct lab_flow_shape *shape)
{
	struct lab_flow_answer answer;
	struct kwhy_error error;

	if (lab_flow_reference(shape, true, &answer, &error))
		fail_msg("%s", error.text);
	return answer;
}

/*
 * Compares places exactly, and numbers to within `most` times the norm of the reference's. Only flows that
 * are active after the last step have their numbers compared: rows of those that left or merged have new
 * flows.
 */
static void assert_is(const struct world *world, const struct lab_flow_answer *answer, double most)
{
	const struct lab_flow_args *a = &world->a;
	double apart = 0, length = 0;
	u32 active = 0;

	for (u32 step = 0; step < a->steps; step++) {
		assert_true(a->records[step].places == answer->steps[step].places);
		assert_int_equal(a->records[step].merged, answer->steps[step].merged);
		assert_int_equal(a->records[step].exited, answer->steps[step].exited);
	}
	for (u32 row = 0; row < a->flows; row++)
		for (u32 i = 0; i < answer->left.count; i++)
			if (answer->left.at[i] == a->at[row]) {
				active++;
				for (u32 k = 0; k < H; k++) {
					double wanted = answer->left.h[i * H + k],
					       found = a->h_rows[row * H + k];

					apart += (found - wanted) * (found - wanted);
					length += wanted * wanted;
				}
				for (u32 k = 0; k < E; k++)
					assert_true(
						fabsf(answer->left.e[i * E + k] - a->e[row * E + k]) < most);
			}
	assert_int_equal(active, answer->left.count);
	assert_true(sqrt(apart / length) < most);
	assert_true(fabs((double)(i64)world->out * 0x1p-32 - answer->sum_out) <=
		most * (1 + fabs(answer->sum_out)));
}

static void the_kernels_of_a_step_plain_or_fused_give_the_reference(void **state)
{
	struct lab_flow_answer answer = answer_of(&small);
	u32 count = small.flows;
	struct world world;

	(void)state;
	world_init(&world, &small);
	run_grid(&world, lab_flows_cells, 0, 0, 0, BLOCKS);
	run_grid(&world, lab_flows_settle, NONE, 0, count, BLOCKS);
	for (u32 step = 0; step < small.steps; step++) {
		if (step % 2) {
			run_grid(&world, lab_flows_front, step, 0, count, BLOCKS);
		} else {
			run_grid(&world, lab_flows_input, step, 0, count, BLOCKS);
			run_grid(&world, lab_flows_product, 0, 0, count, BLOCKS);
			run_grid(&world, lab_flows_relu, step, 0, count, BLOCKS);
			run_grid(&world, lab_flows_product, 1, 0, count, BLOCKS);
			run_grid(&world, lab_flows_bias, step, 0, count, BLOCKS);
		}
		run_grid(&world, lab_flows_product, 2, 0, count, BLOCKS);
		run_grid(&world, lab_flows_product, 3, 0, count, BLOCKS);
		run_grid(&world, lab_flows_gates, step, 0, count, BLOCKS);
		run_grid(&world, lab_flows_product, 4, 0, count, BLOCKS);
		run_grid(&world, lab_flows_move, step, 0, count, BLOCKS);
		run_grid(&world, lab_flows_settle, step, 0, count, BLOCKS);
	}
	assert_is(&world, &answer, 1e-5);
	lab_flow_answer_done(&answer);
	free(world.memory);
}

/*
 * Makes one step of the dense lattice with the device's kernels, which decide which flows merge. New flows in
 * a cell that is already taken have slots after those of the cells.
 */
static void the_kernels_of_the_dense_lattice_give_the_reference(void **state)
{
	const struct lab_flow_shape shape = {40, 1, false, 8, 6, 3};
	struct lab_flow_answer answer = answer_of(&shape);
	u32 cells = shape.width * shape.height * shape.depth, count = cells + shape.flows;
	kernel *const kernels[] = {lab_flows_relu, lab_flows_bias, lab_flows_gates};
	struct world world;
	float *buffers;

	(void)state;
	world_init(&world, &shape);
	memset(world.map, 0xff, sizeof(world.map));
	buffers = part(&world, SLOTS * (H + OUT) * sizeof(float));
	run_grid(&world, lab_flows_cells, 0, 0, 0, BLOCKS);
	run_grid(&world, lab_flows_settle, NONE, 0, shape.flows, BLOCKS);
	for (u32 row = 0; row < shape.flows; row++) {
		u32 cell = cell_of(&world.a, world.a.at[row]);

		world.map[world.map[cell] == NONE ? cell : cells + row] = row;
	}
	world.a.h = buffers;
	world.a.outputs = buffers + (size_t)SLOTS * H;
	run_grid(&world, lab_flows_spread, 0, 0, count, BLOCKS);
	run_grid(&world, lab_flows_product, 0, 0, count, BLOCKS);
	run_grid(&world, kernels[0], 0, 0, count, BLOCKS);
	run_grid(&world, lab_flows_product, 1, 0, count, BLOCKS);
	run_grid(&world, kernels[1], 0, 0, count, BLOCKS);
	run_grid(&world, lab_flows_product, 2, 0, count, BLOCKS);
	run_grid(&world, lab_flows_product, 3, 0, count, BLOCKS);
	run_grid(&world, kernels[2], 0, 0, count, BLOCKS);
	run_grid(&world, lab_flows_product, 4, 0, count, BLOCKS);
	run_grid(&world, lab_flows_collect, 0, 0, count, BLOCKS);
	run_grid(&world, lab_flows_move, 0, 0, shape.flows, BLOCKS);
	run_grid(&world, lab_flows_settle, 0, 0, shape.flows, BLOCKS);
	assert_is(&world, &answer, 1e-5);
	lab_flow_answer_done(&answer);
	free(world.memory);
}

static void run_whole(const struct lab_flow_shape *shape, u32 teams)
{
	struct lab_flow_answer answer = answer_of(shape);
	struct world world;

	world_init(&world, shape);
	run_grid(&world, lab_flows_cells, 0, 0, 0, BLOCKS);
	run_grid(&world, lab_flows_run, 0, 0, 1, TEAM * teams);
	assert_is(&world, &answer, 2e-2);
	lab_flow_answer_done(&answer);
	free(world.memory);
}

static void one_kernel_gives_the_places_exactly_and_the_numbers_nearly(void **state)
{
	(void)state;
	run_whole(&small, 1);
	run_whole(&small, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_kernels_of_a_step_plain_or_fused_give_the_reference),
		cmocka_unit_test(the_kernels_of_the_dense_lattice_give_the_reference),
		cmocka_unit_test(one_kernel_gives_the_places_exactly_and_the_numbers_nearly),
	};

	if (!CUDA_TEXT_RUNS)
		return kwhy_skip_all(CUDA_TEXT_ABSENT);
	return kwhy_test_main(tests, NULL, NULL);
}
