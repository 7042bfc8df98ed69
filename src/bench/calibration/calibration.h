/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_CALIBRATION_CALIBRATION_H
#define KWHY_BENCH_CALIBRATION_CALIBRATION_H

#include "base/arena.h"
#include "bench/calibration/costs.h"
#include "bench/calibration/load.h"
#include "model/meter.h"
#include "sensor/channel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The self-test of a GPU's meters runs known loads while it reads every meter and gauge. Struct
 * kwhy_calibration holds its raw results; bench/calibration/self_test.h derives a machine profile from them.
 * Times are of CLOCK_MONOTONIC.
 */
enum kwhy_phase_kind { KWHY_PHASE_CLEAN_IDLE, KWHY_PHASE_CONTEXT_IDLE, KWHY_PHASE_LOAD };

/* Name of a kind of phase: "clean-idle", "context-idle" or "load". */
const char *kwhy_phase_kind_name(enum kwhy_phase_kind kind);

/*
 * A phase of the self-test: one measurement of idle power, or one load. The interval [start_ns, end_ns] of a
 * load begins just before its first kernel and includes the pause after its last kernel.
 */
struct kwhy_phase {
	enum kwhy_phase_kind kind;
	struct kwhy_load load; /* the load that ran; valid for KWHY_PHASE_LOAD */
	int64_t start_ns, end_ns;
	/* the load's kernels are pulses[first_pulse] to pulses[first_pulse + pulse_count - 1] */
	size_t first_pulse, pulse_count;
};

struct kwhy_meter_series {
	const struct kwhy_reading *items;
	size_t count;
};

enum { KWHY_PHASES_MAX = 16 };

struct kwhy_calibration {
	struct kwhy_arena arena; /* owns all memory that this struct points to */
	struct kwhy_gpu_facts gpu;
	const char *driver; /* version of the driver; NULL: unknown */
	int64_t limit_mw;   /* power limit; -1: unknown */
	int64_t started_unix_ns, started_mono_ns;
	uint32_t seed;
	uint32_t processes_before; /* number of processes that used the device before this program did */
	struct kwhy_meter_series meters[KWHY_METER_COUNT];
	struct kwhy_meter_series gauges[KWHY_GAUGE_COUNT];
	struct kwhy_phase phases[KWHY_PHASES_MAX];
	size_t phase_count;
	struct kwhy_pulse *pulses;
	size_t pulse_count;
	struct kwhy_call_costs costs;
};

struct kwhy_calibration_request {
	const char *device; /* device number as in the vendor's tools; NULL: device 0 */
	double load_s;	    /* intended duration of each load in seconds; a load has at least two kernels */
	bool quick;	    /* run only three of the loads */
	uint32_t seed;
	/* Called as each part of the self-test begins, with its name; NULL: not called. */
	void (*progress)(void *context, const char *what);
	void *context;
};

/* Expected duration of the whole self-test, in seconds. */
double kwhy_calibration_seconds(const struct kwhy_calibration_request *request);

/*
 * Runs the self-test. It changes no clock rate, limit or mode. No other process should use the device: if one
 * does, idle power without a context is not measured. KWHY_E_UNSUPPORTED: the GPU, driver, compiler or a
 * meter is missing. End with kwhy_calibration_free().
 */
KWHY_MUST_USE enum kwhy_status kwhy_calibrate(const struct kwhy_calibration_request *request,
	struct kwhy_calibration **out, struct kwhy_error *error);
void kwhy_calibration_free(struct kwhy_calibration *calibration);

#endif
