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
	assert_true(isnan(peaks_of("NVIDIA RTXT4", NULL).bytes_per_s)); /* not the word T4 */
	assert_true(fabs(peaks_of("T4", NULL).bytes_per_s - 300e9) < 1);
}

static void expect(const char *name, double rate, double expected, double tolerance)
{
	if (!(fabs(rate - expected) <= tolerance))
		fail_msg("%s: %.5g instead of %.5g", name, rate, expected);
}

/*
 * Checks each GPU's peak rates against each other, so that a mistyped digit in the table is found. The FP32
 * rate must be two FLOP per clock cycle for each lane at the boost clock; the other rates must have known
 * ratios to it or to the FP16 rate.
 */
static void the_rates_of_a_gpu_fit_each_other(void **state)
{
	static const struct {
		const char *name;
		double memory_gb, fp16; /* GB/s, TFLOP/s */
		double lanes, clock_hz; /* number of FP32 lanes and their boost clock */
		double fp64;		/* relative to the FP32 rate; 0: the GPU has none */
		double tf32, bf16, fp8; /* relative to the FP16 rate */
	} gpus[] = {
		{"NVIDIA H200", 4800, 989.4, 128 * 132, 1.98e9, 0.5, 0.5, 1, 2},
		{"NVIDIA H100 80GB HBM3", 3350, 989.4, 128 * 132, 1.98e9, 0.5, 0.5, 1, 2},
		{"NVIDIA H100 PCIe", 2000, 756, 128 * 114, 1.755e9, 0.5, 0.5, 1, 1513.0 / 756},
		{"NVIDIA A100-SXM4-80GB", 1935, 312, 64 * 108, 1.41e9, 0.5, 0.5, 1, 0},
		{"NVIDIA A100-SXM4-40GB", 1555, 312, 64 * 108, 1.41e9, 0.5, 0.5, 1, 0},
		{"NVIDIA A10", 600, 125, 128 * 72, 1.695e9, 0, 0.5, 1, 0},
		{"NVIDIA L40S", 864, 362, 128 * 142, 2.52e9, 0, 183.0 / 362, 1, 733.0 / 362},
		{"NVIDIA L4", 300, 121, 128 * 58, 2.04e9, 0, 60.0 / 121, 1, 242.5 / 121},
		{"Tesla V100-PCIE-16GB", 900, 112, 64 * 80, 1.37e9, 0.5, 0, 0, 0},
		{"Tesla V100-SXM2-32GB", 900, 125, 64 * 80, 1.53e9, 0.5, 0, 0, 0},
		{"Tesla T4", 300, 65, 64 * 40, 1.59e9, 0, 0, 0, 0},
		{"Tesla P100-PCIE-16GB", 732, 18.7, 64 * 56, 1.303e9, 0.5, 0, 0, 0},
		{"AMD Instinct MI300X", 5300, 1307.4, 128 * 304, 2.1e9, 0.5, 0.5, 1, 2},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(gpus) / sizeof(*gpus); i++) {
		const struct kwhy_gpu_peaks peaks = peaks_of(gpus[i].name, NULL);
		const double *rate = peaks.flop_per_s, fp16 = 1e12 * gpus[i].fp16;
		const double fp32 = 2 * gpus[i].lanes * gpus[i].clock_hz;
		const double expected[KWHY_PRECISION_COUNT] = {[KWHY_PRECISION_FP64] = gpus[i].fp64 * fp32,
			[KWHY_PRECISION_FP32] = fp32,
			[KWHY_PRECISION_TF32] = gpus[i].tf32 * fp16,
			[KWHY_PRECISION_BF16] = gpus[i].bf16 * fp16,
			[KWHY_PRECISION_FP16] = fp16,
			[KWHY_PRECISION_FP8] = gpus[i].fp8 * fp16};

		expect(gpus[i].name, peaks.bytes_per_s, gpus[i].memory_gb * 1e9, 1);
		for (int p = 0; p < KWHY_PRECISION_COUNT; p++)
			if (expected[p] == 0)
				assert_true(isnan(rate[p]));
			else /* data sheets round rates to 0.1 TFLOP/s and clocks to 0.01 GHz */
				expect(gpus[i].name, rate[p], expected[p],
					p <= KWHY_PRECISION_FP32 ? 0.01 * expected[p] : 0.11e12);
	}
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
		cmocka_unit_test(the_rates_of_a_gpu_fit_each_other),
		cmocka_unit_test(what_a_device_lacks_and_unknown_devices_have_no_peak),
		cmocka_unit_test(the_trace_states_the_rate_of_the_memory),
		cmocka_unit_test(measured_peaks_come_first),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
