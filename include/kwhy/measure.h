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
 * Times are seconds, energies joules, powers watts; not-a-number is "not available", never 0. Intervals are
 * 95 % ones. They do not hold the meter's constant gain error, which no meter knows: others found -5.8 to
 * +4 % on several cards (arXiv 2312.02741).
 *
 * Work of a GPU is asynchronous: a region holds the energy of its time, whoever used it. Synchronise before
 * the end of a region that is to hold the work launched in it.
 *
 * Threads: any thread may call kwhy_region_begin(), kwhy_region_end(), kwhy_region_work() and
 * kwhy_session_name() at any time; kwhy_session_results() too, but not twice at once. No thread may use a
 * session while it is closed. A child after fork() records nothing in its parent's session; all that it may
 * still do with it is close it. Not for signal handlers.
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

/* Of the library that runs, which may be newer than this header. */
KWHY_API const char *kwhy_measure_version(void);

/* What calls return. */
#define KWHY_MEASURE_OK 0
#define KWHY_MEASURE_E_INPUT 1 /* a file or a value that was given is wrong */
#define KWHY_MEASURE_E_IO 2    /* the system refused to read */
#define KWHY_MEASURE_E_MEMORY 3
#define KWHY_MEASURE_E_UNSUPPORTED 4 /* this machine cannot do it, or this is a child after fork() */
#define KWHY_MEASURE_E_USAGE 5	     /* an index or a size that is not */

/* Room that any message needs: one sentence with what, why and the cure. */
#define KWHY_MESSAGE_BYTES 720

struct kwhy_session;
struct kwhy_results;

/*
 * Set `size` to sizeof(struct kwhy_session_options), without which it is refused, and all else that is not
 * wanted to 0.
 */
struct kwhy_session_options {
	size_t size;
	const char *devices;	 /* "0,2" as the vendor numbers them; NULL: all, of NVIDIA's those that
				    CUDA_VISIBLE_DEVICES shows */
	const char *replay_path; /* power CSV played back in real time instead of this machine's meters */
	const char *meter_path;	 /* a wall meter's power CSV, followed while it grows */
	double enough_ratio;	 /* half-width up to which a figure is enough, as a share of it; 0: 0.1 */
	int32_t without_gpus, without_host;
	/*
	 * How often energy counters are read; 0: as rarely as every 20 s where that costs the driver
	 * milliseconds (NVML), with samples in between. 0.1 makes figures of short regions under periodic
	 * work surer, for some percent of a processor core.
	 */
	double counter_period_s;
};

/*
 * Opens this machine's meters and begins to sample; waits, up to 2 s, until each has reported its first. No meter
 * at all is no error: times are then measured, and kwhy_session_absence() says why there is no energy.
 * `options` NULL: all default. `message` may be NULL.
 */
KWHY_API int kwhy_session_open(const struct kwhy_session_options *options, struct kwhy_session **out,
	char *message, size_t message_bytes);
KWHY_API void kwhy_session_close(struct kwhy_session *session);

#define KWHY_METER_KIND_GPU 0
#define KWHY_METER_KIND_HOST 1 /* a domain of the CPUs */
#define KWHY_METER_KIND_WALL 2

/* Something whose energy is metered. Strings live as long as the session; NULL: unknown. */
struct kwhy_meter_info {
	size_t size; /* set by the caller */
	int32_t kind;
	int32_t index;	     /* of a GPU, as the vendor numbers it; -1: not a GPU */
	const char *name;    /* "gpu 0", "rapl.package-0" */
	const char *product; /* "NVIDIA H200" */
	const char *uuid, *pci_address, *driver;
};

KWHY_API size_t kwhy_session_meter_count(const struct kwhy_session *session);
KWHY_API int kwhy_session_meter(
	const struct kwhy_session *session, size_t meter, struct kwhy_meter_info *out);

/* Why something is not available, a sentence with its cure; NULL beyond the last. */
KWHY_API const char *kwhy_session_absence(const struct kwhy_session *session, size_t number);

/* Beyond this many names there is no further. */
#define KWHY_NAMES_MAX 4096
#define KWHY_NO_NAME UINT32_MAX

/*
 * The number of a region's or unit's name, the same for the same text; takes a lock. KWHY_NO_NAME: no space,
 * or "(session)" or "(idle)", which are the library's own (of everything, and of kwhy_session_idle()), or
 * this is a child after fork(). Results tell the name as it is kept: control characters become spaces, bytes
 * that are no UTF-8 become U+FFFD, and one beyond 4096 bytes is cut and ends in "...".
 */
KWHY_API uint32_t kwhy_session_name(struct kwhy_session *session, const char *name);

