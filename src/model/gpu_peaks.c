/* SPDX-License-Identifier: Apache-2.0 */
#include "model/gpu_peaks.h"

#include <math.h>
#include <string.h>

/*
 * Rates from data sheets of NVIDIA and AMD, without sparsity, in GB/s and TFLOP/s; 0: the table has no rate,
 * mostly because the device has no such units. The first row whose words are all in the device's name
 * applies, so rows of variants are first. FP64 and FP32 are the rates of the vector units. Where GPUs of one
 * name have different memories, the row has the rate of the slowest memory; a recording that states the
 * memory's rate overrides it.
 */
static const struct {
	const char *words[2];
	double memory_gb, fp64, fp32, tf32, bf16, fp16, fp8;
} datasheets[] = {
	{{"H200"}, 4800, 33.5, 66.9, 494.7, 989.4, 989.4, 1978.9},
	{{"H100", "PCIe"}, 2000, 25.6, 51.2, 378, 756, 756, 1513},
	{{"H100"}, 3350, 33.5, 66.9, 494.7, 989.4, 989.4, 1978.9},
	{{"A100", "80GB"}, 1935, 9.7, 19.5, 156, 312, 312, 0},
	{{"A100"}, 1555, 9.7, 19.5, 156, 312, 312, 0},
	{{"A10"}, 600, 0, 31.2, 62.5, 125, 125, 0},
	{{"L40S"}, 864, 0, 91.6, 183, 362, 362, 733},
	{{"L4"}, 300, 0, 30.3, 60, 121, 121, 242.5},
	{{"V100", "PCIE"}, 900, 7, 14, 0, 0, 112, 0},
	{{"V100"}, 900, 7.8, 15.7, 0, 0, 125, 0},
	{{"T4"}, 300, 0, 8.1, 0, 0, 65, 0},
	{{"P100"}, 732, 4.7, 9.3, 0, 0, 18.7, 0},
	{{"MI300X"}, 5300, 81.7, 163.4, 653.7, 1307.4, 1307.4, 2614.9},
};

/* Whether the name contains the word between spaces, hyphens or its ends: "A10" is not in "A100". */
static bool has_word(const char *name, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = strstr(name, word); at; at = strstr(at + 1, word)) {
		bool begins = at == name || strchr(" -", at[-1]);

		if (begins && (!at[length] || strchr(" -", at[length])))
			return true;
	}
	return false;
}

static struct kwhy_gpu_peaks unknown_peaks(void)
{
	struct kwhy_gpu_peaks peaks = {.bytes_per_s = NAN};

	for (int i = 0; i < KWHY_PRECISION_COUNT; i++)
		peaks.flop_per_s[i] = NAN;
	return peaks;
}

static struct kwhy_gpu_peaks peaks_of_datasheet(const char *name)
{
	struct kwhy_gpu_peaks peaks = unknown_peaks();
	size_t i = 0, count = sizeof(datasheets) / sizeof(datasheets[0]);

	while (i < count &&
		(!has_word(name, datasheets[i].words[0]) ||
			(datasheets[i].words[1] && !has_word(name, datasheets[i].words[1]))))
		i++;
	if (i == count)
		return peaks;
	peaks.bytes_per_s = datasheets[i].memory_gb * 1e9;
	peaks.flop_per_s[KWHY_PRECISION_FP64] = datasheets[i].fp64;
	peaks.flop_per_s[KWHY_PRECISION_FP32] = datasheets[i].fp32;
	peaks.flop_per_s[KWHY_PRECISION_TF32] = datasheets[i].tf32;
	peaks.flop_per_s[KWHY_PRECISION_BF16] = datasheets[i].bf16;
	peaks.flop_per_s[KWHY_PRECISION_FP16] = datasheets[i].fp16;
	peaks.flop_per_s[KWHY_PRECISION_FP8] = datasheets[i].fp8;
	for (int p = 0; p < KWHY_PRECISION_COUNT; p++)
		peaks.flop_per_s[p] = peaks.flop_per_s[p] > 0 ? peaks.flop_per_s[p] * 1e12 : NAN;
	return peaks;
}

static bool is_measured(const struct kwhy_profile *profile)
{
	bool some = false;

	for (int p = 0; profile && p < KWHY_PRECISION_COUNT; p++)
		some |= profile->peak_flop_per_s[p] > 0;
	return some && profile->peak_bytes_per_s > 0;
}

struct kwhy_gpu_peaks kwhy_gpu_peaks_of(const struct kwhy_device *device, const struct kwhy_profile *profile)
{
	struct kwhy_gpu_peaks peaks;

	if (is_measured(profile)) {
		peaks = (struct kwhy_gpu_peaks){.bytes_per_s = profile->peak_bytes_per_s, .measured = true};
		memcpy(peaks.flop_per_s, profile->peak_flop_per_s, sizeof(peaks.flop_per_s));
		return peaks;
	}
	peaks = peaks_of_datasheet(device->name ? device->name : "");
	if (device->memory_rate_bytes_per_s > 0)
		peaks.bytes_per_s = device->memory_rate_bytes_per_s;
	return peaks;
}
