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
 * The meters of this machine behind one table of back ends. kwhy_sensors_open() asks every back end what is
 * there; the result is a list of devices, of sources (one meter or gauge of one device each, with its
 * channel of readings) and of tasks (what to read how often), plus a sentence for everything that is not
 * available and why. A sampler (sensor/sampler.h) runs the tasks; without one nothing is read.
 */

#define KWHY_SENSOR_NO_DEVICE UINT32_MAX
enum { KWHY_SENSOR_INDEX_MAX = 1023 }; /* as a list of devices may name them */

enum kwhy_vendor { KWHY_VENDOR_NVIDIA, KWHY_VENDOR_AMD, KWHY_VENDOR_OTHER };

struct kwhy_sensor_device {
	enum kwhy_vendor vendor;
	int32_t index;	   /* as the vendor's library and its tools number it */
	int32_t mig_index; /* -1: a whole device; else instance of device `index`, which has no power of its
			      own */
	const char *name, *uuid, *pci_address; /* "0000:19:00.0"; NULL: unknown */
	const char *driver;		       /* version */
	uint32_t sm_count;		       /* 0: unknown */
	uint64_t memory_bytes;		       /* 0: unknown */
	int64_t limit_mw, default_limit_mw;    /* -1: unknown */
	bool energy_is_module; /* the counter holds CPU and memory of the module too (GH200) */
	_Atomic bool lost;     /* fell off the bus while sampled: nothing more will come */
};

enum kwhy_source_kind { KWHY_SOURCE_METER, KWHY_SOURCE_GAUGE };

struct kwhy_source_channel {
	enum kwhy_source_kind kind;
	enum kwhy_meter meter; /* of KWHY_SOURCE_METER */
	enum kwhy_gauge gauge; /* of KWHY_SOURCE_GAUGE */
	uint32_t device;       /* index into devices; KWHY_SENSOR_NO_DEVICE: of the host */
	uint32_t domain;       /* CPU package, hwmon sensor; 0 where there is one alone */
	const char *label; /* what the system calls it: "package-0", "CPU Power Socket 0"; NULL: the name says
			      all */
	int64_t period_ns; /* between updates, as far as known: 100 ms, 20 ms; 0: unknown */
	int64_t wrap;	   /* a counter starts again after this value; 0: never */
	struct kwhy_channel channel;
	_Atomic int64_t
		unsure_ns; /* the times of its readings lately are known within +- that; 0: not reported */
	_Atomic uint64_t failures; /* readings that the source refused, counted */
	_Atomic uint64_t bad_line; /* of a file: the first that was refused, from 1; 0: none */
};

/* Processes that use a device, as its driver lists them; at most KWHY_SENSOR_PROCESSES are kept. */
enum { KWHY_SENSOR_PROCESSES = 64 };
struct kwhy_sensor_process {
	int64_t pid;
	int64_t memory_bytes; /* -1: not reported (virtual machines and containers) */
};

struct kwhy_sensor_request {
	const char *devices; /* "0,2" as the vendor numbers them, or NULL: all that the next line shows */
	const char *visible; /* CUDA_VISIBLE_DEVICES of a program: NVIDIA's GPUs that it cannot see are left
				out; NULL: none is */
	bool visible_by_bus; /* its numbers are in the order of the bus, not the fastest first */
	int64_t ring_period_ns, counter_period_ns,
		gauge_period_ns;   /* how often to ask; 0: 2 s, the counter's own, 1 s */
	int64_t average_period_ns; /* of averages and instants; 0: 100 ms */
	bool gauges, processes;	   /* read them at all */
	bool all_meters; /* averages and instants too, where a better meter of the device replaces them */
	bool without_nvml, without_rocm, without_host;
	const char *powercap_root, *perf_root, *hwmon_root, *drm_root; /* NULL: of this machine's /sys */
	const char *const *meter_files; /* wall meters as power CSV, followed while they grow */
	size_t meter_file_count;
	const char *replay_path; /* power CSV played back in real time instead of any meter; NULL: none */
	size_t history_s;	 /* how long each channel remembers; 0: 60 s */
	const struct kwhy_clock *clock; /* for tests; NULL: this machine's */
};

/* "0", "0 to 3", "0, 2 to 5": the numbers that are true; "": none is. */
void kwhy_sensor_indices_write(const bool is_in[KWHY_SENSOR_INDEX_MAX + 1], char *out, size_t out_bytes);

/* `visible` and its order as the environment of this process tells them; borrowed from it. */
void kwhy_sensor_request_see(struct kwhy_sensor_request *request);

struct kwhy_sensors;

/*
 * What a task does when it is due: read, push into channels, never allocate, never block longer than the
 * vendor's call does. Gives the time it wants to be called next; 0: at its period; INT64_MAX: never. It may
 * be called earlier than it asked for. Called by the sampler's thread alone.
 */
typedef int64_t kwhy_sensor_read(void *state, uint32_t task_argument, int64_t now_mono_ns);

