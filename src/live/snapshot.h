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
 * What the meters say at one moment: plain values, so that what shows them can be tested on values made by
 * hand. Unknown is NAN, NULL or `known` false, never 0. Everything is borrowed by its maker.
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
	char command[32];     /* clean UTF-8; "": not known */
};

/* A device, a CPU domain or what a wall meter feeds: its energy and power. */
struct kwhy_live_metered {
	enum kwhy_metered_kind kind;
	const char *name;
	double energy_j;	      /* since the start, never falls */
	double idle_j;		      /* the part of it while the driver reported that nothing ran */
	double low_w, mean_w, high_w; /* over the last second */
	const float *history_w;	      /* oldest first, the step under way left out */
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

/* How well a source does its work. */
struct kwhy_live_source {
	char name[KWHY_METER_NAME_BYTES];      /* of its meter or gauge: "nvml.energy_mj", "sm_clock_hz" */
	const char *label;		       /* NULL: none */
	const struct kwhy_live_device *device; /* NULL: of the host */
	double period_s;		       /* between updates; NAN: unknown */
	double age_s;			       /* of the newest reading; NAN: none yet */
	uint64_t readings, failures;
};

/* What all this takes. */
struct kwhy_live_cost {
	double process_cpu_s;		   /* of the whole process */
	struct kwhy_sampler_cost sampler;  /* of the thread that reads */
	double sampler_j;		   /* its joules since the start, modelled: of the packages' energy as
					      much as of all CPUs' busy time; NAN: not known (yet) */
	struct kwhy_history_losses losses; /* readings that nobody will see */
};

struct kwhy_live_snapshot {
	double since_start_s;
	double started_unix_s;
	const struct kwhy_live_device *devices;
	const struct kwhy_live_metered *metered; /* of devices, then of the host, then wall meters */
	const struct kwhy_live_source *sources;
	const struct kwhy_sensor_absence *absences;
	size_t device_count, metered_count, source_count, absence_count;
	struct kwhy_live_cost cost;
};

#endif
