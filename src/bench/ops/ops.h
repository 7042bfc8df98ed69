/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_OPS_OPS_H
#define KWHY_BENCH_OPS_OPS_H

#include "base/arena.h"
#include "measure/device_energy.h"

#include <stdbool.h>

/*
 * `kwhy bench ops`: repeats single kinds of operation for a fixed time each and measures the energy of the
 * same window in which the operations are counted. Results are rates, and joules a FLOP, a byte, a transfer,
 * a collective.
 */
enum kwhy_ops_class {
	KWHY_OPS_COMPUTE,
	KWHY_OPS_MEMORY,
	KWHY_OPS_SMALL_TRANSFERS,
	KWHY_OPS_LARGE_BANDWIDTH,
	KWHY_OPS_MIXED,
	KWHY_OPS_COLLECTIVES,
	KWHY_OPS_CLASS_COUNT
};

const char *kwhy_ops_class_name(enum kwhy_ops_class class); /* "compute", "small transfers", ... */

struct kwhy_bench_ops_request {
	enum kwhy_gpu_backend backend;
	const char *devices;   /* as for bench twin; copies between GPUs are between the first two */
	const char *rows;      /* ids or names of classes, separated by commas; NULL: all */
	double seconds;	       /* duration of each row */
	uint64_t memory_bytes; /* size of each large buffer */
	bool energy;
	uint32_t seed;
	void (*progress)(void *context, const char *what); /* called as each row begins; NULL: not called */
	void *context;
};

struct kwhy_bench_ops_row {
	const char *id, *title;
	enum kwhy_ops_class class;
	const char *unit;    /* "FLOP", "OP", "B", "transfer", "launch", "kernel", "collective" */
	const char *missing; /* why the row has no figures; NULL: it has */
	double count;	     /* units completed in the window */
	double bytes;	     /* bytes moved in the window, where the unit is not B; NAN: none */
	double seconds;
	uint32_t gpus;
	struct kwhy_window_joules energy;
};

/*
 * The balance points of a precision's arithmetic and the memory (roofline); NAN where a net energy cannot be
 * distinguished from zero.
 */
struct kwhy_bench_ops_roof {
	const struct kwhy_bench_ops_row *compute, *memory;
	double time_balance;   /* FLOP a byte at which both take equal time */
	double energy_balance; /* FLOP a byte at which both take equal net energy */
};

enum { KWHY_BENCH_OPS_ROWS_MAX = 32 };

struct kwhy_bench_ops {
	struct kwhy_arena arena;
	struct kwhy_gpu_facts gpus[KWHY_DEVICE_ENERGY_GPUS_MAX];
	uint32_t gpu_count;
	enum kwhy_gpu_backend backend;
	uint64_t memory_bytes;
	uint32_t seed;
	struct kwhy_bench_ops_row rows[KWHY_BENCH_OPS_ROWS_MAX];
	size_t row_count;
	struct kwhy_bench_ops_roof roofs[KWHY_BENCH_OPS_ROWS_MAX];
	size_t roof_count;
	const char *energy_missing; /* NULL: the GPUs' energy is known */
	const char *ended;	    /* why the benchmark ended before all rows were run; NULL: it did not */
};

/* Runs the benchmark. Rows that this machine cannot run have `missing`. End with kwhy_bench_ops_free(). */
KWHY_MUST_USE enum kwhy_status kwhy_bench_ops(
	const struct kwhy_bench_ops_request *request, struct kwhy_bench_ops **out, struct kwhy_error *error);
void kwhy_bench_ops_free(struct kwhy_bench_ops *bench);

/* Joules a unit, by the units that were counted in the window. */
struct kwhy_joules kwhy_bench_ops_per_unit(
	const struct kwhy_bench_ops_row *row, const struct kwhy_joules *joules);

/* Whether any row was measured. */
static inline bool kwhy_bench_ops_has_run(const struct kwhy_bench_ops *bench)
{
	bool has = false;

	for (size_t i = 0; i < bench->row_count; i++)
		has |= !bench->rows[i].missing;
	return has;
}

#endif
