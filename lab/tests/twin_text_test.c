/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs twin's kernels as CUDA code with all their threads on the host; they must give the bits of the
 * reference.
 */
#include "fakes/cuda_text.h"

#include "lab/kernels/twin.cu"

#include "lab/twin/twin.h"

#include "cmocka_all.h"

enum { TEST_STEPS = 5, BLOCKS = 3, THREADS = 64, SUMS = AGENTS + 1 };

/* The arguments of the kernels for one field, with all arrays in host memory. */
struct world {
	char *memory, *next;
	struct lab_twin_args a;
	u32 flag;
};

static void world_init(struct world *world, u32 ranks)
{
	struct lab_twin_args *a = &world->a;

	*world = (struct world){.memory = calloc(1, (size_t)8 * ranks * CELLS * sizeof(float) + (1 << 20))};
	world->next = world->memory;
	*a = (struct lab_twin_args){
		.flag = &world->flag, .cells = ranks * CELLS, .steps = TEST_STEPS, .closed = 1};
#define PART(type, name, count)        \
	a->name = (void *)world->next; \
	world->next += ((count) * sizeof(type) + 63) / 64 * 64;
	LAB_TWIN_PARTS(PART, (size_t)a->cells)
}

typedef void kernel(const struct lab_twin_args a, u32 step);

struct call {
	kernel *run;
	struct lab_twin_args a;
	u32 step;
};

static void run_call(void *context)
{
	const struct call *call = context;

	call->run(call->a, call->step);
}

static void run_grid(const struct world *world, kernel *run, u32 step, u32 blocks, u32 threads)
{
	struct call call = {run, world->a, step};

	cuda_text_launch(blocks, threads, run_call, &call);
}

static void begin(const struct world *world)
{
	run_grid(world, lab_twin_begin_field, 0, BLOCKS, THREADS);
	run_grid(world, lab_twin_begin_rest, 0, BLOCKS, THREADS);
}

static struct lab_twin_answer answer_of(u32 ranks)
{
	const struct lab_twin_shape shape = {TEST_STEPS, ranks, true};
	struct lab_twin_answer answer;
	struct kwhy_error error;

	if (lab_twin_reference(&shape, &answer, &error))
		fail_msg("%s", error.text);
	return answer;
}

/*
 * The agents as this test computes them. seen: for each agent the sum of its observations in the
 * previous step, which the kernels wrote to the outbox without gaps; folded: checksum Y of all
 * observations so far.
 */
struct crowd {
	i64 seen[AGENTS];
	u64 folded;
};

static void crowd_send(const struct crowd *crowd, u32 step, float *table)
{
	for (u32 a = 0; a < AGENTS; a++)
		for (u32 k = 0; k < sends(step, a); k++)
			table[a * CONTROLS + k] = payload(step, a, k, crowd->seen[a]);
}

static void crowd_look(struct crowd *crowd, u32 step, const char *outbox)
{
	memset(crowd->seen, 0, sizeof(crowd->seen));
	for (u32 q = 0; q < observed(step); q++) {
		const char *place = outbox + packed_at(q);

		crowd->seen[q % AGENTS] += q % 8 == 0 ? *(const i64 *)place : fixed(*(const float *)place);
	}
	for (u32 a = 0; a < AGENTS; a++)
		crowd->folded = mix(crowd->folded ^ (u64)crowd->seen[a]);
}

static void the_ten_kernels_give_the_bits_of_the_reference(void **state)
{
	kernel *const kernels[] = {lab_twin_gain, lab_twin_force, lab_twin_spread, lab_twin_diffuse,
		lab_twin_push, lab_twin_store, lab_twin_limit, lab_twin_sum, lab_twin_look, lab_twin_check};
	struct lab_twin_answer answer = answer_of(1);
	struct crowd crowd = {0};
	struct world world;

	(void)state;
	world_init(&world, 1);
	begin(&world);
	for (u32 step = 0; step < TEST_STEPS; step++) {
		crowd_send(&crowd, step, world.a.controls);
		for (u32 k = 0; k < 10; k++)
			run_grid(&world, kernels[k], step, k ? BLOCKS : 1, k ? THREADS : 128);
		crowd_look(&crowd, step, world.a.outbox);
		assert_true(world.a.checks[step] == answer.steps[step].field);
		assert_true(crowd.folded == answer.steps[step].observed);
		assert_true((u32)world.a.sums[AGENTS] == answer.steps[step].peak);
	}
	lab_twin_answer_done(&answer);
	free(world.memory);
}

static void the_fused_kernels_give_the_bits_of_the_reference(void **state)
{
	struct lab_twin_answer answer = answer_of(2);
	struct crowd crowd = {0};
	struct world world;

	(void)state;
	world_init(&world, 2);
	world.a.doubled = 1;
	begin(&world);
	for (u32 step = 0; step < TEST_STEPS; step++) {
		crowd_send(&crowd, step, (float *)(uintptr_t)world.a.inbox);
		run_grid(&world, lab_twin_receive, BY_CLOCK, 1, 256);
		run_grid(&world, lab_twin_advance, BY_CLOCK, BLOCKS, THREADS);
		run_grid(&world, lab_twin_conclude, BY_CLOCK, BLOCKS, THREADS);
		assert_int_equal(world.flag, step + 1);
		crowd_look(&crowd, step, world.a.outbox);
		assert_true(world.a.checks[step] == answer.steps[step].field);
		assert_true(crowd.folded == answer.steps[step].observed);
	}
	assert_memory_equal(world.a.history, answer.history, TEST_STEPS * SLOT * sizeof(float));
	lab_twin_answer_done(&answer);
	free(world.memory);
}

