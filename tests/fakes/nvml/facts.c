/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that report a device's properties and settings. */
#include "calls.h"

#include <math.h>
#include <string.h>

enum kwhy_nvml_result nvmlDeviceGetCurrPcieLinkGeneration(kwhy_nvml_handle device, unsigned *out)
{
	BEGIN(device, out);
	return fake_offer(gpu->numbers.pcie_generation, out);
}

enum kwhy_nvml_result nvmlDeviceGetCurrPcieLinkWidth(kwhy_nvml_handle device, unsigned *out_lanes)
{
	BEGIN(device, out_lanes);
	return fake_offer(gpu->numbers.pcie_width, out_lanes);
}

enum kwhy_nvml_result nvmlDeviceGetMaxPcieLinkGeneration(kwhy_nvml_handle device, unsigned *out)
{
	BEGIN(device, out);
	return fake_offer(gpu->numbers.pcie_generation_max, out);
}

enum kwhy_nvml_result nvmlDeviceGetMaxPcieLinkWidth(kwhy_nvml_handle device, unsigned *out_lanes)
{
	BEGIN(device, out_lanes);
	return fake_offer(gpu->numbers.pcie_width_max, out_lanes);
}

enum kwhy_nvml_result nvmlDeviceGetTopologyCommonAncestor(
	kwhy_nvml_handle one, kwhy_nvml_handle other, unsigned *out)
{
	BEGIN(one, out);
	return other ? fake_offer(gpu->numbers.common_ancestor, out) : KWHY_NVML_INVALID_ARGUMENT;
}

static bool is_up(const struct fake_gpu *gpu, unsigned link)
{
	double up = isnan(gpu->numbers.nvlinks_up) ? gpu->numbers.nvlinks : gpu->numbers.nvlinks_up;

	return link < up;
}

static enum kwhy_nvml_result find_link(const struct fake_gpu *gpu, unsigned link)
{
	if (isnan(gpu->numbers.nvlinks))
		return KWHY_NVML_NOT_SUPPORTED;
	return link < gpu->numbers.nvlinks ? KWHY_NVML_SUCCESS : KWHY_NVML_INVALID_ARGUMENT;
}

enum kwhy_nvml_result nvmlDeviceGetNvLinkState(kwhy_nvml_handle device, unsigned link, unsigned *out_is_up)
{
	BEGIN(device, out_is_up);
	*out_is_up = is_up(gpu, link);
	return find_link(gpu, link);
}

enum kwhy_nvml_result nvmlDeviceGetNvLinkVersion(kwhy_nvml_handle device, unsigned link, unsigned *out)
{
	BEGIN(device, out);
	return find_link(gpu, link) ? find_link(gpu, link) : fake_offer(gpu->numbers.nvlink_version, out);
}

enum kwhy_nvml_result nvmlDeviceGetNvLinkRemoteDeviceType(
	kwhy_nvml_handle device, unsigned link, unsigned *out)
{
	BEGIN(device, out);
	return find_link(gpu, link) ? find_link(gpu, link) : fake_offer(gpu->numbers.nvlink_remote, out);
}

enum kwhy_nvml_result nvmlDeviceGetNvLinkRemotePciInfo_v2(
	kwhy_nvml_handle device, unsigned link, struct kwhy_nvml_pci *out)
{
	BEGIN(device, out);
	const struct fake_gpu *other = gpu->index % 2 ? gpu - 1 : gpu + 1;

	*out = (struct kwhy_nvml_pci){
		.domain = other->pci_domain, .bus = other->pci_bus, .device = other->pci_device};
	return find_link(gpu, link);
}

enum kwhy_nvml_result nvmlDeviceGetMaxClockInfo(kwhy_nvml_handle device, unsigned clock, unsigned *out_mhz)
{
	BEGIN(device, out_mhz);
	return fake_offer(clock == KWHY_NVML_CLOCK_MEMORY ? gpu->numbers.memory_clock_mhz
							  : gpu->numbers.sm_clock_max_mhz,
		out_mhz);
}

enum kwhy_nvml_result nvmlDeviceGetPersistenceMode(kwhy_nvml_handle device, unsigned *out)
{
	BEGIN(device, out);
	return fake_offer(gpu->numbers.persistence, out);
}

