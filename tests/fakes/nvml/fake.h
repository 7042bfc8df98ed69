/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_FAKES_NVML_FAKE_H
#define KWHY_TESTS_FAKES_NVML_FAKE_H

#include "vendor/nvml_abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Parts of the fake NVML: the scenario (scenario.c), the meters computed from it (meters.c) and the calls
 * (calls.c).
 */

enum {
	FAKE_GPUS = 16,
	FAKE_INSTANCES = 7,
	FAKE_FIRST_INSTANCE_ID = 3,
	FAKE_PROCESSES = 300,
	FAKE_FAULTS = 32,
	FAKE_POINTS = 4096,
	FAKE_RING = 512,
	FAKE_HISTORY = 128,
	FAKE_TEXT = 96
};

/* Numbers of a device, as X(key, default); NAN: the device does not offer it. */
#define FAKE_NUMBERS(X)                                                                   \
	X(before_w, NAN) /* power before time 0; NAN: the lowest power of the scenario */ \
	X(tau_ms, 14.5)                                                                   \
	X(lag_ms, 3.5)                                                                    \
	X(ring_depth, 120)                                                                \
	X(ring_period_ms, 20.02)                                                          \
	X(ring_late_every, 5)                                                             \
	X(ring_back_at_s, NAN)                                                            \
	X(energy_start_mj, 1000000)                                                       \
	X(energy_wrap_mj, NAN)                                                            \
	X(energy_reset_at_s, NAN)                                                         \
	X(energy_stuck_at_s, NAN)                                                         \
	X(energy_tick_ms, 100)                                                            \
	X(energy_phase_ms, 37)                                                            \
	X(average_ms, 101.5)                                                              \
	X(memory_w, 49.8)                                                                 \
	X(lost_at_s, NAN)                                                                 \
	X(sm_clock_mhz, 345)                                                              \
	X(memory_clock_mhz, 3201)                                                         \
	X(temperature_c, 33)                                                              \
	X(memory_temperature_c, 38)                                                       \
	X(throttle_reasons, 1)                                                            \
	X(memory_total_mib, 143771)                                                       \
	X(memory_reserved_mib, 616)                                                       \
	X(memory_used_mib, 0)                                                             \
	X(power_limit_w, 700)                                                             \
	X(default_limit_w, 700)                                                           \
	X(limit_least_w, 200)                                                             \
	X(limit_most_w, 700)                                                              \
	X(locked_clock_mhz, NAN) /* NAN: not locked */                                    \
	X(fan_percent, NAN)                                                               \
	X(busy_percent, 0)                                                                \
	X(memory_busy_percent, 0)                                                         \
	X(nvlinks, NAN)	   /* number of NVLinks */                                        \
	X(nvlinks_up, NAN) /* number of active NVLinks; NAN: all */                       \
	X(nvlink_mb_s, 26562)                                                             \
	X(nvlink_version, 6) /* the version number by which NVML means NVLink 4 */        \
	X(nvlink_remote, 2)  /* what is at the far end. 2: a switch; 0: the next GPU */   \
	X(common_ancestor, 50)                                                            \
	X(pcie_generation, 5)                                                             \
	X(pcie_width, 16)                                                                 \
	X(sm_clock_max_mhz, 1980)                                                         \
	X(power_violation_s, 0)                                                           \
	X(thermal_violation_s, 0)                                                         \
	X(pcie_generation_max, 5)                                                         \
	X(pcie_width_max, 16)                                                             \
	X(persistence, 1)                                                                 \
	X(ecc, 1)                                                                         \
	X(ecc_uncorrected, 0)                                                             \
	X(remap_pending, 0)                                                               \
	X(remap_failed, 0)                                                                \
	X(compute_mode, 0)                                                                \
	X(mig_mode, 0)                                                                    \
	X(mig_from_s, NAN)                                                                \
	X(mig_until_s, NAN)                                                               \
	X(gpm, 1)                                                                         \
	X(gpm_sm_percent, 0)                                                              \
	X(gpm_occupancy_percent, 0)                                                       \
	X(gpm_tensor_percent, 0)                                                          \
	X(gpm_dram_percent, 0)                                                            \
	X(gpm_fp32_percent, 0)                                                            \
	X(gpm_integer_percent, 0)                                                         \
	X(gpm_fp16_percent, 0)                                                            \
	X(gpm_fp64_percent, 0)                                                            \
	X(gpm_pcie_tx_mib_s, 0)                                                           \
	X(gpm_pcie_rx_mib_s, 0)                                                           \
	X(gpm_nvlink_rx_mib_s, NAN)                                                       \
	X(gpm_nvlink_tx_mib_s, NAN)

struct fake_numbers {
#define X(name, value) double name;
	FAKE_NUMBERS(X)
#undef X
};

enum fake_shape { FAKE_CONSTANT, FAKE_SQUARE, FAKE_STEPS };

struct fake_point {
	double time_s, power_w;
};

