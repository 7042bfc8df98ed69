/* SPDX-License-Identifier: Apache-2.0 */
#include "base/waiting_kernel.h"
#include "cmocka_all.h"

static void kernels_that_only_wait_are_known_by_name(void **state)
{
	(void)state;
	assert_true(kwhy_waiting_kernel(
		"_ZN15stream_executor3gpu12_GLOBAL__N_111DelayKernelEPVNS0_17GpuSemaphoreStateES1_"));
	assert_true(kwhy_waiting_kernel("stream_executor::gpu::(anonymous namespace)::DelayKernel(int)"));
	assert_true(kwhy_waiting_kernel("_ZN2at4cuda53_GLOBAL__N__11spin_kernelEl"));
	assert_true(kwhy_waiting_kernel("_Z5delayl"));
	assert_true(kwhy_waiting_kernel("delay(long)"));
	assert_true(kwhy_waiting_kernel("busy_wait"));
}

static void work_whose_name_is_like_theirs_is_work(void **state)
{
	(void)state;
	assert_false(kwhy_waiting_kernel("transformer_engine::delayed_scaling_recipe::amax_update_kernel"));
	assert_false(kwhy_waiting_kernel("_Z10spin_orbitPd"));
	assert_false(kwhy_waiting_kernel("await_elementwise"));
	assert_false(kwhy_waiting_kernel("loop_add_fusion"));
	assert_false(kwhy_waiting_kernel(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_that_only_wait_are_known_by_name),
		cmocka_unit_test(work_whose_name_is_like_theirs_is_work),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
