/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/collectives.h"
#include "lab/kernels.h"
#include "lab/twin/twin.h"

#include "cmocka_all.h"
#include "fakes/cuda/give_kernels.h"

#include <stdlib.h>
#include <string.h>

/* Set by the command line: "host", or "cuda" with the path of a fake driver. */
static enum kwhy_gpu_backend backend = KWHY_GPU_HOST;
static struct kwhy_gpu *gpus[2];
static bool by_nccl;

/* Number of steps of a test: `whole` on the host back end, 20 on a fake driver, where runs take longer. */
static uint32_t steps_of(uint32_t whole)
{
	return backend == KWHY_GPU_HOST ? whole : 20;
}

static struct lab_twin_answer answer_of(const struct lab_twin_shape *shape)
{
	struct lab_twin_answer answer;
	struct kwhy_error error;

	if (lab_twin_reference(shape, &answer, &error))
		fail_msg("%s", error.text);
	return answer;
}

static const struct lab_twin_variant *variant_of(const char *id)
{
	for (size_t i = 0; i < lab_twin_variant_count; i++)
		if (strcmp(lab_twin_variants[i].id, id) == 0)
			return &lab_twin_variants[i];
	return NULL;
}

static void run_variant(const struct lab_twin_variant *variant, const struct lab_twin_shape *shape,
	uint32_t gpu_count, int runs, struct lab_twin_result *out)
{
	const struct lab_twin_request request = {.gpus = gpus,
		.gpu_count = gpu_count,
		.shape = *shape,
		.variant = variant,
		.by_nccl = by_nccl};
	struct lab_twin_answer answer;
	struct lab_twin *twin;
	struct kwhy_error error;

	if (variant->host == LAB_TWIN_REFERENCE)
		return;
	answer = answer_of(shape);
	if (lab_twin_open(&request, &twin, &error))
		fail_msg("%s", error.text);
	/* The second run must not depend on what the first one left. */
	for (int i = 0; i < runs; i++)
		if (lab_twin_run(twin, &answer, i == 0, out, &error))
			fail_msg("%s", error.text);
	lab_twin_close(twin);
	lab_twin_answer_done(&answer);
}

static void every_variant_gives_the_golden_bits(void **state)
{
	struct lab_twin_shape shape = {0, 1, true};
	struct lab_twin_result result = {0};

	(void)state;
	/*
	 * Variants that copy each value by itself make 40 steps here. The next test makes all steps of v0,
	 * which is such a variant.
	 */
	for (size_t i = 1; i < lab_twin_variant_count; i++) {
		bool has_pieces = lab_twin_variants[i].scattered > 0;

		shape.steps = steps_of(has_pieces ? 40 : LAB_TWIN_STEPS);
		run_variant(&lab_twin_variants[i], &shape, 1, 1, &result);
	}
}

/*
 * The published analysis (lab/README.md) counts these copies, kernels and collectives in 288 steps. The waits
 * are one for each copy to and from the GPU, one for each step (in a run with `poisoned` the host waits for
 * an event), and one at the end.
 */
static void the_naive_variant_counts_what_the_source_document_counted(void **state)
{
	const struct lab_twin_shape shape = {LAB_TWIN_STEPS, 1, true};
	struct lab_twin_result result = {0};

	(void)state;
	if (backend != KWHY_GPU_HOST)
		kwhy_skip("not on this back end");
	run_variant(&lab_twin_variants[0], &shape, 1, 1, &result);
	assert_int_equal(result.tally.copies[LAB_TWIN_TO_GPU], 6289);
	assert_int_equal(result.tally.bytes[LAB_TWIN_TO_GPU], 235808);
	assert_int_equal(result.tally.copies[LAB_TWIN_FROM_GPU], 540594);
	assert_int_equal(result.tally.bytes[LAB_TWIN_FROM_GPU], 2433096);
	assert_int_equal(result.tally.copies[LAB_TWIN_WITHIN], 1160);
	assert_int_equal(result.tally.kernels, 2886);
	assert_int_equal(result.tally.collectives, 1158);
	assert_int_equal(result.tally.waits, 6289 + 540594 + LAB_TWIN_STEPS + 1);
}

