/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "model/gpu_peaks.h"

#include <math.h>

static struct kwhy_gpu_peaks peaks_of(const char *name, const struct kwhy_profile *profile)
{
	struct kwhy_device device = {.name = name};

	return kwhy_gpu_peaks_of(&device, profile);
}

static void peaks_are_those_of_the_datasheet(void **state)
{
	(void)state;
	assert_true(fabs(peaks_of("Tesla T4", NULL).bytes_per_s - 300e9) < 1);
	assert_true(fabs(peaks_of("NVIDIA A100-SXM4-80GB", NULL).bytes_per_s - 1935e9) < 1);
	assert_true(fabs(peaks_of("NVIDIA A100-PG509-200", NULL).bytes_per_s - 1555e9) < 1);
	assert_true(fabs(peaks_of("NVIDIA A10", NULL).bytes_per_s - 600e9) < 1);
	assert_true(fabs(peaks_of("NVIDIA H100 80GB HBM3", NULL).flop_per_s[KWHY_PRECISION_BF16] - 989.4e12) <
		1e9);
	assert_false(peaks_of("Tesla T4", NULL).measured);
}

static void what_a_device_lacks_and_unknown_devices_have_no_peak(void **state)
{
	(void)state;
	assert_true(isnan(peaks_of("Tesla V100-SXM2-32GB", NULL).flop_per_s[KWHY_PRECISION_BF16]));
	assert_true(isnan(peaks_of(NULL, NULL).bytes_per_s));
	assert_true(isnan(peaks_of("NVIDIA T400", NULL).bytes_per_s));
}

static void the_trace_states_the_rate_of_the_memory(void **state)
{
	struct kwhy_device device = {.name = "NVIDIA A100-SXM4-80GB", .memory_rate_bytes_per_s = 2039.04e9};

	(void)state;
	assert_true(fabs(kwhy_gpu_peaks_of(&device, NULL).bytes_per_s - 2039.04e9) < 1);
}

static void measured_peaks_come_first(void **state)
{
	struct kwhy_profile profile;

	(void)state;
	kwhy_profile_init(&profile);
	assert_false(peaks_of("NVIDIA H200", &profile).measured);
	profile.peak_bytes_per_s = 4.2e12;
	profile.peak_flop_per_s[KWHY_PRECISION_BF16] = 7e14;
	assert_true(peaks_of("NVIDIA H200", &profile).measured);
	assert_true(fabs(peaks_of("NVIDIA H200", &profile).bytes_per_s - 4.2e12) < 1);
	assert_true(isnan(peaks_of("NVIDIA H200", &profile).flop_per_s[KWHY_PRECISION_FP32]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(peaks_are_those_of_the_datasheet),
		cmocka_unit_test(what_a_device_lacks_and_unknown_devices_have_no_peak),
		cmocka_unit_test(the_trace_states_the_rate_of_the_memory),
		cmocka_unit_test(measured_peaks_come_first),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
