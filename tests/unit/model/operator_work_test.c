/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "model/operator_work.h"

#include <math.h>
#include <stdio.h>

/*
 * Calls of operators as PyTorch's traces describe them (shapes; types; values of the arguments), with their
 * FLOP, bytes and precision computed by hand.
 */
static const struct {
	const char *name, *shape;
	double flop, bytes;
	enum kwhy_precision precision;
} known[] = {
	/* 2 x 4 x 8 x 16 FLOP; (4 x 8 + 8 x 16 + 4 x 16) values of 4 bytes */
	{"aten::mm", "[[4, 8], [8, 16]];[\"float\", \"float\"];;", 1024, 896, KWHY_PRECISION_FP32},
	{"aten::addmm",
		"[[16], [4, 8], [8, 16], [], []];"
		"[\"c10::BFloat16\", \"c10::BFloat16\", \"c10::BFloat16\", \"Scalar\", \"Scalar\"];"
		"[\"\", \"\", \"\", \"1\", \"1\"];",
		1024, 448, KWHY_PRECISION_BF16},
	{"aten::bmm", "[[3,4,8],[3,8,16]];[\"double\",\"double\"];;", 3072, 5376, KWHY_PRECISION_FP64},
	/*
	 * an 8 x 8 image with padding 1 and stride 2 has 4 x 4 outputs; FLOP: 2 x 16 outputs x 5 channels x
	 * (3 x 3 x 3) weights, batch of 1; bytes: input, weights and output, of 2 bytes each
	 */
	{"aten::cudnn_convolution",
		"[[1,3,8,8],[5,3,3,3],[],[],[],[],[],[],[]];[\"c10::Half\",\"c10::Half\",\"\",\"\",\"\",\"\","
		"\"\",\"\",\"\"];[\"\",\"\",\"[1, 1]\",\"[2, 2]\",\"[1, 1]\",\"1\",\"True\",\"True\","
		"\"True\"];",
		2.0 * 16 * 5 * 27, 2 * (192 + 135 + 80), KWHY_PRECISION_FP16},
	/* the same, with one number of padding, stride and dilation for height and width */
	{"aten::cudnn_convolution",
		"[[1,3,8,8],[5,3,3,3],[],[],[],[],[],[],[]];[\"c10::Half\",\"c10::Half\",\"\",\"\",\"\",\"\","
		"\"\",\"\",\"\"];[\"\",\"\",\"[1]\",\"[2]\",\"[1]\",\"1\",\"True\",\"True\",\"True\"];",
		2.0 * 16 * 5 * 27, 2 * (192 + 135 + 80), KWHY_PRECISION_FP16},
	/*
	 * dilation 2: a kernel of 3 x 3 covers 5 x 5 of the padded 10 x 10, which at stride 2 gives 3 x 3
	 * outputs
	 */
	{"aten::cudnn_convolution",
		"[[1,3,8,8],[5,3,3,3],[],[],[],[],[],[],[]];[\"c10::Half\",\"c10::Half\",\"\",\"\",\"\",\"\","
		"\"\",\"\",\"\"];[\"\",\"\",\"[1, 1]\",\"[2, 2]\",\"[2, "
		"2]\",\"1\",\"True\",\"True\",\"True\"];",
		2.0 * 9 * 5 * 27, 2 * (192 + 135 + 45), KWHY_PRECISION_FP16},
	/*
	 * the mask [False, True, False] wants only the weight's gradient; the next operator computes the
	 * gradients of input and weight
	 */
	{"aten::convolution_backward",
		"[[1,5,4,4],[1,3,8,8],[5,3,3,3],[],[],[],[],[],[],[],[]];[\"float\",\"float\",\"float\"];"
		"[\"\",\"\",\"\",\"[0]\",\"[2, 2]\",\"[1, 1]\",\"[1, 1]\",\"False\",\"[0, 0]\",\"1\","
		"\"[False, True, False]\"];",
		2.0 * 80 * 27, 4 * (80 + 192 + 135), KWHY_PRECISION_FP32},
	{"aten::cudnn_convolution_backward",
		"[[1,3,8,8],[1,5,4,4],[5,3,3,3]];[\"float\",\"float\",\"float\"];;", 2 * 2.0 * 80 * 27,
		2 * 4 * (80 + 192 + 135), KWHY_PRECISION_FP32},
	/*
	 * without causality 4 FLOP for each value of the queries and each token of the keys; causal ("True"):
	 * half of that
	 */
	{"aten::_flash_attention_forward",
		"[[2,8,4,16],[2,8,4,16],[2,8,4,16],[],[],[],[],[],[]];[\"c10::Half\",\"c10::Half\","
		"\"c10::Half\"];[\"\",\"\",\"\",\"\",\"\",\"8\",\"8\",\"0.\",\"True\"];",
		2.0 * 1024 * 8, 2 * 4 * 1024, KWHY_PRECISION_FP16},
	/* a row of 8 is added to each of 4 rows: reads 4 x 8 and 8 values, writes 4 x 8 */
	{"aten::add_", "[[4,8],[8],[]];[\"float\",\"float\",\"Scalar\"];;", 0, 4 * 72, KWHY_PRECISION_FP32},
	{"aten::copy_", "[[4,8],[4,8],[]];[\"c10::Half\",\"float\",\"Scalar\"];;", 0, 32 * 6,
		KWHY_PRECISION_FP16},
	{"aten::fill_", "[[4,8],[]];[\"float\",\"Scalar\"];;", 0, 128, KWHY_PRECISION_FP32},
	{"aten::sum", "[[4,8],[],[],[]];[\"float\",\"\",\"Scalar\",\"\"];;", 0, 128, KWHY_PRECISION_FP32},
	/* 3 products of 4 x 8 by 8 x 16, to which the first argument is added */
	{"aten::baddbmm", "[[3,4,16],[3,4,8],[3,8,16]];[\"float\",\"double\",\"double\"];;", 3072, 5376,
		KWHY_PRECISION_FP64},
	{"aten::_addmm_activation", "[[16],[4,8],[8,16]];[\"float\",\"c10::Half\",\"c10::Half\"];;", 1024,
		448, KWHY_PRECISION_FP16},
	{"aten::_scaled_mm", "[[4,8],[8,16],[]];[\"c10::Float8_e4m3fn\",\"c10::Float8_e4m3fn\",\"float\"];;",
		1024, 224, KWHY_PRECISION_FP8},
	{"aten::mm", "[[4,8],[8,16]];[\"c10::Float8_e5m2\",\"c10::Float8_e4m3fn\"];;", 1024, 224,
		KWHY_PRECISION_FP8},
	/* an outer product, whose result is larger than both factors */
	{"aten::mm", "[[4,1],[1,16]];[\"float\",\"float\"];;", 128, 4 * (4 + 16 + 64), KWHY_PRECISION_FP32},
	/*
	 * other operators have padding, stride and dilation at other positions; these give an output of 4 x 4
	 */
	{"aten::miopen_convolution",
		"[[1,3,8,8],[5,3,3,3],[5],[],[],[]];[\"float\",\"float\",\"float\"];[\"\",\"\",\"\",\"[1, "
		"1]\",\"[2, 2]\",\"[1, "
		"1]\"];",
		2.0 * 16 * 5 * 27, 4 * (192 + 135 + 80), KWHY_PRECISION_FP32},
	/* an 8 x 12 image; padding 1 and 2, stride 2 and 3, dilation 1 and 2 give an output of 4 x 4 */
	{"aten::miopen_convolution",
		"[[1,3,8,12],[5,3,3,3],[5],[],[],[]];[\"float\",\"float\",\"float\"];[\"\",\"\",\"\",\"[1, "
		"2]\",\"[2, 3]\",\"[1, 2]\"];",
		2.0 * 16 * 5 * 27, 4 * (288 + 135 + 80), KWHY_PRECISION_FP32},
	{"aten::cudnn_convolution_relu",
		"[[1,3,8,8],[5,3,3,3],[5],[],[],[]];[\"float\",\"float\",\"float\"];[\"\",\"\",\"\",\"[2, "
		"2]\",\"[1, 1]\",\"[1, "
		"1]\"];",
		2.0 * 16 * 5 * 27, 4 * (192 + 135 + 80), KWHY_PRECISION_FP32},
	{"aten::_conv_depthwise2d",
		"[[1,3,8,8],[3,1,3,3],[],[3],[],[],[]];[\"float\",\"float\",\"\",\"float\"];[\"\",\"\",\"[3, "
		"3]\",\"\",\"[2, "
		"2]\",\"[1, 1]\",\"[1, 1]\"];",
		2.0 * 16 * 3 * 9, 4 * (192 + 27 + 48), KWHY_PRECISION_FP32},
	/*
	 * no list of the wanted gradients, so two are assumed: of input and weight; unlike other backward
	 * operators, this one has the input as its first argument
	 */
	{"aten::miopen_convolution_backward",
		"[[1,3,8,8],[1,5,4,4],[5,3,3,3]];[\"float\",\"double\",\"float\"];;", 2 * 2.0 * 80 * 27,
		2 * (4 * 192 + 8 * 80 + 4 * 135), KWHY_PRECISION_FP64},
	/*
	 * the queries have 4 heads of 16 values and 8 tokens, the keys 2 heads and 6 tokens; whether
	 * attention is causal is unknown, so it counts as not causal
	 */
	{"aten::_efficient_attention_forward",
		"[[2,8,4,16],[2,6,2,16],[2,6,2,16]];[\"c10::BFloat16\",\"c10::BFloat16\",\"c10::BFloat16\"];"
		";",
		4.0 * 1024 * 6, 2 * (2 * 1024 + 2 * 384), KWHY_PRECISION_BF16},
};

