/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/collector.h"

#include "cmocka_all.h"
#include "inject/state.h"

static int switches;

static enum kwhy_cupti_result turn(int kind)
{
	(void)kind;
	switches++;
	return KWHY_CUPTI_SUCCESS;
}

static int record_kernels(void **state)
{
	(void)state;
	switches = 0;
	kwhy_inject_state.activity = (struct kwhy_inject_activity){
		.cupti = {.cuptiActivityEnable = turn, .cuptiActivityDisable = turn},
		.kinds = KWHY_INJECT_KERNEL,
		.runs = true};
	atomic_store(&kwhy_inject_state.is_ending, false);
	return 0;
}

static void a_window_that_ends_switches_kernels_off(void **state)
{
	(void)state;
	assert_true(kwhy_inject_collector_switch(NULL, false) > 0);
	assert_int_equal(switches, 1);
}

static void a_program_that_ends_switches_nothing(void **state)
{
	(void)state;
	atomic_store(&kwhy_inject_state.is_ending, true);
	assert_true(kwhy_inject_collector_switch(NULL, false) > 0);
	assert_int_equal(switches, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_window_that_ends_switches_kernels_off, record_kernels),
		cmocka_unit_test_setup(a_program_that_ends_switches_nothing, record_kernels),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
