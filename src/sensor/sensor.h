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
 * The meters of this machine, through one table of back ends (one each for NVML, ROCm SMI, RAPL and so on).
 * kwhy_sensors_open() asks each back end what is available. The result has four lists. Devices are GPUs and
 * instances. A source is one meter or gauge of one device or of the host, with a channel of readings. A task
 * reads sources at a given period. An absence is a sentence that says what is not available and why. A
 * sampler (sensor/sampler.h) runs the tasks; without a sampler no readings come.
 */

#define KWHY_SENSOR_NO_DEVICE UINT32_MAX
/* highest number of a device */
enum { KWHY_SENSOR_INDEX_MAX = 1023 };

/* How the division of a GPU into MIG instances has changed since its meters were opened; KEPT: not at all. */
enum kwhy_division {
	KWHY_DIVISION_KEPT,
	KWHY_DIVISION_WHOLE, /* the GPU was divided when its meters were opened, and has no instances now */
	KWHY_DIVISION_OTHER  /* the GPU has instances now that it did not have when its meters were opened, or
				lacks some that it had; new instances have no struct kwhy_sensor_device */
};

struct kwhy_sensor_device {
	enum kwhy_vendor vendor;
	int32_t index; /* number of the device in the vendor's library and tools */
	/*
	 * -1: a whole device; otherwise the number of an instance of device `index`, which has no power meter
	 * of its own
	 */
	int32_t mig_index;
	const char *name, *uuid, *pci_address; /* pci_address has the form "0000:19:00.0"; NULL: unknown */
	const char *driver;		       /* version of the driver */
	uint32_t sm_count;		       /* number of multiprocessors; 0: unknown */
	uint64_t memory_bytes;		       /* size of the device's memory; 0: unknown */
	int64_t limit_mw, default_limit_mw;    /* power limits now and by default; -1: unknown */
	/* whether the energy counter includes the module's CPU and memory (GH200) */
	bool energy_is_module;
	/*
	 * whether the device became unreachable while it was sampled; no more readings come then. An instance
	 * is lost while it does not exist, and can come back
	 */
	_Atomic bool lost;
	_Atomic bool unlisted; /* whether the last attempt to list the device's processes failed */
	/*
	 * how a GPU is divided now; always KEPT for an instance. divided_anew: `division` was other than KEPT
	 * at least once since the start
	 */
	_Atomic enum kwhy_division division;
	_Atomic bool divided_anew;
};

enum kwhy_source_kind { KWHY_SOURCE_METER, KWHY_SOURCE_GAUGE };

struct kwhy_source_channel {
	enum kwhy_source_kind kind;
	enum kwhy_meter meter; /* the meter that is read, if this is a KWHY_SOURCE_METER */
	enum kwhy_gauge gauge; /* the gauge that is read, if this is a KWHY_SOURCE_GAUGE */
	/* index into sensors->devices; KWHY_SENSOR_NO_DEVICE: the source belongs to the host */
	uint32_t device;
	uint32_t domain; /* number of the CPU package or hwmon sensor; 0 if there is a single one */
	/*
	 * the system's name of the source, such as "package-0" or "CPU Power Socket 0"; NULL: meter and
	 * device identify the source
	 */
	const char *label;
	int64_t period_ns; /* time between updates; 0: unknown */
	int64_t wrap; /* highest value of a counter, after which it starts again from 0; 0: it does not wrap
		       */
	struct kwhy_channel channel;
	/* times of recent readings are correct to within +- this; 0: not reported */
	_Atomic int64_t unsure_ns;
	_Atomic uint64_t failures; /* number of readings that failed or were invalid */
	_Atomic bool refused;	   /* whether the last attempt to read it failed */
	/* for a file: number of its first invalid line, from 1; 0: there was none */
	_Atomic uint64_t bad_line;
};

/* A process that uses a device, as the driver lists it. At most KWHY_SENSOR_PROCESSES are kept. */
enum { KWHY_SENSOR_PROCESSES = 256 };
struct kwhy_sensor_process {
	int64_t pid;
	int64_t memory_bytes; /* memory that the process uses; -1: not reported, as in containers */
};

/*
 * How much a process used a device, by the driver's samples since the requested time. busy_percent is the
 * share of time in which the process's kernels ran or, if it ran no kernels, in which its copies or video
 * units ran.
 */
struct kwhy_sensor_use {
	int64_t pid;
	int64_t time_unix_us; /* time of the newest sample */
	uint32_t busy_percent;
};