/* Elements of each data type that traces name must have their size in bytes. */
static void elements_have_the_size_of_their_type(void **state)
{
	static const struct {
		const char *type;
		double bytes;
	} types[] = {{"long int", 8}, {"long", 8}, {"int", 4}, {"short", 2}, {"signed char", 1},
		{"unsigned char", 1}, {"bool", 1}, {"c10::Float8_e4m3fn", 1}, {"c10::Float8_e5m2", 1},
		{"double", 8}};

	(void)state;
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		struct kwhy_operator_work work;
		char shape[100];

		snprintf(shape, sizeof(shape), "[[4,8]];[\"%s\"];;", types[i].type);
		assert_true(kwhy_operator_work("aten::zero_", shape, &work));
		assert_true(work.bytes == 32 * types[i].bytes);
		assert_true(work.flop == 0);
	}
}

static void operators_that_only_read_or_write_count_their_first_input(void **state)
{
	static const char *const names[] = {"aten::zero_", "aten::fill_", "aten::sum", "aten::mean",
		"aten::amax", "aten::norm", "aten::linalg_vector_norm", "aten::max_pool2d_with_indices",
		"aten::_adaptive_avg_pool2d"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct kwhy_operator_work work;

		assert_true(kwhy_operator_work(names[i], "[[4,8],[16]];[\"float\",\"double\"];;", &work));
		assert_true(work.bytes == 128);
		assert_int_equal(work.precision, KWHY_PRECISION_FP32);
		assert_false(kwhy_operator_work(names[i], "[[],[16]];[\"float\",\"double\"];;", &work));
	}
}

