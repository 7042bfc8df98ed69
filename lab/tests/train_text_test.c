/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels of `train` give the same results as CUDA code with all threads of a grid, run on the host, as
 * in the host back end's grid of one thread.
 */
#include "fakes/cuda_text.h"

#include "lab/tests/shuffle.h"

#include "lab/kernels/train.cu"

#include "cmocka_all.h"
#include "lab/kernels.h"
#include "lab/train/train.h"

enum { WIDTH = 64, LAYERS = 3, BATCH = 24, PARTS = 2, STEPS = 4, PARTS_OF_MEMORY = 14, BLOCKS = 3 };

/*
 * Two equal sets of the kernels' arrays: [0] for the CUDA code with all threads, [1] for the kernels as the
 * host back end runs them.
 */
struct world {
	void *memory[2][PARTS_OF_MEMORY];
	size_t counts[PARTS_OF_MEMORY];
	u32 types[PARTS_OF_MEMORY];
	struct lab_train_args a[2];
};

static float some_number(size_t i)
{
	return (float)((int)(i * 2654435761u >> 8 & 0xffff) - 32768) * 0x1p-15f;
}

/*
 * Allocates the arrays in the order of struct lab_train_args, fills both sets with the same pseudo-random
 * numbers in [-1, 1), and labels with valid ones.
 */
static void world_init(struct world *world, u32 type)
{
	const size_t plane = BATCH / PARTS * WIDTH, matrices = LAYERS * WIDTH * WIDTH,
		     weights = matrices + LAYERS * WIDTH;
	const size_t counts[] = {weights, weights, weights, weights, matrices, 2 * BATCH * (WIDTH + 1),
		BATCH * WIDTH, BATCH, 2 * plane, 2 * plane, plane, BATCH, STEPS,
		sizeof(struct lab_train_clock) / sizeof(float) - 1};
	const u32 types[] = {0, 0, 0, 0, type, 0, type, 0, type, type, 0, 0, 0, 0};

	memcpy(world->counts, counts, sizeof(counts));
	memcpy(world->types, types, sizeof(types));
	for (size_t w = 0; w < 2; w++) {
		struct lab_train_args *a = &world->a[w];

		for (size_t p = 0; p < PARTS_OF_MEMORY; p++) {
			world->memory[w][p] = calloc(counts[p] + 1, sizeof(float));
			for (size_t i = 0; i < counts[p]; i++)
				put(types[p], world->memory[w][p], i, some_number(i + 1000 * p));
		}
		memcpy(a, world->memory[w], sizeof(world->memory[w]));
		a->width = WIDTH;
		a->layers = LAYERS;
		a->batch = BATCH;
		a->parts = PARTS;
		a->whole_batch = 2 * BATCH;
		a->type = type;
		for (u32 i = 0; i < 2 * BATCH; i++)
			((u32 *)(void *)a->staged)[i < BATCH ? BATCH * WIDTH + i : 2 * BATCH * WIDTH + i] =
				i % WIDTH;
	}
}

static void world_done(struct world *world)
{
	for (size_t w = 0; w < 2; w++)
		for (size_t p = 0; p < PARTS_OF_MEMORY; p++)
			free(world->memory[w][p]);
}

/*
 * Compares the results of a kernel in both sets, which may differ only by the order of sums and by a
 * different expf(). Then copies the host back end's results to the other set, so that the next kernel has
 * equal inputs.
 */
static void assert_same(struct world *world, const char *kernel)
{
	for (size_t p = 0; p < PARTS_OF_MEMORY; p++) {
		u32 type = world->types[p];
		double within = type == LAB_BF16 ? 0x1p-8 : 2e-6;

		for (size_t i = 0; i < world->counts[p]; i++) {
			double is = (double)get(type, world->memory[0][p], i),
			       ought = (double)get(type, world->memory[1][p], i);

			if (!(fabs(is - ought) <= within * (fabs(ought) + 1e-3)))
				fail_msg("%s: part %zu at %zu is %g, not %g", kernel, p, i, is, ought);
		}
		memcpy(world->memory[0][p], world->memory[1][p], world->counts[p] * sizeof(float));
	}
}

typedef void kernel(const struct lab_train_args a, const struct lab_train_call c);

struct launch {
	kernel *run;
	struct lab_train_args a;
	struct lab_train_call c;
};

static void run_launch(void *context)
{
	const struct launch *launch = context;

	launch->run(launch->a, launch->c);
}

static void run_both(struct world *world, const char *name, kernel *run, struct lab_train_call c, u32 blocks)
{
	struct launch launch = {run, world->a[0], c};
	const struct kwhy_gpu_grid grid = {blocks, LAB_TRAIN_THREADS, 0};
	const struct kwhy_gpu_host_kernel *row = lab_train_host_kernels;
	void *arguments[] = {&world->a[1], &c};

	while (strcmp(row->name, name) != 0)
		row++;
	cuda_text_launch(blocks, LAB_TRAIN_THREADS, run_launch, &launch);
	row->run(&grid, arguments);
	assert_same(world, name);
}

#define RUN(name, blocks, ...) run_both(&world, #name, name, (struct lab_train_call){__VA_ARGS__}, blocks)

static void check_kernels(u32 type)
{
	struct world world;

	if (!CUDA_TEXT_RUNS)
		kwhy_skip("the text does not run in this build");
	world_init(&world, type);
	RUN(lab_train_begin, BLOCKS, 0);
	for (u32 step = 0; step < 2; step++) {
		RUN(lab_train_take, BLOCKS, 0);
		RUN(lab_train_bias, BLOCKS, .layer = 1, .slot = 1);
		RUN(lab_train_bias, BLOCKS, .layer = LAYERS - 1);
		RUN(lab_train_loss, BATCH / PARTS, .part = 1);
		RUN(lab_train_bias_gradient, WIDTH / LAB_TRAIN_COLUMNS, .layer = 1);
		RUN(lab_train_bias_gradient, WIDTH / LAB_TRAIN_COLUMNS, .layer = 1, .errors = 1, .mode = 1);
		RUN(lab_train_mask, BLOCKS, .slot = 1, .errors = 1);
		RUN(lab_train_mask, BLOCKS, .slot = 0, .errors = 0);
		for (u32 mode = 1; mode <= (type == LAB_BF16 ? ROUND : MOVE) && step; mode *= 2)
			RUN(lab_train_adamw, BLOCKS, .mode = mode);
		RUN(lab_train_adamw, BLOCKS, .mode = type == LAB_BF16 ? 31 : 15);
		RUN(lab_train_advance, 1, 0);
	}
	assert_int_equal(world.a[0].clock->step, 2);
	world_done(&world);
}

static void kernels_are_those_of_the_host(void **state)
{
	(void)state;
	check_kernels(LAB_FP32);
	check_kernels(LAB_BF16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_are_those_of_the_host),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