struct kwhy_sensor_request {
	/*
	 * devices by their numbers in the vendor's tools, such as "0,2"; NULL: all devices that `visible`
	 * allows
	 */
	const char *devices;
	/*
	 * CUDA_VISIBLE_DEVICES of a program; NVIDIA GPUs that the program cannot see are left out; NULL: no
	 * GPU is left out
	 */
	const char *visible;
	/* numbers in `visible` follow the order on the bus; false: the fastest GPU comes first */
	bool visible_by_bus;
	int64_t ring_period_ns, counter_period_ns,
		/*
		 * times between reads of the power samples, the energy counters and the gauges; 0: the
		 * default, which is 2 s, the counter's own period, and 1 s, respectively
		 */
		gauge_period_ns;
	/*
	 * time between reads of the SM clock by a task of its own, if `gauges` is set; 0: there is no such
	 * task, and the SM clock is read with the other gauges
	 */
	int64_t clock_period_ns;
	/* time between reads of the gauges of a GPU other than clocks and utilisation; 0: gauge_period_ns */
	int64_t slow_gauge_period_ns;
	/*
	 * time between caught updates of NVML's counter, between which single reads find its value
	 * (sensor/nvml/update.h); 0: counter_period_ns
	 */
	int64_t counter_catch_ns;
	/*
	 * time between reads of the power samples until the time given to kwhy_sensors_view(); 0:
	 * ring_period_ns
	 */
	int64_t ring_view_period_ns;
	int64_t host_period_ns; /* time between reads of RAPL's counters; 0: counter_period_ns or, if that is
				   0, too, 100 ms */
	/* time between reads of trailing averages and instantaneous powers; 0: 100 ms */
	int64_t average_period_ns;
	bool gauges, processes; /* whether to read gauges, and whether to list processes */
	/* whether to read trailing averages and instantaneous powers also of GPUs that keep power samples */
	bool all_meters;
	bool without_nvml, without_rocm, without_host;
	const char *powercap_root, *perf_root, *hwmon_root,
		/* folders that are searched; NULL: those under this machine's /sys */
		*drm_root;
	/* paths of power CSV files that programs of wall meters write; rows are read as they are appended */
	const char *const *meter_files;
	size_t meter_file_count;
	/* path of a power CSV that is replayed in real time in place of all meters; NULL: no replay */
	const char *replay_path;
	size_t history_s; /* seconds for which each channel holds readings; 0: 60 s */
	/* clock for tests; NULL: this machine's */
	const struct kwhy_clock *clock;
};

/*
 * Writes the indices whose element of `is_in` is true as text, such as "0", "0 to 3" or "0, 2 to 5"; "":
 * there is no such index.
 */
void kwhy_sensor_indices_write(const bool is_in[KWHY_SENSOR_INDEX_MAX + 1], char *out, size_t out_bytes);

/*
 * Sets `visible` and `visible_by_bus` from the environment of this process, from which the string is
 * borrowed.
 */
void kwhy_sensor_request_see(struct kwhy_sensor_request *request);

struct kwhy_sensors;

/*
 * The function of a task. The function reads sources and pushes the readings into the channels of those
 * sources. It never allocates, and it waits only for calls of the vendor's library. It returns the time of
 * its next call; 0: one period after the deadline of this call; INT64_MAX: never. A flush of the sampler may
 * call it earlier than it asked for. Only the sampler's thread calls it.
 */
typedef int64_t kwhy_sensor_read(void *state, uint32_t task_argument, int64_t now_mono_ns);

struct kwhy_sensor_task {
	const char *title; /* name of the task, such as "nvml ring 0" */
	void *state;
	uint32_t argument;
	int64_t period_ns; /* time between calls; values below 1 ms count as 1 ms */
	kwhy_sensor_read *read;
};

/* A sentence that says what is not available, why, and what to do. */
struct kwhy_sensor_absence {
	const char *backend; /* name of the back end, such as "nvml" or "rapl" */
	const char *text;
	/* whether the meter exists and only the permission to read it is missing */
	bool is_refused;
	/*
	 * whether the device exists, but the user or kwhy chose not to use it; such an absence is always
	 * shown to users
	 */
	bool is_choice;
};

struct kwhy_sensors {
	struct kwhy_arena arena;
	struct kwhy_sensor_device *devices;
	struct kwhy_source_channel *sources;
	struct kwhy_sensor_task *tasks;
	struct kwhy_sensor_absence *absences;
	size_t device_count, source_count, task_count, absence_count;
	size_t device_capacity, source_capacity, task_capacity, absence_capacity;
	/*
	 * [number of the device in the vendor's tools] whether the device exists, even if it was not
	 * requested
	 */
	bool is_there[KWHY_SENSOR_INDEX_MAX + 1];
	void *states[8]; /* states of the back ends, in the order of backends.def */
	/*
	 * until this time on CLOCK_MONOTONIC, power samples are read every request.ring_view_period_ns; set
	 * by kwhy_sensors_view()
	 */
	_Atomic int64_t viewed_until_ns;
	const struct kwhy_clock *clock;
};

