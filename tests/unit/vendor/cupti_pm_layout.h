/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_UNIT_VENDOR_CUPTI_PM_LAYOUT_H
#define KWHY_TESTS_UNIT_VENDOR_CUPTI_PM_LAYOUT_H

#include <stddef.h>

/*
 * Lists what must be equal in kwhy's and in the toolkit's declarations of PM sampling: S(type, last member,
 * type) is a size that a call gets, M(type, type, member, member) an offset, C(ours, theirs) a constant.
 */
#define CUPTI_PM_LAYOUT(S, M, C)                                                                     \
	S(initialize, zero, CUpti_Profiler_Initialize_Params)                                        \
	S(chip, out_name, CUpti_Device_GetChipName_Params)                                           \
	S(availability, image, CUpti_PmSampling_GetCounterAvailability_Params)                       \
	S(host_open, out_host, CUpti_Profiler_Host_Initialize_Params)                                \
	S(host_close, host, CUpti_Profiler_Host_Deinitialize_Params)                                 \
	S(metrics, count, CUpti_Profiler_Host_ConfigAddMetrics_Params)                               \
	S(image_size, out_image_bytes, CUpti_Profiler_Host_GetConfigImageSize_Params)                \
	S(image, image, CUpti_Profiler_Host_GetConfigImage_Params)                                   \
	S(values, out_values, CUpti_Profiler_Host_EvaluateToGpuValues_Params)                        \
	S(enable, out_sampling, CUpti_PmSampling_Enable_Params)                                      \
	S(config, append, CUpti_PmSampling_SetConfig_Params)                                         \
	S(data_size, out_data_bytes, CUpti_PmSampling_GetCounterDataSize_Params)                     \
	S(data, data, CUpti_PmSampling_CounterDataImage_Initialize_Params)                           \
	S(switch, sampling, CUpti_PmSampling_Start_Params)                                           \
	S(switch, sampling, CUpti_PmSampling_Stop_Params)                                            \
	S(switch, sampling, CUpti_PmSampling_Disable_Params)                                         \
	S(decode, out_overflow, CUpti_PmSampling_DecodeData_Params)                                  \
	S(info, out_complete, CUpti_PmSampling_GetCounterDataInfo_Params)                            \
	S(sample, out_end_ns, CUpti_PmSampling_CounterData_GetSampleInfo_Params)                     \
	M(chip, CUpti_Device_GetChipName_Params, device, deviceIndex)                                \
	M(availability, CUpti_PmSampling_GetCounterAvailability_Params, image_bytes,                 \
		counterAvailabilityImageSize)                                                        \
	M(host_open, CUpti_Profiler_Host_Initialize_Params, profiler, profilerType)                  \
	M(host_open, CUpti_Profiler_Host_Initialize_Params, chip, pChipName)                         \
	M(host_open, CUpti_Profiler_Host_Initialize_Params, availability, pCounterAvailabilityImage) \
	M(metrics, CUpti_Profiler_Host_ConfigAddMetrics_Params, names, ppMetricNames)                \
	M(image, CUpti_Profiler_Host_GetConfigImage_Params, image_bytes, configImageSize)            \
	M(values, CUpti_Profiler_Host_EvaluateToGpuValues_Params, data, pCounterDataImage)           \
	M(values, CUpti_Profiler_Host_EvaluateToGpuValues_Params, sample, rangeIndex)                \
	M(values, CUpti_Profiler_Host_EvaluateToGpuValues_Params, names, ppMetricNames)              \
	M(values, CUpti_Profiler_Host_EvaluateToGpuValues_Params, count, numMetrics)                 \
	M(enable, CUpti_PmSampling_Enable_Params, device, deviceIndex)                               \
	M(config, CUpti_PmSampling_SetConfig_Params, image_bytes, configSize)                        \
	M(config, CUpti_PmSampling_SetConfig_Params, image, pConfig)                                 \
	M(config, CUpti_PmSampling_SetConfig_Params, buffer_bytes, hardwareBufferSize)               \
	M(config, CUpti_PmSampling_SetConfig_Params, interval_ns, samplingInterval)                  \
	M(config, CUpti_PmSampling_SetConfig_Params, trigger, triggerMode)                           \
	M(data_size, CUpti_PmSampling_GetCounterDataSize_Params, names, pMetricNames)                \
	M(data_size, CUpti_PmSampling_GetCounterDataSize_Params, most_samples, maxSamples)           \
	M(data, CUpti_PmSampling_CounterDataImage_Initialize_Params, data_bytes, counterDataSize)    \
	M(decode, CUpti_PmSampling_DecodeData_Params, data, pCounterDataImage)                       \
	M(decode, CUpti_PmSampling_DecodeData_Params, out_stopped_by, decodeStopReason)              \
	M(info, CUpti_PmSampling_GetCounterDataInfo_Params, data_bytes, counterDataImageSize)        \
	M(sample, CUpti_PmSampling_CounterData_GetSampleInfo_Params, sample, sampleIndex)            \
	M(sample, CUpti_PmSampling_CounterData_GetSampleInfo_Params, out_start_ns, startTimestamp)   \
	C(KWHY_CUPTI_OUT_OF_MEMORY, CUPTI_ERROR_OUT_OF_MEMORY)                                       \
	C(KWHY_CUPTI_INVALID_METRIC_NAME, CUPTI_ERROR_INVALID_METRIC_NAME)                           \
	C(KWHY_CUPTI_HARDWARE_BUSY, CUPTI_ERROR_HARDWARE_BUSY)                                       \
	C(KWHY_CUPTI_NOT_SUPPORTED, CUPTI_ERROR_NOT_SUPPORTED)                                       \
	C(KWHY_CUPTI_INSUFFICIENT_PRIVILEGES, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES)                   \
	C(KWHY_CUPTI_VIRTUAL_PRIVILEGES, CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES)     \
	C(KWHY_CUPTI_MIG_NOT_SUPPORTED, CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED)                        \
	C(KWHY_CUPTI_PROFILER_PM_SAMPLING, CUPTI_PROFILER_TYPE_PM_SAMPLING)                          \
	C(KWHY_CUPTI_PM_TRIGGER_TIME, CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL)              \
	C(KWHY_CUPTI_PM_KEEP_OLDEST, CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST)      \
	C(KWHY_CUPTI_PM_STOPPED_BY_FULL_IMAGE, CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL)

struct cupti_pm_layout_row {
	const char *what;
	size_t value;
};

#ifdef __cplusplus
extern "C"
#endif
	const struct cupti_pm_layout_row *
	cupti_pm_layout_of_toolkit(void);

#endif