struct fake_power {
	enum fake_shape shape;
	double low_w, high_w, on_ms, off_ms; /* FAKE_CONSTANT uses high_w alone */
	/* FAKE_STEPS: each power lasts until the time of the next point */
	struct fake_point *points;
	size_t point_count;
};

/*
 * State of a device's meters at now_ns, up to which they have been simulated. Times are ns since the
 * scenario's time 0.
 */
struct fake_meters {
	int64_t now_ns, next_sample_ns, next_tick_ns, next_average_ns, next_history_ns;
	double sample_due_ns, tick_due_ns; /* sample_due_ns: time of the next sample; tick_due_ns: of the next
					      counter update; both unrounded */
	double level_w, energy_mj;
	int64_t stamps_ns[FAKE_RING];
	unsigned samples_mw[FAKE_RING];
	uint64_t sample_count, history_count;
	double history_mj[FAKE_HISTORY]; /* energy at each of the last multiples of 10 ms */
	unsigned long long counter_mj;
	double reset_mj;
	bool was_reset;
	unsigned average_mw, instant_mw;
};

struct fake_process {
	struct kwhy_nvml_process info;
	unsigned sm_percent; /* share of time in which its kernels run */
};

struct fake_gpu {
	int index; /* index of a GPU; -1: a MIG instance */
	char name[FAKE_TEXT], uuid[FAKE_TEXT];
	unsigned pci_domain, pci_bus, pci_device;
	struct fake_numbers numbers;
	struct fake_power power;
	struct fake_meters meters;
	struct fake_gpu *parent; /* the GPU of a MIG instance; NULL: this is a GPU */
	unsigned sm_count;	 /* multiprocessors of a MIG instance */
	double from_s, until_s;	 /* time in which a MIG instance exists, s of the scenario; NAN: no limit on
				    that side */
	struct fake_gpu *instances[FAKE_INSTANCES];
	unsigned instance_count;
	/*
	 * [index] the address of this byte is the handle of the MIG instance with that index among those that
	 * exist
	 */
	char places[FAKE_INSTANCES];
	struct fake_process processes[FAKE_PROCESSES];
	unsigned process_count;
};

/*
 * A fault: calls of the function `call` ("*": of all functions) that are made from after_s until before
 * until_s, in s of the scenario, are counted. Number `nth` of them, from 1, and the `times` - 1 calls after
 * it return `result`.
 */
struct fake_fault {
	char call[FAKE_TEXT];
	enum kwhy_nvml_result result;
	unsigned long nth, times, seen;
	double after_s, until_s; /* until_s NAN: to the end */
	double delay_ms; /* delay of each call of that function, at any time, with or without a `result` */
};

struct fake_scenario {
	char driver[FAKE_TEXT];
	struct fake_gpu gpus[FAKE_GPUS];
	unsigned gpu_count;
	struct fake_fault faults[FAKE_FAULTS];
	unsigned fault_count;
	int64_t origin_mono_ns; /* monotonic time of the first call */
	int64_t offset_ns;	/* Unix time minus monotonic time at the first call */
	bool has_settings;	/* the variable FAKE_SETTINGS names a file */
};

/* Environment variable that names the file with the first GPU's power limit and locked clock. */
#define FAKE_SETTINGS "KWHY_FAKE_NVML_SETTINGS"

/*
 * Environment variable with the CLOCK_MONOTONIC time, in ns, that is the scenario's time 0, so that
 * processes that run one after the other see the same meters.
 */
#define FAKE_SINCE "KWHY_FAKE_NVML_SINCE_NS"

/* Environment variable that names the file with the processes that use the devices now (processes.c). */
#define FAKE_PROCESS_FILE "KWHY_FAKE_NVML_PROCESSES"

/*
 * Reads the scenario from a file; NULL: one idle H200. Ends the program with a message that names the line
 * if it is wrong.
 */
void fake_scenario_read(struct fake_scenario *scenario, const char *path);
void fake_scenario_done(struct fake_scenario *scenario);
void fake_settings_write(const struct fake_scenario *scenario);

/* Makes the current time the scenario's time 0, unless FAKE_SINCE states it. */
void fake_clock_begin(struct fake_scenario *scenario);

/*
 * fake_now_ns: returns the time since the scenario's time 0, by the machine's clock or by the one that a test
 * set. fake_unix_us: returns the Unix time, us, of such a time.
 */
int64_t fake_now_ns(const struct fake_scenario *scenario);
int64_t fake_unix_us(const struct fake_scenario *scenario, int64_t time_ns);
bool fake_waits(void); /* whether a delay makes a call wait: only with the machine's clock, as a clock that a
			  test set does not move by itself */

/* Resets the fake to the state before the first call. */
void fake_forget(void);

/* Start a device's meters, and simulate them up to now_ns. */
void fake_meters_init(struct fake_scenario *scenario, struct fake_gpu *gpu);
void fake_meters_advance(struct fake_scenario *scenario, struct fake_gpu *gpu, int64_t now_ns);

#endif
