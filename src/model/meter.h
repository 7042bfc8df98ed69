/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_METER_H
#define KWHY_MODEL_METER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Meters of energy and power: the rows of model/meters.def. Counters are cumulative and may wrap. */
enum kwhy_meter {
#define X(meter, ...) KWHY_METER_##meter,
#include "model/meters.def"
#undef X
	KWHY_METER_COUNT
};

enum kwhy_meter_unit {
	KWHY_METER_UNIT_MILLIJOULES,
	KWHY_METER_UNIT_MICROJOULES,
	KWHY_METER_UNIT_MILLIWATTS,
	KWHY_METER_UNIT_COUNT
};

/*
 * What draws the energy that a meter reports. Each value is one bit, so that several owners can be selected
 * by a mask.
 */
enum kwhy_meter_owner {
	KWHY_METER_OWNER_GPU = 1 << 0,
	/* memory of a GPU; the GPU's own meter includes it, so the two energies are never added */
	KWHY_METER_OWNER_GPU_MEMORY = 1 << 1,
	KWHY_METER_OWNER_PACKAGE = 1 << 2, /* a package of the CPU */
	KWHY_METER_OWNER_DRAM = 1 << 3, /* memory of a package, which the package's meter does not include */
	/*
	 * everything that a sensor on a mainboard measures; this may include GPUs, packages and memory, so
	 * its energy is never added to theirs
	 */
	KWHY_METER_OWNER_BOARD = 1 << 4,
	/* a meter that the user supplies, for the GPU that its readings name, else for the host */
	KWHY_METER_OWNER_USER = 1 << 5,
};
/* Owners whose meters may report the energy or power of a whole GPU. */
#define KWHY_METER_OF_DEVICE (KWHY_METER_OWNER_GPU | KWHY_METER_OWNER_USER)

enum kwhy_vendor { KWHY_VENDOR_NVIDIA, KWHY_VENDOR_AMD, KWHY_VENDOR_OTHER };

/*
 * What one reading of a meter means. Each value is one bit, so that several roles can be selected by a
 * mask.
 */
enum kwhy_meter_role {
	KWHY_METER_ROLE_COUNTS = 1 << 0, /* cumulative energy up to the time of the reading */
	/*
	 * cumulative energy up to the counter's last update, which may be long before the reading; readings
	 * without a change add no information
	 */
	KWHY_METER_ROLE_UPDATES = 1 << 1,
	KWHY_METER_ROLE_SAMPLES = 1 << 2, /* power at the time that the source's time stamp states */
	/* power at the time of the reading; changes between two readings are missed */
	KWHY_METER_ROLE_INSTANTS = 1 << 3,
	KWHY_METER_ROLE_MEANS = 1 << 4, /* mean power over about 1 s before the reading */
};
#define KWHY_METER_COUNTERS (KWHY_METER_ROLE_COUNTS | KWHY_METER_ROLE_UPDATES)
#define KWHY_METER_POWERS (KWHY_METER_ROLE_SAMPLES | KWHY_METER_ROLE_INSTANTS | KWHY_METER_ROLE_MEANS)

/* How a meter's readings follow the power over time; the figures are in model/response.c. */
enum kwhy_meter_response {
	KWHY_METER_RESPONSE_H200,   /* delay and low-pass as measured on one H200; used for all NVML meters */
	KWHY_METER_RESPONSE_AMD,    /* AMD's meters, not measured */
	KWHY_METER_RESPONSE_PROMPT, /* meters without delay */
	/* meters at the wall socket, which update once per second and then state the previous second's mean
	 */
	KWHY_METER_RESPONSE_DESK,
	KWHY_METER_RESPONSE_COUNT
};

struct kwhy_meter_row {
	const char *name; /* name in power CSV, with "N" in place of the number of a domain, such as a RAPL
			     package */
	enum kwhy_meter_unit unit;
	enum kwhy_meter_owner owner;
	enum kwhy_vendor vendor;
	enum kwhy_meter_role role;
	uint8_t rank; /* order of preference, 1 first, among the meters of one owner; meters of GPUs and of
			 users share one order */
	enum kwhy_meter_response response;
};

const struct kwhy_meter_row *kwhy_meter_row(enum kwhy_meter meter);
const char *kwhy_meter_name(enum kwhy_meter meter);
/* Writes the meter's name with the domain's number in place of "N": "rapl.package-0_uj". Returns `out`. */
#define KWHY_METER_NAME_BYTES 48
const char *kwhy_meter_source(char out[KWHY_METER_NAME_BYTES], enum kwhy_meter meter, uint32_t domain);
/* Finds the meter and domain of a name in power CSV; false: the text names no meter. */
bool kwhy_meter_find(const char *text, size_t length, enum kwhy_meter *out_meter, uint32_t *out_domain);
bool kwhy_meter_is_counter(enum kwhy_meter meter);
bool kwhy_meter_is_mean(enum kwhy_meter meter);
/* whether the meter is of a CPU package, its DRAM or a board, and never of a GPU */
bool kwhy_meter_is_of_host(enum kwhy_meter meter);
int64_t kwhy_meter_unit_nj(enum kwhy_meter meter);	 /* nanojoules per count; 0 for power meters */
const char *kwhy_meter_unit_name(enum kwhy_meter meter); /* "millijoules" */

/* All meters with one of these owners and one of these roles (bits), the preferred ones first. */
struct kwhy_meter_list {
	enum kwhy_meter items[KWHY_METER_COUNT];
	size_t count;
};
struct kwhy_meter_list kwhy_meters_ranked(unsigned owners, unsigned roles);

/*
 * Quantities other than energy and power that a device reports over time. Ratios are in permille, so that
 * every value is an integer. GPM gauges (NVML's GPU performance monitoring, Hopper and later) are means since
 * the previous reading, from the device's performance counters. NVML's utilisation is the share of time in
 * which anything ran, however little of the device it used.
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
	KWHY_THROTTLE_IDLE = 1 << 0, /* the device is idle, so no speed is lost */
	KWHY_THROTTLE_APPLICATION_CLOCKS = 1 << 1,
	KWHY_THROTTLE_POWER_CAP = 1 << 2,
	/* slowdown by hardware; the cause is one of the next two bits, if it is known */
	KWHY_THROTTLE_HARDWARE = 1 << 3,
	KWHY_THROTTLE_HARDWARE_THERMAL = 1 << 4,
	KWHY_THROTTLE_HARDWARE_POWER_BRAKE = 1 << 5,
	KWHY_THROTTLE_SOFTWARE_THERMAL = 1 << 6,
	KWHY_THROTTLE_SYNC_BOOST = 1 << 7,
	KWHY_THROTTLE_DISPLAY_CLOCKS = 1 << 8,
	KWHY_THROTTLE_COUNT = 9 /* number of bits */
};

/* name of a bit from 0 to KWHY_THROTTLE_COUNT - 1: "power_cap" */
const char *kwhy_throttle_name(unsigned bit);

#endif