/*
 * The hot path: some 50 ns, no system call, no lock, no allocation, but for a thread's first call, which
 * makes its buffer. Regions nest, overlap and recur, also across threads; a region may end on another thread
 * than it began on. While several threads are inside the same region its energy counts once.
 */
KWHY_API void kwhy_region_begin(struct kwhy_session *session, uint32_t region);
KWHY_API void kwhy_region_end(struct kwhy_session *session, uint32_t region);

/*
 * Work done, such as tokens: counts for all regions that this thread has begun and not yet ended. An amount
 * that is negative, infinite or not-a-number counts nothing.
 */
KWHY_API void kwhy_region_work(struct kwhy_session *session, uint32_t unit, double amount);
/* The same by the unit's text; takes a lock. KWHY_MEASURE_E_INPUT: there is no such amount or unit. */
KWHY_API int kwhy_session_work(struct kwhy_session *session, const char *unit, double amount);

/*
 * Waits `seconds` and takes that as the idle level, which net energies are above. Call it when nothing runs,
 * and say by where you call it what idle means: before the first use of the GPU, or with a context alive.
 */
KWHY_API int kwhy_session_idle(
	struct kwhy_session *session, double seconds, char *message, size_t message_bytes);

/*
 * What all regions have used up to now, open ones included; waits about 0.2 s for the meters to show it. The
 * session goes on. Free with kwhy_results_free(), which may outlive the session.
 */
KWHY_API int kwhy_session_results(
	struct kwhy_session *session, struct kwhy_results **out, char *message, size_t message_bytes);
KWHY_API void kwhy_results_free(struct kwhy_results *results);

struct kwhy_region_info {
	size_t size;	    /* set by the caller */
	const char *name;   /* lives as long as the results */
	uint64_t count;	    /* times begun */
	uint64_t open;	    /* of those not ended yet */
	uint64_t unmatched; /* ends without a beginning */
	double total_s;	    /* of all runs, also those at the same time */
	double wall_s;	    /* at least one was running */
	uint32_t number;    /* of its name, as kwhy_session_name() gave it */
};

#define KWHY_ENERGY_STATE_MEASURED 0
#define KWHY_ENERGY_STATE_NOT_METERED 1
#define KWHY_ENERGY_STATE_NOT_YET 2   /* the meter gives no readings any more */
#define KWHY_ENERGY_STATE_FORGOTTEN 3 /* began before the meter's first reading */

/* Of a region on one meter, or on all GPUs together. */
struct kwhy_region_energy {
	size_t size; /* set by the caller */
	int32_t state;
	int32_t enough;		     /* the half-width is within enough_ratio */
	uint64_t repetitions_needed; /* too short to tell: so often, back to back in one region, would do; 1:
					it is enough; 0: unknown */
	const char *basis; /* "counter+power", "counter", "power", "averages", "wall", "none"; "mixed": of
			      meters that differ in it */
	double joules, low_j, high_j;
	double net_joules, net_low_j, net_high_j; /* above the idle level; needs kwhy_session_idle() */
	double mean_w, peak_w;
	const char *missing; /* why it is not measured, such as "the device fell off the bus", permanently; NULL:
				it is */
};

struct kwhy_region_work_done {
	size_t size; /* set by the caller */
	const char *unit;
	double amount;
	double joules_per_unit, low_j_per_unit, high_j_per_unit; /* of all GPUs; without any of the host */
	double seconds_per_unit;
};

/* Region 0 is "(session)": everything since kwhy_session_open(). */
#define KWHY_ALL_GPUS SIZE_MAX
KWHY_API size_t kwhy_results_region_count(const struct kwhy_results *results);
KWHY_API size_t kwhy_results_region_find(const struct kwhy_results *results, const char *name); /* SIZE_MAX */
KWHY_API int kwhy_results_region(
	const struct kwhy_results *results, size_t region, struct kwhy_region_info *out);
KWHY_API int kwhy_results_energy(
	const struct kwhy_results *results, size_t region, size_t meter, struct kwhy_region_energy *out);
KWHY_API size_t kwhy_results_work_count(const struct kwhy_results *results, size_t region);
KWHY_API int kwhy_results_work(
	const struct kwhy_results *results, size_t region, size_t work, struct kwhy_region_work_done *out);

/* What went missing: region events for want of room in a thread's buffer, and readings of meters. */
KWHY_API uint64_t kwhy_results_lost_events(const struct kwhy_results *results);
KWHY_API uint64_t kwhy_results_lost_readings(const struct kwhy_results *results);

/* All of it as one JSON document, schema "kwhy.measure/1"; lives as long as the results. */
KWHY_API const char *kwhy_results_json(const struct kwhy_results *results);

#ifdef __cplusplus
}
#endif

#endif
