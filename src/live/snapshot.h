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
 * Values of all meters at one moment, as plain data, so that views can be tested with made-up values. Unknown
 * is NAN, NULL or `known` false, never 0. All pointers are borrowed from the snapshot's maker.
 */

/* A power history has one value every KWHY_LIVE_STEP_NS, at most KWHY_LIVE_STEPS of them. */
#define KWHY_LIVE_STEP_NS INT64_C(500000000)
#define KWHY_LIVE_STEPS 256

struct kwhy_live_value {
	bool known;
	int64_t value; /* in the unit of the gauge's name */
};

struct kwhy_live_process {
	int64_t pid;
	int64_t memory_bytes; /* -1: not reported */
	char command[32];     /* clean UTF-8; "": unknown */
};

/* Energy and power of a device, a CPU domain or the load of a wall meter. */
struct kwhy_live_metered {
	enum kwhy_metered_kind kind;
	const char *name;
	double energy_j;	      /* since the start, never falls */
	double idle_j;		      /* part of energy_j from when the driver reported that nothing ran */
	double low_w, mean_w, high_w; /* over the last second */
	const float *history_w;	      /* mean powers of complete steps, oldest first */
	size_t history_count;
};

struct kwhy_live_device {
	const char *name, *uuid, *pci_address, *driver; /* NULL: unknown */
	int32_t index, mig_index;			/* -1: a whole device */
	uint64_t memory_bytes;				/* 0: unknown */
	bool lost;
	struct kwhy_live_value gauges[KWHY_GAUGE_COUNT];
	const struct kwhy_live_metered *metered; /* NULL: no meter */
	const struct kwhy_live_process *processes;
	size_t process_count;
};

/* State of a source of readings. */
struct kwhy_live_source {
	char name[KWHY_METER_NAME_BYTES]; /* name of its meter or gauge: "nvml.energy_mj", "sm_clock_hz" */
	const char *label;		  /* NULL: no label */
	const struct kwhy_live_device *device; /* NULL: a source of the host */
	double period_s;		       /* between updates of the source; NAN: unknown */
	double age_s;			       /* of the newest reading; NAN: no reading yet */
	uint64_t readings, failures;
};

/* Cost of taking the readings. */
struct kwhy_live_cost {
	double process_cpu_s;		  /* CPU time of the whole process */
	struct kwhy_sampler_cost sampler; /* cost of the sampler thread */
	double sampler_j; /* the thread's energy since the start, modelled as the packages' energy times its
			     share of all CPUs' busy time; NAN: unknown */
	struct kwhy_history_losses losses; /* readings that were lost */
};

struct kwhy_live_snapshot {
	double since_start_s;
	double started_unix_s;
	const struct kwhy_live_device *devices;
	const struct kwhy_live_metered *metered; /* devices first, then the host's, then wall meters */
	const struct kwhy_live_source *sources;
	const struct kwhy_sensor_absence *absences;
	size_t device_count, metered_count, source_count, absence_count;
	struct kwhy_live_cost cost;
};

#endif
