/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/flow/device.h"
#include "lab/flow/run.h"

#include "cmocka_all.h"
#include "fakes/cuda/give_kernels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As the command line says: "host", or "cuda" with the path of a fake driver. */
static enum kwhy_gpu_backend backend = KWHY_GPU_HOST;
static struct kwhy_gpu *gpu;

/* Small enough for the dense variant, with merges and exits in every step. */
static const struct kwhy_flow_shape small = {30, 7, false, 8, 6, 5};

static struct kwhy_flow_answer answer_of(const struct kwhy_flow_shape *shape)
{
	struct kwhy_flow_answer answer;
	struct kwhy_error error;

	if (kwhy_flow_reference(shape, KWHY_FLOW_NUMBERS | KWHY_FLOW_TEXTS, &answer, &error))
		fail_msg("%s", error.text);
	return answer;
}

struct outcome {
	struct kwhy_flow_result result;
	struct kwhy_flow_numbers numbers;
	enum kwhy_flow_precision precision;
	char products[64];
	double steps[KWHY_FLOW_STEPS];
};

static void run_variant(const struct kwhy_flow_variant *variant, const struct kwhy_flow_shape *shape,
	enum kwhy_flow_precision precision, struct outcome *out)
{
	const struct kwhy_flow_request request = {gpu, *shape, variant, precision, NULL, 0, false};
	struct kwhy_flow_answer answer = answer_of(shape);
	struct kwhy_flow *flow;
	struct kwhy_error error;

	if (kwhy_flow_open(&request, &flow, &error))
		fail_msg("%s", error.text);
	out->result.step_s = out->steps;
	/* The second finds nothing that the first left. */
	for (int i = 0; i < 2; i++)
		if (kwhy_flow_run(flow, &answer, &out->result, &error) ||
			kwhy_flow_read(flow, &answer, &out->numbers, &error))
			fail_msg("%s", error.text);
	out->precision = kwhy_flow_precision(flow);
	snprintf(out->products, sizeof(out->products), "%s", kwhy_flow_products(flow));
	if (!shape->by_argmax) {
		assert_int_equal(out->numbers.elsewhere, 0);
		assert_true(out->numbers.error_h <= kwhy_flow_tolerance(out->precision));
		assert_true(
			fabs(out->numbers.sum_out - answer.sum_out) <= 0.01 + 0.02 * fabs(answer.sum_out));
	}
	kwhy_flow_close(flow);
	kwhy_flow_answer_done(&answer);
}

static void every_variant_has_its_flows_where_the_reference_has_them(void **state)
{
	struct outcome out;

	(void)state;
	for (size_t i = 0; i < kwhy_flow_variant_count; i++) {
		run_variant(&kwhy_flow_variants[i], &small, KWHY_FLOW_FP32, &out);
		if (kwhy_flow_variants[i].way < KWHY_FLOW_WHOLE)
			assert_true(out.numbers.error_h < 1e-6 && out.numbers.error_e < 1e-6);
		for (uint32_t step = 0; step < small.steps; step++)
			assert_true(out.steps[step] >= 0);
	}
}

static void on_the_whole_lattice_flows_leave_at_its_end(void **state)
{
	const struct kwhy_flow_shape shape = kwhy_flow_shape_of(150, 55, false);
	const char *const ids[] = {"n2", "n4", "n5", "n5w"};
	struct outcome out;

	(void)state;
	if (backend != KWHY_GPU_HOST)
		kwhy_skip("for the host alone");
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		run_variant(kwhy_flow_variant_find(ids[i]), &shape, KWHY_FLOW_FP32, &out);
}

static void on_the_chosen_path_flows_elsewhere_are_counted(void **state)
{
	struct kwhy_flow_shape shape = small;
	struct outcome out;

	(void)state;
	shape.by_argmax = true;
	for (size_t i = 0; i < kwhy_flow_variant_count; i++) {
		run_variant(&kwhy_flow_variants[i], &shape, KWHY_FLOW_FP32, &out);
		if (kwhy_flow_variants[i].way < KWHY_FLOW_WHOLE)
			assert_int_equal(out.numbers.elsewhere, 0);
	}
}

