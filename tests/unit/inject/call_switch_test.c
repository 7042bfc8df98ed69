/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "inject/call_switch.h"

#include <stdio.h>
#include <string.h>

/*
 * The calls of CUPTI that the code under test has made, in order. "+R": enabled the kind of runtime calls;
 * "-D": disabled that of driver calls; "r3": selected the runtime call with id 3; "!d1": deselected the
 * driver call with id 1.
 */
static char done[200];

static const char *const names[2][5] = {
	{NULL, "cuInit", "cuLaunchKernel", "cuMemAlloc_v2", "cuProfilerStop"},
	{NULL, "cudaGetDevice_v3020", "cudaLaunchKernel_v7000", "cudaDeviceSynchronize_v3020",
		"cudaProfilerStop_v4000"},
};

static void note(const char *what, int number)
{
	const size_t at = strlen(done);

	if (number)
		snprintf(done + at, sizeof(done) - at, "%s%d ", what, number);
	else
		snprintf(done + at, sizeof(done) - at, "%s ", what);
}

static enum kwhy_cupti_result name_of(int domain, uint32_t id, const char **out_name)
{
	if (id >= 5)
		return KWHY_CUPTI_UNKNOWN;
	*out_name = names[domain - 1][id];
	return KWHY_CUPTI_SUCCESS;
}

static enum kwhy_cupti_result enable(int kind)
{
	note(kind == KWHY_CUPTI_KIND_RUNTIME ? "+R" : "+D", 0);
	return KWHY_CUPTI_SUCCESS;
}

static enum kwhy_cupti_result disable(int kind)
{
	note(kind == KWHY_CUPTI_KIND_RUNTIME ? "-R" : "-D", 0);
	return KWHY_CUPTI_SUCCESS;
}

static enum kwhy_cupti_result runtime(uint32_t id, uint8_t is_on)
{
	note(is_on ? "r" : "!r", (int)id);
	return KWHY_CUPTI_SUCCESS;
}

static enum kwhy_cupti_result driver(uint32_t id, uint8_t is_on)
{
	note(is_on ? "d" : "!d", (int)id);
	return KWHY_CUPTI_SUCCESS;
}

static struct kwhy_cupti cupti_of(bool can_choose)
{
	done[0] = '\0';
	return (struct kwhy_cupti){.cuptiGetCallbackName = name_of,
		.cuptiActivityEnable = enable,
		.cuptiActivityDisable = disable,
		.cuptiActivityEnableRuntimeApi = can_choose ? runtime : NULL,
		.cuptiActivityEnableDriverApi = can_choose ? driver : NULL};
}

static void assert_done(const char *what)
{
	assert_string_equal(done, what);
	done[0] = '\0';
}

static void calls_are_switched_alone_while_one_of_each_domain_stays_on(void **state)
{
	const struct kwhy_cupti cupti = cupti_of(true);
	static struct kwhy_inject_call_switch calls;

	(void)state;
	kwhy_inject_call_switch_init(&calls, &cupti);
	kwhy_inject_call_switch_begin(&calls);
	assert_done("r4 d4 r2 r3 d2 d3 ");
	kwhy_inject_call_switch_set(&calls, false);
	assert_done("!r2 !r3 !d2 !d3 ");
	kwhy_inject_call_switch_set(&calls, true);
	assert_done("r2 r3 d2 d3 ");
}

static void where_single_calls_are_not_recorded_it_is_all_less_others(void **state)
{
	const struct kwhy_cupti cupti = cupti_of(true);
	static struct kwhy_inject_call_switch calls;

	(void)state;
	kwhy_inject_call_switch_init(&calls, &cupti);
	kwhy_inject_call_switch_begin(&calls);
	kwhy_inject_call_switch_set(&calls, false);
	done[0] = '\0';
	kwhy_inject_call_switch_give_up_alone(&calls);
	kwhy_inject_call_switch_set(&calls, true);
	assert_done("+R !r1 !r4 +D !d1 !d4 ");
	kwhy_inject_call_switch_set(&calls, false);
	assert_done("-R -D ");
}

static void where_there_is_no_choice_all_calls_are_switched(void **state)
{
	const struct kwhy_cupti cupti = cupti_of(false);
	static struct kwhy_inject_call_switch calls;

	(void)state;
	kwhy_inject_call_switch_init(&calls, &cupti);
	kwhy_inject_call_switch_begin(&calls);
	assert_done("+R +D ");
	kwhy_inject_call_switch_set(&calls, false);
	assert_done("-R -D ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_are_switched_alone_while_one_of_each_domain_stays_on),
		cmocka_unit_test(where_single_calls_are_not_recorded_it_is_all_less_others),
		cmocka_unit_test(where_there_is_no_choice_all_calls_are_switched),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
