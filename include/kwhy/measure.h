/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MEASURE_H
#define KWHY_MEASURE_H

/*
 * libkwhy: the energy and time of parts of a program, measured from inside.
 *
 *	struct kwhy_session *session;
 *	struct kwhy_results *results;
 *	char message[KWHY_MESSAGE_BYTES];
 *	if (kwhy_session_open(NULL, &session, message, sizeof(message)))
 *		...
 *	uint32_t forward = kwhy_session_name(session, "forward");
 *	kwhy_region_begin(session, forward);
 *	...
 *	kwhy_region_end(session, forward);
 *	kwhy_session_results(session, &results, message, sizeof(message));
 *	puts(kwhy_results_json(results));
 *
 * Times are in seconds, energies in joules, powers in watts. Not-a-number means "not available", which is
 * never 0. Intervals are 95 %. They do not include a meter's constant gain error, which the meter cannot
 * show; -5.8 to +4 % were found on several cards (arXiv 2312.02741).
 *
 * The work of a GPU is asynchronous. A region gets the energy that the device drew during it, whatever work
 * that was for. Synchronise before the end of a region that should include the work launched in it.
 *
 * Threads: any thread may call kwhy_region_begin(), kwhy_region_end(), kwhy_region_work() and
 * kwhy_session_name() at any time; kwhy_session_results() too, but only one thread at a time. No thread may
 * use a session while another one closes it. A child after fork() records nothing in its parent's session and
 * may only close it. Signal handlers must not call the library.
 *
 * Nothing here prints, exits or changes a setting of a device.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KWHY_MEASURE_VERSION_MAJOR 0
#define KWHY_MEASURE_VERSION_MINOR 1
#define KWHY_MEASURE_VERSION_PATCH 0
#define KWHY_MEASURE_VERSION "0.1.0"

#if defined(__GNUC__)
#define KWHY_API __attribute__((visibility("default")))
#else
#define KWHY_API
#endif

/* Version of the library that is loaded, which may be newer than this header. */
KWHY_API const char *kwhy_measure_version(void);

/* Values that the calls return. */
#define KWHY_MEASURE_OK 0
#define KWHY_MEASURE_E_INPUT 1 /* the content of a file, an amount or a unit is wrong */
#define KWHY_MEASURE_E_IO 2    /* the system refused to read */
#define KWHY_MEASURE_E_MEMORY 3
#define KWHY_MEASURE_E_UNSUPPORTED 4 /* this machine cannot do it, or this is a child after fork() */
#define KWHY_MEASURE_E_USAGE 5	     /* an index, `size` or an option is out of range */

/*
 * Largest size of a message in bytes. A message is one sentence that says what failed, why, and what to do.
 */
#define KWHY_MESSAGE_BYTES 720

struct kwhy_session;
struct kwhy_results;

/*
 * Set `size` to sizeof(struct kwhy_session_options). Every other field may be 0, which selects its default.
 */
struct kwhy_session_options {
	size_t size;
	const char
		*devices; /* GPUs by their numbers in the vendor's management library (NVML, ROCm SMI), "0,2";
			     NULL: all GPUs, but of NVIDIA's only those that CUDA_VISIBLE_DEVICES shows */
	const char *replay_path; /* power CSV that is replayed in real time in place of the machine's meters;
				    NULL: the meters are read */
	const char *meter_path;	 /* power CSV of a wall meter, read while it grows; NULL: no wall meter */
	double enough_ratio; /* `enough` in struct kwhy_region_energy is 1 if half of the interval's width is
				at most this share of the energy; 0: the default, 0.1 */
	int32_t without_gpus, without_host;
	/*
	 * Seconds between readings of energy counters. 0: the default, which may be as long as 20 s for
	 * meters whose driver takes milliseconds for a reading (NVML); power is sampled in between. 0.1
	 * narrows the intervals of short regions in work that repeats itself, and costs some percent of a
	 * processor core.
	 */
	double counter_period_s;
};

