/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_FLOW_BENCH_H
#define KWHY_LAB_FLOW_BENCH_H

#include "base/arena.h"
#include "fit/median.h"
#include "lab/flow/run.h"
#include "measure/device_energy.h"

/*
 * `kwhy-lab flow`: the workload `flow` in its variants on this machine (lab/README.md), each for every
 * number of flows asked for, with its places held against the reference in every run, its numbers held
 * against it once, its times, what it asked of the driver, its energy and three utilisations.
 */
struct kwhy_bench_flow_request {
	enum kwhy_gpu_backend backend;
	const char *device; /* numbers or PCI addresses; NULL: the first. n6 uses all, the others the first */
	const char *variants; /* "n0,n4"; NULL: all; "cpu" is the reference */
	const char *flows;    /* "1,1000": numbers of flows */
	uint32_t steps;
	bool by_argmax;
	enum kwhy_flow_precision precision;
	bool by_nccl;	 /* of the variant that takes several GPUs */
	uint32_t repeat; /* timed runs of each, at least */
	double energy_s; /* each is run again and again for so long; 0: no energy */
	bool peaks;	 /* rates of arithmetic are measured first, for the roofline */
	bool runs_only;	 /* nothing beside runs of variants: numbers are not proved, no busy shares */
	bool components; /* two more runs of each, for its components one by one */
	void (*progress)(void *context, const char *what); /* as each begins; NULL: not */
	void *context;
};

enum { KWHY_BENCH_FLOW_ROWS_MOST = 130, KWHY_BENCH_FLOW_RUNS_KEPT = 64 };

/* A short run whose numbers are held against the reference; flows 0: there was none. */
struct kwhy_bench_flow_proof {
	uint32_t flows, steps;
	struct kwhy_flow_numbers numbers;
	double tolerance;
};

/* A component of a variant, of a run in which each is waited for; all NAN: it has none, or was not asked for.
 */
struct kwhy_bench_flow_component {
	double time_ratio; /* of that run */
	double busy_ratio; /* of its time, that the device was at it; NAN: it takes too little of the run */
	double roofline_ratio; /* of the arithmetic's measured rate in its time; NAN: it has none, or no rate
				*/
};

struct kwhy_bench_flow_row {
	const char *id, *title, *change, *after; /* as in the table of variants */
	const char *name;			 /* id and number of flows: of its energy */
	const char *missing;			 /* why there are no figures; NULL: there are */
	const char *wrong;			 /* what is not as in the reference; NULL: all is */
	bool on_gpu;
	uint32_t flows, steps;
	const char *products; /* who multiplies matrices */
	enum kwhy_flow_precision precision;
	struct kwhy_median run_s, step_s;
	double step_p99_s;
	bool device_clock;     /* the steps' times are the device's */
	uint32_t gpu_count;    /* that it used; 0: it was not run */
	uint64_t memory_bytes; /* that it took of each of them */
	size_t run_count;      /* timed */
	double *step_times;    /* [kept_runs][steps], seconds */
	size_t kept_runs;
	double flow_steps_per_s;      /* of the median run */
	double nvml_ratio;	      /* NVML's utilisation while it ran again and again; NAN: not told */
	double busy_ratio;	      /* of a run, that the device was at it; NAN: not told */
	double roofline_ratio;	      /* of the arithmetic's measured rate; NAN: that is not known */
	struct kwhy_flow_tally tally; /* of one run */
	struct kwhy_bench_flow_proof proof;
	struct kwhy_bench_flow_proof crowd; /* of so many flows that blocks take parts of them in turn */
	double apart_run_s;		    /* the run of its components; NAN: there was none */
	struct kwhy_bench_flow_component components[KWHY_FLOW_COMPONENT_COUNT];
	size_t energy_runs;
	struct kwhy_window_joules energy; /* of all those runs */
};

struct kwhy_bench_flow {
	struct kwhy_arena arena; /* of everything below */
	struct kwhy_gpu_facts gpu;
	enum kwhy_gpu_backend backend;
	uint32_t steps;
	bool by_argmax;
	double peak_flop_per_s[KWHY_FLOW_PRECISION_COUNT]; /* measured; NAN: not */
	struct kwhy_bench_flow_row rows[KWHY_BENCH_FLOW_ROWS_MOST];
	size_t row_count;
	const char *energy_missing; /* NULL: the GPU's energy is known */
	const char *nvml_missing;   /* NULL: NVML's utilisation is */
	const char *ended; /* why before all were run, in words; rows before are good. NULL: all were */
};

/*
 * Runs all. A variant that this machine cannot run is a row that says why, as is one that comes to something
 * else than the reference; a lost device ends the rest. End with kwhy_bench_flow_free().
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_flow(const struct kwhy_bench_flow_request *request,
	struct kwhy_bench_flow **out, struct kwhy_error *error);
void kwhy_bench_flow_free(struct kwhy_bench_flow *bench);

/* Joules a million flow-steps, of the runs of the same window. */
struct kwhy_joules kwhy_bench_flow_per_million(
	const struct kwhy_bench_flow_row *row, const struct kwhy_joules *joules);

/* Whether any row was to be had. */
static inline bool kwhy_bench_flow_has_run(const struct kwhy_bench_flow *bench)
{
	bool has = false;

	for (size_t i = 0; i < bench->row_count; i++)
		has |= !bench->rows[i].missing;
	return has;
}

#endif
