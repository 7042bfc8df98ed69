/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_PROFILE_H
#define KWHY_MODEL_PROFILE_H

#include "base/arena.h"
#include "model/meter.h"
#include "model/perf_counter.h"
#include "model/precision.h"
#include "model/transfers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A measured figure: value and standard uncertainty. Each of the two is NAN if unknown. */
struct kwhy_measured {
	double value;
	double sd;
};

/* Gross power of a device while it runs a kernel whose name contains `pattern`, and nothing else. */
struct kwhy_known_power {
	const char *pattern;
	struct kwhy_measured power_w;
};

/*
 * Power above idle of kernels of one kind that fill the device; above_idle_w.sd is the standard deviation of
 * the power over the kernels of the kind.
 */
struct kwhy_kind_power {
	const char *kind;	  /* "attention" */
	const char *const *names; /* patterns of fnmatch(3); the first kind with a matching pattern applies */
	size_t name_count;
	struct kwhy_measured above_idle_w;
};

/*
 * Powers above idle of kinds of kernels, and the factors by which they are multiplied for a launch that is
 * shorter than ramp_s, in seconds, or does not fill the device.
 */
struct kwhy_kernel_kinds {
	double ramp_s;
	double ramp_exponent; /* a launch shorter than ramp_s draws above idle the kind's power times (its
				 time / ramp_s) to this exponent */
	double fill_exponent; /* a launch with fewer blocks than multiprocessors draws above idle the kind's
				 power times (share of the multiprocessors that have a block) to this exponent
			       */
	struct kwhy_kind_power *items;
	size_t count; /* 0: no kind is known */
};

/*
 * Linear model of a kernel's power from the device's performance counters. The power above idle is base_w
 * plus, for each counter, its counts per second times joules[counter].
 */
struct kwhy_counter_model {
	double base_w;
	double spread; /* standard deviation of the logarithm of a kernel's power about the model's; 0: the
			  model is unknown */
	double joules[KWHY_PERF_COUNTER_COUNT];
	double sampling_w; /* additional power of a device with a context while its counters are sampled */
};

/* Source of one figure of a profile, and conditions of its measurement; both may be NULL. */
struct kwhy_profile_note {
	const char *part, *key; /* the figure, named as in kwhy_profile_figures */
	const char *source, *conditions;
};

/* How one meter behaved in the self-test. */
struct kwhy_self_test_source {
	enum kwhy_meter meter;
	uint64_t readings;
	struct kwhy_measured update_s;	      /* time between updates */
	double update_low_s, update_high_s;   /* 1st and 99th percentile of the time between updates */
	struct kwhy_measured time_constant_s; /* time constant of the low-pass filter that the meter's
						 readings show; NAN: they show none */
	struct kwhy_measured window_s; /* length of the window of its trailing mean; NAN: the meter reports no
					  trailing mean */
	struct kwhy_measured delay_s;
};

/* Methods to measure the energy of an interval. */
enum kwhy_self_test_method {
	KWHY_SELF_TEST_WINDOW,	/* counter and the 20 ms samples of NVML's ring buffer, both corrected for the
				   meter's lag; kwhy's own method */
	KWHY_SELF_TEST_COUNTER, /* last counter update before the end minus last counter update before the
				   start */
	KWHY_SELF_TEST_RING,	/* 20 ms samples, integrated by their time stamps */
	KWHY_SELF_TEST_AVERAGE, /* nvml.average_mw (trailing mean of the power), polled every 100 ms and
				   integrated */
	KWHY_SELF_TEST_INSTANT, /* nvml.instant_mw (instantaneous power), polled every 100 ms and integrated
				 */
	KWHY_SELF_TEST_METHOD_COUNT
};

/* Name of a method: "window", ... */
const char *kwhy_self_test_method_name(enum kwhy_self_test_method method);

/* A load that runs at known times: `pulses` cycles, each with on_s of work and off_s of idle time. */
struct kwhy_self_test_load {
	const char *name, *kernel;
	double on_s, off_s;
	uint32_t pulses;
	double window_s; /* length of the interval to which the energies below belong, from the load's begin
			    to the end of its last cycle */
	/* power while the load runs; NAN: the load is too short for the meter to show it */
	struct kwhy_measured power_w;
	/*
	 * Energy that the load must have drawn: computed from the times at which its kernel ran and the power
	 * that the same kernel drew in a long load; NAN: that power is unknown.
	 */
	struct kwhy_measured expected_j;
	double energy_j[KWHY_SELF_TEST_METHOD_COUNT]; /* energy that each method computes from the readings;
							 NAN: the method's meter does not exist or missed
							 readings */
};

/*
 * Result of a test of a device's meters: loads whose energy is known run, and the energies that the methods
 * compute from the meters are compared with it. The test cannot show a gain error that all meters share.
 */
