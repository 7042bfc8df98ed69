/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/device_energy.h"
#include "cmocka_all.h"
#include "gpu/gpu.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>

static void what_is_above_idle_is_above_the_mean_of_the_looks_around(void **state)
{
	const struct kwhy_joules levels_w[] = {{130, 129, 131}, {126, 125, 127}}, gross = {1500, 1490, 1510};
	struct kwhy_joules net = kwhy_joules_above(gross, 10, levels_w, 2);
	/* 10 J of the window; 10 s times half a watt of each look, and times half of the 4 W they lie apart.
	 */
	const double half = sqrt(10 * 10 + 100 * (0.5 * 0.5 + 0.5 * 0.5 + 2 * 2));

	(void)state;
	assert_float_equal(net.value, 1500 - 10 * 128, 1e-9);
	assert_float_equal(net.low, net.value - half, 1e-9);
	assert_float_equal(net.high, net.value + half, 1e-9);
}

static void without_a_look_nothing_is_known(void **state)
{
	const struct kwhy_joules gross = {1500, 1490, 1510}, level_w = {NAN, NAN, NAN};

	(void)state;
	assert_true(isnan(kwhy_joules_above(gross, 10, NULL, 0).value));
	assert_true(isnan(kwhy_joules_above(gross, 10, &level_w, 1).low));
}

static int value_of(void *tool, const char *name)
{
	const int *place = dlsym(tool, name);

	assert_non_null(place);
	return *place;
}

static void a_recording_of_the_benchmark_sees_its_window(void **state)
{
	struct kwhy_gpu host = {.ops = NULL}, *gpus[] = {&host};
	void *tool = dlopen(NVTX_TOOL, RTLD_NOW);
	struct kwhy_device_energy *energy;
	struct kwhy_error error;

	(void)state;
	assert_non_null(tool);
	assert_int_equal(kwhy_device_energy_open(gpus, 1, &energy, &error), KWHY_OK);
	assert_int_equal(kwhy_device_energy_begin(energy, "writing", &error), KWHY_OK);
	assert_int_equal(value_of(tool, "nvtx_tool_open"), 1);
	assert_int_equal(value_of(tool, "nvtx_tool_letter"), 'w');
	kwhy_device_energy_end(energy);
	assert_int_equal(value_of(tool, "nvtx_tool_open"), 0);
	kwhy_device_energy_close(energy);
	dlclose(tool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_above_idle_is_above_the_mean_of_the_looks_around),
		cmocka_unit_test(without_a_look_nothing_is_known),
		cmocka_unit_test(a_recording_of_the_benchmark_sees_its_window),
	};

	setenv("NVTX_INJECTION64_PATH", NVTX_TOOL, 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
