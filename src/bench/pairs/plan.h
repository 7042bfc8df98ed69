/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_PLAN_H
#define KWHY_BENCH_PAIRS_PLAN_H

#include "gpu/gpu.h"
#include "model/pairs.h"

struct kwhy_pair_ranks;

/* What is to be measured. Zero and NULL are the defaults that the comments say. */
struct kwhy_pair_request {
	enum kwhy_gpu_backend backend;
	const char *const *devices; /* numbers or PCI addresses; NULL: all */
	uint32_t device_count;
	unsigned engines;		  /* bits; 0: all but staged where all GPUs reach each other */
	unsigned clocks;		  /* bits; 0: all that each engine has */
	uint64_t least_bytes, most_bytes; /* 0: 1 B; 1 GiB, on the host 16 MiB */
	uint32_t random_sizes;		  /* beside powers of two, between them */
	bool no_loads;			  /* one pair at a time alone */
	uint64_t seed;
	uint32_t communicators;	       /* of NCCL, one after the other, of one process alone; 0: one */
	double time_s;		       /* 0: 120 s */
	uint32_t most_rounds;	       /* within it; 0: as many as it takes */
	double warm_s;		       /* copy before, until devices are warm; 0: not */
	double keep_warm_c;	       /* copy in between while a device is colder; 0: not */
	bool energy;		       /* a second pass, of joules */
	double burst_s;		       /* of it; 0: 1 s */
	bool pinning;		       /* another pass, of NUMA nodes */
	const char *sys;	       /* NULL: /sys */
	struct kwhy_pair_ranks *ranks; /* between processes, joined already; NULL: in this one */
	uint32_t local_rank;	       /* of them, on this host */
	double clock_s;		       /* of asking ranks for their clocks, at both ends */
	const char *folder;	       /* results are kept there as they come; NULL: not */
	bool resume;		       /* carry on with what the folder holds */
	/* Called before each configuration, with shares of what is done; NULL: not. */
	void (*progress)(void *context, const char *what, double share);
	void *context;
};

/* The defaults filled in; KWHY_E_USAGE for a range that there is not. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_request_complete(
	struct kwhy_pair_request *request, struct kwhy_error *error);

/* What decides which configurations there are, and their numbers; of a complete request. */
enum { KWHY_PAIR_REQUEST_BYTES = 200 };
const char *kwhy_pair_request_text(
	const struct kwhy_pair_request *request, char out[KWHY_PAIR_REQUEST_BYTES]);

/* All configurations, unmeasured. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_plan_make(
	const struct kwhy_pair_request *request, struct kwhy_pairs *pairs, struct kwhy_error *error);

#endif
