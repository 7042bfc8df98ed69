/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels' own text, run on the host, has its flows where the reference has them. */
#include "flow_text.h"

#include "lab/kernels/flow.cu"

#include "lab/flow/device.h"
#include "lab/flow/rules.h"

#include "cmocka_all.h"

enum { BLOCKS = 3, SLOTS = 8 * 6 * 5 + 40 };

static const struct kwhy_flow_shape small = {40, 6, false, 8, 6, 3};

/* A lattice in the host's memory. */
struct world {
	char *memory, *next;
	struct args a;
	u32 numbers[2], map[SLOTS];
	u64 out;
};

static void *part(struct world *world, size_t bytes)
{
	void *start = world->next;

	world->next += (bytes + 63) / 64 * 64;
	return start;
}

static void world_init(struct world *world, const struct kwhy_flow_shape *shape)
{
	size_t rows = shape->flows, tile_rows = (rows + ROWS - 1) / ROWS * ROWS,
	       cells = kwhy_flow_cells(shape);
	float *weights;
	u16 *halves;

	*world = (struct world){.memory = aligned_alloc(64, 8 << 20)};
	memset(world->memory, 0, 8 << 20);
	world->next = world->memory;
	world->numbers[0] = shape->flows;
	weights = part(world, KWHY_FLOW_WEIGHTS * sizeof(float));
	halves = part(world, KWHY_FLOW_HALVES * sizeof(u16));
	kwhy_flow_weights(weights, halves);
	world->a = (struct args){.weights = weights,
		.halves = halves,
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
		.h_halves = part(world, 2 * tile_rows * H * sizeof(u16)),
		.parts = part(world, 2 * TEAM * tile_rows * OUT * sizeof(float)),
		.shares = part(world, TEAM * SHARE_ALL * sizeof(u16)),
		.in_images = part(world, tile_rows * IN * sizeof(u16)),
		.places = part(world, tile_rows * (IN - E) * sizeof(u16)),
		.members = part(world, 2 * cells * MEMBERS * sizeof(u32)),
		.counts = part(world, 2 * cells * sizeof(u64)),
		.facts = part(world, 2 * tile_rows * sizeof(struct facts)),
		.numbers = world->numbers,
		.records = part(world, shape->steps * sizeof(struct record)),
		.out = &world->out,
		.times = part(world, (shape->steps + 1) * sizeof(u64)),
		.flows = shape->flows,
		.steps = shape->steps,
		.by_argmax = shape->by_argmax,
		.width = shape->width,
		.height = shape->height,
		.depth = shape->depth,
		.tile_rows = 32};
	world->a.h = world->a.h_rows;
	world->a.outputs = world->a.outputs_rows;
	memset(world->a.owners, 0xff, cells * sizeof(u64));
}

typedef void kernel(const struct args a, u32 step, u32 first, u32 count);

struct call {
	kernel *run;
	const struct args *a;
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

static struct kwhy_flow_answer answer_of(const struct kwhy_flow_shape *shape)
{
	struct kwhy_flow_answer answer;
	struct kwhy_error error;