static void no_flow_one_flow_and_one_cell_are_runs_too(void **state)
{
	static const struct kwhy_flow_shape shapes[] = {{0, 3, false, 4, 4, 4}, {1, 9, false, 8, 6, 5},
		{33, 3, false, 1, 1, 4}, {1, 1, false, 1, 1, 1}};
	struct outcome out;

	(void)state;
	for (size_t i = 0; i < kwhy_flow_variant_count; i++)
		for (size_t k = 0; k < sizeof(shapes) / sizeof(shapes[0]); k++)
			run_variant(&kwhy_flow_variants[i], &shapes[k], KWHY_FLOW_FP32, &out);
}

/* Of few flows some GPUs have none. */
static void on_several_gpus_flows_meet_as_on_one(void **state)
{
	static const uint32_t flows[] = {30, 2, 1, 150};
	struct kwhy_gpu *other;
	struct kwhy_error error;

	(void)state;
	if (kwhy_gpu_open(backend, "1", &other, &error))
		fail_msg("%s", error.text);
	for (size_t i = 0; i < sizeof(flows) / sizeof(flows[0]); i++) {
		struct kwhy_flow_shape shape = small;
		struct kwhy_gpu *const others[] = {other, other};
		struct kwhy_flow_request request = {
			gpu, shape, kwhy_flow_variant_find("n6"), KWHY_FLOW_FP32, others, 2, false};
		struct kwhy_flow_result result = {0};
		struct kwhy_flow_numbers numbers;
		struct kwhy_flow_answer answer;
		struct kwhy_flow *flow;

		request.shape.flows = flows[i];
		answer = answer_of(&request.shape);
		if (kwhy_flow_open(&request, &flow, &error))
			fail_msg("%s", error.text);
		assert_int_equal(kwhy_flow_gpu_count(flow), 3);
		for (int k = 0; k < 2; k++)
			if (kwhy_flow_run(flow, &answer, &result, &error) ||
				kwhy_flow_read(flow, &answer, &numbers, &error))
				fail_msg("%s", error.text);
		assert_int_equal(numbers.elsewhere, 0);
		assert_true(numbers.error_h < 1e-6 && numbers.error_e < 1e-6);
		assert_true(fabs(numbers.sum_out - answer.sum_out) < 1e-5);
		assert_true(result.tally.peer_copies == (flows[i] > 2 ? 6 : 2 * flows[i]) * small.steps);
		kwhy_flow_close(flow);
		kwhy_flow_answer_done(&answer);
	}
	other->ops->close(other);
	assert_int_equal(gpu->ops->enter(gpu, &error), KWHY_OK);
}

/* All that GPUs put out in one gather a step, of parts of one size. */
static void by_nccl_flows_meet_as_on_one(void **state)
{
	struct kwhy_gpu *other;
	struct kwhy_error error;
	struct kwhy_flow_request request = {
		.gpu = gpu, .shape = small, .variant = kwhy_flow_variant_find("n6"), .by_nccl = true};
	struct kwhy_flow_answer answer = answer_of(&small);
	struct kwhy_flow_result result = {0};
	struct kwhy_flow_numbers numbers;
	struct kwhy_flow *flow;

	(void)state;
	if (kwhy_gpu_open(backend, "1", &other, &error))
		fail_msg("%s", error.text);
	request.others = &other;
	request.other_count = 1;
	if (backend == KWHY_GPU_HOST) {
		assert_int_equal(kwhy_flow_open(&request, &flow, &error), KWHY_E_UNSUPPORTED);
		assert_non_null(strstr(error.text, "NCCL works on CUDA alone"));
	} else {
		if (kwhy_flow_open(&request, &flow, &error) ||
			kwhy_flow_run(flow, &answer, &result, &error) ||
			kwhy_flow_read(flow, &answer, &numbers, &error))
			fail_msg("%s", error.text);
		assert_int_equal(numbers.elsewhere, 0);
		assert_true(numbers.error_h < 1e-6 && fabs(numbers.sum_out - answer.sum_out) < 1e-5);
		assert_int_equal(result.tally.peer_copies, 0);
		assert_int_equal(result.tally.gathers, small.steps);
		kwhy_flow_close(flow);
	}
	request.shape.flows = 31;
	assert_int_equal(kwhy_flow_open(&request, &flow, &error), KWHY_E_UNSUPPORTED);
	assert_non_null(strstr(error.text, "31 flows cannot be divided among 2 GPUs"));
	kwhy_flow_answer_done(&answer);
	other->ops->close(other);
	assert_int_equal(gpu->ops->enter(gpu, &error), KWHY_OK);
}