struct kwhy_sensor_backend {
	const char *name;
	/*
	 * Adds the devices, sources and tasks that are available. If the machine has no meter that this back
	 * end reads, the function adds an absence, unless that need not be said, and returns KWHY_OK. The
	 * function fails only if the request cannot be met (unknown device, unreadable replay file) or if
	 * memory is short.
	 */
	enum kwhy_status (*open)(struct kwhy_sensors *sensors, const struct kwhy_sensor_request *request,
		void **out_state, struct kwhy_error *error);
	void (*close)(void *state); /* never called with NULL */
	/*
	 * Lists the processes that use a device now and returns how many; 0: there are none, or they cannot
	 * be listed. Only one thread at a time may call it. NULL: the back end cannot list processes.
	 */
	size_t (*processes)(
		void *state, uint32_t device, struct kwhy_sensor_process out[KWHY_SENSOR_PROCESSES]);
	/*
	 * Lists how much each process used a device since after_unix_us, without processes that did not use
	 * it. False: the driver does not report it, as for MIG instances. Only one thread at a time may
	 * call it. NULL: the back end cannot list uses.
	 */
	bool (*uses)(void *state, uint32_t device, int64_t after_unix_us,
		struct kwhy_sensor_use out[KWHY_SENSOR_PROCESSES], size_t *out_count);
};

#define X(backend, wants) extern const struct kwhy_sensor_backend kwhy_sensor_##backend;
#include "sensor/backends.def"
#undef X

/*
 * Opens all back ends that the request allows. Also returns KWHY_OK if there is no meter; check source_count.
 * KWHY_E_USAGE: the list of devices is malformed. KWHY_E_UNSUPPORTED: the list names a device that does not
 * exist or has no meter; the message names the devices that exist or says why.
 */
KWHY_MUST_USE enum kwhy_status kwhy_sensors_open(
	const struct kwhy_sensor_request *request, struct kwhy_sensors **out, struct kwhy_error *error);
void kwhy_sensors_close(struct kwhy_sensors *sensors);

/*
 * Finds the source of a given meter of a device; NULL: there is none. If the device has several sources of
 * that meter, such as one per CPU package, it is the one that was added first.
 */
const struct kwhy_source_channel *kwhy_sensors_find_meter(
	const struct kwhy_sensors *sensors, enum kwhy_meter meter, uint32_t device);
/*
 * Finds the most accurate source (by the ranks in model/meters.def) among a device's own meters that have one
 * of the roles in the bit set `roles`; NULL: there is none.
 */
const struct kwhy_source_channel *kwhy_sensors_best_meter(
	const struct kwhy_sensors *sensors, unsigned roles, uint32_t device);
const struct kwhy_source_channel *kwhy_sensors_find_gauge(
	const struct kwhy_sensors *sensors, enum kwhy_gauge gauge, uint32_t device);

size_t kwhy_sensors_processes(
	struct kwhy_sensors *sensors, uint32_t device, struct kwhy_sensor_process out[KWHY_SENSOR_PROCESSES]);
/* Calls the function `uses` of the device's back end. */
bool kwhy_sensors_uses(struct kwhy_sensors *sensors, uint32_t device, int64_t after_unix_us,
	struct kwhy_sensor_use out[KWHY_SENSOR_PROCESSES], size_t *out_count);

/*
 * Makes the sampler read power samples every request.ring_view_period_ns, because somebody watches, until
 * `until_mono_ns` on CLOCK_MONOTONIC. Any thread may call it.
 */
void kwhy_sensors_view(struct kwhy_sensors *sensors, int64_t until_mono_ns);

/*
 * Gets how Unix time relates to CLOCK_MONOTONIC now, for readings that have Unix times. Any thread may call
 * it.
 */
struct kwhy_clock_relation kwhy_sensors_relate(const struct kwhy_sensors *sensors);
int64_t kwhy_sensors_now_ns(const struct kwhy_sensors *sensors);

/*
 * Sets is_there[index], and returns whether the request has no list of devices or has this number in its
 * list. Every back end must call it while it is being opened, for each device that exists.
 */
bool kwhy_sensors_wants_device(
	struct kwhy_sensors *sensors, const struct kwhy_sensor_request *request, int32_t index);

/* Adds a device. Its strings are copied. */
KWHY_MUST_USE enum kwhy_status kwhy_sensors_add_device(struct kwhy_sensors *sensors,
	const struct kwhy_sensor_device *device, uint32_t *out_index, struct kwhy_error *error);
/* Adds a source. The capacity of its channel follows from `updates_per_s` and the request's history. */
KWHY_MUST_USE enum kwhy_status kwhy_sensors_add_source(struct kwhy_sensors *sensors,
	const struct kwhy_source_channel *source, double updates_per_s,
	const struct kwhy_sensor_request *request, uint32_t *out_index, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_sensors_add_task(
	struct kwhy_sensors *sensors, const struct kwhy_sensor_task *task, struct kwhy_error *error);
/* Sets is_refused of the absence that was added last. */
void kwhy_sensors_absence_is_refused(struct kwhy_sensors *sensors);
/* Sets is_choice of the absence that was added last. */
void kwhy_sensors_absence_is_choice(struct kwhy_sensors *sensors);
KWHY_MUST_USE enum kwhy_status kwhy_sensors_add_absence(struct kwhy_sensors *sensors, const char *backend,
	struct kwhy_error *error, const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
