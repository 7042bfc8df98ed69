/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/collectives.h"
#include "lab/kernels.h"
#include "lab/train/train.h"

#include "cmocka_all.h"
#include "fakes/cuda/give_kernels.h"

#include <stdbool.h>
#include <stdio.h>

/* Set by the command line: "host", or "cuda" with the path of a fake driver. */
static enum kwhy_gpu_backend backend = KWHY_GPU_HOST;
static struct kwhy_gpu *gpus[2];
static struct kwhy_error error;

static const struct lab_train_shape shape = {
	.width = 64, .layers = 5, .batch = 32, .parts = 2, .samples = 96, .steps = 4};

static struct lab_train_state reference_of(const struct lab_train_shape *of)
{
	struct lab_train_state expected;

	if (lab_train_state_new(of, &expected, &error) || lab_train_reference(of, &expected, &error))
		fail_msg("%s", error.text);
	return expected;
}

static struct lab_train_request request_of(const char *id, const struct lab_train_shape *of)
{
	const struct lab_train_variant *variant = lab_train_variants;

	while (strcmp(variant->id, id) != 0)
		variant++;
	return (struct lab_train_request){.gpus = gpus, .gpu_count = 2, .variant = variant, .shape = *of};
}

static struct lab_train *opened(const char *id, const struct lab_train_shape *of)
{
	const struct lab_train_request request = request_of(id, of);
	struct lab_train *train;

	if (lab_train_open(&request, &train, &error))
		fail_msg("%s", error.text);
	return train;
}

static enum kwhy_status check(
	const char *id, const struct lab_train_state *expected, struct lab_train_errors *out)
{
	const struct lab_train_request request = request_of(id, &shape);

	return lab_train_check(&request, expected, out, &error);
}

static void every_variant_is_the_training_of_the_reference(void **state)
{
	struct lab_train_state expected = reference_of(&shape);
	struct lab_train_errors errors;

	(void)state;
	for (size_t i = 0; i < lab_train_variant_count; i++) {
		const struct lab_train_variant *variant = &lab_train_variants[i];

		if (check(variant->id, &expected, &errors))
			fail_msg("%s", error.text);
		if (variant->type == LAB_FP32)
			assert_true(errors.first < 1e-5 && errors.second < 1e-5 && errors.weights < 0.02);
		else
			assert_true(errors.first > 1e-5);
	}
	lab_train_state_done(&expected);
}

static void one_layer_alone_is_trained_too(void **state)
{
	struct lab_train_shape flat = shape;
	struct lab_train_request request;
	struct lab_train_state expected;
	struct lab_train_errors errors;

	(void)state;
	flat.layers = 1;
	expected = reference_of(&flat);
	for (size_t i = 0; i < lab_train_variant_count; i++) {
		request = request_of(lab_train_variants[i].id, &flat);
		if (lab_train_check(&request, &expected, &errors, &error))
			fail_msg("%s", error.text);
	}
	lab_train_state_done(&expected);
}

static void another_training_is_refused_by_name(void **state)
{
	struct lab_train_state expected = reference_of(&shape);
	struct lab_train_errors errors;

	(void)state;
	expected.losses[2] *= 1.1;
	assert_int_equal(check("graph", &expected, &errors), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "graph is not the training of the reference"));
	lab_train_state_done(&expected);
}

static struct lab_train_state state_after(const char *id, uint32_t gpu, uint32_t runs, float *losses)
{
	struct lab_train *train = opened(id, &shape);
	struct lab_train_state found;
	double run_s;

	if (lab_train_state_new(&shape, &found, &error))
		fail_msg("%s", error.text);
	for (uint32_t i = 0; i < runs; i++)
		if (lab_train_run(train, losses, &run_s, &error))
			fail_msg("%s", error.text);
	assert_true(run_s > 0);
	if (lab_train_read(train, gpu, &found, &error))
		fail_msg("%s", error.text);
	lab_train_close(train);
	return found;
}

/*
 * These variants do the same arithmetic as "bf16" and only change when and from where work is done, and each
 * run starts from the same weights: losses, weights and moments must have the same bits.
 */
static void changes_of_order_change_no_bit(void **state)
{
	static const char *const same[] = {"pinned", "prefetch", "queued", "fused", "graph", "checkpoint"};
	size_t bytes = lab_train_weight_count(&shape) * sizeof(float);
	float first[4], losses[4];
	struct lab_train_state expected = state_after("bf16", 0, 1, first), found;

	(void)state;
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		found = state_after(same[i], 0, 2, losses);
		assert_memory_equal(losses, first, sizeof(first));
		assert_memory_equal(found.weights, expected.weights, bytes);
		assert_memory_equal(found.second, expected.second, bytes);
		lab_train_state_done(&found);
	}
	lab_train_state_done(&expected);
}

