/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/train/device.h"
#include "lab/train/run.h"

#include "cmocka_all.h"
#include "fakes/cuda/give_kernels.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* As the command line says: "host", or "cuda" with the path of a fake driver. */
static enum kwhy_gpu_backend backend = KWHY_GPU_HOST;
static struct kwhy_gpu *gpus[2];

static const struct kwhy_train_shape shape = {
	.width = 96, .layers = 5, .batch = 32, .parts = 2, .samples = 64, .steps = 4};

static struct kwhy_train_state reference_of(const struct kwhy_train_shape *of)
{
	struct kwhy_train_state expected;
	struct kwhy_error error;

	if (kwhy_train_state_new(of, &expected, &error) || kwhy_train_reference(of, &expected, &error))
		fail_msg("%s", error.text);
	return expected;
}

static struct kwhy_train_request request_of(const char *id, const struct kwhy_train_shape *of)
{
	return (struct kwhy_train_request){.gpus = gpus,
		.gpu_count = 2,
		.variant = kwhy_train_variant_find(id, strlen(id)),
		.shape = *of};
}

/* The library is of CUDA alone. */
static bool is_here(const struct kwhy_train_variant *variant)
{
	return !variant->library || backend == KWHY_GPU_CUDA;
}

static enum kwhy_status check(const char *id, const struct kwhy_train_shape *of,
	const struct kwhy_train_shape *like, const struct kwhy_train_state *expected,
	struct kwhy_train_errors *out, struct kwhy_error *error)
{
	struct kwhy_train_request request = request_of(id, of);

	request.like = like;
	return kwhy_train_check(&request, expected, out, error);
}

static void every_variant_is_the_training_of_the_reference(void **state)
{
	struct kwhy_train_state expected = reference_of(&shape);
	struct kwhy_train_errors errors;
	struct kwhy_error error;

	(void)state;
	for (size_t i = 0; i < kwhy_train_variant_count; i++) {
		const struct kwhy_train_variant *variant = &kwhy_train_variants[i];

		if (!is_here(variant))
			continue;
		if (check(variant->id, &shape, NULL, &expected, &errors, &error))
			fail_msg("%s: %s", variant->id, error.text);
		if (variant->half)
			assert_true(errors.first > 1e-4);
		else
			assert_true(errors.first < 1e-5 && errors.second < 1e-5 && errors.weights < 0.02);
	}
	kwhy_train_state_done(&expected);
}

/* On a GPU with many multiprocessors a wide training takes other tiles; they are held to the same. */
static void kernels_of_a_larger_shape_are_checked_on_a_small_one(void **state)
{
	struct kwhy_train_state expected = reference_of(&shape);
	struct kwhy_train_shape large = shape;
	struct kwhy_train_errors errors;
	struct kwhy_error error;

	(void)state;
	large.width = 4096;
	large.batch = large.samples = 4096;
	if (check("graph", &shape, &large, &expected, &errors, &error))
		fail_msg("%s", error.text);
	kwhy_train_state_done(&expected);
}

static void one_layer_alone_is_trained_too(void **state)
{
	struct kwhy_train_shape flat = shape;
	struct kwhy_train_state expected;
	struct kwhy_train_errors errors;
	struct kwhy_error error;

	(void)state;
	flat.layers = 1;
	expected = reference_of(&flat);
	for (size_t i = 0; i < kwhy_train_variant_count; i++)
		if (is_here(&kwhy_train_variants[i]) && !kwhy_train_variants[i].pipeline &&
			check(kwhy_train_variants[i].id, &flat, NULL, &expected, &errors, &error))
			fail_msg("%s", error.text);
	kwhy_train_state_done(&expected);
}

static void another_training_is_refused_by_name(void **state)
{
	struct kwhy_train_state expected = reference_of(&shape);
	struct kwhy_train_errors errors;
	struct kwhy_error error;

	(void)state;
	expected.losses[2] *= 1.1;
	assert_int_equal(check("graph", &shape, NULL, &expected, &errors, &error), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "graph is not the training of the reference"));
	kwhy_train_state_done(&expected);
}

static void run_twice(const char *id, float *losses, struct kwhy_train_result *out)
{
	const struct kwhy_train_request request = request_of(id, &shape);
	struct kwhy_train *train;
	struct kwhy_error error;

	*out = (struct kwhy_train_result){.losses = losses};
	if (kwhy_train_open(&request, &train, &error) || kwhy_train_run(train, out, &error))
		fail_msg("%s", error.text);
	out->losses = losses + shape.steps;
	if (kwhy_train_run(train, out, &error))
		fail_msg("%s", error.text);
	kwhy_train_close(train);
}

static void each_run_begins_anew(void **state)
{
	float losses[8];
	struct kwhy_train_result result;

	(void)state;
	run_twice("graph", losses, &result);
	assert_memory_equal(losses, losses + shape.steps, shape.steps * sizeof(*losses));
	assert_true(result.run_s > 0);
}

/* Five layers: a beginning, then forward 5, loss, backward 4, updates 5, biases 5, AdamW and the end. */
static void what_is_asked_of_the_driver_is_counted(void **state)
{
	float losses[8];
	struct kwhy_train_result result;

	(void)state;
	run_twice("bf16", losses, &result);
	assert_int_equal(result.tally.launches, 1 + shape.steps * 22);
	assert_int_equal(result.tally.waits, shape.steps);
	run_twice("fused", losses, &result);
	assert_int_equal(result.tally.launches, 1 + shape.steps * 21);
	assert_int_equal(result.tally.waits, 1);
	run_twice("graph", losses, &result);
	assert_int_equal(result.tally.launches, 1);
	assert_int_equal(result.tally.graphs, shape.steps);
}

