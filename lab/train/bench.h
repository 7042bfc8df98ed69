/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_TRAIN_BENCH_H
#define KWHY_LAB_TRAIN_BENCH_H

#include "base/arena.h"
#include "fit/median.h"
#include "lab/train/run.h"
#include "measure/device_energy.h"

/*
 * `kwhy-lab train`: every variant of the workload `train`, held against the reference, with its
 * times and its energy.
 */
struct kwhy_bench_train_request {
	enum kwhy_gpu_backend backend;
	const char *devices;  /* numbers or PCI addresses with commas between; NULL: the first */
	const char *variants; /* "fp32,graph"; NULL: all that so many GPUs allow */
	struct kwhy_train_shape shape;
	uint32_t check_width; /* no wider is what is held against the reference; 0: nothing is */
	uint32_t repeat;      /* timed runs of each, at least */
	double energy_s;      /* each is run again and again for so long; 0: no energy */
	void (*progress)(void *context, const char *what); /* as each begins; NULL: not */
	void *context;
};

enum { KWHY_BENCH_TRAIN_ROWS_MOST = 16, KWHY_BENCH_TRAIN_RUNS_KEPT = 256, KWHY_BENCH_TRAIN_CHECK_STEPS = 3 };

struct kwhy_bench_train_row {
	const char *id, *title, *change, *after; /* as in the table of variants */
	const char *missing;			 /* why there are no figures; NULL: there are */
	const char *products;			 /* who makes them: "own kernels", "cuBLAS 13.0.2" */
	uint32_t gpus;				 /* that it used */
	struct kwhy_train_errors errors;	 /* of the checked shape; NAN: it was not */
	struct kwhy_median run_s;
	size_t run_count;		  /* timed */
	float *losses;			  /* [shape.steps]; all runs gave these */
	uint64_t bytes, activation_bytes; /* of a GPU */
	struct kwhy_train_tally tally;	  /* of one run */
	size_t energy_runs;
	struct kwhy_window_joules energy; /* of all those runs */
};

struct kwhy_bench_train {
	struct kwhy_arena arena; /* of everything below */
	struct kwhy_gpu_facts gpus[KWHY_DEVICE_ENERGY_GPUS_MOST];
	uint32_t gpu_count;
	enum kwhy_gpu_backend backend;
	struct kwhy_train_shape shape, checked; /* checked.steps 0: nothing was */
	struct kwhy_bench_train_row rows[KWHY_BENCH_TRAIN_ROWS_MOST];
	size_t row_count;
	const char *energy_missing; /* NULL: the GPUs' energy is known */
	bool is_wrong;		    /* a row is not the training of the reference; it says so */
	const char *ended; /* why before all were run, in words; rows before are good. NULL: all were */
};

/*
 * Runs all. A variant that this machine cannot run is a row that says why, and so is one that is not the
 * training of the reference or gave other losses in another run. A lost device ends the rest and is told in
 * `ended`. End with kwhy_bench_train_free().
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_train(const struct kwhy_bench_train_request *request,
	struct kwhy_bench_train **out, struct kwhy_error *error);
void kwhy_bench_train_free(struct kwhy_bench_train *bench);

/* Seconds and joules of one step, of the median and of the windows' runs; NAN: unknown. */
double kwhy_bench_train_step_s(const struct kwhy_bench_train *bench, const struct kwhy_bench_train_row *row);
struct kwhy_joules kwhy_bench_train_step_joules(const struct kwhy_bench_train *bench,
	const struct kwhy_bench_train_row *row, const struct kwhy_joules *joules);

/* Whether any row was to be had. */
static inline bool kwhy_bench_train_has_run(const struct kwhy_bench_train *bench)
{
	bool has = false;

	for (size_t i = 0; i < bench->row_count; i++)
		has |= !bench->rows[i].missing;
	return has;
}

#endif
