/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of lab_blaslt_multiply(), by cuBLASLt or on the host back end, equal those of a plain loop in this
 * file.
 */
#include "lab/blaslt.h"

#include "cmocka_all.h"

#include <stdlib.h>

enum { M = 5, N = 7, K = 19, PLACES = 512 };

/* Set by the command line: "host" or "cuda". */
static enum kwhy_gpu_backend backend = KWHY_GPU_HOST;
static struct kwhy_gpu *gpu;
static struct kwhy_gpu_stream *stream;
static struct lab_blaslt *blaslt;
static uint64_t memory;
static struct kwhy_error error;

static void must(enum kwhy_status status)
{
	if (status)
		fail_msg("%s", error.text);
}

/*
 * A number that its type represents exactly, so that products must be exact, too: an integer for int8, a
 * multiple of 1/8 with few digits for other types.
 */
static float number_at(enum lab_number type, size_t place, uint32_t seed)
{
	int number = (int)(place * 37 + seed * 11) % 23 - 11;

	return type >= LAB_INT8	  ? (float)number
		: type == LAB_FP8 ? (float)(number / 2) / 8
				  : (float)number / 8;
}

static double expected_at(const struct lab_product *product, size_t m, size_t n)
{
	const struct lab_product *p = product;
	double sum = p->adds ? (double)number_at(p->out, m * p->n + n, 3) : 0;

	for (size_t k = 0; k < p->k; k++)
		sum += (double)number_at(p->factors, p->left_turned ? k * p->m + m : m * p->k + k, 1) *
			(double)number_at(p->factors, p->right_turned ? n * p->k + k : k * p->n + n, 2);
	return sum;
}

static void fill(uint64_t address, enum lab_number type, uint32_t seed)
{
	char numbers[PLACES * 4];
	const struct kwhy_gpu_copy copy = {address, kwhy_gpu_address(numbers), sizeof(numbers)};

	for (size_t i = 0; i < PLACES; i++)
		lab_number_put(type, numbers, i, number_at(type, i, seed));
	must(gpu->ops->copy_now(gpu, &copy, &error));
}

static void check_product(const struct lab_product *product)
{
	const struct lab_operands at = {memory, memory + PLACES * 4, memory + PLACES * 8};
	const struct lab_blaslt_plan *plan = NULL;
	char found[PLACES * 4];
	const struct kwhy_gpu_copy copy = {kwhy_gpu_address(found), at.out, sizeof(found)};

	fill(at.left, product->factors, 1);
	fill(at.right, product->factors, 2);
	must(lab_blaslt_plan(blaslt, product, &at, &plan, &error));
	fill(at.out, product->out, 3);
	must(lab_blaslt_multiply(blaslt, plan, &at, &error));
	must(gpu->ops->synchronize(gpu, stream, &error));
	must(gpu->ops->copy_now(gpu, &copy, &error));
	for (size_t i = 0; i < (size_t)product->m * product->n; i++) {
		double is = (double)lab_number_get(product->out, found, i),
		       ought = expected_at(product, i / product->n, i % product->n);

		assert_true(fabs(is - ought) <= (product->out == LAB_BF16 ? fabs(ought) / 256 : 0));
	}
}

static void products_are_those_of_a_plain_loop(void **state)
{
	(void)state;
	for (uint32_t form = 0; form < 8; form++)
		for (enum lab_number type = LAB_FP32; type <= LAB_FP16; type++)
			check_product(
				&(struct lab_product){M, N, K, form & 1, form & 2, form & 4, type, LAB_FP32});
	check_product(&(struct lab_product){M, N, K, false, true, false, LAB_BF16, LAB_BF16});
}

/* Sizes and layouts that cuBLASLt supports for 8 bits: multiples of 16, with a transposed right factor. */
static void products_of_8_bits_are_too(void **state)
{
	(void)state;
	check_product(&(struct lab_product){32, 16, 16, false, true, false, LAB_FP8, LAB_FP32});
	check_product(&(struct lab_product){32, 16, 16, false, true, false, LAB_INT8, LAB_INT32});
}