static void ranks_on_one_gpu_give_the_bits_of_ranks_on_several(void **state)
{
	const struct lab_twin_shape shape = {6, 4, true};
	struct lab_twin_result result = {0};

	(void)state;
	for (size_t i = 0; i < lab_twin_variant_count; i++)
		for (uint32_t count = 1; count <= 2; count++)
			run_variant(&lab_twin_variants[i], &shape, count, 1, &result);
}

/* NCCL takes one rank per GPU, so runs have as many GPUs as ranks: one, then two. */
static void nccl_gives_the_same_bits(void **state)
{
	struct lab_twin_result result = {0};

	(void)state;
	if (backend == KWHY_GPU_HOST)
		kwhy_skip("not on this back end");
	by_nccl = true;
	for (size_t i = 0; i < lab_twin_variant_count; i++)
		for (uint32_t ranks = 1; ranks <= 2; ranks++)
			run_variant(&lab_twin_variants[i], &(struct lab_twin_shape){6, ranks, true}, ranks, 1,
				&result);
	by_nccl = false;
}

static void nccl_is_refused_where_it_cannot_work(void **state)
{
	const struct lab_twin_request request = {.gpus = gpus,
		.gpu_count = 1,
		.shape = {4, 2, true},
		.variant = variant_of("v9"),
		.by_nccl = true};
	struct lab_twin *twin;
	struct kwhy_error error;

	(void)state;
	assert_int_equal(lab_twin_open(&request, &twin, &error), KWHY_E_UNSUPPORTED);
	assert_non_null(strstr(error.text,
		backend == KWHY_GPU_HOST ? "NCCL works on CUDA alone" : "NCCL takes one member a GPU"));
}

static void in_an_open_loop_what_is_seen_changes_nothing(void **state)
{
	const struct lab_twin_shape shape = {8, 1, false};
	struct lab_twin_result result = {0};

	(void)state;
	for (size_t i = 0; i < lab_twin_variant_count; i++)
		run_variant(&lab_twin_variants[i], &shape, 1, 2, &result);
}

static void a_wrong_bit_names_the_variant_and_the_step(void **state)
{
	const struct lab_twin_shape shape = {5, 1, true};
	struct lab_twin_answer answer = answer_of(&shape);
	struct lab_twin_result result = {0};
	struct lab_twin *twin;
	struct kwhy_error error;
	const char *const ids[] = {"v3", "v8"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const struct lab_twin_request request = {
			.gpus = gpus, .gpu_count = 1, .shape = shape, .variant = variant_of(ids[i])};

		assert_int_equal(lab_twin_open(&request, &twin, &error), KWHY_OK);
		answer.steps[3].observed ^= 1;
		assert_int_equal(lab_twin_run(twin, &answer, false, &result, &error), KWHY_E_INPUT);
		assert_non_null(strstr(error.text, ids[i]));
		assert_non_null(strstr(error.text, "step 3 gives Y"));
		answer.steps[3].observed ^= 1;
		answer.steps[2].field ^= 1;
		assert_int_equal(lab_twin_run(twin, &answer, false, &result, &error), KWHY_E_INPUT);
		assert_non_null(strstr(error.text, "step 2 gives X"));
		answer.steps[2].field ^= 1;
		assert_int_equal(lab_twin_run(twin, &answer, false, &result, &error), KWHY_OK);
		lab_twin_close(twin);
	}
	lab_twin_answer_done(&answer);
}

static enum kwhy_status busy_of(const char *id, uint32_t gpu_count, double *out_busy_s)
{
	const struct lab_twin_request request = {.gpus = gpus,
		.gpu_count = gpu_count,
		.shape = {.steps = 3, .ranks = gpu_count, .closed = true},
		.variant = variant_of(id)};
	struct lab_twin_answer answer;
	struct kwhy_error error;
	enum kwhy_status status;

