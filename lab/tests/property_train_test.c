/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "lab/train/run.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
 * Laws of `train` on the host, over random widths, depths, batches, parts and GPUs: variants that do the same
 * arithmetic in another order of work give the same bits, in weights and moments; a run of fewer steps is the
 * beginning of a longer one.
 */
enum { CASES = 25, GPUS_MOST = 4 };

static struct kwhy_gpu *gpus[GPUS_MOST];
static uint32_t gpu_count;

struct random {
	uint64_t state;
};

static uint32_t below(struct random *random, uint32_t limit)
{
	random->state = random->state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((random->state >> 33) % limit);
}

static struct kwhy_train_shape shape_of(struct random *random)
{
	struct kwhy_train_shape shape = {.width = 32 * (1 + below(random, 2)),
		.layers = 2 + below(random, 6),
		.parts = 1 + below(random, 3),
		.steps = 1 + below(random, 4)};

	shape.batch = 8 * shape.parts * (1 + below(random, 2));
	shape.samples = shape.batch * (1 + below(random, 3));
	return shape;
}

static void run(
	const char *id, const struct kwhy_train_shape *shape, uint32_t count, struct kwhy_train_state *out)
{
	const struct kwhy_train_request request = {.gpus = gpus,
		.gpu_count = count,
		.variant = kwhy_train_variant_find(id, strlen(id)),
		.shape = *shape};
	float losses[8];
	struct kwhy_train_result result = {.losses = losses};
	struct kwhy_train *train = NULL;
	struct kwhy_error error;

	if (kwhy_train_state_new(shape, out, &error) || kwhy_train_open(&request, &train, &error) ||
		kwhy_train_run(train, &result, &error) || kwhy_train_read(train, out, &error))
		fail_msg("%s: %s", id, error.text);
	kwhy_train_close(train);
}

static void assert_same(const char *what, const struct kwhy_train_shape *shape,
	const struct kwhy_train_state *a, const struct kwhy_train_state *b)
{
	size_t bytes = kwhy_train_weight_count(shape) * sizeof(float);

	if (memcmp(a->weights, b->weights, bytes) || memcmp(a->first, b->first, bytes) ||
		memcmp(a->second, b->second, bytes))
		fail_msg("%s differ at width %u, %u layers, batch %u, %u parts, %u steps", what, shape->width,
			shape->layers, shape->batch, shape->parts, shape->steps);
}

/* Both run and compared; with losses where the sums over samples have one order. */
static void assert_like(const char *id, const char *other, const struct kwhy_train_shape *shape,
	const struct kwhy_train_shape *other_shape, uint32_t count)
{
	struct kwhy_train_state a, b;

	run(id, shape, count, &a);
	run(other, other_shape, count, &b);
	assert_same(other, shape, &a, &b);
	if (strcmp(id, "parallel") != 0)
		assert_memory_equal(a.losses, b.losses, shape->steps * sizeof(*a.losses));
	kwhy_train_state_done(&a);
	kwhy_train_state_done(&b);
}

static void variants_of_one_arithmetic_give_the_same_bits(void **state)
{
	static const char *const others[] = {"bf16", "fused", "graph", "checkpoint"};
	struct random random = {1};

	(void)state;
	for (int i = 0; i < CASES; i++) {
		struct kwhy_train_shape shape = shape_of(&random);

		for (size_t k = 0; k < sizeof(others) / sizeof(others[0]); k++)
			assert_like("queued", others[k], &shape, &shape, 1);
	}
}

/* Parts one after another on one GPU, through layers apart, and each on a GPU of its own. */
static void parts_give_the_same_bits_wherever_they_are(void **state)
{
	struct random random = {2};

	(void)state;
	for (int i = 0; i < CASES; i++) {
		struct kwhy_train_shape shape = shape_of(&random);
		uint32_t count = 2 + below(&random, gpu_count - 1);

		if (shape.layers >= count)
			assert_like("accumulate", "pipeline", &shape, &shape, count);
		shape.parts = count;
		shape.batch = 8 * count;
		shape.samples = 2 * shape.batch;
		assert_like("parallel", "accumulate", &shape, &shape, count);
	}
}

static void fewer_steps_are_the_beginning_of_more(void **state)
{
	struct random random = {3};

	(void)state;
	for (int i = 0; i < CASES; i++) {
		struct kwhy_train_shape shape = shape_of(&random), longer = shape;
		struct kwhy_train_state a, b;

		longer.steps += 2;
		run("graph", &shape, 1, &a);
		run("graph", &longer, 1, &b);
		assert_memory_equal(a.losses, b.losses, shape.steps * sizeof(*a.losses));
		kwhy_train_state_done(&a);
		kwhy_train_state_done(&b);
	}
}

static int open_gpus(void **state)
{
	static const char *const numbers[GPUS_MOST] = {"0", "1", "2", "3"};
	struct kwhy_error error;
	uint32_t there;

	(void)state;
	if (kwhy_gpu_count(KWHY_GPU_HOST, &there, &error))
		return -1;
	for (gpu_count = 0; gpu_count < there && gpu_count < GPUS_MOST; gpu_count++)
		if (kwhy_gpu_open(KWHY_GPU_HOST, numbers[gpu_count], &gpus[gpu_count], &error))
			return -1;
	return 0;
}

static int close_gpus(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < gpu_count; i++)
		gpus[i]->ops->close(gpus[i]);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(variants_of_one_arithmetic_give_the_same_bits),
		cmocka_unit_test(parts_give_the_same_bits_wherever_they_are),
		cmocka_unit_test(fewer_steps_are_the_beginning_of_more),
	};

	return kwhy_test_main(tests, open_gpus, close_gpus);
}
