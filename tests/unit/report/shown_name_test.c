/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "report/shown_name.h"

#include <string.h>

static void kernel_names_lose_what_repeats_in_all_of_them(void **state)
{
	static const struct {
		const char *name, *shown;
	} cases[] = {
		{"gemm", "gemm"},
		{"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
		 "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)",
			"vectorized_elementwise_kernel<4, CUDAFunctor_add<float>, array<char*, 3ul>>"},
		{"void clover::par_ranged2d_kernel<PdV_kernel(bool, int)::[lambda(int, int) (instance 2)]>"
		 "(clover::Range2d, T1)",
			"par_ranged2d_kernel<PdV_kernel [lambda #2]>"},
		{"void (anonymous namespace)::softmax<(int)4, (bool)1>(float*)", "softmax<4, 1>"},
		{"void thrust::detail::run<f>::operator()(int)", "run<f>::operator()"},
		{"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*, unsigned long)",
			"ncclDevKernel_AllReduce_Sum_f32_RING_LL"},
		{"void at::elementwise<void at::copy(at::It&)::{lambda()#3}::operator()() "
		 "const::{lambda()#7}>(int)",
			"elementwise<copy {lambda#3} {lambda#7}>"},
		{"_ZN7cutlass6KernelE", "_ZN7cutlass6KernelE"},
		{"(weird)", "(weird)"},
		{"open(paren", "open"},
		{"", ""},
	};
	struct kwhy_arena arena = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(kwhy_shown_kernel(&arena, cases[i].name), cases[i].shown);
	kwhy_arena_done(&arena);
}

static void names_that_differ_never_read_the_same(void **state)
{
	static const char *const names[] = {
		"void ns::elementwise_kernel_with_a_long_name<4, ns::AddFunctor<float>, std::array<char*, 2> "
		">(int)",
		"void ns::elementwise_kernel_with_a_long_name<4, ns::AddFunctor<float>, std::array<char*, 3> "
		">(int)",
		"void ns::elementwise_kernel_with_a_long_name<4, ns::MulFunctor<float>, std::array<char*, 3> "
		">(int)",
		"void a::same(int)",
		"void b::same(int)",
		"void c::same(float)",
		"same ~2",
		"very_long_word_without_any_template_arguments_0001_tail",
		"very_long_word_without_any_template_arguments_0002_tail",
	};
	enum { COUNT = sizeof(names) / sizeof(names[0]) };
	const bool kernels[COUNT] = {true, true, true, true, true, true, true, true, true};
	struct kwhy_arena arena = {0};

	(void)state;
	for (size_t columns = 12; columns <= 60; columns++) {
		const char *shown[COUNT];

		assert_true(kwhy_shown_names(&arena, names, kernels, COUNT, columns, shown));
		for (size_t i = 0; i < COUNT; i++) {
			assert_in_range(kwhy_shown_columns(shown[i]), 1, columns);
			for (size_t j = 0; j < i; j++)
				assert_string_not_equal(shown[i], shown[j]);
		}
	}
	kwhy_arena_done(&arena);
}

static void what_moves_or_reorders_the_line_is_replaced(void **state)
{
	static const char *const cases[][2] = {
		{"plain", "plain"},
		{"a\033[31mb", "a\xEF\xBF\xBD[31mb"},
		{"a\xC2\x9B"
		 "31mb",
			"a\xEF\xBF\xBD"
			"31mb"},
		{"a\xE2\x80\xAE"
		 "b",
			"a\xEF\xBF\xBD"
			"b"},
		{"a\xE2\x81\xA6"
		 "b",
			"a\xEF\xBF\xBD"
			"b"},
		{"a\xE2\x80\x8B"
		 "b",
			"a\xEF\xBF\xBD"
			"b"},
		{"a\r\nb",
			"a\xEF\xBF\xBD\xEF\xBF\xBD"
			"b"},
		{"a\xFF"
		 "b\xE2\x80",
			"a\xEF\xBF\xBD"
			"b\xEF\xBF\xBD\xEF\xBF\xBD"},
		{"\xC2\xB5s \xE6\xBC\xA2", "\xC2\xB5s \xE6\xBC\xA2"},
	};
	struct kwhy_arena arena = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(kwhy_shown_clean(&arena, cases[i][0]), cases[i][1]);
	kwhy_arena_done(&arena);
}

static void wide_and_combining_characters_are_counted_as_a_terminal_does(void **state)
{
	struct kwhy_arena arena = {0};

	(void)state;
	assert_int_equal(kwhy_shown_columns("abc"), 3);
	assert_int_equal(kwhy_shown_columns("\xE6\xBC\xA2\xE5\xAD\x97"), 4);
	assert_int_equal(kwhy_shown_columns("e\xCC\x81"), 1);
	assert_string_equal(kwhy_shown_cut(&arena, "\xE6\xBC\xA2\xE5\xAD\x97\xE6\xBC\xA2", 4),
		"\xE6\xBC\xA2\xE2\x80\xA6");
	kwhy_arena_done(&arena);
}

static void a_name_of_a_hundred_kilobytes_is_shortened_too(void **state)
{
	struct kwhy_arena arena = {0};
	char *name = kwhy_arena_alloc(&arena, 100001, 1);
	const char *shown;
	const bool kernel = true;

	(void)state;
	memset(name, '(', 50000);
	memset(name + 50000, '<', 50000);
	assert_true(kwhy_shown_names(&arena, (const char *const *)&name, &kernel, 1, 30, &shown));
	assert_in_range(kwhy_shown_columns(shown), 1, 30);
	memset(name, 'x', 100000);
	assert_true(kwhy_shown_names(&arena, (const char *const *)&name, &kernel, 1, 30, &shown));
	assert_int_equal(kwhy_shown_columns(shown), 30);
	kwhy_arena_done(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernel_names_lose_what_repeats_in_all_of_them),
		cmocka_unit_test(names_that_differ_never_read_the_same),
		cmocka_unit_test(what_moves_or_reorders_the_line_is_replaced),
		cmocka_unit_test(wide_and_combining_characters_are_counted_as_a_terminal_does),
		cmocka_unit_test(a_name_of_a_hundred_kilobytes_is_shortened_too),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