/*
 * Opens this machine's meters and begins to sample. Waits up to 2 s for the first reading of each meter. A
 * machine without meters is no error: times are measured, and kwhy_session_absence() says why there is no
 * energy. `options` NULL: all defaults. `message` may be NULL.
 */
KWHY_API int kwhy_session_open(const struct kwhy_session_options *options, struct kwhy_session **out,
	char *message, size_t message_bytes);
KWHY_API void kwhy_session_close(struct kwhy_session *session);

#define KWHY_METER_KIND_GPU 0
#define KWHY_METER_KIND_HOST 1 /* a domain of the host: CPU package, memory, board */
#define KWHY_METER_KIND_WALL 2

/* A device or domain whose energy is metered. Strings live as long as the session; NULL: unknown. */
struct kwhy_meter_info {
	size_t size; /* size of this struct, set by the caller */
	int32_t kind;
	int32_t index;	     /* number of a GPU in the vendor's library; -1: not a GPU */
	const char *name;    /* "gpu 0", "rapl.package-0" */
	const char *product; /* "NVIDIA H200" */
	const char *uuid, *pci_address, *driver;
};

KWHY_API size_t kwhy_session_meter_count(const struct kwhy_session *session);
KWHY_API int kwhy_session_meter(
	const struct kwhy_session *session, size_t meter, struct kwhy_meter_info *out);

/*
 * Returns a sentence about something that cannot be metered on this machine: what, why, and what to do.
 * Sentences are numbered from 0; NULL: there is none with this number.
 */
KWHY_API const char *kwhy_session_absence(const struct kwhy_session *session, size_t number);

/*
 * Largest number of different names, of regions and units together, in a session. Ids of names are below
 * this number.
 */
#define KWHY_NAMES_MAX 4096
#define KWHY_NO_NAME UINT32_MAX

/*
 * Returns the id of a region's or unit's name; the same text always has the same id. Takes a lock. It
 * returns KWHY_NO_NAME if the session has KWHY_NAMES_MAX names already, if no memory is left, in a child
 * after fork(), and for the names "(session)" and "(idle)". The library itself uses these two, for the
 * whole session and for kwhy_session_idle(). Results report names as they are stored: control characters
 * become spaces, bytes that are not UTF-8 become U+FFFD, and names beyond 4096 bytes are cut and end in
 * "...".
 */
KWHY_API uint32_t kwhy_session_name(struct kwhy_session *session, const char *name);

/*
 * Begin and end a region. A call takes about 50 ns, without system call, lock or allocation, except for a
 * thread's first call, which allocates the thread's buffer. Regions may nest, overlap and recur, also
 * across threads; a region may end on another thread than it began on. While several threads are in the
 * same region, the region's energy counts once.
 */
KWHY_API void kwhy_region_begin(struct kwhy_session *session, uint32_t region);
KWHY_API void kwhy_region_end(struct kwhy_session *session, uint32_t region);

/*
 * Adds an amount of work done, such as tokens, to all regions that this thread has begun and not yet ended;
 * regions that other threads began do not get it, except "(session)". `unit`: id from kwhy_session_name().
 * Amounts that are negative, infinite or not-a-number are ignored.
 */
KWHY_API void kwhy_region_work(struct kwhy_session *session, uint32_t unit, double amount);
/*
 * As kwhy_region_work(), but takes the text of the unit in place of its id; takes a lock.
 * KWHY_MEASURE_E_INPUT: the amount or the unit is invalid.
 */
KWHY_API int kwhy_session_work(struct kwhy_session *session, const char *unit, double amount);

/*
 * Measures the idle level of each meter, above which net energies are counted: waits `seconds` and takes the
 * mean power in that time. Several calls are averaged by time. Call it while nothing runs. A call before the
 * program's first use of the GPU measures the idle level without a context; a later call measures it with the
 * program's context.
 */
KWHY_API int kwhy_session_idle(
	struct kwhy_session *session, double seconds, char *message, size_t message_bytes);

