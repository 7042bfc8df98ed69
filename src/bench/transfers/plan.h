/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_TRANSFERS_PLAN_H
#define KWHY_BENCH_TRANSFERS_PLAN_H

#include "bench/transfers/strategy.h"
#include "gpu/gpu.h"
#include "model/transfers.h"

/*
 * Settings of a measurement of transfers. A member of 0 or NULL stands for the default that its comment
 * names.
 */
struct kwhy_bench_request {
	enum kwhy_gpu_backend backend;
	const char *device;	       /* number or PCI address of the GPU; NULL: the first GPU */
	const char *const *strategies; /* ids of strategies; NULL: all except those with only_if_asked */
	size_t strategy_count;
	unsigned directions;		  /* bits 1 << enum kwhy_transfer_direction; 0: all directions */
	uint64_t least_bytes, most_bytes; /* range of sizes; 0: from 1 B to 1 GiB (16 MiB on the host) */
	uint32_t random_sizes;		  /* number of random sizes in addition to powers of two */
	bool quick; /* measure only every fourth power of two, and fewer numbers and sizes of pieces */
	uint64_t seed;
	double time_s;	      /* duration of the pass that measures times, in seconds; 0: 170 s */
	uint32_t most_rounds; /* rounds of the pass that measures times; 0: no limit */
	/* file with the data for compressed transfers; NULL: they send the pattern */
	const char *data_path;
	bool energy;	    /* add a pass that measures energy */
	double burst_s;	    /* duration of a burst in the pass that measures energy, in seconds; 0: 1 s */
	const char *folder; /* folder to which samples are written as they are taken; NULL: they are only
			       returned */
	bool resume;	    /* continue the measurement that is in the folder */
	/*
	 * Called as the measurement goes on, with the id of the strategy that is measured next and the share
	 * of the present pass that is done, from 0 to 1; NULL: not called.
	 */
	void (*progress)(void *context, const char *what, double share);
	void *context;
};

/*
 * A point (strategy, direction, clock and size) and how far its measurement has come. A visit of a point
 * takes one batch of its samples.
 */
struct kwhy_bench_task {
	const struct kwhy_bench_strategy *strategy;
	struct kwhy_transfer_point *point;
	double spent_s; /* seconds spent on the point's visits, including warm-up */
	/*
	 * seconds of its first visit in this run, including the time to make buffers and to verify; 0: not
	 * visited yet
	 */
	double first_s;
	/* seconds of its last visit in this run, including warm-up; 0: not visited yet */
	double last_s;
	uint32_t batches;
	uint32_t rests; /* number of coming rounds that leave the point out, because its last visit took long
			 */
	bool closed;
	/* why the last visit that lacked memory failed; NULL: no visit lacked memory */
	const char *shortage;
};

struct kwhy_bench_plan {
	/* one for each point of `transfers`, in the same order */
	struct kwhy_bench_task *tasks;
	size_t count;
	uint64_t capacity; /* size in bytes of the buffers, enough for every point */
};

/*
 * Replaces settings that are 0 or NULL by their defaults. KWHY_E_USAGE: a strategy does not exist, or a range
 * is empty or beyond the limits.
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_request_complete(
	struct kwhy_bench_request *request, struct kwhy_error *error);

/* Makes all points, without samples, and their tasks. KWHY_E_USAGE: no point remains to be measured. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_plan_make(const struct kwhy_bench_request *request,
	struct kwhy_transfers *transfers, struct kwhy_bench_plan *out, struct kwhy_error *error);

/*
 * Expected duration of a task's next visit, in seconds: the duration of its last visit or, before its first
 * visit, the mean over the first visits of other points of the same size. 0: unknown. Pure.
 */
double kwhy_bench_task_foreseen_s(const struct kwhy_bench_plan *plan, const struct kwhy_bench_task *task);

/*
 * Allocates memory for KWHY_TRANSFER_SAMPLES_MAX samples of a point in the arena and sets its results to
 * unknown. Returns the point. NULL: out of memory.
 */
struct kwhy_transfer_point *kwhy_bench_point_init(
	struct kwhy_arena *arena, struct kwhy_transfer_point *point);

/* Computes point->summary from the point's samples. */
void kwhy_bench_point_sum_up(struct kwhy_transfer_point *point);

/*
 * Full width of the 95 % interval of the median, as a ratio to the median, as kwhy_median_width() computes
 * it.
 */
double kwhy_bench_point_width(const struct kwhy_transfer_point *point);

/* Copies `text` to the arena. NULL: the text is NULL or "", which stand for unknown, or memory is short. */
const char *kwhy_bench_known(struct kwhy_arena *arena, const char *text);

/* Gets the current UTC time as a text such as "2026-11-21T20:15:00Z"; NULL: out of memory. */
const char *kwhy_bench_now_text(struct kwhy_arena *arena);

/*
 * Fills order[count] with a pseudo-random permutation of the numbers 0 to count - 1, and advances *state, the
 * state of the random numbers.
 */
void kwhy_bench_shuffle(size_t *order, size_t count, uint64_t *state);

#endif
