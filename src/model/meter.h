/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_METER_H
#define KWHY_MODEL_METER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Meters of energy and power. Counters are cumulative and may wrap; powers are in milliwatts. */
enum kwhy_meter {
	KWHY_METER_NVML_ENERGY,		/* cumulative mJ, updated every 100 ms on an H200 */
	KWHY_METER_NVML_SAMPLE,		/* mW, samples of the 20 ms ring, low-pass filtered */
	KWHY_METER_NVML_AVERAGE,	/* mW, trailing 1 s mean */
	KWHY_METER_NVML_INSTANT,	/* mW, every fifth sample of the ring */
	KWHY_METER_NVML_MEMORY_AVERAGE, /* mW of the device's memory alone; part of the device's power, never
					   added to it */
	KWHY_METER_ROCM_ENERGY,		/* cumulative uJ: accumulator times its resolution */
	KWHY_METER_ROCM_POWER,		/* mW of the whole socket */
	KWHY_METER_RAPL_PACKAGE,	/* cumulative uJ */
	KWHY_METER_RAPL_DRAM,		/* cumulative uJ */
	KWHY_METER_HWMON_ENERGY,	/* cumulative uJ */
	KWHY_METER_HWMON_POWER,		/* mW */
	KWHY_METER_WALL,		/* mW, a meter of the user */
	KWHY_METER_COUNT
};

const char *kwhy_meter_name(enum kwhy_meter meter); /* as in power CSV, "N" in place of a domain's number */
/* Name with the domain's number: "rapl.package-0_uj". Returns `out`. */
#define KWHY_METER_NAME_BYTES 48
const char *kwhy_meter_source(char out[KWHY_METER_NAME_BYTES], enum kwhy_meter meter, uint32_t domain);
/* Finds the meter and domain of a name in power CSV; false: the text names no meter. */
bool kwhy_meter_find(const char *text, size_t length, enum kwhy_meter *out_meter, uint32_t *out_domain);
bool kwhy_meter_is_counter(enum kwhy_meter meter);
bool kwhy_meter_is_of_host(enum kwhy_meter meter); /* meters without a device: CPU packages, boards */
bool kwhy_meter_is_amd(
	enum kwhy_meter meter); /* meters of AMD devices, whose response has not been measured */
int64_t kwhy_meter_unit_nj(enum kwhy_meter meter); /* nanojoules per count; 0 for power meters */

/*
 * Other quantities that a device reports over time. Ratios are in permille, so that every value is an
 * integer. GPM gauges (Hopper and later) are measured by the device's own counters since the previous
 * reading; NVML's utilisation only reports whether anything ran.
 */
#define KWHY_GAUGES(X)                                                           \
	X(SM_CLOCK, "sm_clock_hz")                                               \
	X(MEMORY_CLOCK, "memory_clock_hz")                                       \
	X(TEMPERATURE, "temperature_millidegree_c")                              \
	X(MEMORY_TEMPERATURE, "memory_temperature_millidegree_c")                \
	X(THROTTLE_REASONS, "throttle_reasons") /* bits of enum kwhy_throttle */ \
	X(MEMORY_USED, "memory_used_bytes")                                      \
	X(POWER_LIMIT, "power_limit_mw")                                         \
	X(FAN_SPEED, "fan_speed_permille")                                       \
	X(BUSY, "busy_permille")	       /* NVML "utilization.gpu" */      \
	X(MEMORY_BUSY, "memory_busy_permille") /* NVML "utilization.memory" */   \
	X(SM_ACTIVE, "gpm_sm_active_permille")                                   \
	X(SM_OCCUPANCY, "gpm_sm_occupancy_permille")                             \
	X(FP32_ACTIVE, "gpm_fp32_active_permille")                               \
	X(TENSOR_ACTIVE, "gpm_tensor_active_permille")                           \
	X(INTEGER_ACTIVE, "gpm_integer_active_permille")                         \
	X(FP16_ACTIVE, "gpm_fp16_active_permille")                               \
	X(FP64_ACTIVE, "gpm_fp64_active_permille")                               \
	X(DRAM_ACTIVE, "gpm_dram_active_permille")                               \
	X(PCIE_RX, "pcie_rx_bytes_per_s")                                        \
	X(PCIE_TX, "pcie_tx_bytes_per_s")                                        \
	X(NVLINK_RX, "nvlink_rx_bytes_per_s")                                    \
	X(NVLINK_TX, "nvlink_tx_bytes_per_s")                                    \
	X(PCIE_GENERATION, "pcie_generation")                                    \
	X(PCIE_WIDTH, "pcie_width_lanes")

enum kwhy_gauge {
#define X(name, text) KWHY_GAUGE_##name,
	KWHY_GAUGES(X)
#undef X
		KWHY_GAUGE_COUNT
};

const char *kwhy_gauge_name(enum kwhy_gauge gauge); /* name with its unit: "sm_clock_hz" */

/*
 * Reasons why a device runs below its highest clocks, the same for all vendors: bits of
 * KWHY_GAUGE_THROTTLE_REASONS.
 */
enum kwhy_throttle {
	KWHY_THROTTLE_IDLE = 1 << 0, /* nothing runs, so nothing is lost */
	KWHY_THROTTLE_APPLICATION_CLOCKS = 1 << 1,
	KWHY_THROTTLE_POWER_CAP = 1 << 2,
	KWHY_THROTTLE_HARDWARE = 1 << 3, /* slowdown by hardware; its cause below, if known */
	KWHY_THROTTLE_HARDWARE_THERMAL = 1 << 4,
	KWHY_THROTTLE_HARDWARE_POWER_BRAKE = 1 << 5,
	KWHY_THROTTLE_SOFTWARE_THERMAL = 1 << 6,
	KWHY_THROTTLE_SYNC_BOOST = 1 << 7,
	KWHY_THROTTLE_DISPLAY_CLOCKS = 1 << 8,
	KWHY_THROTTLE_COUNT = 9 /* bits */
};

const char *kwhy_throttle_name(unsigned bit); /* 0 to KWHY_THROTTLE_COUNT - 1: "power_cap" */

#endif
