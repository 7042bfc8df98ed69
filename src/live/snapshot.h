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
 * Values of all meters at one moment, as plain data, so that views can be tested with made-up values. An
 * unknown value is NAN, NULL or has `known` false; it is never 0. Pointers are owned by the maker of the
 * snapshot.
 */

/* A power history has one value for each KWHY_LIVE_STEP_NS, at most KWHY_LIVE_STEPS values. */
#define KWHY_LIVE_STEP_NS INT64_C(500000000)
#define KWHY_LIVE_STEPS 256

struct kwhy_live_value {
	bool known;
	int64_t value; /* in the unit that the gauge's name states */
};

struct kwhy_live_process {
	int64_t pid;
	int64_t memory_bytes; /* device memory of the process; -1: not reported */
	char command[32];     /* name of its command, valid UTF-8; "": unknown */
};

/*
 * Energy and power measured by one meter. The metered object is a device, a CPU domain, or what is plugged
 * into a wall meter.
 */
struct kwhy_live_metered {
	enum kwhy_metered_kind kind;
	const char *name;
	double energy_j; /* since the start; it never falls */
	double idle_j;	 /* the part of energy_j for the time in which the driver reported an idle device */
	double low_w, mean_w, high_w; /* lowest, mean and highest power of the last second */
	const float *history_w;	      /* mean power of each complete step, oldest first */
	size_t history_count;
};

struct kwhy_live_device {
	const char *name, *uuid, *pci_address, *driver; /* NULL: unknown */
	int32_t index, mig_index;			/* number of the MIG instance; -1: a whole device */
	uint64_t memory_bytes;				/* 0: unknown */
	bool lost;					/* an instance: it does not exist now */
	enum kwhy_division division;
	struct kwhy_live_value gauges[KWHY_GAUGE_COUNT];
	const struct kwhy_live_metered *metered; /* energy and power of the device; NULL: it has no meter */
	const struct kwhy_live_process *processes;
	size_t process_count;
};

/* State of a source of readings. */
struct kwhy_live_source {
	char name[KWHY_METER_NAME_BYTES]; /* name of the meter or gauge: "nvml.energy_mj", "sm_clock_hz" */
	const char *label;		  /* NULL: no label */
	const struct kwhy_live_device *device; /* NULL: a source of the host */
	double period_s;		       /* time between two updates of the source; NAN: unknown */
	double age_s;			       /* age of the newest reading; NAN: no reading yet */
	uint64_t readings, failures;
	bool refused; /* the last attempt to read it failed */
};

/* Cost of taking the readings. */
struct kwhy_live_cost {
	double process_cpu_s;		  /* CPU time of the whole process */
	struct kwhy_sampler_cost sampler; /* cost of the sampler thread */
	/*
	 * Energy of the sampler thread since the start, modelled as the CPU packages' energy times the
	 * thread's share of the busy time of all CPUs; NAN: unknown.
	 */
	double sampler_j;
	struct kwhy_history_losses losses; /* readings that were lost */
};

struct kwhy_live_snapshot {
	double since_start_s;
	double started_unix_s;
	const struct kwhy_live_device *devices;
	const struct kwhy_live_metered *metered; /* devices, then domains of the host, then wall meters */
	const struct kwhy_live_source *sources;
	const struct kwhy_sensor_absence *absences;
	size_t device_count, metered_count, source_count, absence_count;
	struct kwhy_live_cost cost;
};

#endif
