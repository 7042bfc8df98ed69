/* SPDX-License-Identifier: Apache-2.0 */
#include "../expected_text.h"
#include "base/text.h"
#include "cmocka_all.h"
#include "model/operator_work.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * Compares with a stored file the FLOP, bytes and precision that kwhy computes for random calls of operators.
 * Sizes, types and values come from short lists, so that the arguments of a call often fit each other, and
 * often do not.
 */

enum { CALLS = 400 };

static const char *const names[] = {"mm", "bmm", "addmm_", "baddbmm", "_scaled_mm", "cudnn_convolution",
	"miopen_convolution", "cudnn_convolution_relu", "_conv_depthwise2d", "convolution_backward",
	"cudnn_convolution_backward", "_flash_attention_forward", "_efficient_attention_forward", "copy_",
	"zero_", "sum", "add", "mul_", "native_layer_norm", "linear"};

static uint32_t below(uint64_t *state, uint32_t limit)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((*state >> 33) % limit);
}

static void add_sizes(struct kwhy_text *shape, uint64_t *state, uint32_t dims)
{
	static const uint32_t sizes[] = {3, 3, 3, 8, 8, 12, 1, 0};

	if (below(state, 6) == 0)
		dims = below(state, 10);
	kwhy_text_add(shape, "[");
	for (uint32_t d = 0; d < dims; d++)
		kwhy_text_addf(shape, "%s%u", d ? ", " : "", (unsigned)sizes[below(state, dims > 4 ? 8 : 6)]);
	kwhy_text_add(shape, "]");
}

/*
 * Appends the shapes, types and values of a call's arguments in the form that traces have. Some are cut off.
 */
static void add_shape(struct kwhy_text *shape, uint64_t *state)
{
	static const char *const types[] = {"float", "float", "c10::Half", "double", "c10::Float8_e4m3fn",
		"long int", "bool", "", "Scalar"};
	static const char *const values[] = {"[1, 1]", "[2, 2]", "[2]", "[0, 1]", "[2, 3, 1]", "[10, 0]", "1",
		"0", "True", "False", "[True, False, True]", "[False, True, True]", "[False, False]", ""};
	uint32_t count = below(state, 3) ? 7 + below(state, 6) : 1 + below(state, 18);
	uint32_t dims = 2 + below(state, 4), tensors = below(state, 2) ? 2 : 1 + below(state, 4);
	const char *type = types[below(state, 4)];

	kwhy_text_add(shape, "[");
	for (uint32_t i = 0; i < count; i++) {
		kwhy_text_add(shape, i ? ", " : "");
		if (i < tensors && below(state, 30) == 0)
			kwhy_text_add(shape, "[[3, 8], [3]]");
		else
			add_sizes(shape, state, i < tensors ? dims : 0);
	}
	kwhy_text_add(shape, "];[");
	for (uint32_t i = 0; i < count; i++)
		kwhy_text_addf(
			shape, "%s\"%s\"", i ? ", " : "", below(state, 3) ? type : types[below(state, 9)]);
	kwhy_text_add(shape, "];[");
	for (uint32_t i = 0; i < count; i++)
		kwhy_text_addf(shape, "%s\"%s\"", i ? "," : "",
			i < tensors ? "" : values[below(state, below(state, 4) ? 6 : 14)]);
	kwhy_text_add(shape, "];");
	if (below(state, 12) == 0)
		shape->data[below(state, (uint32_t)strlen(shape->data))] = '\0';
}

static void the_work_of_random_operators_is_as_before(void **state)
{
	struct kwhy_text out = {0};
	uint64_t random = 7;

	(void)state;
	for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
		struct kwhy_text text = {0};
		unsigned known = 0;
		char name[64];

		snprintf(name, sizeof(name), "aten::%s", names[n]);
		for (int i = 0; i < CALLS; i++) {
			struct kwhy_text shape = {0};
			struct kwhy_operator_work work;
			bool is_known;

			add_shape(&shape, &random);
			is_known = kwhy_operator_work(name, shape.data, &work);
			known += is_known;
			if (is_known)
				kwhy_text_addf(
					&text, " %.7g %.7g %d", work.flop, work.bytes, (int)work.precision);
			kwhy_text_add(&text, "\n");
			kwhy_text_done(&shape);
		}
		kwhy_text_addf(&out, "%s %u %" PRIu32 "\n", name, known, digest_of_text(text.data));
		kwhy_text_done(&text);
	}
	assert_expected_text("model/operator-figures.expected", out.data);
	kwhy_text_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(the_work_of_random_operators_is_as_before)};

	return kwhy_test_main(tests, NULL, NULL);
}
