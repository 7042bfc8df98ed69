/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels' own text, run on the host, gives what their forms for the host give. */
#include "fakes/cuda_text.h"

static float __uint_as_float(unsigned bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

#include "lab/kernels/train.cu"

#include "cmocka_all.h"
#include "lab/numbers.h"
#include "lab/train/device.h"

enum { WIDTH = 64, LAYERS = 3, BATCH = 24, PARTS = 2, STEPS = 4, PARTS_OF_MEMORY = 14, BLOCKS = 3 };

/* The same memory twice: [0] for the text, [1] for the host's forms. */
struct world {
	void *memory[2][PARTS_OF_MEMORY];
	size_t counts[PARTS_OF_MEMORY];
	u32 types[PARTS_OF_MEMORY];
	struct args a[2];
};

static float some_number(size_t i)
{
	return (float)((int)(i * 2654435761u >> 8 & 0xffff) - 32768) * 0x1p-15f;
}

/* Parts in the order of the arguments, the clock without what is unused; numbers that are neither large nor
 * all alike. */
static void world_init(struct world *world, u32 type)
{
	const size_t plane = BATCH / PARTS * WIDTH, matrices = LAYERS * WIDTH * WIDTH,
		     weights = matrices + LAYERS * WIDTH;
	const size_t counts[] = {weights, weights, weights, weights + 1, matrices, 2 * BATCH * (WIDTH + 1),
		BATCH * WIDTH, BATCH, 2 * plane, 2 * plane, plane, BATCH, STEPS,
		sizeof(struct clock) / sizeof(float) - 1};
	const u32 types[] = {
		FP32, FP32, FP32, FP32, type, FP32, type, FP32, type, type, FP32, FP32, FP32, FP32};

	memcpy(world->counts, counts, sizeof(counts));
	memcpy(world->types, types, sizeof(types));
	for (size_t w = 0; w < 2; w++) {
		struct args *a = &world->a[w];

		for (size_t p = 0; p < PARTS_OF_MEMORY; p++) {
			world->memory[w][p] = calloc(counts[p] + 1, sizeof(float));
			for (size_t i = 0; i < counts[p]; i++)
				lab_number_put((enum lab_number)types[p], world->memory[w][p], i,
					some_number(i + 1000 * p));
		}
		memcpy(a, world->memory[w], sizeof(world->memory[w]));
		a->width = WIDTH;
		a->layers = LAYERS;
		a->batch = BATCH;
		a->parts = PARTS;
		a->whole_batch = 2 * BATCH;
		a->type = type;
		a->scale = type == FP16 ? 1024 : 1;
		for (u32 i = 0; i < 2 * BATCH; i++)
			((u32 *)a->staged)[i < BATCH ? BATCH * WIDTH + i : 2 * BATCH * WIDTH + i] = i % WIDTH;
	}
}

static void world_done(struct world *world)
{
	for (size_t w = 0; w < 2; w++)
		for (size_t p = 0; p < PARTS_OF_MEMORY; p++)
			free(world->memory[w][p]);
}

/* Sums in another order and another expf() are all that may differ; then both go on with the host's. */
static void assert_same(struct world *world, const char *kernel)
{
	for (size_t p = 0; p < PARTS_OF_MEMORY; p++) {
		enum lab_number type = (enum lab_number)world->types[p];
		double within = type == LAB_BF16 ? 0x1p-8 : type == LAB_FP16 ? 0x1p-10 : 2e-6;

		for (size_t i = 0; i < world->counts[p]; i++) {
			double is = (double)lab_number_get(type, world->memory[0][p], i),
			       ought = (double)lab_number_get(type, world->memory[1][p], i);

			if (!(fabs(is - ought) <= within * (fabs(ought) + 1e-3)))
				fail_msg("%s: part %zu at %zu is %g, not %g", kernel, p, i, is, ought);
		}
		memcpy(world->memory[0][p], world->memory[1][p], world->counts[p] * sizeof(float));
	}
}

typedef void kernel(const struct args a, const struct call c);

struct launch {
	kernel *run;
	struct args a;
	struct call c;
};

static void run_launch(void *context)
{
	const struct launch *launch = context;

	launch->run(launch->a, launch->c);
}

static void run_both(struct world *world, const char *name, kernel *run, struct call c, u32 blocks)
{
	struct launch launch = {run, world->a[0], c};
	const struct kwhy_gpu_grid grid = {blocks, THREADS, 0};
	const struct kwhy_gpu_host_kernel *row = lab_train_host_kernels;
	void *arguments[] = {&world->a[1], &c};

	while (strcmp(row->name, name) != 0)
		row++;
	cuda_text_launch(blocks, THREADS, run_launch, &launch);
	row->run(&grid, arguments);
	assert_same(world, name);
}

#define RUN(name, blocks, ...) run_both(&world, #name, name, (struct call){__VA_ARGS__}, blocks)

static void check_kernels(u32 type)
{
	struct world world;

	if (!CUDA_TEXT_RUNS)
		skip();
	world_init(&world, type);
	RUN(lab_train_begin, BLOCKS, 0);
	for (u32 step = 0; step < 2; step++) {
		RUN(lab_train_take, BLOCKS, 0);
		RUN(lab_train_bias, BLOCKS, .layer = 1, .slot = 1);
		RUN(lab_train_bias, BLOCKS, .layer = LAYERS - 1);
		RUN(lab_train_loss, BATCH / PARTS, .part = 1);
		RUN(lab_train_bias_gradient, WIDTH / COLUMNS, .layer = 1);
		RUN(lab_train_bias_gradient, WIDTH / COLUMNS, .layer = 1, .mode = ADD);
		RUN(lab_train_mask, BLOCKS, .slot = 1, .mode = 1);
		RUN(lab_train_mask, BLOCKS, .slot = 0, .mode = 0);
		RUN(lab_train_tally, 1, 0);
		for (u32 mode = 1; mode <= ROUNDS && step; mode *= 2)
			RUN(lab_train_adamw, BLOCKS, .mode = mode);
		RUN(lab_train_adamw, BLOCKS, .mode = 2 * ROUNDS - 1);
		RUN(lab_train_advance, 1, 0);
	}
	assert_int_equal(world.a[0].clock->step, 2);
	world_done(&world);
}

static void kernels_are_those_of_the_host(void **state)
{
	(void)state;
	assert_int_equal(sizeof(struct args), sizeof(struct lab_train_args));
	assert_int_equal(sizeof(struct call), sizeof(struct lab_train_call));
	assert_int_equal(sizeof(struct clock), sizeof(struct lab_train_clock));
	for (u32 type = FP32; type <= FP16; type++)
		check_kernels(type);
}

static void small_numbers_are_those_of_the_host(void **state)
{
	(void)state;
	for (u32 i = 0; i < 0x20000; i++) {
		float value = __uint_as_float(i << 15 | i % 7);

		if (!isfinite(value))
			continue;
		assert_int_equal(to_fp16(value), lab_to_fp16(value));
		assert_int_equal(to_bf16(value), lab_to_bf16(value));
	}
	for (u32 bits = 0; bits < 0x7c00; bits++)
		assert_true(from_fp16(bits) == lab_from_fp16((uint16_t)bits));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_are_those_of_the_host),
		cmocka_unit_test(small_numbers_are_those_of_the_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
