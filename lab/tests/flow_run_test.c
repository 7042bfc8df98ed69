/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/collectives.h"
#include "lab/flow/device.h"
#include "lab/flow/run.h"
#include "lab/kernels.h"

#include "cmocka_all.h"
#include "fakes/cuda/give_kernels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Set by the command line: "host", or "cuda" with the path of a fake driver. */
static enum kwhy_gpu_backend backend = KWHY_GPU_HOST;
static struct kwhy_gpu *gpu;

/* A shape that is small enough for the dense variant and in which flows merge and leave in every step. */
static const struct lab_flow_shape small = {30, 7, false, 8, 6, 5};

static struct lab_flow_answer answer_of(const struct lab_flow_shape *shape)
{
	struct lab_flow_answer answer;
	struct kwhy_error error;

	if (lab_flow_reference(shape, true, &answer, &error))
		fail_msg("%s", error.text);
	return answer;
}

struct outcome {
	struct lab_flow_result result;
	struct lab_flow_numbers numbers;
	struct lab_flow_facts facts;
	double steps[LAB_FLOW_STEPS];
};

static void run_variant(const struct lab_flow_variant *variant, const struct lab_flow_shape *shape,
	enum lab_flow_precision precision, struct outcome *out)
{
	const struct lab_flow_request request = {&gpu, 1, *shape, variant, precision};
	struct lab_flow_answer answer = answer_of(shape);
	struct lab_flow *flow;
	struct kwhy_error error;

	if (lab_flow_open(&request, &flow, &error))
		fail_msg("%s", error.text);
	out->result.step_s = out->steps;
	/* Two runs with the same flow: the second must not depend on what the first left in memory. */
	for (int i = 0; i < 2; i++)
		if (lab_flow_run(flow, &answer, &out->result, &error) ||
			lab_flow_read(flow, &answer, &out->numbers, &error))
			fail_msg("%s", error.text);
	out->facts = *lab_flow_facts(flow);
	if (!shape->by_argmax) {
		assert_int_equal(out->numbers.elsewhere, 0);
		assert_true(out->numbers.error_h <= out->numbers.tolerance);
		assert_true(
			fabs(out->numbers.sum_out - answer.sum_out) <= 0.01 + 0.02 * fabs(answer.sum_out));
	}
	lab_flow_close(flow);
	lab_flow_answer_done(&answer);
}

static void every_variant_has_its_flows_where_the_reference_has_them(void **state)
{
	struct outcome out;

	(void)state;
	for (size_t i = 0; i < lab_flow_variant_count; i++) {
		run_variant(&lab_flow_variants[i], &small, LAB_FLOW_FP32, &out);
		if (lab_flow_variants[i].way < LAB_FLOW_WHOLE)
			assert_true(out.numbers.error_h < 1e-6 && out.numbers.error_e < 1e-6);
		for (uint32_t step = 0; step < small.steps; step++)
			assert_true(out.steps[step] >= 0);
	}
}

static void on_the_whole_lattice_flows_leave_at_its_end(void **state)
{
	const struct lab_flow_shape shape = lab_flow_shape_of(150, 55, false);
	const char *const ids[] = {"n2", "n4", "n5"};
	struct outcome out;

	(void)state;
	if (backend != KWHY_GPU_HOST)
		kwhy_skip("for the host alone");
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		run_variant(lab_flow_variant_find(ids[i]), &shape, LAB_FLOW_FP32, &out);
}

static void on_the_chosen_path_flows_elsewhere_are_counted(void **state)
{
	struct lab_flow_shape shape = small;
	struct outcome out;

	(void)state;
	shape.by_argmax = true;
	for (size_t i = 0; i < lab_flow_variant_count; i++) {
		if (lab_flow_variants[i].way == LAB_FLOW_WHOLE)
			continue;
		run_variant(&lab_flow_variants[i], &shape, LAB_FLOW_FP32, &out);
		assert_int_equal(out.numbers.elsewhere, 0);
	}
}

static void no_flow_one_flow_and_one_cell_are_runs_too(void **state)
{
	static const struct lab_flow_shape shapes[] = {{0, 3, false, 4, 4, 4}, {1, 9, false, 8, 6, 5},
		{33, 3, false, 1, 1, 4}, {1, 1, false, 1, 1, 1}};
	struct outcome out;

	(void)state;
	for (size_t i = 0; i < lab_flow_variant_count; i++)
		for (size_t k = 0; k < sizeof(shapes) / sizeof(shapes[0]); k++)
			run_variant(&lab_flow_variants[i], &shapes[k], LAB_FLOW_FP32, &out);
}