static void work_follows_from_the_shapes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		struct kwhy_operator_work work;

		assert_true(kwhy_operator_is_known(known[i].name));
		assert_true(kwhy_operator_work(known[i].name, known[i].shape, &work));
		assert_true(fabs(work.flop - known[i].flop) < 1e-6);
		assert_true(fabs(work.bytes - known[i].bytes) < 1e-6);
		assert_int_equal(work.precision, known[i].precision);
	}
}

static void shapes_that_leave_the_work_open_give_none(void **state)
{
	static const char *const cases[][2] = {
		{"aten::mm", "[[4, 8], [8, 16]];[];;"}, /* no types, as in traces of 2020 */
		/* the shapes do not fit together */
		{"aten::mm", "[[4, 8], [9, 16]];[\"float\",\"float\"];;"},
		{"aten::mm", ""},
		/* the data type of one factor is unknown */
		{"aten::mm", "[[4, 8], [8, 16]];[\"float\",\"c10::Complex\"];;"},
		{"aten::mm", "[[4"},
		/* the stride is missing */
		{"aten::cudnn_convolution", "[[1,3,8,8],[5,3,3,3],[],[],[],[]];[\"float\",\"float\"];;"},
		{"aten::add", "[[[4,8],[4,8]],[]];[\"TensorList\"];;"},
		{"aten::fill_", "[[0,8],[]];[\"float\",\"Scalar\"];;"},
		{"aten::convolution_backward",
			"[[1,5,4,4],[1,3,8,8],[5,3,3,3],[],[],[],[],[],[],[],[]];[\"float\",\"float\","
			"\"float\"];[\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"True\",\"\",\"1\",\"\"];"},
	};
	struct kwhy_operator_work work;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_false(kwhy_operator_work(cases[i][0], cases[i][1], &work));
}

static void other_operators_are_unknown(void **state)
{
	(void)state;
	assert_false(kwhy_operator_is_known("aten::conv2d"));
	assert_false(kwhy_operator_is_known("mm"));
	assert_false(kwhy_operator_is_known("aten::mmm"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(work_follows_from_the_shapes),
		cmocka_unit_test(elements_have_the_size_of_their_type),
		cmocka_unit_test(operators_that_only_read_or_write_count_their_first_input),
		cmocka_unit_test(shapes_that_leave_the_work_open_give_none),
		cmocka_unit_test(other_operators_are_unknown),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
