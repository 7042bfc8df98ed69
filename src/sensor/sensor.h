/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SENSOR_SENSOR_H
#define KWHY_SENSOR_SENSOR_H

#include "base/arena.h"
#include "base/clock.h"
#include "base/status.h"
#include "model/meter.h"
#include "sensor/channel.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The meters of this machine, through one table of back ends. kwhy_sensors_open() asks each back end what is
 * available. The result is a list of devices, of sources (one meter or gauge of one device each, with its
 * channel of readings), of tasks (what to read, and how often) and of absences (one sentence for each thing
 * that is not available, with the reason). A sampler (sensor/sampler.h) runs the tasks; without it nothing is
 * read.
 */

#define KWHY_SENSOR_NO_DEVICE UINT32_MAX
enum { KWHY_SENSOR_INDEX_MAX = 1023 }; /* the highest number in a list of devices */

struct kwhy_sensor_device {
	enum kwhy_vendor vendor;
	int32_t index;	   /* number in the vendor's library and tools */
	int32_t mig_index; /* -1: a whole device; otherwise the number of an instance of device `index`, which
			      has no power meter of its own */
	const char *name, *uuid, *pci_address; /* "0000:19:00.0"; NULL: unknown */
	const char *driver;		       /* version of the driver */
	uint32_t sm_count;		       /* 0: unknown */
	uint64_t memory_bytes;		       /* 0: unknown */
	int64_t limit_mw, default_limit_mw;    /* -1: unknown */
	bool energy_is_module; /* the energy counter includes CPU and memory of the module (GH200) */
	_Atomic bool lost;     /* it became unreachable while sampled; no more readings come */
};

enum kwhy_source_kind { KWHY_SOURCE_METER, KWHY_SOURCE_GAUGE };

struct kwhy_source_channel {
	enum kwhy_source_kind kind;
	enum kwhy_meter meter; /* valid for KWHY_SOURCE_METER */
	enum kwhy_gauge gauge; /* valid for KWHY_SOURCE_GAUGE */
	uint32_t device;       /* index into devices; KWHY_SENSOR_NO_DEVICE: the source belongs to the host */
	uint32_t domain;       /* number of the CPU package or hwmon sensor; 0 if there is only one */
	const char *label;     /* the system's name for it: "package-0", "CPU Power Socket 0"; NULL: meter and
				  device identify it */
	int64_t period_ns;     /* time between updates, such as 100 ms or 20 ms; 0: unknown */
	int64_t wrap;	       /* a counter starts again after this value; 0: never */
	struct kwhy_channel channel;
	_Atomic int64_t unsure_ns; /* uncertainty of the times of recent readings, +-; 0: not reported */
	_Atomic uint64_t failures; /* number of readings that the source refused */
	_Atomic uint64_t bad_line; /* number of a file's first invalid line, from 1; 0: no invalid line */
};

/* Processes that use a device, as its driver lists them; at most KWHY_SENSOR_PROCESSES are kept. */
enum { KWHY_SENSOR_PROCESSES = 64 };
struct kwhy_sensor_process {
	int64_t pid;
	int64_t memory_bytes; /* -1: not reported (virtual machines and containers) */
};

struct kwhy_sensor_request {
	const char *devices; /* "0,2" in the vendor's numbers; NULL: all devices that `visible` allows */
	const char *visible; /* CUDA_VISIBLE_DEVICES of a program: NVIDIA GPUs that it cannot see are left
				out; NULL: no GPU is left out */
	bool visible_by_bus; /* its numbers follow the order on the bus, not the fastest first */
	int64_t ring_period_ns, counter_period_ns,
		gauge_period_ns;   /* time between reads; 0: 2 s, the counter's own period, 1 s */
	int64_t average_period_ns; /* time between reads of averages and instants; 0: 100 ms */
	bool gauges, processes;	   /* whether to read gauges, and list processes */
	bool all_meters;	   /* also averages and instants of a device that has a better meter */
	bool without_nvml, without_rocm, without_host;
	const char *powercap_root, *perf_root, *hwmon_root,
		*drm_root;		/* NULL: the folders under this machine's /sys */
	const char *const *meter_files; /* wall meters as power CSV, followed while they grow */
	size_t meter_file_count;
	const char *replay_path; /* power CSV that is replayed in real time in place of all meters; NULL: no
				    replay */
	size_t history_s;	 /* time that each channel holds readings of; 0: 60 s */
	const struct kwhy_clock *clock; /* for tests; NULL: this machine's clock */
};

/* Writes the indices that are true in `is_in`: "0", "0 to 3", "0, 2 to 5"; "": no index. */
void kwhy_sensor_indices_write(const bool is_in[KWHY_SENSOR_INDEX_MAX + 1], char *out, size_t out_bytes);

/*
 * Sets `visible` and `visible_by_bus` from the environment of this process; the string is borrowed from it.
 */
void kwhy_sensor_request_see(struct kwhy_sensor_request *request);

struct kwhy_sensors;

/*
 * The function of a task: it reads, pushes into channels, never allocates and never blocks longer than the
 * vendor's call does. Returns the time of its next call; 0: after its period; INT64_MAX: never. It may be
 * called earlier than that. Only the sampler's thread calls it.
 */
typedef int64_t kwhy_sensor_read(void *state, uint32_t task_argument, int64_t now_mono_ns);