/* Three ranks with a third of the flows each; the first is on GPU 0, the others are both on GPU 1. */
static void on_several_gpus_flows_meet_as_on_one(void **state)
{
	struct kwhy_gpu *gpus[3] = {gpu, NULL, NULL};
	const struct lab_flow_request request = {gpus, 3, small, lab_flow_variant_find("n6"), LAB_FLOW_FP32};
	struct lab_flow_answer answer = answer_of(&small);
	struct lab_flow_result result = {0};
	struct lab_flow_numbers numbers = {0};
	struct lab_flow *flow = NULL;
	struct kwhy_error error;

	(void)state;
	if (kwhy_gpu_open(backend, "1", &gpus[1], &error))
		fail_msg("%s", error.text);
	gpus[2] = gpus[1];
	if (lab_flow_open(&request, &flow, &error))
		fail_msg("%s", error.text);
	for (int k = 0; k < 2; k++)
		if (lab_flow_run(flow, &answer, &result, &error) ||
			lab_flow_read(flow, &answer, &numbers, &error))
			fail_msg("%s", error.text);
	assert_int_equal(numbers.elsewhere, 0);
	assert_true(numbers.error_h < 1e-6 && numbers.error_e < 1e-6);
	assert_true(fabs(numbers.sum_out - answer.sum_out) < 1e-5);
	assert_int_equal(result.tally.gathers, small.steps);
	assert_int_equal(result.tally.gathered_bytes, 2 * small.flows * 160 * small.steps);
	lab_flow_close(flow);
	lab_flow_answer_done(&answer);
	gpus[1]->ops->close(gpus[1]);
	assert_int_equal(gpu->ops->enter(gpu, &error), KWHY_OK);
}

static void parts_of_gpus_are_of_one_size(void **state)
{
	struct kwhy_gpu *const gpus[] = {gpu, gpu};
	const struct lab_flow_request request = {
		gpus, 2, {31, 7, false, 8, 6, 5}, lab_flow_variant_find("n6"), LAB_FLOW_FP32};
	struct lab_flow *flow;
	struct kwhy_error error;

	(void)state;
	assert_int_equal(lab_flow_open(&request, &flow, &error), KWHY_E_UNSUPPORTED);
	assert_non_null(strstr(error.text, "take --flows that they divide"));
}

static void what_was_asked_of_the_driver_is_counted(void **state)
{
	struct outcome out;

	(void)state;
	run_variant(lab_flow_variant_find("n0c"), &small, LAB_FLOW_FP32, &out);
	assert_int_equal(out.result.tally.kernels, small.steps * (10 * small.flows + 1));
	assert_int_equal(out.result.tally.allocations, small.steps);
	assert_int_equal(out.result.tally.waits, small.steps + 1);
	run_variant(lab_flow_variant_find("n3"), &small, LAB_FLOW_FP32, &out);
	assert_int_equal(out.result.tally.kernels, small.steps * 7);
	assert_int_equal(out.result.tally.waits, 1);
	run_variant(lab_flow_variant_find("n5"), &small, LAB_FLOW_FP32, &out);
	assert_int_equal(out.result.tally.calls, 2);
	assert_int_equal(out.result.tally.kernels, small.steps * 7);
	run_variant(lab_flow_variant_find("n4"), &small, LAB_FLOW_FP32, &out);
	assert_int_equal(out.result.tally.kernels, 1);
}

/*
 * lab_flow_busy() runs with a gate (lab/gate.h) and compares the places with the reference as lab_flow_run()
 * does, so it also fails if the gate changes a result.
 */
static void the_device_s_part_of_a_run_is_timed_behind_a_gate(void **state)
{
	const char *const ids[] = {"n0", "n0c", "n0p", "n2", "n3", "n4", "n5"};
	struct lab_flow_answer answer = answer_of(&small);
	struct lab_flow *flow;
	struct kwhy_error error;
	double busy_s;

	(void)state;
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		const struct lab_flow_request request = {
			&gpu, 1, small, lab_flow_variant_find(ids[i]), LAB_FLOW_FP32};
		struct lab_flow_result result = {0};

		if (lab_flow_open(&request, &flow, &error) || lab_flow_run(flow, &answer, &result, &error) ||
			lab_flow_busy(flow, &answer, &busy_s, &error))
			fail_msg("%s", error.text);
		assert_true(busy_s > 0);
		lab_flow_close(flow);
	}
	lab_flow_answer_done(&answer);
}

