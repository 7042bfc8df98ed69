/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_TWIN_BENCH_H
#define KWHY_LAB_TWIN_BENCH_H

#include "base/arena.h"
#include "fit/median.h"
#include "lab/twin/run.h"
#include "measure/device_energy.h"

/*
 * `kwhy-lab twin`: every variant of the workload `twin` on this machine, held against the reference's bits
 * in every step of every run, with its times, what it asked of the driver, and its energy.
 */
struct kwhy_bench_twin_request {
	enum kwhy_gpu_backend backend;
	const char *devices;  /* numbers or PCI addresses with commas between; NULL: the first */
	const char *variants; /* "v0,v5,v8"; NULL: all; "cpu" is the reference */
	struct kwhy_twin_shape shape;
	enum kwhy_twin_collectives collectives;
	uint32_t repeat; /* timed runs of each, at least */
	double energy_s; /* each is run again and again for so long; 0: no energy */
	bool runs_only;	 /* nothing beside runs of variants: no floor, no busy shares */
	void (*progress)(void *context, const char *what); /* as each begins; NULL: not */
	void *context;
};

enum { KWHY_BENCH_TWIN_ROWS_MOST = 16, KWHY_BENCH_TWIN_RUNS_KEPT = 256 };

struct kwhy_bench_twin_row {
	const char *id, *title, *change, *after; /* as in the table of variants */
	const char *missing;			 /* why there are no figures; NULL: there are */
	uint32_t gpus;				 /* that it used */
	struct kwhy_median run_s, step_s;
	double step_p99_s;
	bool device_clock; /* the steps' times are the device's */
	size_t run_count;  /* timed */
	double *steps;	   /* [kept_runs][shape.steps], seconds */
	size_t kept_runs;
	double busy_ratio;	      /* the device at work, of a run (lab/README.md); NAN: not told */
	struct kwhy_twin_tally tally; /* of one run */
	size_t energy_runs;
	struct kwhy_window_joules energy; /* of all those runs */
};

struct kwhy_bench_twin {
	struct kwhy_arena arena; /* of everything below */
	struct kwhy_gpu_facts gpus[KWHY_DEVICE_ENERGY_GPUS_MOST];
	uint32_t gpu_count;
	enum kwhy_gpu_backend backend;
	const char *collectives; /* who does them */
	struct kwhy_twin_shape shape;
	struct kwhy_bench_twin_row rows[KWHY_BENCH_TWIN_ROWS_MOST];
	size_t row_count;
	struct kwhy_median floor_step_s; /* count 0: not measured */
	const char *energy_missing;	 /* NULL: the GPUs' energy is known */
	const char *ended; /* why before all were run, in words; rows before are good. NULL: all were */
};

/*
 * Runs all. A variant that this machine cannot run is a row that says why; a wrong bit is KWHY_E_INPUT; a
 * lost device ends the rest and is told in `ended`. End with kwhy_bench_twin_free().
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_twin(const struct kwhy_bench_twin_request *request,
	struct kwhy_bench_twin **out, struct kwhy_error *error);
void kwhy_bench_twin_free(struct kwhy_bench_twin *bench);

/* Whether any row was to be had. */
static inline bool kwhy_bench_twin_has_run(const struct kwhy_bench_twin *bench)
{
	bool has = false;

	for (size_t i = 0; i < bench->row_count; i++)
		has |= !bench->rows[i].missing;
	return has;
}

#endif
