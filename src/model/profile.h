/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_PROFILE_H
#define KWHY_MODEL_PROFILE_H

#include "base/arena.h"
#include "model/meter.h"
#include "model/precision.h"
#include "model/transfers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A measured figure: value and standard uncertainty, both NAN where unknown. */
struct kwhy_measured {
	double value;
	double sd;
};

/* A power known for kernels whose name contains `pattern`, while the device runs nothing else. */
struct kwhy_known_power {
	const char *pattern;
	struct kwhy_measured power_w;
};

/* What kernels of one kind draw above idle where they fill the device; its spread is that between kernels. */
struct kwhy_kind_power {
	const char *kind;	  /* "attention" */
	const char *const *names; /* patterns of fnmatch(3); the first kind with one that matches is taken */
	size_t name_count;
	struct kwhy_measured above_idle_w;
};

/* The powers of kinds, and how they fall where a launch takes less than `ramp_s` or fills less than all. */
struct kwhy_kernel_kinds {
	double ramp_s;
	double ramp_exponent; /* of the launch's time over ramp_s */
	double fill_exponent; /* of the share of the multiprocessors that have a block */
	struct kwhy_kind_power *items;
	size_t count; /* 0: none is known */
};

/* Where a figure of a profile comes from, in words; either text may be NULL. */
struct kwhy_profile_note {
	const char *part, *key; /* as in kwhy_profile_figures */
	const char *source, *conditions;
};

/* How one meter behaved in the self-test. */
struct kwhy_self_test_source {
	enum kwhy_meter meter;
	uint64_t readings;
	struct kwhy_measured update_s;	      /* between updates */
	double update_low_s, update_high_s;   /* 1st and 99th percentile of single ones */
	struct kwhy_measured time_constant_s; /* NAN: it is no low-pass */
	struct kwhy_measured window_s;	      /* trailing mean; NAN: it is none */
	struct kwhy_measured delay_s;
};

/* Ways to tell the energy of a stretch of time. */
enum kwhy_self_test_method {
	KWHY_SELF_TEST_WINDOW,	/* counter and ring, lag taken back: what kwhy does */
	KWHY_SELF_TEST_COUNTER, /* the counter's last ticks before begin and end */
	KWHY_SELF_TEST_RING,	/* the 20 ms samples, integrated as they are stamped */
	KWHY_SELF_TEST_AVERAGE, /* averaged power, polled every 100 ms and integrated */
	KWHY_SELF_TEST_INSTANT, /* instantaneous power, likewise */
	KWHY_SELF_TEST_METHOD_COUNT
};

/* "window", ... */
const char *kwhy_self_test_method_name(enum kwhy_self_test_method method);

/* A load of known times. */
struct kwhy_self_test_load {
	const char *name, *kernel;
	double on_s, off_s;
	uint32_t pulses;
	double window_s; /* that the energies are of: from its begin to the end of its last cycle */
	struct kwhy_measured power_w; /* while it runs; NAN where it is too short to settle */
	/* From the powers of long loads and the times at which this one ran; NAN where there are none. */
	struct kwhy_measured expected_j;
	double energy_j[KWHY_SELF_TEST_METHOD_COUNT]; /* NAN: no such meter */
};

/* Known loads against every meter of the device. What it cannot know is a constant error of their gain. */
struct kwhy_self_test {
	double temperature_low_c, temperature_high_c, clock_low_hz, clock_high_hz; /* NAN: not read */
	unsigned throttle_bits; /* of enum kwhy_throttle, at any time; idling does not count */
	uint32_t seed;
	uint32_t processes_before;    /* of others on the device: then no clean idle was taken */
	double ring_to_counter_ratio; /* of the energies of the whole session; NAN: not both */
	struct kwhy_self_test_source *sources;
	size_t source_count;
	struct kwhy_self_test_load *loads;
	size_t load_count;
};

/*
 * What one kind of machine can do, measured on it once (docs/formats/profile.md). Every figure may be
 * unknown (NAN): then the ledger uses a wide prior and says so.
 */
struct kwhy_profile {
	struct kwhy_arena arena;
	const char *path;	 /* where it was read from */
	const char *device_name; /* "NVIDIA H200" */
	const char *driver;	 /* version it was measured with */
	const char *measured_on; /* date, ISO 8601 */
	const char *cuda;	 /* version it was measured with */
	uint32_t sm_count, threads_per_sm, registers_per_sm, shared_bytes_per_sm; /* 0: unknown */
	double memory_rate_bytes_per_s;

	struct {
		struct kwhy_measured time_constant_s; /* of the first-order low-pass of the 20 ms ring */
		struct kwhy_measured delay_s;
		struct kwhy_measured sample_period_s, counter_period_s;
		double late_share;	     /* of stamps that come late */
		struct kwhy_measured late_s; /* by how much */
		double average_window_s;     /* of nvml.average_mw */
	} sensor;

	struct kwhy_measured clean_idle_w, context_idle_w, execution_idle_w;
	double limit_w;

	/* Costs measured on this kind of machine; seconds. */
	struct kwhy_measured launch_s, synchronize_s, copy_latency_s, graph_launch_s;
	/* one kernel more that does nothing: on the host, in a graph's launch, and up to where the graph
	   begins; on the device, in a graph and in a queue of single launches */
	struct kwhy_measured graph_launch_node_s, graph_start_node_s, graph_node_s, queued_kernel_s;
	struct kwhy_measured h2d_pinned_rate_bytes_per_s, h2d_pageable_rate_bytes_per_s,
		d2h_pinned_rate_bytes_per_s, d2h_pageable_rate_bytes_per_s;

	/* The fastest that `kwhy bench ops` saw: of arithmetic by enum kwhy_precision, and of the device's
	   memory (reading, writing or copying). */
	double peak_flop_per_s[KWHY_PRECISION_COUNT], peak_bytes_per_s;

	struct kwhy_known_power *known_powers;
	size_t known_power_count;
	struct kwhy_kernel_kinds kernel_kinds;

	const struct kwhy_self_test *self_test; /* NULL: none; in the arena */
	/* Curves, choices and crossover alone; NULL: none. In the arena: not to be freed by itself. */
	const struct kwhy_transfers *transfers;
	struct kwhy_profile_note *notes;
	size_t note_count;
};

/*
 * The figures of a profile: where they stand in its JSON, their unit, their bounds (what no machine exceeds)
 * and where they go.
 */
struct kwhy_profile_figure {
	const char *part, *key, *unit;
	double low, high;
	size_t offset;	 /* in struct kwhy_profile */
	bool has_spread; /* the place is a struct kwhy_measured, not a double */
};

#define KWHY_PROFILE_SCHEMA "kwhy.profile/1"

extern const struct kwhy_profile_figure kwhy_profile_figures[];
extern const size_t kwhy_profile_figure_count;

/* What a profile holds there; the spread is NAN where it has none. */
struct kwhy_measured kwhy_profile_figure_get(
	const struct kwhy_profile *profile, const struct kwhy_profile_figure *figure);

/* Every figure unknown, everything else zero. */
void kwhy_profile_init(struct kwhy_profile *profile);

#endif