static void what_was_asked_of_the_driver_is_counted(void **state)
{
	struct outcome out;

	(void)state;
	run_variant(kwhy_flow_variant_find("n0c"), &small, KWHY_FLOW_FP32, &out);
	assert_int_equal(out.result.tally.launches, small.steps * (10 * small.flows + 1));
	assert_int_equal(out.result.tally.allocations, small.steps);
	assert_int_equal(out.result.tally.waits, small.steps + 1);
	run_variant(kwhy_flow_variant_find("n3"), &small, KWHY_FLOW_FP32, &out);
	assert_int_equal(out.result.tally.launches + out.result.tally.products, small.steps * 7);
	assert_int_equal(out.result.tally.waits, 1);
	run_variant(kwhy_flow_variant_find("n5"), &small, KWHY_FLOW_FP32, &out);
	assert_int_equal(out.result.tally.graphs, 1);
	assert_int_equal(out.result.tally.kernels, small.steps * 7);
	run_variant(kwhy_flow_variant_find("n5w"), &small, KWHY_FLOW_FP32, &out);
	assert_int_equal(out.result.tally.graphs, 1);
	assert_int_equal(out.result.tally.kernels, small.steps * 2 + 2);
	run_variant(kwhy_flow_variant_find("n4"), &small, KWHY_FLOW_FP32, &out);
	assert_int_equal(out.result.tally.launches, 1);
	assert_true(out.result.busy_s >= 0);
}

/* 15 merge or leave in a step and begin anew as text; who left is fetched for it. */
static void text_is_copied_line_by_line_and_is_the_only_difference(void **state)
{
	static const char *const ids[][2] = {{"n0", "n0t"}, {"n2", "n2t"}};
	struct kwhy_flow_answer answer = answer_of(&small);
	struct outcome plain, text;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const struct kwhy_flow_tally *a = &plain.result.tally, *b = &text.result.tally;
		uint64_t begun = answer.merged + answer.exited;

		run_variant(kwhy_flow_variant_find(ids[i][0]), &small, KWHY_FLOW_FP32, &plain);
		run_variant(kwhy_flow_variant_find(ids[i][1]), &small, KWHY_FLOW_FP32, &text);
		assert_int_equal(a->lines, 0);
		assert_int_equal(b->lines, begun + answer.exited);
		assert_int_equal(b->h2d_copies, a->h2d_copies + begun);
		assert_int_equal(b->d2h_copies, a->d2h_copies + answer.exited);
		assert_int_equal(b->waits, a->waits + small.steps);
		assert_int_equal(b->kernels, a->kernels);
		assert_true(plain.numbers.sum_h == text.numbers.sum_h);
	}
	kwhy_flow_answer_done(&answer);
}

static void wrong_text_names_the_variant_and_the_step(void **state)
{
	const struct kwhy_flow_request request = {
		gpu, small, kwhy_flow_variant_find("n2t"), KWHY_FLOW_FP32, NULL, 0, false};
	struct kwhy_flow_answer answer = answer_of(&small);
	struct kwhy_flow_result result = {0};
	struct kwhy_flow *flow;
	struct kwhy_error error;

	(void)state;
	answer.texts[5] ^= 1;
	assert_int_equal(kwhy_flow_open(&request, &flow, &error), KWHY_OK);
	assert_int_equal(kwhy_flow_run(flow, &answer, &result, &error), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "flow n2t: the text of step 5 gives"));
	kwhy_flow_close(flow);
	kwhy_flow_answer_done(&answer);
}