enum kwhy_nvml_result nvmlDeviceGetEccMode(
	kwhy_nvml_handle device, unsigned *out_current, unsigned *out_pending)
{
	BEGIN(device, out_current);
	if (out_pending)
		*out_pending = gpu->numbers.ecc == 1;
	return fake_offer(gpu->numbers.ecc, out_current);
}

enum kwhy_nvml_result nvmlDeviceGetTotalEccErrors(
	kwhy_nvml_handle device, unsigned kind, unsigned since, unsigned long long *out)
{
	BEGIN(device, out);
	(void)since;
	if (gpu->numbers.ecc != 1)
		return KWHY_NVML_NOT_SUPPORTED;
	*out = kind == KWHY_NVML_ECC_UNCORRECTED ? (unsigned long long)gpu->numbers.ecc_uncorrected : 0;
	return KWHY_NVML_SUCCESS;
}

enum kwhy_nvml_result nvmlDeviceGetRemappedRows(kwhy_nvml_handle device, unsigned *out_corrected,
	unsigned *out_uncorrected, unsigned *out_is_pending, unsigned *out_failed)
{
	BEGIN(device, out_failed);
	*out_corrected = *out_uncorrected = 0;
	*out_failed = gpu->numbers.remap_failed == 1;
	return fake_offer(gpu->numbers.remap_pending, out_is_pending);
}

enum kwhy_nvml_result nvmlDeviceGetComputeMode(kwhy_nvml_handle device, unsigned *out)
{
	BEGIN(device, out);
	return fake_offer(gpu->numbers.compute_mode, out);
}

enum kwhy_nvml_result nvmlDeviceGetMigMode(
	kwhy_nvml_handle device, unsigned *out_current, unsigned *out_pending)
{
	BEGIN(device, out_current);
	if (out_pending)
		*out_pending = gpu->numbers.mig_mode == 1;
	return fake_offer(isnan(gpu->numbers.mig_mode) ? NAN : fake_is_divided(gpu), out_current);
}

enum kwhy_nvml_result nvmlDeviceGetMaxMigDeviceCount(kwhy_nvml_handle device, unsigned *out)
{
	BEGIN(device, out);
	*out = fake_is_divided(gpu) ? FAKE_INSTANCES : 0;
	return KWHY_NVML_SUCCESS;
}

enum kwhy_nvml_result nvmlDeviceGetMigDeviceHandleByIndex(
	kwhy_nvml_handle device, unsigned index, kwhy_nvml_handle *out)
{
	BEGIN(device, out);
	if (!fake_instance_at(gpu, index)) /* an H200 without MIG answers so, too */
		return KWHY_NVML_NOT_FOUND;
	*out = (kwhy_nvml_handle)&gpu->places[index];
	return KWHY_NVML_SUCCESS;
}

/*
 * The id of a GPU instance differs from the index of its MIG device. Ids begin at FAKE_FIRST_INSTANCE_ID, as
 * NVML reserves the lower ones for larger profiles.
 */
enum kwhy_nvml_result nvmlDeviceGetGpuInstanceId(kwhy_nvml_handle mig_device, unsigned *out_id)
{
	BEGIN(mig_device, out_id);
	if (!gpu->parent)
		return KWHY_NVML_INVALID_ARGUMENT;
	for (unsigned i = 0; i < gpu->parent->instance_count; i++)
		if (gpu->parent->instances[i] == gpu)
			*out_id = FAKE_FIRST_INSTANCE_ID + i;
	return KWHY_NVML_SUCCESS;
}

enum kwhy_nvml_result nvmlDeviceGetAttributes_v2(
	kwhy_nvml_handle mig_device, struct kwhy_nvml_attributes *out)
{
	BEGIN(mig_device, out);
	if (!gpu->parent)
		return KWHY_NVML_NOT_SUPPORTED;
	*out = (struct kwhy_nvml_attributes){
		.sm_count = gpu->sm_count,
		.gpu_slices = 1,
		.compute_slices = 1,
		.memory_mib = (unsigned long long)gpu->numbers.memory_total_mib,
	};
	return KWHY_NVML_SUCCESS;
}
