/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_PLAN_H
#define KWHY_BENCH_PAIRS_PLAN_H

#include "gpu/gpu.h"
#include "model/pairs.h"

struct kwhy_pair_ranks;

/* Settings of a measurement. Zero and NULL stand for the defaults in the comments. */
struct kwhy_pair_request {
	enum kwhy_gpu_backend backend;
	const char *const *devices; /* numbers or PCI addresses; NULL: all GPUs */
	uint32_t device_count;
	unsigned engines;		  /* bits; 0: those that suit the back end and the pair */
	unsigned clocks;		  /* bits; 0: all clocks of each engine */
	uint64_t least_bytes, most_bytes; /* 0: 1 B, and 1 GiB (16 MiB on the host) */
	uint32_t random_sizes;		  /* random sizes in addition to powers of two */
	bool no_loads;			  /* measure no pair under load from other transfers */
	uint64_t seed;
	uint32_t communicators; /* NCCL communicators used in succession, in one process only; 0: one */
	double time_s;		/* duration of the time pass; 0: 120 s */
	uint32_t most_rounds;	/* rounds of the time pass; 0: no limit */
	double warm_s;		/* copies that warm the GPUs beforehand; 0: none are made */
	double keep_warm_c;	/* below this temperature of a GPU copies warm all of them again; 0: never */
	bool energy;		/* add a pass that measures joules */
	double burst_s;		/* length of a burst of the energy pass; 0: 1 s */
	bool pinning;		/* add a pass that compares NUMA nodes */
	const char *sys;	/* where sysfs is mounted; NULL: /sys */
	struct kwhy_pair_ranks *ranks; /* joined processes; NULL: only this one */
	uint32_t local_rank;	       /* number of this rank among those of its host */
	double clock_s;	    /* time spent on comparing the ranks' clocks, at the start and at the end */
	const char *folder; /* samples are written there as they are taken; NULL: they are not kept */
	bool resume;	    /* continue the measurement that the folder holds */
	/*
	 * Called before each configuration, `share` being the part that is done, from 0 to 1; NULL: not
	 * called.
	 */
	void (*progress)(void *context, const char *what, double share);
	void *context;
};

/* Fills in the defaults. KWHY_E_USAGE: a range is empty or beyond the limits. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_request_complete(
	struct kwhy_pair_request *request, struct kwhy_error *error);

/*
 * The settings that decide which configurations exist and how they are numbered, as text. The request must be
 * complete.
 */
enum { KWHY_PAIR_REQUEST_BYTES = 200 };
const char *kwhy_pair_request_text(
	const struct kwhy_pair_request *request, char out[KWHY_PAIR_REQUEST_BYTES]);

/* Fills pairs->configs with all configurations, which have no samples yet. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_plan_make(
	const struct kwhy_pair_request *request, struct kwhy_pairs *pairs, struct kwhy_error *error);

#endif