struct kwhy_sensor_task {
	const char *title; /* "nvml ring 0" */
	void *state;
	uint32_t argument;
	int64_t period_ns; /* at least 1 ms; less is taken for that */
	kwhy_sensor_read *read;
};

/* Why something is not there, in one sentence with its cure. */
struct kwhy_sensor_absence {
	const char *backend; /* "nvml", "rapl", ... */
	const char *text;
	bool is_refused; /* it is there, and only permission is missing: a lesser meter may stand in */
	bool is_choice;	 /* ours, not the machine's, about devices that are there: reported in any case */
};

struct kwhy_sensors {
	struct kwhy_arena arena;
	struct kwhy_sensor_device *devices;
	struct kwhy_source_channel *sources;
	struct kwhy_sensor_task *tasks;
	struct kwhy_sensor_absence *absences;
	size_t device_count, source_count, task_count, absence_count;
	size_t device_capacity, source_capacity, task_capacity, absence_capacity;
	bool is_there[KWHY_SENSOR_INDEX_MAX + 1]; /* by index: whether asked for or not */
	void *states[8];			  /* of the back ends, in the order of their table */
	const struct kwhy_clock *clock;
};

struct kwhy_sensor_backend {
	const char *name;
	/*
	 * Adds what there is. A machine without this kind of meter is KWHY_OK with an absence; an error is
	 * for a request that cannot be met (no such device, unreadable replay file) and for want of memory.
	 */
	enum kwhy_status (*open)(struct kwhy_sensors *sensors, const struct kwhy_sensor_request *request,
		void **out_state, struct kwhy_error *error);
	void (*close)(void *state); /* NULL state is never passed */
	/* Lists the processes on a device now; 0 where it cannot. May be called by any one thread; NULL:
	 * cannot. */
	size_t (*processes)(
		void *state, uint32_t device, struct kwhy_sensor_process out[KWHY_SENSOR_PROCESSES]);
};

extern const struct kwhy_sensor_backend kwhy_sensor_nvml, kwhy_sensor_rocm, kwhy_sensor_rapl,
	kwhy_sensor_hwmon, kwhy_sensor_meter_file, kwhy_sensor_replay;

/*
 * Opens all back ends of the table that the request allows. No meter at all is KWHY_OK: look at source_count.
 * KWHY_E_USAGE: the list of devices is none. KWHY_E_UNSUPPORTED: it names one that is not there; the words
 * say which are.
 */
KWHY_MUST_USE enum kwhy_status kwhy_sensors_open(
	const struct kwhy_sensor_request *request, struct kwhy_sensors **out, struct kwhy_error *error);
void kwhy_sensors_close(struct kwhy_sensors *sensors);

/* The source of that meter and device; NULL: none. Several domains: the first of them. */
const struct kwhy_source_channel *kwhy_sensors_find_meter(
	const struct kwhy_sensors *sensors, enum kwhy_meter meter, uint32_t device);
const struct kwhy_source_channel *kwhy_sensors_find_gauge(
	const struct kwhy_sensors *sensors, enum kwhy_gauge gauge, uint32_t device);

size_t kwhy_sensors_processes(
	struct kwhy_sensors *sensors, uint32_t device, struct kwhy_sensor_process out[KWHY_SENSOR_PROCESSES]);

/* Unix against monotonic, now; for back ends whose readings carry Unix times. Any thread. */
struct kwhy_clock_relation kwhy_sensors_relate(const struct kwhy_sensors *sensors);
int64_t kwhy_sensors_now_ns(const struct kwhy_sensors *sensors);

/*
 * For back ends, while opening, of every device that there is. Whether the request's list of devices names
 * this number, or there is no list.
 */
bool kwhy_sensors_wants_device(
	struct kwhy_sensors *sensors, const struct kwhy_sensor_request *request, int32_t index);

/* Strings are copied. */
KWHY_MUST_USE enum kwhy_status kwhy_sensors_add_device(struct kwhy_sensors *sensors,
	const struct kwhy_sensor_device *device, uint32_t *out_index, struct kwhy_error *error);
/* `updates_per_s` and the request's history size the channel. */
KWHY_MUST_USE enum kwhy_status kwhy_sensors_add_source(struct kwhy_sensors *sensors,
	const struct kwhy_source_channel *source, double updates_per_s,
	const struct kwhy_sensor_request *request, uint32_t *out_index, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_sensors_add_task(
	struct kwhy_sensors *sensors, const struct kwhy_sensor_task *task, struct kwhy_error *error);
/* Marks the absence added last as a want of permission. */
void kwhy_sensors_absence_is_refused(struct kwhy_sensors *sensors);
/* Marks it as a choice of ours. */
void kwhy_sensors_absence_is_choice(struct kwhy_sensors *sensors);
KWHY_MUST_USE enum kwhy_status kwhy_sensors_add_absence(struct kwhy_sensors *sensors, const char *backend,
	struct kwhy_error *error, const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
