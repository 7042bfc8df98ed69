/* SPDX-License-Identifier: Apache-2.0 */
#include "host/facts.h"

#include <inttypes.h>
#include <string.h>

enum { PROCESSES_ASKED = 256 };

static int64_t unknown_for(enum kwhy_nvml_result result)
{
	return result == KWHY_NVML_NO_PERMISSION ? KWHY_HOST_REFUSED : KWHY_HOST_UNKNOWN;
}

static int64_t known(enum kwhy_nvml_result result, unsigned value)
{
	return result == KWHY_NVML_SUCCESS ? (int64_t)value : unknown_for(result);
}

/*
 * Calls the NVML function `name`, which writes one unsigned number. Evaluates to the number or, if the call
 * fails, to KWHY_HOST_REFUSED (no permission) or KWHY_HOST_UNKNOWN.
 */
#define ask(nvml, name, ...)                                                                        \
	({                                                                                          \
		unsigned value_ = 0;                                                                \
		enum kwhy_nvml_result result_ = kwhy_nvml_call((nvml), name, __VA_ARGS__, &value_); \
		known(result_, value_);                                                             \
	})

static void read_names(const struct kwhy_host_facts *facts, const struct kwhy_nvml *nvml,
	kwhy_nvml_handle handle, struct kwhy_host_gpu *gpu)
{
	char text[KWHY_NVML_TEXT_BYTES];
	struct kwhy_nvml_pci pci;

	if (kwhy_nvml_call(nvml, nvmlDeviceGetName, handle, text, sizeof(text)) == KWHY_NVML_SUCCESS)
		gpu->name = kwhy_host_keep(facts, text);
	if (kwhy_nvml_call(nvml, nvmlDeviceGetUUID, handle, text, sizeof(text)) == KWHY_NVML_SUCCESS)
		gpu->uuid = kwhy_host_keep(facts, text);
	if (kwhy_nvml_call(nvml, nvmlDeviceGetPciInfo_v3, handle, &pci) == KWHY_NVML_SUCCESS) {
		gpu->pci_domain = pci.domain;
		gpu->pci_bus = pci.bus;
		gpu->pci_device = pci.device;
		gpu->pci_address = kwhy_host_keep(facts, kwhy_nvml_address(&pci, text));
	}
}

static void read_clocks(const struct kwhy_nvml *nvml, kwhy_nvml_handle handle, struct kwhy_host_gpu *gpu)
{
	unsigned long long reasons = 0;
	struct kwhy_nvml_utilization busy;
	enum kwhy_nvml_result result = kwhy_nvml_call(
		nvml, nvmlDeviceGetCurrentClocksEventReasons, handle, &reasons);

	if (result == KWHY_NVML_FUNCTION_NOT_FOUND)
		result = kwhy_nvml_call(nvml, nvmlDeviceGetCurrentClocksThrottleReasons, handle, &reasons);
	gpu->reasons = result == KWHY_NVML_SUCCESS ? (int64_t)reasons : unknown_for(result);
	gpu->sm_clock_mhz = ask(nvml, nvmlDeviceGetClockInfo, handle, KWHY_NVML_CLOCK_SM);
	gpu->sm_clock_most_mhz = ask(nvml, nvmlDeviceGetMaxClockInfo, handle, KWHY_NVML_CLOCK_SM);
	result = kwhy_nvml_call(nvml, nvmlDeviceGetUtilizationRates, handle, &busy);
	gpu->busy_percent = known(result, result == KWHY_NVML_SUCCESS ? busy.gpu_percent : 0);
}

static int64_t violation_ns(const struct kwhy_nvml *nvml, kwhy_nvml_handle handle, unsigned policy)
{
	struct kwhy_nvml_violation violation;
	enum kwhy_nvml_result result = kwhy_nvml_call(
		nvml, nvmlDeviceGetViolationStatus, handle, policy, &violation);

	return result == KWHY_NVML_SUCCESS ? (int64_t)violation.violation_ns : unknown_for(result);
}

static void read_health(const struct kwhy_nvml *nvml, kwhy_nvml_handle handle, struct kwhy_host_gpu *gpu)
{
	unsigned current, pending, corrected, uncorrected, failed;
	unsigned long long errors;
	enum kwhy_nvml_result result = kwhy_nvml_call(nvml, nvmlDeviceGetEccMode, handle, &current, &pending);

	gpu->ecc = known(result, result == KWHY_NVML_SUCCESS ? current : 0);
	result = kwhy_nvml_call(nvml, nvmlDeviceGetTotalEccErrors, handle, KWHY_NVML_ECC_UNCORRECTED,
		KWHY_NVML_ECC_VOLATILE, &errors);
	gpu->ecc_uncorrected = result == KWHY_NVML_SUCCESS ? (int64_t)errors : unknown_for(result);
	if (kwhy_nvml_call(nvml, nvmlDeviceGetRemappedRows, handle, &corrected, &uncorrected, &pending,
		    &failed) == KWHY_NVML_SUCCESS) {
		gpu->remap_pending = pending;
		gpu->remap_failed = failed;
	}
	gpu->power_violation_ns = violation_ns(nvml, handle, KWHY_NVML_POLICY_POWER);
	gpu->thermal_violation_ns = violation_ns(nvml, handle, KWHY_NVML_POLICY_THERMAL);
}