static void a_product_is_planned_once(void **state)
{
	const struct lab_product product = {M, N, K, false, true, false, LAB_FP32, LAB_FP32};
	const struct lab_blaslt_plan *plan = NULL, *again = NULL;

	(void)state;
	must(lab_blaslt_plan(blaslt, &product, NULL, &plan, &error));
	must(lab_blaslt_plan(blaslt, &product, NULL, &again, &error));
	assert_ptr_equal(plan, again);
}

static void what_makes_them_has_a_name(void **state)
{
	(void)state;
	assert_string_equal(
		lab_blaslt_name(blaslt), backend == KWHY_GPU_HOST ? "the host" : "cuBLASLt 13.0.2");
}

static void a_library_that_has_no_way_says_so(void **state)
{
	const struct lab_product product = {M, N, K, false, false, false, LAB_BF16, LAB_BF16};
	const struct lab_operands at = {memory, memory + PLACES * 4, memory + PLACES * 8};
	const struct lab_blaslt_plan *plan = NULL;

	(void)state;
	if (backend == KWHY_GPU_HOST)
		kwhy_skip("for CUDA alone");
	setenv("KWHY_FAKE_CUBLASLT", "refuses", 1);
	assert_int_equal(lab_blaslt_plan(blaslt, &product, &at, &plan, &error), KWHY_E_UNSUPPORTED);
	unsetenv("KWHY_FAKE_CUBLASLT");
	assert_null(plan);
	assert_non_null(strstr(error.text, "no algorithm to multiply 5 x 19 by 19 x 7"));
}

static void small_numbers_are_the_nearest_with_ties_to_even(void **state)
{
	(void)state;
	assert_true(lab_from_bf16(lab_to_bf16(1.0f + 0x1p-8f)) == 1.0f);
	assert_true(lab_from_bf16(lab_to_bf16(1.0f + 3 * 0x1p-8f)) == 1.0f + 0x1p-6f);
	assert_true(lab_from_bf16(lab_to_bf16(1.0f + 0x1p-8f + 0x1p-20f)) == 1.0f + 0x1p-7f);
	assert_true(lab_from_fp16(lab_to_fp16(1.0f + 0x1p-11f)) == 1.0f);
	assert_true(lab_from_fp16(lab_to_fp16(-3 * 0x1p-24f)) == -3 * 0x1p-24f);
	assert_true(isinf(lab_from_fp16(lab_to_fp16(70000))));
	assert_true(lab_to_tf32(1.0f + 0x1p-11f) == 1.0f);
	assert_true(lab_to_tf32(1.0f + 3 * 0x1p-11f) == 1.0f + 0x1p-9f);
}

static int begin(void **state)
{
	(void)state;
	if (kwhy_gpu_open(backend, "0", &gpu, &error) || gpu->ops->enter(gpu, &error) ||
		gpu->ops->stream_new(gpu, &stream, &error) ||
		gpu->ops->memory_new(gpu, PLACES * 12, &memory, &error) ||
		lab_blaslt_open(gpu, stream, &blaslt, &error))
		return -1;
	return 0;
}

static int end(void **state)
{
	(void)state;
	lab_blaslt_close(blaslt);
	gpu->ops->memory_free(gpu, memory);
	gpu->ops->stream_free(gpu, stream);
	gpu->ops->close(gpu);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(products_are_those_of_a_plain_loop),
		cmocka_unit_test(products_of_8_bits_are_too),
		cmocka_unit_test(a_product_is_planned_once),
		cmocka_unit_test(what_makes_them_has_a_name),
		cmocka_unit_test(a_library_that_has_no_way_says_so),
		cmocka_unit_test(small_numbers_are_the_nearest_with_ties_to_even),
	};

	if (argc > 1 && strcmp(argv[1], "cuda") == 0)
		backend = KWHY_GPU_CUDA;
	return kwhy_test_main(tests, begin, end);
}
