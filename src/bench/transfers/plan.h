/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_TRANSFERS_PLAN_H
#define KWHY_BENCH_TRANSFERS_PLAN_H

#include "bench/transfers/strategy.h"
#include "gpu/gpu.h"
#include "model/transfers.h"

/* Settings of a measurement. Zero and NULL stand for the defaults in the comments. */
struct kwhy_bench_request {
	enum kwhy_gpu_backend backend;
	const char *device;	       /* number or PCI address; NULL: the first GPU */
	const char *const *strategies; /* ids; NULL: all but those with only_if_asked */
	size_t strategy_count;
	unsigned directions;		  /* bits of enum kwhy_transfer_direction; 0: all */
	uint64_t least_bytes, most_bytes; /* 0: 1 B, and 1 GiB (16 MiB on the host) */
	uint32_t random_sizes;		  /* random sizes in addition to powers of two */
	bool quick;			  /* every fourth power of two, fewer numbers and sizes of pieces */
	uint64_t seed;
	double time_s;	       /* duration of the time pass; 0: 170 s */
	uint32_t most_rounds;  /* rounds of the time pass; 0: no limit */
	const char *data_path; /* file with the data of compressed transfers; NULL: the pattern */
	bool energy;	       /* add a pass that measures joules */
	double burst_s;	       /* length of a burst of the energy pass; 0: 1 s */
	const char *folder;    /* samples are written there as they are taken; NULL: they are not kept */
	bool resume;	       /* continue the measurement that the folder holds */
	/* Called before each point, `share` being the part that is done, from 0 to 1; NULL: not called. */
	void (*progress)(void *context, const char *what, double share);
	void *context;
};

/* A point and the state of its measurement. */
struct kwhy_bench_task {
	const struct kwhy_bench_strategy *strategy;
	struct kwhy_transfer_point *point;
	double spent_s; /* time spent on the point, warm-up included */
	double first_s; /* duration of its first visit in this run, with everything around it; 0: not visited
			   yet */
	double last_s;	/* duration of its last visit in this run, warm-up included; 0: not visited yet */
	uint32_t batches;
	uint32_t rests; /* rounds that still skip it */
	bool closed;
	const char *shortage; /* message of a visit that failed for lack of memory; NULL: no visit did */
};

struct kwhy_bench_plan {
	struct kwhy_bench_task *tasks; /* one a point, in the same order; in the arena of the transfers */
	size_t count;
	uint64_t capacity; /* bytes that each buffer needs */
};

/*
 * Fills in the defaults. KWHY_E_USAGE: a strategy does not exist, or a range is empty or beyond the limits.
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_request_complete(
	struct kwhy_bench_request *request, struct kwhy_error *error);

/* Makes all points, without samples, and their tasks. KWHY_E_USAGE: nothing is left to measure. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_plan_make(const struct kwhy_bench_request *request,
	struct kwhy_transfers *transfers, struct kwhy_bench_plan *out, struct kwhy_error *error);

/*
 * The expected duration of a task's next visit, in seconds: that of its last one, or, before the first, the
 * mean of the first visits of points of the same size. 0: unknown. Pure.
 */
double kwhy_bench_task_foreseen_s(const struct kwhy_bench_plan *plan, const struct kwhy_bench_task *task);

/*
 * Initialises a point without samples and allocates space for them from the arena. Strings are borrowed.
 * NULL: out of memory.
 */
struct kwhy_transfer_point *kwhy_bench_point_init(
	struct kwhy_arena *arena, struct kwhy_transfer_point *point);

/* Computes the point's summary from its samples. */
void kwhy_bench_point_sum_up(struct kwhy_transfer_point *point);

/* Full width of the interval of the median over the median, as kwhy_median_width(). */
double kwhy_bench_point_width(const struct kwhy_transfer_point *point);

/* A copy of `text` in the arena; NULL where it is NULL or "", which stand for unknown. */
const char *kwhy_bench_known(struct kwhy_arena *arena, const char *text);

/* The current UTC time, as "2026-11-21T20:15:00Z"; NULL: out of memory. */
const char *kwhy_bench_now_text(struct kwhy_arena *arena);

/* Fills `order` with a random permutation of 0 to count - 1. */
void kwhy_bench_shuffle(size_t *order, size_t count, uint64_t *state);

#endif