static void read_sharing(const struct kwhy_nvml *nvml, kwhy_nvml_handle handle, struct kwhy_host_gpu *gpu)
{
	struct kwhy_nvml_process processes[PROCESSES_ASKED];
	unsigned count = PROCESSES_ASKED, current, pending;
	enum kwhy_nvml_result result = kwhy_nvml_call(nvml, nvmlDeviceGetMigMode, handle, &current, &pending);

	gpu->mig = known(result, result == KWHY_NVML_SUCCESS ? current : 0);
	gpu->compute_mode = ask(nvml, nvmlDeviceGetComputeMode, handle);
	result = kwhy_nvml_call(nvml, nvmlDeviceGetComputeRunningProcesses_v3, handle, &count, processes);
	if (result == KWHY_NVML_FUNCTION_NOT_FOUND)
		result = kwhy_nvml_call(
			nvml, nvmlDeviceGetComputeRunningProcesses_v2, handle, &count, processes);
	gpu->process_count = known(result, count);
}

static void read_meters(const struct kwhy_nvml *nvml, kwhy_nvml_handle handle, struct kwhy_host_gpu *gpu)
{
	unsigned long long energy_mj = 0;
	enum kwhy_nvml_result result = kwhy_nvml_call(
		nvml, nvmlDeviceGetTotalEnergyConsumption, handle, &energy_mj);

	gpu->energy_mj = result == KWHY_NVML_SUCCESS ? (int64_t)energy_mj : unknown_for(result);
	gpu->power_mw = ask(nvml, nvmlDeviceGetPowerUsage, handle);
}

static void read_gpu(const struct kwhy_host_facts *facts, const struct kwhy_nvml *nvml,
	kwhy_nvml_handle handle, struct kwhy_host_gpu *gpu)
{
	read_names(facts, nvml, handle, gpu);
	read_clocks(nvml, handle, gpu);
	read_health(nvml, handle, gpu);
	read_sharing(nvml, handle, gpu);
	read_meters(nvml, handle, gpu);
	gpu->persistence = ask(nvml, nvmlDeviceGetPersistenceMode, handle);
	gpu->limit_mw = ask(nvml, nvmlDeviceGetEnforcedPowerLimit, handle);
	gpu->default_limit_mw = ask(nvml, nvmlDeviceGetPowerManagementDefaultLimit, handle);
	gpu->pcie_generation = ask(nvml, nvmlDeviceGetCurrPcieLinkGeneration, handle);
	gpu->pcie_generation_most = ask(nvml, nvmlDeviceGetMaxPcieLinkGeneration, handle);
	gpu->pcie_lanes = ask(nvml, nvmlDeviceGetCurrPcieLinkWidth, handle);
	gpu->pcie_lanes_most = ask(nvml, nvmlDeviceGetMaxPcieLinkWidth, handle);
}

static struct kwhy_host_gpu unknown_gpu(int32_t index)
{
	return (struct kwhy_host_gpu){
		.index = index,
		.ecc_uncorrected = KWHY_HOST_UNKNOWN,
		.remap_pending = KWHY_HOST_UNKNOWN,
		.remap_failed = KWHY_HOST_UNKNOWN,
	};
}

static enum kwhy_status add_gpus(struct kwhy_host_facts *facts, const struct kwhy_nvml *nvml, unsigned count,
	int64_t only, struct kwhy_error *error)
{
	kwhy_nvml_handle handle;

	facts->gpus = kwhy_arena_alloc(facts->arena, count + 1, sizeof(*facts->gpus));
	if (!facts->gpus)
		return kwhy_fail_memory(error, "the GPUs");
	for (unsigned i = 0; i < count; i++) {
		enum kwhy_nvml_result result = nvml->nvmlDeviceGetHandleByIndex_v2(i, &handle);
		struct kwhy_host_gpu *gpu = &facts->gpus[facts->gpu_count];

		if (only >= 0 && only != (int64_t)i)
			continue;
		if (result) {
			facts->no_gpu = kwhy_arena_printf(facts->arena, "GPU %u cannot be opened: %s", i,
				kwhy_nvml_words(nvml, result));
			continue;
		}
		*gpu = unknown_gpu((int32_t)i);
		read_gpu(facts, nvml, handle, gpu);
		facts->gpu_count++;
	}
	if (only >= (int64_t)count)
		return kwhy_fail(
			error, KWHY_E_USAGE, "there is no GPU %" PRId64 "; this machine has %u", only, count);
	return KWHY_OK;
}

static void read_versions(struct kwhy_host_facts *facts, const struct kwhy_nvml *nvml)
{
	char text[KWHY_NVML_TEXT_BYTES];
	int version;

	if (kwhy_nvml_call(nvml, nvmlSystemGetDriverVersion, text, sizeof(text)) == KWHY_NVML_SUCCESS)
		facts->driver = kwhy_host_keep(facts, text);
	if (kwhy_nvml_call(nvml, nvmlSystemGetCudaDriverVersion_v2, &version) == KWHY_NVML_SUCCESS)
		facts->cuda_version = version;
}

enum kwhy_status kwhy_host_read_gpus(struct kwhy_host_facts *facts, int64_t only, struct kwhy_error *error)
{
	struct kwhy_nvml nvml;
	unsigned count = 0;
	enum kwhy_nvml_result result;
	enum kwhy_status status = kwhy_nvml_open(&nvml, error);

	if (status == KWHY_E_UNSUPPORTED) {
		facts->no_gpu = kwhy_host_keep(facts, error->text);
		return KWHY_OK;
	}
	if (status)
		return status;
	read_versions(facts, &nvml);
	result = nvml.nvmlDeviceGetCount_v2(&count);
	if (result)
		facts->no_gpu = kwhy_arena_printf(
			facts->arena, "the GPUs cannot be listed: %s", kwhy_nvml_words(&nvml, result));
	else if (count == 0)
		facts->no_gpu = "the NVIDIA driver runs but shows no GPU; in a container look at "
				"NVIDIA_VISIBLE_DEVICES";
	status = add_gpus(facts, &nvml, count, only, error);
	kwhy_nvml_close(&nvml);
	return status;
}