static void matrices_of_many_flows_are_multiplied_by_the_library(void **state)
{
	struct outcome out;

	(void)state;
	run_variant(lab_flow_variant_find("n2"), &small, LAB_FLOW_TF32, &out);
	assert_string_equal(out.facts.products, backend == KWHY_GPU_HOST ? "the host" : "cuBLASLt 13.0.2");
	assert_int_equal(out.facts.precision, LAB_FLOW_TF32);
	run_variant(lab_flow_variant_find("n0"), &small, LAB_FLOW_TF32, &out);
	assert_string_equal(out.facts.products, "own kernels: a flow alone is no matrix");
	assert_int_equal(out.facts.precision, LAB_FLOW_FP32);
}

static void a_wrong_place_names_the_variant_and_the_step(void **state)
{
	struct lab_flow_answer answer = answer_of(&small);
	struct lab_flow_result result = {0};
	struct lab_flow *flow;
	struct kwhy_error error;
	const char *const ids[] = {"n2", "n4"};

	(void)state;
	answer.steps[3].places ^= 1;
	for (size_t i = 0; i < 2; i++) {
		const struct lab_flow_request request = {
			&gpu, 1, small, lab_flow_variant_find(ids[i]), LAB_FLOW_FP32};
		char words[32];

		assert_int_equal(lab_flow_open(&request, &flow, &error), KWHY_OK);
		assert_int_equal(lab_flow_run(flow, &answer, &result, &error), KWHY_E_INPUT);
		snprintf(words, sizeof(words), "flow %s: step 3 gives P", ids[i]);
		assert_non_null(strstr(error.text, words));
		lab_flow_close(flow);
	}
	lab_flow_answer_done(&answer);
}

static void what_would_take_too_long_is_refused(void **state)
{
	struct lab_flow_request request = {
		&gpu, 1, lab_flow_shape_of(100000, 60, false), lab_flow_variant_find("n0"), LAB_FLOW_FP32};
	struct lab_flow *flow;
	struct kwhy_error error;

	(void)state;
	assert_int_equal(lab_flow_open(&request, &flow, &error), KWHY_E_UNSUPPORTED);
	assert_non_null(strstr(error.text, "take too long one by one"));
	request.variant = lab_flow_variant_find("n1");
	if (backend == KWHY_GPU_HOST)
		assert_int_equal(lab_flow_open(&request, &flow, &error), KWHY_E_UNSUPPORTED);
	assert_null(lab_flow_variant_find("n9"));
}

static int open_gpu(void **state)
{
	struct kwhy_error error;

	(void)state;
	if (!kwhy_gpu_open(backend, "0", &gpu, &error) && !gpu->ops->enter(gpu, &error))
		return 0;
	print_message("%s\n", error.text);
	return -1;
}

static int close_gpu(void **state)
{
	(void)state;
	gpu->ops->close(gpu);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_variant_has_its_flows_where_the_reference_has_them),
		cmocka_unit_test(on_the_whole_lattice_flows_leave_at_its_end),
		cmocka_unit_test(on_the_chosen_path_flows_elsewhere_are_counted),
		cmocka_unit_test(no_flow_one_flow_and_one_cell_are_runs_too),
		cmocka_unit_test(on_several_gpus_flows_meet_as_on_one),
		cmocka_unit_test(parts_of_gpus_are_of_one_size),
		cmocka_unit_test(what_was_asked_of_the_driver_is_counted),
		cmocka_unit_test(the_device_s_part_of_a_run_is_timed_behind_a_gate),
		cmocka_unit_test(matrices_of_many_flows_are_multiplied_by_the_library),
		cmocka_unit_test(a_wrong_place_names_the_variant_and_the_step),
		cmocka_unit_test(what_would_take_too_long_is_refused),
	};

	if (argc > 2) {
		backend = KWHY_GPU_CUDA;
		give_kernels_to_the_fake(argv[2], lab_flow_host_kernels);
		give_kernels_to_the_fake(argv[2], kwhy_collectives_host_kernels);
	}
	return kwhy_test_main(tests, open_gpu, close_gpu);
}