static void pieces_are_scattered_to_their_agents(void **state)
{
	float expected[AGENTS * CONTROLS] = {0};
	struct crowd crowd = {0};
	struct world world;

	(void)state;
	world_init(&world, 1);
	for (u32 step = 0; step < 20; step++) {
		float *inbox = (float *)(uintptr_t)world.a.inbox;

		crowd_send(&crowd, step, expected);
		for (u32 a = 0; a < AGENTS; a++)
			for (u32 k = 0; k < sends(step, a); k++)
				*inbox++ = expected[a * CONTROLS + k];
		run_grid(&world, lab_twin_scatter, step, 1, 256);
		assert_memory_equal(world.a.controls, expected, sizeof(expected));
	}
	free(world.memory);
}

static void check_whole_run(u32 ranks)
{
	struct lab_twin_answer answer = answer_of(ranks);
	u64 folded = 0;
	struct world world;

	world_init(&world, ranks);
	world.a.doubled = 1;
	begin(&world);
	run_grid(&world, lab_twin_whole, 0, BLOCKS, 256);
	for (u32 step = 0; step < TEST_STEPS; step++) {
		assert_true(world.a.checks[step] == answer.steps[step].field);
		for (u32 a = 0; a < AGENTS; a++)
			folded = mix(folded ^ (u64)world.a.seen[step * AGENTS + a]);
		assert_true(folded == answer.steps[step].observed);
	}
	assert_memory_equal(world.a.history, answer.history, TEST_STEPS * SLOT * sizeof(float));
	lab_twin_answer_done(&answer);
	free(world.memory);
}

static void a_run_in_one_launch_gives_the_bits_of_the_reference(void **state)
{
	(void)state;
	check_whole_run(1);
	check_whole_run(2);
}

/*
 * Copies the last row of each of two fields into `edges` of the other, as the row above it, and the first row
 * as the row below it: the two form a ring.
 */
static void exchange(const struct world worlds[2], u32 step)
{
	for (u32 r = 0; r < 2; r++) {
		const float *other = old_t(&worlds[1 - r].a, step);

		memcpy(worlds[r].a.edges, other + CELLS - WIDTH, WIDTH * sizeof(float));
		memcpy(worlds[r].a.edges + WIDTH, other, WIDTH * sizeof(float));
	}
}

static void step_apart(const struct world worlds[2], i64 gathered[2 * SUMS], u32 step)
{
	for (u32 r = 0; r < 2; r++) {
		run_grid(&worlds[r], lab_twin_receive, step, 1, 256);
		run_grid(&worlds[r], lab_twin_advance, step, BLOCKS, THREADS);
		run_grid(&worlds[r], lab_twin_tally, step, BLOCKS, THREADS);
	}
	for (u32 r = 0; r < 2; r++)
		memcpy(gathered + r * SUMS, worlds[r].a.sums, SUMS * sizeof(*gathered));
	for (u32 r = 0; r < 2; r++)
		run_grid(&worlds[r], lab_twin_combine, step, 1, 256);
}

static void fields_apart_give_the_bits_of_one_field(void **state)
{
	struct lab_twin_answer answer = answer_of(2);
	i64 gathered[2 * SUMS];
	struct crowd crowd = {0};
	struct world worlds[2];

	(void)state;
	for (u32 r = 0; r < 2; r++) {
		world_init(&worlds[r], 1);
		worlds[r].a.doubled = 1;
		worlds[r].a.first_cell = r * CELLS;
		worlds[r].a.parts = 2;
		worlds[r].a.gathered = gathered;
		worlds[r].a.has_edges = 1;
		worlds[r].a.inbox = worlds[0].a.inbox;
		begin(&worlds[r]);
	}
	for (u32 step = 0; step < TEST_STEPS; step++) {
		crowd_send(&crowd, step, (float *)(uintptr_t)worlds[0].a.inbox);
		exchange(worlds, step);
		step_apart(worlds, gathered, step);
		crowd_look(&crowd, step, worlds[0].a.outbox);
		assert_true(worlds[0].a.checks[step] + worlds[1].a.checks[step] == answer.steps[step].field);
		assert_true(crowd.folded == answer.steps[step].observed);
	}
	lab_twin_answer_done(&answer);
	free(worlds[0].memory);
	free(worlds[1].memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_ten_kernels_give_the_bits_of_the_reference),
		cmocka_unit_test(the_fused_kernels_give_the_bits_of_the_reference),
		cmocka_unit_test(pieces_are_scattered_to_their_agents),
		cmocka_unit_test(a_run_in_one_launch_gives_the_bits_of_the_reference),
		cmocka_unit_test(fields_apart_give_the_bits_of_one_field),
	};

	if (!CUDA_TEXT_RUNS)
		return kwhy_skip_all(CUDA_TEXT_ABSENT);
	return kwhy_test_main(tests, NULL, NULL);
}