/* Neuron, carrier and memory operations are all that a step queues. */
static void each_component_is_timed_by_itself(void **state)
{
	const char *const ids[] = {"n0", "n0c", "n0t", "n1", "n2", "n2t", "n3"};
	struct kwhy_flow_answer answer = answer_of(&small);
	struct kwhy_flow_components parts;
	struct kwhy_flow_result result = {0};
	struct kwhy_flow *flow;
	struct kwhy_error error;

	(void)state;
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		const struct kwhy_flow_variant *variant = kwhy_flow_variant_find(ids[i]);
		const struct kwhy_flow_request request = {
			gpu, small, variant, KWHY_FLOW_FP32, NULL, 0, false};
		double sum_s = 0;

		if (kwhy_flow_open(&request, &flow, &error) ||
			kwhy_flow_components_measure(flow, &answer, &parts, &error))
			fail_msg("%s", error.text);
		for (size_t c = 0; c < KWHY_FLOW_COMPONENT_COUNT; c++) {
			bool has_part = c != KWHY_FLOW_TEXT || variant->text;

			assert_true(has_part == (parts.host_s[c] > 0));
			assert_true(has_part == (parts.busy_s[c] > 0));
			sum_s += parts.host_s[c];
		}
		assert_true(sum_s <= parts.run_s);
		/* Runs after it wait for no component. */
		assert_int_equal(kwhy_flow_run(flow, &answer, &result, &error), KWHY_OK);
		assert_true(result.tally.waits <= 2 * small.steps + 1);
		kwhy_flow_close(flow);
	}
	kwhy_flow_answer_done(&answer);
}

static void components_of_a_graph_or_one_kernel_are_not_told_apart(void **state)
{
	const char *const ids[] = {"n4", "n5", "n5w", "n6"};
	struct kwhy_flow_answer answer = answer_of(&small);
	struct kwhy_flow_components parts;
	struct kwhy_flow *flow;
	struct kwhy_error error;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		const struct kwhy_flow_request request = {
			gpu, small, kwhy_flow_variant_find(ids[i]), KWHY_FLOW_FP32, NULL, 0, false};

		assert_int_equal(kwhy_flow_open(&request, &flow, &error), KWHY_OK);
		assert_int_equal(
			kwhy_flow_components_measure(flow, &answer, &parts, &error), KWHY_E_UNSUPPORTED);
		assert_non_null(strstr(error.text, "cannot be told apart"));
		kwhy_flow_close(flow);
	}
	kwhy_flow_answer_done(&answer);
}

static void components_add_up_to_the_work_of_a_flow_step(void **state)
{
	uint32_t flop = 0;

	(void)state;
	for (size_t c = 0; c < KWHY_FLOW_COMPONENT_COUNT; c++)
		flop += kwhy_flow_components_all[c].flop;
	assert_int_equal(flop, KWHY_FLOW_FLOP);
	assert_int_equal(kwhy_flow_components_all[KWHY_FLOW_NEURON].flop, 2 * (64 * 64 + 64 * 32));
}

/* Whole runs behind gates, and the same places. */
static void the_device_s_part_of_a_run_is_timed_behind_a_gate(void **state)
{
	const char *const ids[] = {"n0", "n0c", "n0p", "n0t", "n2", "n2t", "n3", "n5", "n5w"};
	struct kwhy_flow_answer answer = answer_of(&small);
	struct kwhy_flow *flow;
	struct kwhy_error error;
	double busy_s;

	(void)state;
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		const struct kwhy_flow_request request = {
			gpu, small, kwhy_flow_variant_find(ids[i]), KWHY_FLOW_FP32, NULL, 0, false};
		struct kwhy_flow_result result = {0};

		if (kwhy_flow_open(&request, &flow, &error) ||
			kwhy_flow_run(flow, &answer, &result, &error) ||
			kwhy_flow_busy(flow, &answer, &busy_s, &error))
			fail_msg("%s", error.text);
		assert_true(busy_s > 0);
		kwhy_flow_close(flow);
	}
	kwhy_flow_answer_done(&answer);
}