	answer = answer_of(&request.shape);
	status = lab_twin_busy(&request, &answer, out_busy_s, &error);
	if (status && status != KWHY_E_UNSUPPORTED)
		fail_msg("%s", error.text);
	lab_twin_answer_done(&answer);
	return status;
}

/*
 * Measures the busy time of each variant whose host starts the steps, behind a gate. v0 is the hardest: its
 * step has more launches and copies than a gate can hold, and waits for each copy.
 */
static void variants_whose_steps_the_host_starts_tell_how_long_the_device_works(void **state)
{
	static const char *const ids[] = {"v0", "v1", "v3", "v5", "v6", "v7", "v9"};
	double busy_s;

	(void)state;
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		busy_s = 0;
		assert_int_equal(busy_of(ids[i], 1, &busy_s), KWHY_OK);
		assert_true(busy_s > 0 && busy_s < 10);
	}
	assert_int_equal(busy_of("v8", 1, &busy_s), KWHY_E_UNSUPPORTED);
	assert_int_equal(busy_of("v9", 2, &busy_s), KWHY_E_UNSUPPORTED);
}

/*
 * Each scenario makes the n-th call of a function fail with a CUDA error that ends the context: 719 (launch
 * failed) or 700 (illegal address).
 */
static void a_lost_device_ends_a_run_and_is_told(void **state)
{
	const struct lab_twin_shape shape = {20, 1, true};
	const struct lab_twin_request request = {
		.gpus = gpus, .gpu_count = 1, .shape = shape, .variant = variant_of("v5")};
	static const char *const scenarios[] = {"fail:cuLaunchKernel:3:719", "fail:cuLaunchKernel:40:700",
		"fail:cuMemcpyAsync:7:719", "fail:cuStreamSynchronize:9:719"};
	struct lab_twin_answer answer;

	(void)state;
	if (backend == KWHY_GPU_HOST)
		kwhy_skip("not on this back end");
	answer = answer_of(&shape);
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		struct lab_twin_result result = {0};
		struct lab_twin *twin = NULL;
		struct kwhy_error error;
		enum kwhy_status status;

		setenv("KWHY_FAKE_CUDA", scenarios[i], 1);
		assert_int_equal(kwhy_gpu_open(backend, "0", &gpus[0], &error), KWHY_OK);
		status = lab_twin_open(&request, &twin, &error);
		if (!status)
			status = lab_twin_run(twin, &answer, false, &result, &error);
		if (status != KWHY_E_LOST)
			fail_msg("%s: %d %s", scenarios[i], status, error.text);
		lab_twin_close(twin);
		gpus[0]->ops->close(gpus[0]);
	}
	unsetenv("KWHY_FAKE_CUDA");
	lab_twin_answer_done(&answer);
}

static int open_gpus(void **state)
{
	struct kwhy_error error;

	(void)state;
	return kwhy_gpu_open(backend, "0", &gpus[0], &error) || kwhy_gpu_open(backend, "1", &gpus[1], &error);
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
		WITH_GPUS(every_variant_gives_the_golden_bits),
		WITH_GPUS(the_naive_variant_counts_what_the_source_document_counted),
		WITH_GPUS(ranks_on_one_gpu_give_the_bits_of_ranks_on_several),
		WITH_GPUS(nccl_gives_the_same_bits),
		WITH_GPUS(nccl_is_refused_where_it_cannot_work),
		WITH_GPUS(in_an_open_loop_what_is_seen_changes_nothing),
		WITH_GPUS(a_wrong_bit_names_the_variant_and_the_step),
		WITH_GPUS(variants_whose_steps_the_host_starts_tell_how_long_the_device_works),
		cmocka_unit_test(a_lost_device_ends_a_run_and_is_told),
	};

	if (count > 2) {
		backend = KWHY_GPU_CUDA;
		give_kernels_to_the_fake(words[2], lab_twin_host_kernels);
		give_kernels_to_the_fake(words[2], kwhy_collectives_host_kernels);
	}
	return kwhy_test_main(tests, NULL, NULL);
}
