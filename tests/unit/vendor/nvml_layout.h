/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_UNIT_VENDOR_NVML_LAYOUT_H
#define KWHY_TESTS_UNIT_VENDOR_NVML_LAYOUT_H

#include <stddef.h>

/*
 * Lists sizes, offsets and constants that must be equal in kwhy's and in the toolkit's declarations of
 * NVML. Two sources include the list, each with the names of one side: T(ours, theirs) is a size, M(type,
 * type, member, member) an offset, C(ours, theirs) a constant.
 */
#define NVML_LAYOUT(T, M, C)                                                                              \
	T(struct kwhy_nvml_sample, nvmlSample_t)                                                          \
	M(struct kwhy_nvml_sample, nvmlSample_t, value, sampleValue)                                      \
	T(struct kwhy_nvml_field, nvmlFieldValue_t)                                                       \
	M(struct kwhy_nvml_field, nvmlFieldValue_t, type, valueType)                                      \
	M(struct kwhy_nvml_field, nvmlFieldValue_t, result, nvmlReturn)                                   \
	M(struct kwhy_nvml_field, nvmlFieldValue_t, value, value)                                         \
	T(struct kwhy_nvml_pci, nvmlPciInfo_t)                                                            \
	M(struct kwhy_nvml_pci, nvmlPciInfo_t, domain, domain)                                            \
	M(struct kwhy_nvml_pci, nvmlPciInfo_t, bus_id, busId)                                             \
	T(struct kwhy_nvml_memory_v1, nvmlMemory_t)                                                       \
	M(struct kwhy_nvml_memory_v1, nvmlMemory_t, used_bytes, used)                                     \
	T(struct kwhy_nvml_memory_v2, nvmlMemory_v2_t)                                                    \
	M(struct kwhy_nvml_memory_v2, nvmlMemory_v2_t, used_bytes, used)                                  \
	C(KWHY_NVML_MEMORY_V2, nvmlMemory_v2)                                                             \
	T(struct kwhy_nvml_utilization, nvmlUtilization_t)                                                \
	M(struct kwhy_nvml_utilization, nvmlUtilization_t, memory_percent, memory)                        \
	T(struct kwhy_nvml_violation, nvmlViolationTime_t)                                                \
	M(struct kwhy_nvml_violation, nvmlViolationTime_t, violation_ns, violationTime)                   \
	C(KWHY_NVML_POLICY_THERMAL, NVML_PERF_POLICY_THERMAL)                                             \
	C(KWHY_NVML_ECC_UNCORRECTED, NVML_MEMORY_ERROR_TYPE_UNCORRECTED)                                  \
	C(KWHY_NVML_ECC_AGGREGATE, NVML_AGGREGATE_ECC)                                                    \
	C(KWHY_NVML_COMPUTE_PROHIBITED, NVML_COMPUTEMODE_PROHIBITED)                                      \
	C(KWHY_NVML_COMPUTE_EXCLUSIVE_PROCESS, NVML_COMPUTEMODE_EXCLUSIVE_PROCESS)                        \
	C(KWHY_NVML_REASON_SOFTWARE_THERMAL, nvmlClocksThrottleReasonSwThermalSlowdown)                   \
	C(KWHY_NVML_REASON_HARDWARE_POWER_BRAKE, nvmlClocksThrottleReasonHwPowerBrakeSlowdown)            \
	C(KWHY_NVML_REASON_DISPLAY_CLOCKS, nvmlClocksThrottleReasonDisplayClockSetting)                   \
	T(struct kwhy_nvml_attributes, nvmlDeviceAttributes_t)                                            \
	M(struct kwhy_nvml_attributes, nvmlDeviceAttributes_t, memory_mib, memorySizeMB)                  \
	T(struct kwhy_nvml_process, nvmlProcessInfo_t)                                                    \
	M(struct kwhy_nvml_process, nvmlProcessInfo_t, used_bytes, usedGpuMemory)                         \
	M(struct kwhy_nvml_process, nvmlProcessInfo_t, gpu_instance, gpuInstanceId)                       \
	T(struct kwhy_nvml_process_utilization, nvmlProcessUtilizationSample_t)                           \
	M(struct kwhy_nvml_process_utilization, nvmlProcessUtilizationSample_t, time_unix_us, timeStamp)  \
	M(struct kwhy_nvml_process_utilization, nvmlProcessUtilizationSample_t, sm_percent, smUtil)       \
	M(struct kwhy_nvml_process_utilization, nvmlProcessUtilizationSample_t, decoder_percent, decUtil) \
	T(struct kwhy_nvml_gpm_support, nvmlGpmSupport_t)                                                 \
	M(struct kwhy_nvml_gpm_support, nvmlGpmSupport_t, is_supported, isSupportedDevice)                \
	T(struct kwhy_nvml_gpm_metric, nvmlGpmMetric_t)                                                   \
	M(struct kwhy_nvml_gpm_metric, nvmlGpmMetric_t, value, value)                                     \
	M(struct kwhy_nvml_gpm_metrics, nvmlGpmMetricsGet_t, first, sample1)                              \
	M(struct kwhy_nvml_gpm_metrics, nvmlGpmMetricsGet_t, metrics, metrics)                            \
	T(enum kwhy_nvml_result, nvmlReturn_t)                                                            \
	C(KWHY_NVML_NOT_SUPPORTED, NVML_ERROR_NOT_SUPPORTED)                                              \
	C(KWHY_NVML_NO_PERMISSION, NVML_ERROR_NO_PERMISSION)                                              \
	C(KWHY_NVML_NOT_FOUND, NVML_ERROR_NOT_FOUND)                                                      \
	C(KWHY_NVML_INSUFFICIENT_SIZE, NVML_ERROR_INSUFFICIENT_SIZE)                                      \
	C(KWHY_NVML_DRIVER_NOT_LOADED, NVML_ERROR_DRIVER_NOT_LOADED)                                      \
	C(KWHY_NVML_FUNCTION_NOT_FOUND, NVML_ERROR_FUNCTION_NOT_FOUND)                                    \
	C(KWHY_NVML_GPU_IS_LOST, NVML_ERROR_GPU_IS_LOST)                                                  \
	C(KWHY_NVML_RESET_REQUIRED, NVML_ERROR_RESET_REQUIRED)                                            \
	C(KWHY_NVML_TOTAL_POWER_SAMPLES, NVML_TOTAL_POWER_SAMPLES)                                        \
	C(KWHY_NVML_CLOCK_SM, NVML_CLOCK_SM)                                                              \
	C(KWHY_NVML_CLOCK_MEMORY, NVML_CLOCK_MEM)                                                         \
	C(KWHY_NVML_SCOPE_MEMORY, NVML_POWER_SCOPE_MEMORY)                                                \
	C(KWHY_NVML_FIELD_MEMORY_TEMPERATURE, NVML_FI_DEV_MEMORY_TEMP)                                    \
	C(KWHY_NVML_FIELD_POWER_AVERAGE, NVML_FI_DEV_POWER_AVERAGE)                                       \
	C(KWHY_NVML_FIELD_NVLINK_SPEED_ALL, NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON)                         \
	C(KWHY_NVML_FIELD_NVLINK_COUNT, NVML_FI_DEV_NVLINK_LINK_COUNT)                                    \
	C(KWHY_NVML_FIELD_NVLINK_SPEED, NVML_FI_DEV_NVLINK_GET_SPEED)                                     \
	C(KWHY_NVML_LINK_TO_SWITCH, NVML_NVLINK_DEVICE_TYPE_SWITCH)                                       \
	C(KWHY_NVML_ANCESTOR_SYSTEM, NVML_TOPOLOGY_SYSTEM)                                                \
	C(KWHY_NVML_FIELD_POWER_INSTANT, NVML_FI_DEV_POWER_INSTANT)                                       \
	C(KWHY_NVML_TYPE_UNSIGNED_LONG_LONG, NVML_VALUE_TYPE_UNSIGNED_LONG_LONG)                          \
	C(KWHY_NVML_TYPE_SIGNED_LONG_LONG, NVML_VALUE_TYPE_SIGNED_LONG_LONG)                              \
	C(KWHY_NVML_TYPE_SIGNED_INT, NVML_VALUE_TYPE_SIGNED_INT)                                          \
	C(KWHY_NVML_TYPE_UNSIGNED_SHORT, NVML_VALUE_TYPE_UNSIGNED_SHORT)                                  \
	C(KWHY_NVML_GPM_SM_ACTIVE, NVML_GPM_METRIC_SM_UTIL)                                               \
	C(KWHY_NVML_GPM_SM_OCCUPANCY, NVML_GPM_METRIC_SM_OCCUPANCY)                                       \
	C(KWHY_NVML_GPM_INTEGER_ACTIVE, NVML_GPM_METRIC_INTEGER_UTIL)                                     \
	C(KWHY_NVML_GPM_TENSOR_ACTIVE, NVML_GPM_METRIC_ANY_TENSOR_UTIL)                                   \
	C(KWHY_NVML_GPM_DRAM_ACTIVE, NVML_GPM_METRIC_DRAM_BW_UTIL)                                        \
	C(KWHY_NVML_GPM_FP64_ACTIVE, NVML_GPM_METRIC_FP64_UTIL)                                           \
	C(KWHY_NVML_GPM_FP32_ACTIVE, NVML_GPM_METRIC_FP32_UTIL)                                           \
	C(KWHY_NVML_GPM_FP16_ACTIVE, NVML_GPM_METRIC_FP16_UTIL)                                           \
	C(KWHY_NVML_GPM_PCIE_TX, NVML_GPM_METRIC_PCIE_TX_PER_SEC)                                         \
	C(KWHY_NVML_GPM_PCIE_RX, NVML_GPM_METRIC_PCIE_RX_PER_SEC)                                         \
	C(KWHY_NVML_GPM_NVLINK_RX, NVML_GPM_METRIC_NVLINK_TOTAL_RX_PER_SEC)                               \
	C(KWHY_NVML_GPM_NVLINK_TX, NVML_GPM_METRIC_NVLINK_TOTAL_TX_PER_SEC)

struct nvml_layout_row {
	const char *what;
	size_t value;
};

extern const struct nvml_layout_row nvml_layout_of_toolkit[];

#endif
