/* SPDX-License-Identifier: Apache-2.0 */
#include "vendor/nvtx.h"

#include "cmocka_all.h"

#include <dlfcn.h>
#include <stdlib.h>

static int value_of(void *tool, const char *name)
{
	const int *place = dlsym(tool, name);

	assert_non_null(place);
	return *place;
}

static void a_tool_named_by_the_environment_sees_ranges(void **state)
{
	void *tool = dlopen(NVTX_TOOL, RTLD_NOW);

	(void)state;
	assert_non_null(tool);
	kwhy_nvtx_pop(); /* before any push this does nothing */
	kwhy_nvtx_push("run");
	kwhy_nvtx_push("step");
	assert_int_equal(value_of(tool, "nvtx_tool_pushes"), 2);
	assert_int_equal(value_of(tool, "nvtx_tool_open"), 2);
	assert_int_equal(value_of(tool, "nvtx_tool_letter"), 's');
	kwhy_nvtx_pop();
	kwhy_nvtx_pop();
	assert_int_equal(value_of(tool, "nvtx_tool_open"), 0);
	dlclose(tool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tool_named_by_the_environment_sees_ranges),
	};

	setenv("NVTX_INJECTION64_PATH", NVTX_TOOL, 1);
	return kwhy_test_main(tests, NULL, NULL);
}