	if (kwhy_flow_reference(shape, KWHY_FLOW_NUMBERS, &answer, &error))
		fail_msg("%s", error.text);
	return answer;
}

/* Places exactly, numbers within `most` of the reference's length; rows of who has gone are others' by now.
 */
static void assert_is(const struct world *world, const struct kwhy_flow_answer *answer, double most)
{
	const struct args *a = &world->a;
	double apart = 0, length = 0;
	u32 active = 0;

	for (u32 step = 0; step < a->steps; step++) {
		assert_true(a->records[step].places == answer->steps[step].places);
		assert_int_equal(a->records[step].merged, answer->steps[step].merged);
		assert_int_equal(a->records[step].exited, answer->steps[step].exited);
	}
	for (u32 row = 0; row < a->flows; row++)
		for (u32 i = 0; i < answer->active; i++)
			if (answer->at[i] == a->at[row]) {
				active++;
				for (u32 k = 0; k < H; k++) {
					double wanted = answer->h[i * H + k], found = a->h_rows[row * H + k];

					apart += (found - wanted) * (found - wanted);
					length += wanted * wanted;
				}
				for (u32 k = 0; k < E; k++)
					assert_true(fabsf(answer->e[i * E + k] - a->e[row * E + k]) < most);
			}
	assert_int_equal(active, answer->active);
	assert_true(sqrt(apart / length) < most);
	assert_true(fabs((double)(i64)world->out * 0x1p-32 - answer->sum_out) <=
		most * (1 + fabs(answer->sum_out)));
}

static void the_fused_kernels_give_the_reference(void **state)
{
	struct kwhy_flow_answer answer = answer_of(&small);
	u32 count = small.flows;
	struct world world;

	(void)state;
	world_init(&world, &small);
	run_grid(&world, kwhy_flows_cells, 0, 0, 0, BLOCKS);
	run_grid(&world, kwhy_flows_settle, NONE, 0, count, BLOCKS);
	for (u32 step = 0; step < small.steps; step++) {
		run_grid(&world, kwhy_flows_front, step, 0, count, BLOCKS);
		run_grid(&world, kwhy_flows_product, 2, 0, count, BLOCKS);
		run_grid(&world, kwhy_flows_product, 3, 0, count, BLOCKS);
		run_grid(&world, kwhy_flows_gates, step, 0, count, BLOCKS);
		run_grid(&world, kwhy_flows_product, 4, 0, count, BLOCKS);
		run_grid(&world, kwhy_flows_move, step, 0, count, BLOCKS);
		run_grid(&world, kwhy_flows_settle, step, 0, count, BLOCKS);
	}
	assert_is(&world, &answer, 1e-5);
	kwhy_flow_answer_done(&answer);
	free(world.memory);
}

/* One step; the claims are the device's here, and flows of one cell lie behind the lattice. */
static void the_kernels_of_the_dense_lattice_give_the_reference(void **state)
{
	const struct kwhy_flow_shape shape = {40, 1, false, 8, 6, 3};
	struct kwhy_flow_answer answer = answer_of(&shape);
	u32 cells = kwhy_flow_cells(&shape), count = cells + shape.flows;
	kernel *const kernels[] = {kwhy_flows_relu, kwhy_flows_bias, kwhy_flows_gates};
	struct world world;
	float *buffers;

	(void)state;
	world_init(&world, &shape);
	memset(world.map, 0xff, sizeof(world.map));
	buffers = part(&world, SLOTS * (H + OUT) * sizeof(float));
	run_grid(&world, kwhy_flows_cells, 0, 0, 0, BLOCKS);
	run_grid(&world, kwhy_flows_settle, NONE, 0, shape.flows, BLOCKS);
	for (u32 row = 0; row < shape.flows; row++) {
		u32 cell = kwhy_flow_cell(&shape, world.a.at[row]);

		world.map[world.map[cell] == NONE ? cell : cells + row] = row;
	}
	world.a.h = buffers;
	world.a.outputs = buffers + (size_t)SLOTS * H;
	run_grid(&world, kwhy_flows_spread, 0, 0, count, BLOCKS);
	run_grid(&world, kwhy_flows_product, 0, 0, count, BLOCKS);
	run_grid(&world, kernels[0], 0, 0, count, BLOCKS);
	run_grid(&world, kwhy_flows_product, 1, 0, count, BLOCKS);
	run_grid(&world, kernels[1], 0, 0, count, BLOCKS);
	run_grid(&world, kwhy_flows_product, 2, 0, count, BLOCKS);
	run_grid(&world, kwhy_flows_product, 3, 0, count, BLOCKS);
	run_grid(&world, kernels[2], 0, 0, count, BLOCKS);
	run_grid(&world, kwhy_flows_product, 4, 0, count, BLOCKS);
	run_grid(&world, kwhy_flows_collect, 0, 0, count, BLOCKS);
	run_grid(&world, kwhy_flows_move, 0, 0, shape.flows, BLOCKS);
	run_grid(&world, kwhy_flows_settle, 0, 0, shape.flows, BLOCKS);
	assert_is(&world, &answer, 1e-5);
	kwhy_flow_answer_done(&answer);
	free(world.memory);
}

/* The inputs of single flows, as the variants that take them one by one have them. */
static void the_inputs_of_a_flow_are_the_references(void **state)
{
	struct world world;
	float in[IN];

	(void)state;
	world_init(&world, &small);
	run_grid(&world, kwhy_flows_cells, 0, 0, 0, BLOCKS);
	run_grid(&world, kwhy_flows_settle, NONE, 0, small.flows, BLOCKS);
	for (u32 row = 0; row < small.flows; row++) {
		run_grid(&world, kwhy_flows_input, 0, row, 1, 1);
		kwhy_flow_input(&small, world.a.weights, world.a.at[row], world.a.e + row * E, in);
		assert_memory_equal(world.a.in + row * IN, in, sizeof(in));
		assert_memory_equal(world.a.a + row * IN + E, in, E * sizeof(float));
	}
	free(world.memory);
}

static void run_whole(const struct kwhy_flow_shape *shape, u32 teams, u32 rows)
{
	struct kwhy_flow_answer answer = answer_of(shape);
	struct world world;

	world_init(&world, shape);
	world.a.tile_rows = rows;
	run_grid(&world, kwhy_flows_cells, 0, 0, 0, BLOCKS);
	run_grid(&world, kwhy_flows_run, 0, 0, 1, TEAM * teams);
	assert_is(&world, &answer, 2e-2);
	kwhy_flow_answer_done(&answer);
	free(world.memory);
}

static void one_kernel_gives_the_places_exactly_and_the_numbers_nearly(void **state)
{
	(void)state;
	assert_int_equal(ROW_BYTES, KWHY_FLOW_ROW_BYTES);
	run_whole(&small, 1, 32);
	run_whole(&small, 2, 32);
	run_whole(&small, 1, 64);
}

/* The numbers of so few steps leave no choice in doubt. */
static void one_kernel_lets_flows_choose_their_way(void **state)
{
	const struct kwhy_flow_shape shape = {20, 3, true, 8, 6, 2};

	(void)state;
	run_whole(&shape, 1, 32);
}

static void run_wide(const struct kwhy_flow_shape *shape, u32 teams)
{
	struct kwhy_flow_answer answer = answer_of(shape);
	u32 tiles = (shape->flows + ROWS - 1) / ROWS, count = shape->flows;
	struct world world;
	struct call call = {kwhy_flows_wide, &world.a, 0, 0, count};

	world_init(&world, shape);
	assert_true(!shape->by_argmax || count <= THREADS);
	/* What no kernel writes is found. */
	memset(world.a.h_halves, 0xff, (size_t)2 * tiles * ROWS * H * sizeof(u16));
	memset(world.a.in_images, 0xff, (size_t)tiles * ROWS * IN * sizeof(u16));
	run_grid(&world, kwhy_flows_cells, 0, 0, 0, BLOCKS);
	run_grid(&world, kwhy_flows_pack, 0, 0, 0, BLOCKS);
	run_grid(&world, kwhy_flows_books, 0, 0, count, BLOCKS);
	for (call.step = 0; call.step < shape->steps; call.step++) {
		run_grid(&world, kwhy_flows_begin, call.step, 0, count, tiles);
		cuda_text_launch(TEAM * teams, WIDE_THREADS, run_call, &call);
		if (!shape->by_argmax)
			continue;
		run_grid(&world, kwhy_flows_choose, call.step, 0, count, 1);
		run_grid(&world, kwhy_flows_books, call.step + 1, 0, count, BLOCKS);
	}
	run_grid(&world, kwhy_flows_begin, shape->steps, 0, count, tiles);
	assert_is(&world, &answer, 2e-2);
	kwhy_flow_answer_done(&answer);
	free(world.memory);
}

/* Of four tiles a group has two, so that images come round again, and of ten five, in which flows merge,
 * leave and begin in each step; of the crowded ones more merge into flows of one tile than it takes at once.
 */
static void two_kernels_a_step_give_the_places_exactly_and_the_numbers_nearly(void **state)
{
	const struct kwhy_flow_shape few = {40, 2, false, 8, 6, 2}, many = {250, 1, false, 16, 12, 2},
				     chosen = {20, 3, true, 8, 6, 2}, dense = {60, 2, false, 3, 1, 2},
				     crowded = {200, 2, false, 5, 4, 2}, several = {600, 4, false, 8, 6, 2};

	(void)state;
	assert_int_equal(SHARE_ALL, KWHY_FLOW_WIDE_SHARE);
	assert_int_equal(WIDE_BYTES, KWHY_FLOW_WIDE_BYTES);
	assert_int_equal(WIDE_THREADS, KWHY_FLOW_WIDE_THREADS);
	assert_int_equal(ROWS, KWHY_FLOW_WIDE_ROWS);
	assert_int_equal(MEMBERS, KWHY_FLOW_WIDE_MEMBERS);
	run_wide(&many, 1);
	run_wide(&dense, 1);
	run_wide(&crowded, 1);
	run_wide(&several, 1);
	run_wide(&few, 2);
	run_wide(&chosen, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_fused_kernels_give_the_reference),
		cmocka_unit_test(the_kernels_of_the_dense_lattice_give_the_reference),
		cmocka_unit_test(the_inputs_of_a_flow_are_the_references),
		cmocka_unit_test(one_kernel_gives_the_places_exactly_and_the_numbers_nearly),
		cmocka_unit_test(one_kernel_lets_flows_choose_their_way),
		cmocka_unit_test(two_kernels_a_step_give_the_places_exactly_and_the_numbers_nearly),
	};

	if (!CUDA_TEXT_RUNS)
		return kwhy_skip_all(CUDA_TEXT_ABSENT);
	return kwhy_test_main(tests, NULL, NULL);
}
