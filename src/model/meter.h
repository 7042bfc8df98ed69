/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_METER_H
#define KWHY_MODEL_METER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What can be read of energy and power. Counters are cumulative and may wrap; powers are milliwatts. */
enum kwhy_meter {
	KWHY_METER_NVML_ENERGY,		/* cumulative mJ, ticks every 100 ms on an H200 */
	KWHY_METER_NVML_SAMPLE,		/* mW, the 20 ms ring, low-pass */
	KWHY_METER_NVML_AVERAGE,	/* mW, trailing 1 s mean */
	KWHY_METER_NVML_INSTANT,	/* mW, every fifth sample of the ring */
	KWHY_METER_NVML_MEMORY_AVERAGE, /* mW, of the device's memory alone: part of the device, never added
					 */
	KWHY_METER_ROCM_ENERGY,		/* cumulative uJ: accumulator times its resolution */
	KWHY_METER_ROCM_POWER,		/* mW of the socket */
	KWHY_METER_RAPL_PACKAGE,	/* cumulative uJ */
	KWHY_METER_RAPL_DRAM,		/* cumulative uJ */
	KWHY_METER_HWMON_ENERGY,	/* cumulative uJ */
	KWHY_METER_HWMON_POWER,		/* mW */
	KWHY_METER_WALL,		/* mW, a meter of the user's */
	KWHY_METER_COUNT
};

const char *kwhy_meter_name(enum kwhy_meter meter); /* as in power CSV, "N" for the number of a domain */
/* The same with its domain: "rapl.package-0_uj". Returns `out`. */
#define KWHY_METER_NAME_BYTES 48
const char *kwhy_meter_source(char out[KWHY_METER_NAME_BYTES], enum kwhy_meter meter, uint32_t domain);
/* Which meter, and which domain of it, power CSV means by that text; false: none. */
bool kwhy_meter_find(const char *text, size_t length, enum kwhy_meter *out_meter, uint32_t *out_domain);
bool kwhy_meter_is_counter(enum kwhy_meter meter);
bool kwhy_meter_is_of_host(enum kwhy_meter meter); /* has no device: CPU packages, boards */
bool kwhy_meter_is_amd(
	enum kwhy_meter meter); /* of a device of AMD's: it has not been measured how it responds */
int64_t kwhy_meter_unit_nj(enum kwhy_meter meter); /* nanojoules a count; 0 for power meters */

/*
 * What else a device says of itself over time. A ratio is in permille, so that every value is an integer.
 * The GPM ones (Hopper and later) are measured by the device's own counters over the interval since the
 * reading before; NVML's utilisation only says that something ran.
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

const char *kwhy_gauge_name(enum kwhy_gauge gauge); /* with its unit: "sm_clock_hz" */

/* Why a device runs below its clocks, in words of our own: bits of KWHY_GAUGE_THROTTLE_REASONS. */
enum kwhy_throttle {
	KWHY_THROTTLE_IDLE = 1 << 0, /* nothing to run: not a loss */
	KWHY_THROTTLE_APPLICATION_CLOCKS = 1 << 1,
	KWHY_THROTTLE_POWER_CAP = 1 << 2,
	KWHY_THROTTLE_HARDWARE = 1 << 3, /* slowdown by hardware, reason below where known */
	KWHY_THROTTLE_HARDWARE_THERMAL = 1 << 4,
	KWHY_THROTTLE_HARDWARE_POWER_BRAKE = 1 << 5,
	KWHY_THROTTLE_SOFTWARE_THERMAL = 1 << 6,
	KWHY_THROTTLE_SYNC_BOOST = 1 << 7,
	KWHY_THROTTLE_DISPLAY_CLOCKS = 1 << 8,
	KWHY_THROTTLE_COUNT = 9 /* bits */
};

const char *kwhy_throttle_name(unsigned bit); /* 0 to KWHY_THROTTLE_COUNT - 1: "power_cap" */

#endif