static void on_cuda_matrices_are_multiplied_by_the_library(void **state)
{
	struct outcome out;

	(void)state;
	run_variant(kwhy_flow_variant_find("n2"), &small, KWHY_FLOW_TF32, &out);
	if (backend == KWHY_GPU_HOST) {
		assert_string_equal(out.products, "own kernels: cuBLAS works on CUDA alone");
		assert_int_equal(out.precision, KWHY_FLOW_FP32);
	} else {
		assert_string_equal(out.products, "cuBLAS 13.0.2");
		assert_int_equal(out.precision, KWHY_FLOW_TF32);
		assert_int_equal(out.result.tally.products, small.steps * 5);
	}
}

static void a_wrong_place_names_the_variant_and_the_step(void **state)
{
	struct kwhy_flow_answer answer = answer_of(&small);
	struct kwhy_flow_result result = {0};
	struct kwhy_flow *flow;
	struct kwhy_error error;
	const char *const ids[] = {"n2", "n4", "n5w"};

	(void)state;
	answer.steps[3].places ^= 1;
	for (size_t i = 0; i < 3; i++) {
		const struct kwhy_flow_request request = {
			gpu, small, kwhy_flow_variant_find(ids[i]), KWHY_FLOW_FP32, NULL, 0, false};
		char words[32];

		assert_int_equal(kwhy_flow_open(&request, &flow, &error), KWHY_OK);
		assert_int_equal(kwhy_flow_run(flow, &answer, &result, &error), KWHY_E_INPUT);
		snprintf(words, sizeof(words), "flow %s: step 3 gives P", ids[i]);
		assert_non_null(strstr(error.text, words));
		kwhy_flow_close(flow);
	}
	kwhy_flow_answer_done(&answer);
}

static void what_would_take_too_long_is_refused(void **state)
{
	struct kwhy_flow_request request = {gpu, kwhy_flow_shape_of(100000, 60, false),
		kwhy_flow_variant_find("n0"), KWHY_FLOW_FP32, NULL, 0, false};
	struct kwhy_flow *flow;
	struct kwhy_error error;

	(void)state;
	assert_int_equal(kwhy_flow_open(&request, &flow, &error), KWHY_E_UNSUPPORTED);
	assert_non_null(strstr(error.text, "one by one take too long"));
	request.variant = kwhy_flow_variant_find("n2t");
	assert_int_equal(kwhy_flow_open(&request, &flow, &error), KWHY_E_UNSUPPORTED);
	assert_non_null(strstr(error.text, "the text of 6000000 flow-steps takes one core too long"));
	request.variant = kwhy_flow_variant_find("n1");
	if (backend == KWHY_GPU_HOST)
		assert_int_equal(kwhy_flow_open(&request, &flow, &error), KWHY_E_UNSUPPORTED);
	assert_null(kwhy_flow_variant_find("n9"));
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
		cmocka_unit_test(by_nccl_flows_meet_as_on_one),
		cmocka_unit_test(what_was_asked_of_the_driver_is_counted),
		cmocka_unit_test(text_is_copied_line_by_line_and_is_the_only_difference),
		cmocka_unit_test(wrong_text_names_the_variant_and_the_step),
		cmocka_unit_test(each_component_is_timed_by_itself),
		cmocka_unit_test(components_of_a_graph_or_one_kernel_are_not_told_apart),
		cmocka_unit_test(components_add_up_to_the_work_of_a_flow_step),
		cmocka_unit_test(the_device_s_part_of_a_run_is_timed_behind_a_gate),
		cmocka_unit_test(on_cuda_matrices_are_multiplied_by_the_library),
		cmocka_unit_test(a_wrong_place_names_the_variant_and_the_step),
		cmocka_unit_test(what_would_take_too_long_is_refused),
	};

	if (argc > 2) {
		backend = KWHY_GPU_CUDA;
		give_kernels_to_the_fake(argv[2], kwhy_flow_host_kernels);
	}
	return kwhy_test_main(tests, open_gpu, close_gpu);
}
