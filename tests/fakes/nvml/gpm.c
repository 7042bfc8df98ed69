/* SPDX-License-Identifier: Apache-2.0 */
/* NVML's GPM calls: performance metrics of a GPU or of a MIG instance. Those of an instance are read through
 * its GPU. */
#include "calls.h"

#include <math.h>
#include <stdlib.h>

#define MIN_NS INT64_C(100000000)

struct kwhy_nvml_gpm_sample_opaque {
	const struct fake_gpu *gpu;
	int64_t time_ns;
};

enum kwhy_nvml_result nvmlGpmQueryDeviceSupport(
	kwhy_nvml_handle device, struct kwhy_nvml_gpm_support *support)
{
	BEGIN(device, support);
	if (support->version != 1)
		return KWHY_NVML_INVALID_ARGUMENT;
	support->is_supported = gpu->numbers.gpm == 1;
	return KWHY_NVML_SUCCESS;
}

enum kwhy_nvml_result nvmlGpmSampleAlloc(kwhy_nvml_gpm_sample *out)
{
	enum kwhy_nvml_result result = fake_begin(__func__, NULL, false, out);

	if (!result)
		*out = calloc(1, sizeof(**out));
	return result;
}

enum kwhy_nvml_result nvmlGpmSampleFree(kwhy_nvml_gpm_sample sample)
{
	free(sample);
	return KWHY_NVML_SUCCESS;
}

enum kwhy_nvml_result nvmlGpmSampleGet(kwhy_nvml_handle device, kwhy_nvml_gpm_sample sample)
{
	BEGIN(device, sample);
	if (gpu->numbers.gpm != 1)
		return KWHY_NVML_NOT_SUPPORTED;
	*sample = (struct kwhy_nvml_gpm_sample_opaque){gpu, gpu->meters.now_ns};
	return KWHY_NVML_SUCCESS;
}

enum kwhy_nvml_result nvmlGpmMigSampleGet(
	kwhy_nvml_handle device, unsigned gpu_instance, kwhy_nvml_gpm_sample sample)
{
	const struct fake_gpu *instance;
	BEGIN(device, sample);

	if (gpu_instance < FAKE_FIRST_INSTANCE_ID ||
		gpu_instance - FAKE_FIRST_INSTANCE_ID >= gpu->instance_count)
		return KWHY_NVML_INVALID_ARGUMENT;
	instance = gpu->instances[gpu_instance - FAKE_FIRST_INSTANCE_ID];
	if (!fake_is_there(instance))
		return KWHY_NVML_INVALID_ARGUMENT;
	if (instance->numbers.gpm != 1)
		return KWHY_NVML_NOT_SUPPORTED;
	*sample = (struct kwhy_nvml_gpm_sample_opaque){instance, gpu->meters.now_ns};
	return KWHY_NVML_SUCCESS;
}

static double gpm_of(const struct fake_numbers *numbers, unsigned metric)
{
	const struct {
		unsigned metric;
		double value;
	} rows[] = {
		{KWHY_NVML_GPM_SM_ACTIVE, numbers->gpm_sm_percent},
		{KWHY_NVML_GPM_SM_OCCUPANCY, numbers->gpm_occupancy_percent},
		{KWHY_NVML_GPM_TENSOR_ACTIVE, numbers->gpm_tensor_percent},
		{KWHY_NVML_GPM_DRAM_ACTIVE, numbers->gpm_dram_percent},
		{KWHY_NVML_GPM_FP32_ACTIVE, numbers->gpm_fp32_percent},
		{KWHY_NVML_GPM_INTEGER_ACTIVE, numbers->gpm_integer_percent},
		{KWHY_NVML_GPM_FP16_ACTIVE, numbers->gpm_fp16_percent},
		{KWHY_NVML_GPM_FP64_ACTIVE, numbers->gpm_fp64_percent},
		{KWHY_NVML_GPM_PCIE_TX, numbers->gpm_pcie_tx_mib_s},
		{KWHY_NVML_GPM_PCIE_RX, numbers->gpm_pcie_rx_mib_s},
		{KWHY_NVML_GPM_NVLINK_RX, numbers->gpm_nvlink_rx_mib_s},
		{KWHY_NVML_GPM_NVLINK_TX, numbers->gpm_nvlink_tx_mib_s},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].metric == metric)
			return rows[i].value;
	return NAN;
}

/*
 * Computes metrics from two samples. As on an H200, all metrics are 0 if the samples are less than 100 ms
 * apart.
 */
enum kwhy_nvml_result nvmlGpmMetricsGet(struct kwhy_nvml_gpm_metrics *metrics)
{
	enum kwhy_nvml_result result = fake_begin(__func__, NULL, false, metrics);
	bool is_long;

	if (result)
		return result;
	if (metrics->version != 1 || !metrics->first || !metrics->second || !metrics->second->gpu)
		return KWHY_NVML_INVALID_ARGUMENT;
	is_long = metrics->second->time_ns - metrics->first->time_ns >= MIN_NS;
	for (unsigned i = 0; i < metrics->count; i++) {
		struct kwhy_nvml_gpm_metric *metric = &metrics->metrics[i];
		double value = gpm_of(&metrics->second->gpu->numbers, metric->metric);

		metric->result = isnan(value) ? KWHY_NVML_NOT_SUPPORTED : KWHY_NVML_SUCCESS;
		metric->value = is_long ? value : 0;
	}
	return KWHY_NVML_SUCCESS;
}
