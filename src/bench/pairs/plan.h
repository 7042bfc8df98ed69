/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_PLAN_H
#define KWHY_BENCH_PAIRS_PLAN_H

#include "gpu/gpu.h"
#include "model/pairs.h"

struct kwhy_pair_ranks;

/* Settings of a measurement of pairs. A member of 0 or NULL stands for the default that its comment names. */
struct kwhy_pair_request {
	enum kwhy_gpu_backend backend;
	const char *const *devices; /* numbers or PCI addresses of the GPUs; NULL: all GPUs */
	uint32_t device_count;
	/* bits 1 << enum kwhy_pair_engine; 0: the engines that suit the back end and the pair of GPUs */
	unsigned engines;
	unsigned clocks; /* bits 1 << enum kwhy_pair_clock; 0: all clocks that each engine supports */
	uint64_t least_bytes, most_bytes; /* range of sizes; 0: from 1 B to 1 GiB (16 MiB on the host) */
	uint32_t random_sizes;		  /* number of random sizes in addition to powers of two */
	bool no_loads;			  /* do not measure pairs under load from other transfers */
	uint64_t seed;
	/*
	 * how many NCCL communicators are made in the run, each replacing the one before, since times differ
	 * between communicators; not with ranks; 0: one
	 */
	uint32_t communicators;
	double time_s;	      /* duration of the pass that measures times, in seconds; 0: 120 s */
	uint32_t most_rounds; /* rounds of the pass that measures times; 0: no limit */
	double warm_s;	      /* seconds of copies that warm the GPUs beforehand; 0: no copies */
	/*
	 * temperature in degrees Celsius; copies warm all GPUs whenever the coldest GPU is colder; 0: never
	 */
	double keep_warm_c;
	bool energy;	 /* add a pass that measures energy */
	double burst_s;	 /* duration of a burst in the pass that measures energy, in seconds; 0: 1 s */
	bool pinning;	 /* add a pass that compares NUMA nodes of the host thread */
	const char *sys; /* where sysfs is mounted; NULL: /sys */
	struct kwhy_pair_ranks *ranks; /* processes that measure together; NULL: only this one */
	uint32_t local_rank;	       /* number of this rank among the ranks on its host */
	/*
	 * with ranks: seconds for which the clocks of the ranks' hosts are compared, once at the start and
	 * once at the end of the run
	 */
	double clock_s;
	const char *folder; /* folder to which samples are written as they are taken; NULL: they are only
			       returned */
	bool resume;	    /* continue the measurement that is in the folder */
	/*
	 * Called as the measurement goes on, with the name of the present part of the work and the share of
	 * that part that is done, from 0 to 1; NULL: not called.
	 */
	void (*progress)(void *context, const char *what, double share);
	void *context;
};

/*
 * Replaces settings that are 0 or NULL by their defaults. KWHY_E_USAGE: a range is empty or beyond the
 * limits.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_request_complete(
	struct kwhy_pair_request *request, struct kwhy_error *error);

/*
 * Writes as text the settings that determine which configurations there are and how they are numbered.
 * kwhy_pair_request_complete() must have been called.
 */
enum { KWHY_PAIR_REQUEST_BYTES = 200 };
const char *kwhy_pair_request_text(
	const struct kwhy_pair_request *request, char out[KWHY_PAIR_REQUEST_BYTES]);

/* Makes all configurations of a measurement in pairs->configs, without samples. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_plan_make(
	const struct kwhy_pair_request *request, struct kwhy_pairs *pairs, struct kwhy_error *error);

#endif