struct kwhy_sensor_task {
	const char *title; /* "nvml ring 0" */
	void *state;
	uint32_t argument;
	int64_t period_ns; /* at least 1 ms; smaller values count as 1 ms */
	kwhy_sensor_read *read;
};

/* Why something is not available and what to do, in one sentence. */
struct kwhy_sensor_absence {
	const char *backend; /* "nvml", "rapl", ... */
	const char *text;
	bool is_refused; /* it exists and only permission is missing: a lesser meter may be used in its place
			  */
	bool is_choice;	 /* left out by our own choice, although the device exists; always reported */
};

struct kwhy_sensors {
	struct kwhy_arena arena;
	struct kwhy_sensor_device *devices;
	struct kwhy_source_channel *sources;
	struct kwhy_sensor_task *tasks;
	struct kwhy_sensor_absence *absences;
	size_t device_count, source_count, task_count, absence_count;
	size_t device_capacity, source_capacity, task_capacity, absence_capacity;
	bool is_there[KWHY_SENSOR_INDEX_MAX + 1]; /* by index: the device exists, whether requested or not */
	void *states[8];			  /* states of the back ends, in the order of their table */
	const struct kwhy_clock *clock;
};

struct kwhy_sensor_backend {
	const char *name;
	/*
	 * Adds the devices, sources and tasks that are available. A machine without this kind of meter gives
	 * KWHY_OK and an absence. An error is a request that cannot be met (unknown device, unreadable replay
	 * file) or lack of memory.
	 */
	enum kwhy_status (*open)(struct kwhy_sensors *sensors, const struct kwhy_sensor_request *request,
		void **out_state, struct kwhy_error *error);
	void (*close)(void *state); /* NULL state is never passed */
	/*
	 * Lists the processes on a device now; returns how many, 0 if it cannot list them. Only one thread at
	 * a time may call it. NULL: the back end does not support it.
	 */
	size_t (*processes)(
		void *state, uint32_t device, struct kwhy_sensor_process out[KWHY_SENSOR_PROCESSES]);
};

#define X(backend, wants) extern const struct kwhy_sensor_backend kwhy_sensor_##backend;
#include "sensor/backends.def"
#undef X

/*
 * Opens all back ends of the table that the request allows. It is KWHY_OK if no meter exists: check
 * source_count. KWHY_E_USAGE: the list of devices is malformed. KWHY_E_UNSUPPORTED: the list names a device
 * that does not exist; the message names those that do.
 */
KWHY_MUST_USE enum kwhy_status kwhy_sensors_open(
	const struct kwhy_sensor_request *request, struct kwhy_sensors **out, struct kwhy_error *error);
void kwhy_sensors_close(struct kwhy_sensors *sensors);

/* The source of this meter and device; NULL: there is none. Of several domains, the first. */
const struct kwhy_source_channel *kwhy_sensors_find_meter(
	const struct kwhy_sensors *sensors, enum kwhy_meter meter, uint32_t device);
/* The source of the best of a device's own meters of these roles; NULL: there is none. */
const struct kwhy_source_channel *kwhy_sensors_best_meter(
	const struct kwhy_sensors *sensors, unsigned roles, uint32_t device);
const struct kwhy_source_channel *kwhy_sensors_find_gauge(
	const struct kwhy_sensors *sensors, enum kwhy_gauge gauge, uint32_t device);

size_t kwhy_sensors_processes(
	struct kwhy_sensors *sensors, uint32_t device, struct kwhy_sensor_process out[KWHY_SENSOR_PROCESSES]);

/*
 * How Unix time relates to CLOCK_MONOTONIC now, for back ends whose readings have Unix times. Any thread may
 * call it.
 */
struct kwhy_clock_relation kwhy_sensors_relate(const struct kwhy_sensors *sensors);
int64_t kwhy_sensors_now_ns(const struct kwhy_sensors *sensors);

/*
 * For back ends to call for every device that exists, while opening. True: the request's list of devices
 * contains this number, or there is no list.
 */
bool kwhy_sensors_wants_device(
	struct kwhy_sensors *sensors, const struct kwhy_sensor_request *request, int32_t index);

/* Adds a device; its strings are copied. */
KWHY_MUST_USE enum kwhy_status kwhy_sensors_add_device(struct kwhy_sensors *sensors,
	const struct kwhy_sensor_device *device, uint32_t *out_index, struct kwhy_error *error);
/* Adds a source; `updates_per_s` and the request's history determine the capacity of its channel. */
KWHY_MUST_USE enum kwhy_status kwhy_sensors_add_source(struct kwhy_sensors *sensors,
	const struct kwhy_source_channel *source, double updates_per_s,
	const struct kwhy_sensor_request *request, uint32_t *out_index, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_sensors_add_task(
	struct kwhy_sensors *sensors, const struct kwhy_sensor_task *task, struct kwhy_error *error);
/* Sets is_refused of the absence added last. */
void kwhy_sensors_absence_is_refused(struct kwhy_sensors *sensors);
/* Sets is_choice of the absence added last. */
void kwhy_sensors_absence_is_choice(struct kwhy_sensors *sensors);
KWHY_MUST_USE enum kwhy_status kwhy_sensors_add_absence(struct kwhy_sensors *sensors, const char *backend,
	struct kwhy_error *error, const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
