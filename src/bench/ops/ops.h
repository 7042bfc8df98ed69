/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_OPS_OPS_H
#define KWHY_BENCH_OPS_OPS_H

#include "base/arena.h"
#include "measure/device_energy.h"

#include <stdbool.h>

/*
 * `kwhy bench ops` repeats one kind of operation after another, each for a fixed time. In each of these
 * windows it counts the operations and measures the energy. Results are rates, and joules per FLOP, byte,
 * transfer or collective.
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

/* Name of a class, as in --rows: "compute", "memory", "small", "large", "mixed" or "collectives". */
const char *kwhy_ops_class_name(enum kwhy_ops_class class);

struct kwhy_bench_ops_request {
	enum kwhy_gpu_backend backend;
	/* GPUs as in --device of `kwhy bench ops`; copies between GPUs use the first two */
	const char *devices;
	const char *rows;      /* ids of rows or names of classes, separated by commas; NULL: all rows */
	double seconds;	       /* intended duration of the measurement of each row, in seconds */
	uint64_t memory_bytes; /* size of each large buffer, in bytes */
	bool energy;
	uint32_t seed;
	/* called with the row's id as each row begins; NULL: not called */
	void (*progress)(void *context, const char *what);
	void *context;
};

struct kwhy_bench_ops_row {
	const char *id, *title;
	enum kwhy_ops_class class;
	const char *unit;    /* what `count` counts: "FLOP", "OP", "B", "transfer", "launch", "kernel" or
				"collective" */
	const char *missing; /* why the row was not measured; NULL: it was measured */
	double count;	     /* units done in the window */
	double bytes; /* bytes that copies or collectives moved in the window; NAN: the row moves no bytes, or
			 its unit is B, so that `count` is the number of bytes */
	double seconds;
	uint32_t gpus;
	struct kwhy_window_joules energy;
};

/*
 * The arithmetic intensities at which arithmetic (`compute`, one precision) and device memory (`memory`) are
 * in balance, as in a roofline model.
 */
struct kwhy_bench_ops_roof {
	const struct kwhy_bench_ops_row *compute, *memory;
	double time_balance;   /* FLOP per byte at which the arithmetic takes as long as the memory traffic */
	double energy_balance; /* FLOP per byte at which the arithmetic takes as much net energy as the memory
				  traffic; NAN: one of the energies cannot be distinguished from zero */
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
	const char *energy_missing; /* why the GPUs' energy is unknown; NULL: it is known */
	const char *ended;	    /* why the benchmark ended before all rows were run; NULL: all were run */
};

/*
 * Runs the benchmark. For rows that this machine cannot run, `missing` says why. End with
 * kwhy_bench_ops_free().
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_ops(
	const struct kwhy_bench_ops_request *request, struct kwhy_bench_ops **out, struct kwhy_error *error);
void kwhy_bench_ops_free(struct kwhy_bench_ops *bench);

/* Divides the joules of a row's window by row->count. */
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