/*
 * Gives times and energies of all regions up to now, including regions that have not ended. Waits until the
 * meters have readings up to now, usually about 0.2 s and at most about 2 s. The session continues. Free the
 * results with kwhy_results_free(); they may outlive the session.
 */
KWHY_API int kwhy_session_results(
	struct kwhy_session *session, struct kwhy_results **out, char *message, size_t message_bytes);
KWHY_API void kwhy_results_free(struct kwhy_results *results);

struct kwhy_region_info {
	size_t size;	    /* size of this struct, set by the caller */
	const char *name;   /* lives as long as the results */
	uint64_t count;	    /* number of times begun */
	uint64_t open;	    /* number of runs (begin to end) that have not ended */
	uint64_t unmatched; /* number of ends without a begin */
	double total_s; /* sum of the lengths of all runs of the region; time in which two runs overlap counts
			   twice */
	double wall_s;	/* time in which at least one run of the region was active */
	uint32_t number; /* id of the name, as returned by kwhy_session_name() */
};

#define KWHY_ENERGY_STATE_MEASURED 0
#define KWHY_ENERGY_STATE_NOT_METERED 1
#define KWHY_ENERGY_STATE_NOT_YET 2   /* the meter's readings end before the region does */
#define KWHY_ENERGY_STATE_FORGOTTEN 3 /* readings of the region's start were dropped or never taken */

/* Energy of a region on one meter, or on all GPUs together. */
struct kwhy_region_energy {
	size_t size; /* size of this struct, set by the caller */
	int32_t state;
	int32_t enough; /* 1: half of the interval's width is at most enough_ratio times the energy */
	uint64_t repetitions_needed; /* number of back-to-back repetitions in one region after which `enough`
					would be 1; 1: `enough` is 1 already; 0: unknown, or no number
					suffices */
	const char *basis; /* "counter+power", "counter", "power", "averages", "wall", "none"; "mixed": the
			      GPUs' meters differ */
	double joules, low_j, high_j;
	/* energy above the idle level, and its interval; NAN if kwhy_session_idle() was not called */
	double net_joules, net_low_j, net_high_j;
	double mean_w, peak_w;
	const char *missing; /* why the energy is not measured, such as "the device fell off the bus"; NULL:
				it is measured */
};

struct kwhy_region_work_done {
	size_t size; /* size of this struct, set by the caller */
	const char *unit;
	double amount;
	double joules_per_unit, low_j_per_unit, high_j_per_unit; /* energy of all GPUs (or of the host, if no
								    GPU is metered) divided by `amount` */
	double seconds_per_unit;
};

/* Region 0 is "(session)": all time since kwhy_session_open(). */
#define KWHY_ALL_GPUS SIZE_MAX
KWHY_API size_t kwhy_results_region_count(const struct kwhy_results *results);
/* Returns the index of the region with this name; SIZE_MAX: there is no such region. */
KWHY_API size_t kwhy_results_region_find(const struct kwhy_results *results, const char *name);
KWHY_API int kwhy_results_region(
	const struct kwhy_results *results, size_t region, struct kwhy_region_info *out);
KWHY_API int kwhy_results_energy(
	const struct kwhy_results *results, size_t region, size_t meter, struct kwhy_region_energy *out);
KWHY_API size_t kwhy_results_work_count(const struct kwhy_results *results, size_t region);
KWHY_API int kwhy_results_work(
	const struct kwhy_results *results, size_t region, size_t work, struct kwhy_region_work_done *out);

/*
 * Number of events (beginnings, ends and work) that were lost because a thread's buffer was full or could not
 * be made; and number of meters' readings that were overwritten or dropped before their energy was added up.
 */
KWHY_API uint64_t kwhy_results_lost_events(const struct kwhy_results *results);
KWHY_API uint64_t kwhy_results_lost_readings(const struct kwhy_results *results);

/* All results as one JSON document of schema "kwhy.measure/1"; it lives as long as the results. */
KWHY_API const char *kwhy_results_json(const struct kwhy_results *results);

#ifdef __cplusplus
}
#endif

#endif
