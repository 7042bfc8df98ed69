/* SPDX-License-Identifier: Apache-2.0 */
#include "rocm_smi_facts.h"

#include <rocm_smi/rocm_smi.h>
#include <stddef.h>

/*
 * Checks that the function in the vendor's header has the parameters with which kwhy calls it. Enumerations
 * count as integers of their size.
 */
#define TAKES(name, ...) \
	_Static_assert(__builtin_types_compatible_p(__typeof__(name), rsmi_status_t(__VA_ARGS__)), #name)

TAKES(rsmi_init, uint64_t);
TAKES(rsmi_shut_down, void);
TAKES(rsmi_status_string, rsmi_status_t, const char **);
TAKES(rsmi_num_monitor_devices, uint32_t *);
TAKES(rsmi_version_str_get, rsmi_sw_component_t, char *, uint32_t);
TAKES(rsmi_dev_name_get, uint32_t, char *, size_t);
TAKES(rsmi_dev_unique_id_get, uint32_t, uint64_t *);
TAKES(rsmi_dev_pci_id_get, uint32_t, uint64_t *);
TAKES(rsmi_dev_memory_total_get, uint32_t, rsmi_memory_type_t, uint64_t *);
TAKES(rsmi_dev_memory_usage_get, uint32_t, rsmi_memory_type_t, uint64_t *);
TAKES(rsmi_dev_power_cap_get, uint32_t, uint32_t, uint64_t *);
TAKES(rsmi_dev_power_cap_default_get, uint32_t, uint64_t *);
TAKES(rsmi_dev_energy_count_get, uint32_t, uint64_t *, float *, uint64_t *);
TAKES(rsmi_dev_power_ave_get, uint32_t, uint32_t, uint64_t *);
TAKES(rsmi_dev_gpu_clk_freq_get, uint32_t, rsmi_clk_type_t, rsmi_frequencies_t *);
TAKES(rsmi_dev_temp_metric_get, uint32_t, uint32_t, rsmi_temperature_metric_t, int64_t *);
TAKES(rsmi_dev_busy_percent_get, uint32_t, uint32_t *);
TAKES(rsmi_dev_memory_busy_percent_get, uint32_t, uint32_t *);
TAKES(rsmi_dev_fan_speed_get, uint32_t, uint32_t, int64_t *);
TAKES(rsmi_dev_fan_speed_max_get, uint32_t, uint32_t, uint64_t *);
TAKES(rsmi_compute_process_info_get, rsmi_process_info_t *, uint32_t *);
TAKES(rsmi_compute_process_gpus_get, uint32_t, uint32_t *, uint32_t *);
_Static_assert(sizeof(rsmi_memory_type_t) == sizeof(int) && sizeof(rsmi_clk_type_t) == sizeof(int) &&
		sizeof(rsmi_temperature_metric_t) == sizeof(int) &&
		sizeof(rsmi_sw_component_t) == sizeof(int),
	"enumerations are passed as int");

const long rocm_smi_vendor_facts[FACT_COUNT] = {
	[FACT_SUCCESS] = RSMI_STATUS_SUCCESS,
	[FACT_INVALID_ARGUMENT] = RSMI_STATUS_INVALID_ARGS,
	[FACT_NOT_SUPPORTED] = RSMI_STATUS_NOT_SUPPORTED,
	[FACT_FILE_ERROR] = RSMI_STATUS_FILE_ERROR,
	[FACT_PERMISSION] = RSMI_STATUS_PERMISSION,
	[FACT_NOT_FOUND] = RSMI_STATUS_NOT_FOUND,
	[FACT_INSUFFICIENT_SIZE] = RSMI_STATUS_INSUFFICIENT_SIZE,
	[FACT_PROCESS_BYTES] = sizeof(rsmi_process_info_t),
	[FACT_PROCESS_MEMORY_AT] = offsetof(rsmi_process_info_t, vram_usage),
	[FACT_UNKNOWN] = (int)RSMI_STATUS_UNKNOWN_ERROR,
	[FACT_DRIVER] = RSMI_SW_COMP_DRIVER,
	[FACT_VRAM] = RSMI_MEM_TYPE_VRAM,
	[FACT_CLOCK_SYSTEM] = RSMI_CLK_TYPE_SYS,
	[FACT_CLOCK_MEMORY] = RSMI_CLK_TYPE_MEM,
	[FACT_CURRENT] = RSMI_TEMP_CURRENT,
	[FACT_EDGE] = RSMI_TEMP_TYPE_EDGE,
	[FACT_JUNCTION] = RSMI_TEMP_TYPE_JUNCTION,
	[FACT_MEMORY] = RSMI_TEMP_TYPE_MEMORY,
	[FACT_FREQUENCIES_BYTES] = sizeof(rsmi_frequencies_t),
	[FACT_FREQUENCIES_MAX] = RSMI_MAX_NUM_FREQUENCIES,
	[FACT_COUNT_AT] = offsetof(rsmi_frequencies_t, num_supported),
	[FACT_CURRENT_AT] = offsetof(rsmi_frequencies_t, current),
	[FACT_FREQUENCY_AT] = offsetof(rsmi_frequencies_t, frequency),
	[FACT_RESULT_BYTES] = sizeof(rsmi_status_t),
};
