/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_TRANSFERS_PLAN_H
#define KWHY_BENCH_TRANSFERS_PLAN_H

#include "bench/transfers/strategy.h"
#include "gpu/gpu.h"
#include "model/transfers.h"

/* What is to be measured. Zero and NULL are the defaults that the comments say. */
struct kwhy_bench_request {
	enum kwhy_gpu_backend backend;
	const char *device;	       /* number or PCI address; NULL: the first */
	const char *const *strategies; /* ids; NULL: all that are not only_if_asked */
	size_t strategy_count;
	unsigned directions;		  /* bits; 0: all */
	uint64_t least_bytes, most_bytes; /* 0: 1 B; 1 GiB, on the host 16 MiB */
	uint32_t random_sizes;		  /* beside powers of two, between them */
	bool quick;			  /* every fourth power of two, few pieces */
	uint64_t seed;
	double time_s;	       /* of the time pass; 0: 170 s */
	uint32_t most_rounds;  /* of it; 0: as many as it takes */
	const char *data_path; /* of compressed transfers; NULL: the pattern */
	bool energy;	       /* the second pass, too */
	double burst_s;	       /* of it; 0: 1 s */
	const char *folder;    /* samples are kept there as they come; NULL: not */
	bool resume;	       /* carry on with what the folder holds */
	/* Called before each point, with shares of what is done; NULL: not. */
	void (*progress)(void *context, const char *what, double share);
	void *context;
};

/* A point and who measures it. */
struct kwhy_bench_task {
	const struct kwhy_bench_strategy *strategy;
	struct kwhy_transfer_point *point;
	double spent_s; /* on it, warming up as well */
	double first_s; /* of its first visit in this run, all that belongs to it; 0: there was none */
	double last_s;	/* of its last visit in this run, warming up as well; 0: there was none */
	uint32_t batches;
	uint32_t rests; /* rounds that leave it out */
	bool closed;
	const char *shortage; /* of memory, in words; NULL: none met it */
};

struct kwhy_bench_plan {
	struct kwhy_bench_task *tasks; /* in the arena of the transfers, one a point, in their order */
	size_t count;
	uint64_t capacity; /* that the buffers need */
};

/* The defaults of a request, filled in. KWHY_E_USAGE: a strategy or a range that there is not. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_request_complete(
	struct kwhy_bench_request *request, struct kwhy_error *error);

/* All points, unmeasured, and their tasks. KWHY_E_USAGE where nothing is left to measure. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_plan_make(const struct kwhy_bench_request *request,
	struct kwhy_transfers *transfers, struct kwhy_bench_plan *out, struct kwhy_error *error);

/*
 * What its next visit should take: as long as its last one; where there was none, the mean of the first ones
 * of that size. 0: nothing is known yet. Pure.
 */
double kwhy_bench_task_foreseen_s(const struct kwhy_bench_plan *plan, const struct kwhy_bench_task *task);

/* A point without samples, its place for them from the arena; strings are borrowed. NULL: no memory. */
struct kwhy_transfer_point *kwhy_bench_point_init(
	struct kwhy_arena *arena, struct kwhy_transfer_point *point);

/* What follows from its samples. */
void kwhy_bench_point_sum_up(struct kwhy_transfer_point *point);

/* Whole width of the interval of the median over it, as kwhy_median_width(). */
double kwhy_bench_point_width(const struct kwhy_transfer_point *point);

/* A copy; "" is not known, and NULL. */
const char *kwhy_bench_known(struct kwhy_arena *arena, const char *text);

/* "2026-11-21T20:15:00Z": which of the runs of a day it was; NULL: no memory. */
const char *kwhy_bench_now_text(struct kwhy_arena *arena);

/* The next of a sequence that a seed gives (splitmix64). */
uint64_t kwhy_bench_random(uint64_t *state);

/* A seeded order of 0 to count - 1. */
void kwhy_bench_shuffle(size_t *order, size_t count, uint64_t *state);

#endif
