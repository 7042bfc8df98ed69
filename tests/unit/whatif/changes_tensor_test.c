/* SPDX-License-Identifier: Apache-2.0 */
#include "planned.h"

#include <math.h>
#include <string.h>

static struct kwhy_error error;

/*
 * Returns a matrix product of 80 us on FP32 units, a kernel with the given name on the given device, and
 * another kernel of 20 us, queued 1 us after it.
 */
static struct build product(const char *device, const char *name)
{
	struct build build = build_new(1);

	build.recording->devices[0].name = device;
	build_issued_kernel(&build, issue("cudaLaunchKernel", 0, 2), 0, 10, 90);
	assert_int_equal(kwhy_names_intern(&build.recording->names, name, strlen(name),
				 &build.recording->activities.name[0], &error),
		KWHY_OK);
	launch(&build, 3, 91, 111);
	return build;
}

static void products_take_the_time_of_tensor_cores(void **state)
{
	struct build build = product("NVIDIA A100-SXM4-80GB", "ampere_sgemm_128x64_nn");
	struct kwhy_plan *plan = made(&build, "tensor-cores", 0, NULL);

	(void)state;
	assert_int_equal(plan->changes[0].bound, KWHY_BOUND_UPPER);
	assert_int_equal(plan->changes[0].risk, KWHY_RISK_NUMERICS);
	/* at the slow end of the interval the product becomes 3.2 times as fast: 25 us + 1 us + 20 us */
	assert_true(plan->changes[0].after.time_high_ns >= 46000);
	assert_made(plan, 1, 10000 + 1000 + 20000);
}

static void the_peaks_of_the_profile_come_first(void **state)
{
	struct build build = product("NVIDIA H200", "cutlass_80_simt_sgemm_256x128_8x4_nn_align1");
	struct kwhy_profile profile;
	struct kwhy_plan *plan;

	(void)state;
	kwhy_profile_init(&profile);
	profile.peak_flop_per_s[KWHY_PRECISION_FP32] = 5e13;
	profile.peak_flop_per_s[KWHY_PRECISION_TF32] = 2.5e14;
	plan = made(&build, "tensor-cores", 0, &profile);
	assert_non_null(strstr(plan->changes[0].assumption, "the machine profile"));
	assert_made(plan, 1, 16000 + 1000 + 20000);
}

static void without_fp32_products_or_tensor_cores_nothing_changes(void **state)
{
	static const char *const cases[][2] = {{"NVIDIA H200", "ampere_tf32_s1688gemm_128x128"},
		{"NVIDIA H200", "elementwise"}, {"Tesla P100-PCIE-16GB", "maxwell_sgemm_128x64_nn"}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct build build = product(cases[i][0], cases[i][1]);

		assert_refused(made(&build, "tensor-cores", 0, NULL), "FP32 units");
	}
}

static void products_are_made_faster_once(void **state)
{
	struct build build = product("NVIDIA A100-SXM4-80GB", "ampere_sgemm_128x64_nn");
	const struct kwhy_whatif_change *change = kwhy_whatif_change_find("tensor-cores");
	struct kwhy_plan *plan = all_made(
		&build, (struct kwhy_whatif_request[]){{change, 0}, {change, 0}}, 2, NULL);

	(void)state;
	assert_int_equal(plan->change_count, 1);
	kwhy_plan_free(plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(products_take_the_time_of_tensor_cores),
		cmocka_unit_test(the_peaks_of_the_profile_come_first),
		cmocka_unit_test(without_fp32_products_or_tensor_cores_nothing_changes),
		cmocka_unit_test(products_are_made_faster_once),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
