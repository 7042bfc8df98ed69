/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LIVE_SNAPSHOT_H
#define KWHY_LIVE_SNAPSHOT_H

#include "measure/history.h"
#include "model/meter.h"
#include "sensor/sampler.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Values of all meters and gauges at one moment, as plain data, so that outputs can be tested with invented
 * values. An unknown value is NAN, NULL, or has `known` false; it is never 0. What the pointers point to
 * belongs to the maker of the snapshot.
 */

/*
 * Power histories have one value, a mean power, for each step of KWHY_LIVE_STEP_NS, and at most the last
 * KWHY_LIVE_STEPS steps.
 */
#define KWHY_LIVE_STEP_NS INT64_C(500000000)
#define KWHY_LIVE_STEPS 256

struct kwhy_live_value {
	bool known;
	int64_t value; /* in the unit at the end of kwhy_gauge_name() */
};

struct kwhy_live_process {
	int64_t pid;
	int64_t memory_bytes; /* device memory that the process holds; -1: not reported */
	char command[32];     /* name of its command (/proc/PID/comm), valid UTF-8; "": unknown */
};

/*
 * Energy and power of one metered object: a device, a domain of the host (CPU package, board), or what is
 * plugged into a wall meter.
 */
struct kwhy_live_metered {
	enum kwhy_metered_kind kind;
	const char *name;
	double energy_j; /* energy since the start; it never falls; NAN: unknown */
	double idle_j;	 /* part of energy_j in the time in which the driver reported a utilisation of 0; NAN:
			    not reported */
	double low_w, mean_w, high_w; /* lowest, mean and highest power of the second before the newest
					 reading; NAN: unknown; low_w and high_w are always unknown if the
					 object has only an energy counter */
	const float
		*history_w; /* mean power of each step that has ended, oldest first; NAN: no readings in it */
	size_t history_count;
};

struct kwhy_live_device {
	const char *name, *uuid, *pci_address, *driver; /* NULL: unknown */
	int32_t index, mig_index; /* index: number of the GPU; mig_index: number of the MIG instance on it;
				     -1: the whole GPU */
	uint64_t memory_bytes;	  /* 0: unknown */
	bool lost; /* the device does not answer any more; for a MIG instance: it does not exist at present */
	enum kwhy_division division;
	struct kwhy_live_value gauges[KWHY_GAUGE_COUNT];
	const struct kwhy_live_metered
		*metered; /* entry of the device in snapshot.metered; NULL: it has no meter */
	const struct kwhy_live_process *processes;
	size_t process_count;
};

/* State of one source of readings: a meter or gauge of a device or of the host. */
struct kwhy_live_source {
	char name[KWHY_METER_NAME_BYTES]; /* name of the meter or gauge: "nvml.energy_mj", "sm_clock_hz" */
	const char *label;		  /* NULL: no label */
	const struct kwhy_live_device *device; /* NULL: a source of the host */
	double period_s;		       /* time between two updates of the source; NAN: unknown */
	double age_s;			       /* age of the newest reading; NAN: no reading yet */
	uint64_t readings, failures;
	bool refused; /* whether the last attempt to read it failed */
};

/* Cost of taking the readings. */
struct kwhy_live_cost {
	double process_cpu_s;		  /* CPU time of the whole process */
	struct kwhy_sampler_cost sampler; /* cost of the sampler thread */
	/*
	 * Energy of the sampler thread since the start in J; NAN: unknown. It is modelled: energy of the CPU
	 * packages, times the share of the thread in the busy time of all CPUs.
	 */
	double sampler_j;
	struct kwhy_history_losses losses; /* numbers of readings that were lost and of failed attempts */
};

struct kwhy_live_snapshot {
	double since_start_s;
	double started_unix_s;
	const struct kwhy_live_device *devices;
	const struct kwhy_live_metered *
		metered; /* first the devices that have a meter, then domains of the host, then wall meters */
	const struct kwhy_live_source *sources;
	const struct kwhy_sensor_absence *absences;
	size_t device_count, metered_count, source_count, absence_count;
	struct kwhy_live_cost cost;
};

#endif
