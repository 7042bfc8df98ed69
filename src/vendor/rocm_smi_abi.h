/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_VENDOR_ROCM_SMI_ABI_H
#define KWHY_VENDOR_ROCM_SMI_ABI_H

#include <stddef.h>
#include <stdint.h>

/*
 * The part of ROCm SMI's binary interface that kwhy calls, declared by hand from its public documentation.
 * Functions have the vendor's names, types have kwhy's. The test unit_vendor_rocm_smi_layout compares the
 * declarations with the vendor's header where it is installed (Debian: librocm-smi-dev).
 */

/* Results of calls. Any other value is also an error. */
enum kwhy_rsmi_status {
	KWHY_RSMI_SUCCESS = 0,
	KWHY_RSMI_INVALID_ARGUMENT = 1,
	KWHY_RSMI_NOT_SUPPORTED = 2,
	KWHY_RSMI_FILE_ERROR = 3,
	KWHY_RSMI_PERMISSION = 4,
	KWHY_RSMI_NOT_FOUND = 10,
	KWHY_RSMI_INSUFFICIENT_SIZE = 11,
	KWHY_RSMI_UNKNOWN = -1
};

enum { KWHY_RSMI_COMPONENT_DRIVER = 0 };
enum { KWHY_RSMI_MEMORY_VRAM = 0 };
enum { KWHY_RSMI_CLOCK_SYSTEM = 0, KWHY_RSMI_CLOCK_MEMORY = 4 };
enum { KWHY_RSMI_TEMPERATURE_CURRENT = 0 };
enum { KWHY_RSMI_PLACE_EDGE = 0, KWHY_RSMI_PLACE_JUNCTION = 1, KWHY_RSMI_PLACE_MEMORY = 2 };
enum { KWHY_RSMI_TEXT_BYTES = 128 };

/*
 * Frequencies of a clock in Hz; `current` is the index of the present one. There are two layouts, since ROCm
 * 6.0 added a flag at the start. rsmi_dev_current_socket_power_get is new in that release, so its presence
 * shows which layout the library has.
 */
enum { KWHY_RSMI_FREQUENCIES_5 = 32, KWHY_RSMI_FREQUENCIES_6 = 33 };

struct kwhy_rsmi_frequencies_5 {
	uint32_t count, current;
	uint64_t frequency_hz[KWHY_RSMI_FREQUENCIES_5];
};

struct kwhy_rsmi_frequencies_6 {
	unsigned char has_deep_sleep;
	uint32_t count, current;
	uint64_t frequency_hz[KWHY_RSMI_FREQUENCIES_6];
};

union kwhy_rsmi_frequencies {
	struct kwhy_rsmi_frequencies_5 v5;
	struct kwhy_rsmi_frequencies_6 v6;
};

struct kwhy_rsmi_process {
	uint32_t pid, address_space;
	uint64_t memory_bytes, copied_us;
	uint32_t busy_percent;
};

int rsmi_init(uint64_t flags);
int rsmi_shut_down(void);
int rsmi_status_string(int status, const char **text);
int rsmi_num_monitor_devices(uint32_t *count);
int rsmi_version_str_get(int component, char *text, uint32_t bytes);
int rsmi_dev_name_get(uint32_t device, char *name, size_t bytes);
int rsmi_dev_unique_id_get(uint32_t device, uint64_t *id);
/* id: domain << 32 | bus << 8 | device << 3 | function */
int rsmi_dev_pci_id_get(uint32_t device, uint64_t *id);
int rsmi_dev_memory_total_get(uint32_t device, int kind, uint64_t *bytes);
int rsmi_dev_power_cap_get(uint32_t device, uint32_t sensor, uint64_t *power_uw);
int rsmi_dev_power_cap_default_get(uint32_t device, uint64_t *power_uw);
/*
 * Reads the energy counter, whose counts are `resolution_uj` microjoules each, and the driver's time of the
 * reading in nanoseconds since boot.
 */
int rsmi_dev_energy_count_get(uint32_t device, uint64_t *counts, float *resolution_uj, uint64_t *time_ns);
int rsmi_dev_current_socket_power_get(uint32_t device, uint64_t *power_uw);
int rsmi_dev_power_ave_get(uint32_t device, uint32_t sensor, uint64_t *power_uw);
int rsmi_dev_gpu_clk_freq_get(uint32_t device, int clock, union kwhy_rsmi_frequencies *frequencies);
int rsmi_dev_temp_metric_get(uint32_t device, uint32_t place, int metric, int64_t *millidegree_c);
int rsmi_dev_memory_usage_get(uint32_t device, int kind, uint64_t *bytes);
int rsmi_dev_busy_percent_get(uint32_t device, uint32_t *percent);
int rsmi_dev_memory_busy_percent_get(uint32_t device, uint32_t *percent);
int rsmi_dev_fan_speed_get(uint32_t device, uint32_t sensor, int64_t *speed);
int rsmi_dev_fan_speed_max_get(uint32_t device, uint32_t sensor, uint64_t *speed);
/* Lists processes. *count is the capacity on entry and the number of processes on return. */
int rsmi_compute_process_info_get(struct kwhy_rsmi_process *processes, uint32_t *count);
int rsmi_compute_process_gpus_get(uint32_t pid, uint32_t *devices, uint32_t *count);

#endif