struct kwhy_self_test {
	double temperature_low_c, temperature_high_c, clock_low_hz, clock_high_hz; /* NAN: not read */
	unsigned throttle_bits; /* bits of enum kwhy_throttle that were set at any time, without
				   KWHY_THROTTLE_IDLE */
	uint32_t seed;
	uint32_t processes_before;    /* number of other processes on the device; above 0: clean idle was not
					 measured */
	double ring_to_counter_ratio; /* energy of the whole self-test by the 20 ms samples, divided by that
					 by the counter; NAN: one of the meters is missing */
	struct kwhy_self_test_source *sources;
	size_t source_count;
	struct kwhy_self_test_load *loads;
	size_t load_count;
};

/*
 * Measured properties of one kind of machine (docs/formats/profile.md). The ledger uses a wide prior in place
 * of a figure that is unknown (NAN), and reports so.
 */
struct kwhy_profile {
	struct kwhy_arena arena;
	const char *path;	 /* path of the profile's file */
	const char *device_name; /* "NVIDIA H200" */
	const char *driver;	 /* version of the driver in the measurement */
	const char *measured_on; /* date, ISO 8601 */
	const char *cuda;	 /* version of CUDA in the measurement */
	uint32_t sm_count, threads_per_sm, registers_per_sm, shared_bytes_per_sm; /* 0: unknown */
	double memory_rate_bytes_per_s;

	struct {
		struct kwhy_measured time_constant_s; /* time constant of the first-order low-pass that the 20
							 ms samples show */
		struct kwhy_measured delay_s;
		struct kwhy_measured sample_period_s, counter_period_s;
		double late_share;	     /* share of the 20 ms samples whose time stamp is too late */
		struct kwhy_measured late_s; /* by how much the time stamps of these samples are too late */
		double average_window_s;     /* length of the window whose mean nvml.average_mw reports */
	} sensor;

	struct kwhy_measured clean_idle_w, context_idle_w, execution_idle_w;
	double limit_w;

	/*
	 * Durations of calls on the host, in seconds: launch of an empty kernel, synchronisation without
	 * work, copy of a few bytes from pageable memory to the device, launch of a graph.
	 */
	struct kwhy_measured launch_s, synchronize_s, copy_latency_s, graph_launch_s;
	/*
	 * Seconds by which each further empty kernel lengthens a time. graph_launch_node_s: the call that
	 * launches a graph of such kernels. graph_start_node_s: the time from the beginning of that call to
	 * the first kernel of the graph. graph_node_s: the run of the graph on the device. queued_kernel_s:
	 * the run on the device of a queue of single launches.
	 */
	struct kwhy_measured graph_launch_node_s, graph_start_node_s, graph_node_s, queued_kernel_s;
	struct kwhy_measured h2d_pinned_rate_bytes_per_s, h2d_pageable_rate_bytes_per_s,
		d2h_pinned_rate_bytes_per_s, d2h_pageable_rate_bytes_per_s;

	/*
	 * Highest rates that `kwhy bench ops` measured: FLOP/s by enum kwhy_precision, and bytes/s of device
	 * memory (reading, writing or copying).
	 */
	double peak_flop_per_s[KWHY_PRECISION_COUNT], peak_bytes_per_s;

	struct kwhy_known_power *known_powers;
	size_t known_power_count;
	struct kwhy_kernel_kinds kernel_kinds;
	struct kwhy_counter_model counter_model;

	const struct kwhy_self_test *self_test; /* memory of the arena; NULL: the profile has no self-test */
	/*
	 * Only the members curves, choices and crossover are set. They lie in the profile's arena and must
	 * not be freed. NULL: unknown.
	 */
	const struct kwhy_transfers *transfers;
	struct kwhy_profile_note *notes;
	size_t note_count;
};

/*
 * A figure of a profile: its place in the JSON (`key` in the object `part`), its unit, and the lowest and the
 * highest value that readers accept.
 */
struct kwhy_profile_figure {
	const char *part, *key, *unit;
	double low, high;
	size_t offset;	 /* offset in struct kwhy_profile, bytes */
	bool has_spread; /* the member is a struct kwhy_measured, not a double */
};

#define KWHY_PROFILE_SCHEMA "kwhy.profile/1"

extern const struct kwhy_profile_figure kwhy_profile_figures[];
extern const size_t kwhy_profile_figure_count;

/* Value of a figure in a profile; sd is NAN for figures that are plain doubles. */
struct kwhy_measured kwhy_profile_figure_get(
	const struct kwhy_profile *profile, const struct kwhy_profile_figure *figure);

/* Makes every figure and every peak rate NAN, and sets everything else to 0. */
void kwhy_profile_init(struct kwhy_profile *profile);

#endif