static double farthest(const float *a, const float *b, size_t count)
{
	double most = 0;

	for (size_t i = 0; i < count; i++)
		most = fmax(most, fabs((double)a[i] - (double)b[i]));
	return most;
}

/*
 * A batch in two parts on one GPU, or divided between two GPUs, gives the state of a whole batch on one GPU
 * except for rounding, since gradients are added up in another order.
 */
static void parts_and_gpus_share_a_batch(void **state)
{
	size_t count = lab_train_weight_count(&shape);
	float first[4], losses[4];
	struct lab_train_state expected = state_after("queued", 0, 1, first),
			       parts = state_after("accumulate", 0, 1, losses), ranks[2];

	(void)state;
	assert_true(farthest(losses, first, shape.steps) < 1e-3);
	assert_true(farthest(parts.first, expected.first, count) < 1e-3);
	for (uint32_t r = 0; r < 2; r++)
		ranks[r] = state_after("parallel", r, 1, losses);
	assert_true(farthest(losses, first, shape.steps) < 1e-3);
	assert_true(farthest(ranks[1].first, expected.first, count) < 1e-3);
	assert_memory_equal(ranks[0].weights, ranks[1].weights, count * sizeof(float));
	for (uint32_t r = 0; r < 2; r++)
		lab_train_state_done(&ranks[r]);
	lab_train_state_done(&parts);
	lab_train_state_done(&expected);
}

static void a_parallel_training_takes_whole_shares(void **state)
{
	struct lab_train_request request = request_of("parallel", &shape);
	struct lab_train *train;

	(void)state;
	request.shape.batch = 24;
	request.shape.parts = 1;
	request.shape.samples = 48;
	assert_int_equal(lab_train_open(&request, &train, &error), KWHY_E_UNSUPPORTED);
	assert_non_null(strstr(error.text, "no multiple of 8 samples for each of 2 GPUs"));
}

static struct lab_train_facts facts_of(const struct lab_train *train)
{
	struct lab_train_facts facts;

	lab_train_facts(train, &facts);
	return facts;
}

static void a_training_says_who_adds_up_gradients(void **state)
{
	struct lab_train *parallel = opened("parallel", &shape), *alone = opened("fused", &shape);

	(void)state;
	assert_string_equal(facts_of(parallel).adds, backend == KWHY_GPU_HOST ? "own" : "nccl");
	assert_null(facts_of(alone).adds);
	lab_train_close(parallel);
	lab_train_close(alone);
}

/*
 * Sixteen layers have fifteen arrays of 32 x 64 activations in bf16, the inputs of all layers but the first.
 * Checkpointing with segments of four layers keeps three, the inputs of segments, and needs three more for
 * the segment that is being computed again. With two parts, the arrays have 16 x 64 activations.
 */
static void checkpointing_keeps_fewer_activations(void **state)
{
	struct lab_train_shape deep = shape;
	struct lab_train *whole, *kept, *parts;

	(void)state;
	deep.layers = 16;
	whole = opened("graph", &deep);
	kept = opened("checkpoint", &deep);
	parts = opened("accumulate", &deep);
	assert_int_equal(facts_of(whole).activation_bytes, 15 * 32 * 64 * 2);
	assert_int_equal(facts_of(kept).activation_bytes, 6 * 32 * 64 * 2);
	assert_int_equal(facts_of(parts).activation_bytes, 15 * 16 * 64 * 2);
	assert_true(facts_of(kept).bytes < facts_of(whole).bytes);
	lab_train_close(whole);
	lab_train_close(kept);
	lab_train_close(parts);
}

static int open_gpus(void **state)
{
	static const char *const devices[] = {"0", "1"};

	(void)state;
	for (size_t i = 0; i < 2; i++)
		if (kwhy_gpu_open(backend, devices[i], &gpus[i], &error)) {
			fprintf(stderr, "%s\n", error.text);
			return -1;
		}
	return 0;
}

static int close_gpus(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2; i++)
		gpus[i]->ops->close(gpus[i]);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_variant_is_the_training_of_the_reference),
		cmocka_unit_test(one_layer_alone_is_trained_too),
		cmocka_unit_test(another_training_is_refused_by_name),
		cmocka_unit_test(changes_of_order_change_no_bit),
		cmocka_unit_test(parts_and_gpus_share_a_batch),
		cmocka_unit_test(a_parallel_training_takes_whole_shares),
		cmocka_unit_test(a_training_says_who_adds_up_gradients),
		cmocka_unit_test(checkpointing_keeps_fewer_activations),
	};

	if (argc > 2) {
		backend = KWHY_GPU_CUDA;
		give_kernels_to_the_fake(argv[2], lab_train_host_kernels);
		give_kernels_to_the_fake(argv[2], kwhy_collectives_host_kernels);
	}
	return kwhy_test_main(tests, open_gpus, close_gpus);
}
