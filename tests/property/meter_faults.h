/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_PROPERTY_METER_FAULTS_H
#define TESTS_PROPERTY_METER_FAULTS_H

#include "model/meter.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Made-up runs of devices with known power, the readings that working meters would give of them, and faults
 * in these readings that real meters have had. All of a case is random and follows from its seed.
 */

/* one X(kind, words) for each kind of fault, with its description */
#define METER_FAULTS(X)                                       \
	X(NONE, "no fault")                                   \
	X(STUCK_FROM, "stuck from a time on")                 \
	X(STUCK_WHILE, "stuck for a while")                   \
	X(STUCK_ALWAYS, "stuck")                              \
	X(ZERO_FROM, "0 from a time on")                      \
	X(LATE, "late by the same time")                      \
	X(JITTER, "late by random times")                     \
	X(REPEATED, "rows repeated")                          \
	X(DISORDERED, "rows in another order")                \
	X(NEGATIVE, "negative")                               \
	X(NOT_A_NUMBER, "not a number")                       \
	X(WRAPPED, "wrapped at 32 bits")                      \
	X(RESET, "reset to 0")                                \
	X(DIP, "a dip")                                       \
	X(PEAK, "a peak")                                     \
	X(JUMP, "a jump that persists")                       \
	X(UNIT_FROM, "another unit from a time on")           \
	X(UNIT_ALWAYS, "another unit")                        \
	X(RENUMBERED, "two devices exchanged from a time on") \
	X(LOST_WHILE, "lost and back")                        \
	X(RELOADED, "driver reloaded: lost, then from 0")     \
	X(WITHDRAWN, "no readings from a time on")            \
	X(LATE_START, "no readings before a time")            \
	X(CLOCK_STEP, "clock set in the middle")              \
	X(SPARSE, "read rarely")

enum meter_fault {
#define X(kind, words) FAULT_##kind,
	METER_FAULTS(X)
#undef X
		FAULT_COUNT
};

const char *meter_fault_words(enum meter_fault fault);

enum { FAULT_DEVICES = 2, FAULT_METERS = 4, FAULT_RUNS = 400, FAULT_KINDS = 3 };
/* Value of a reading for which the meter gave no number. */
#define FAULT_NO_NUMBER (-INT64_C(9999))

/* Readings of one meter; times in ns since the start of the run */
struct fault_series {
	enum kwhy_meter meter;
	int device; /* -1: the host */
	int64_t *time_ns, *value;
	size_t count;
};

struct fault_run {
	int64_t start_ns, end_ns;
	int kind; /* kind of work, index into kind_w */
};

/*
 * The true state of a device or of the host (the host has no runs). power_w: power in each
 * millisecond; power_w[0] is FAULT_BEFORE_MS before the start of the run.
 */
struct fault_device {
	struct fault_run runs[FAULT_RUNS];
	size_t run_count;
	double *power_w;
	double idle_w, kind_w[FAULT_KINDS];
};

struct fault_case {
	uint64_t seed;
	enum meter_fault fault;
	int device_count;
	size_t length_ms; /* number of values of power_w, one for each ms */
	struct fault_device devices[FAULT_DEVICES], host;
	struct fault_series series[FAULT_DEVICES * FAULT_METERS + 1];
	size_t series_count;
	int faulty; /* index of the series with the fault; -1: all meters of device 0 have it */
};

/* Time from the first value of the power to the start of the run. */
enum { FAULT_BEFORE_MS = 1500 };

struct fault_case *fault_case_new(uint64_t seed, enum meter_fault fault);
void fault_case_free(struct fault_case *made);

/* True energy of a device between two times, J. */
double fault_energy_j(
	const struct fault_case *made, const struct fault_device *device, int64_t start_ns, int64_t end_ns);

#endif