static struct kwhy_train *opened(const char *id, const struct kwhy_train_shape *of)
{
	const struct kwhy_train_request request = request_of(id, of);
	struct kwhy_train *train;
	struct kwhy_error error;

	if (kwhy_train_open(&request, &train, &error))
		fail_msg("%s", error.text);
	return train;
}

static void the_library_makes_products_where_it_is(void **state)
{
	const struct kwhy_train_request request = request_of("cublas", &shape);
	struct kwhy_train *train;
	struct kwhy_error error;

	(void)state;
	if (backend == KWHY_GPU_HOST) {
		assert_int_equal(kwhy_train_open(&request, &train, &error), KWHY_E_UNSUPPORTED);
		assert_non_null(strstr(error.text, "CUDA alone"));
		return;
	}
	train = opened("cublas", &shape);
	assert_string_equal(kwhy_train_products(train), "cuBLAS 13.0.2");
	kwhy_train_close(train);
	train = opened("graph", &shape);
	assert_string_equal(kwhy_train_products(train), "own kernels");
	kwhy_train_close(train);
}

static void a_parallel_training_takes_two_gpus_and_whole_shares(void **state)
{
	struct kwhy_train_request request = request_of("parallel", &shape);
	struct kwhy_train_shape uneven = shape;
	struct kwhy_train *train = opened("parallel", &shape);
	struct kwhy_error error;

	(void)state;
	assert_int_equal(kwhy_train_ranks(train), 2);
	kwhy_train_close(train);
	request.gpu_count = 1;
	assert_int_equal(kwhy_train_open(&request, &train, &error), KWHY_E_UNSUPPORTED);
	assert_non_null(strstr(error.text, "--dp"));
	uneven.batch = 24;
	uneven.parts = 1;
	uneven.samples = 48;
	request = request_of("parallel", &uneven);
	assert_int_equal(kwhy_train_open(&request, &train, &error), KWHY_E_UNSUPPORTED);
	assert_non_null(strstr(error.text, "no multiple of 8 samples for each of 2 GPUs"));
}

/* Of five layers the first GPU has two; with one layer there is nothing to share. */
static void a_pipeline_takes_a_layer_for_each_gpu(void **state)
{
	struct kwhy_train_shape flat = shape;
	struct kwhy_train_request request;
	struct kwhy_train *train = opened("pipeline", &shape);
	struct kwhy_error error;

	(void)state;
	assert_int_equal(kwhy_train_ranks(train), 2);
	assert_int_equal(kwhy_train_activation_bytes(train), (3 * 2 + 1) * 16 * 96 * 2);
	kwhy_train_close(train);
	flat.layers = 1;
	request = request_of("pipeline", &flat);
	assert_int_equal(kwhy_train_open(&request, &train, &error), KWHY_E_UNSUPPORTED);
	assert_non_null(strstr(error.text, "1 layers are too few for 2 GPUs"));
}

/* Sixteen layers keep fifteen planes of 64 x 96 bf16; in segments of four, three and three. */
static void checkpointing_keeps_fewer_activations(void **state)
{
	struct kwhy_train_shape deep = shape;
	struct kwhy_train *whole, *kept, *parts;

	(void)state;
	deep.layers = 16;
	whole = opened("graph", &deep);
	kept = opened("checkpoint", &deep);
	parts = opened("accumulate", &deep);
	assert_int_equal(kwhy_train_activation_bytes(whole), 15 * 32 * 96 * 2);
	assert_int_equal(kwhy_train_activation_bytes(kept), 6 * 32 * 96 * 2);
	assert_int_equal(kwhy_train_activation_bytes(parts), 15 * 16 * 96 * 2);
	assert_true(kwhy_train_bytes(kept) < kwhy_train_bytes(whole));
	kwhy_train_close(whole);
	kwhy_train_close(kept);
	kwhy_train_close(parts);
}

static int open_gpus(void **state)
{
	static const char *const devices[] = {"0", "1"};
	struct kwhy_error error;

	(void)state;
	for (size_t i = 0; i < 2; i++)
		if (kwhy_gpu_open(backend, devices[i], &gpus[i], &error))
			fail_msg("%s", error.text);
	return 0;
}

static int close_gpus(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2; i++)
		gpus[i]->ops->close(gpus[i]);
	return 0;
}

int main(int count, char **words)
{
	const struct CMUnitTest tests[] = {
#define WITH_GPUS(test) cmocka_unit_test_setup_teardown(test, open_gpus, close_gpus)
		WITH_GPUS(every_variant_is_the_training_of_the_reference),
		WITH_GPUS(kernels_of_a_larger_shape_are_checked_on_a_small_one),
		WITH_GPUS(one_layer_alone_is_trained_too),
		WITH_GPUS(another_training_is_refused_by_name),
		WITH_GPUS(each_run_begins_anew),
		WITH_GPUS(what_is_asked_of_the_driver_is_counted),
		WITH_GPUS(the_library_makes_products_where_it_is),
		WITH_GPUS(a_parallel_training_takes_two_gpus_and_whole_shares),
		WITH_GPUS(a_pipeline_takes_a_layer_for_each_gpu),
		WITH_GPUS(checkpointing_keeps_fewer_activations),
	};

	if (count > 2) {
		backend = KWHY_GPU_CUDA;
		give_kernels_to_the_fake(words[2], kwhy_train_host_kernels);
	}
	return kwhy_test_main(tests, NULL, NULL);
}
