/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_SERIES_H
#define KWHY_BENCH_SERIES_H

#include "base/arena.h"
#include "bench/busy_gauge.h"
#include "fit/median.h"
#include "measure/device_energy.h"

/* Measures the rows of a workload benchmark: their times, energy and utilisation. For one thread. */

/* Repeated runs of one workload: first `repeat` runs, then as many as fit into an energy window. */
struct kwhy_bench_series {
	/* Runs the workload once and stores its duration. `number` counts the runs from 0. */
	enum kwhy_status (*run)(void *context, size_t number, double *out_s, struct kwhy_error *error);
	void *context;
	uint32_t repeat;
	size_t kept_most;		   /* how many of the first runs enter the median */
	struct kwhy_device_energy *energy; /* NULL: no energy window */
	const char *window;		   /* name of the energy window */
	double window_s;
	struct kwhy_busy_gauge *gauge; /* polled during the window; NULL: none */
	/* Results, up to a failure if there is one: */
	size_t run_count, energy_runs; /* all timed runs; those in the window */
	struct kwhy_median run_s;      /* valid only after KWHY_OK */
};

KWHY_MUST_USE enum kwhy_status kwhy_bench_series_run(
	struct kwhy_bench_series *series, struct kwhy_error *error);

/* Median and 99th percentile of step durations; the order of steps_s is kept. NAN: there are no steps. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_steps_sum_up(const double *steps_s, size_t count,
	struct kwhy_median *out, double *out_p99_s, struct kwhy_error *error);

/*
 * Share of a run in which the device is at work: the duration of its work, held at a gate and timed in a run
 * of its own, over that of the usual run. At most 1, since the two runs differ. NAN: one of the durations is
 * unknown.
 */
double kwhy_bench_busy_ratio(double busy_s, double usual_run_s);

/* Why the energy is unknown when it was not requested. */
const char *kwhy_bench_energy_unrequested(enum kwhy_gpu_backend backend);

/* Opens the meters and measures the idle level. End with kwhy_device_energy_close(). */
KWHY_MUST_USE enum kwhy_status kwhy_bench_meters_open(struct kwhy_gpu *const *gpus, uint32_t gpu_count,
	struct kwhy_device_energy **out, struct kwhy_error *error);

/*
 * Reads the meters after all windows. Where the GPUs' energy is unknown, *missing becomes the reason, in the
 * arena. With `energy` NULL this function and the next do nothing.
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_meters_read(struct kwhy_device_energy *energy,
	struct kwhy_arena *arena, const char **missing, struct kwhy_error *error);

/* As kwhy_device_energy_of(), with its texts copied to the arena. */
void kwhy_bench_meters_of(const struct kwhy_device_energy *energy, const char *window, uint32_t gpu_count,
	struct kwhy_arena *arena, struct kwhy_window_joules *out);

/*
 * Ends a benchmark early after a lost device or an interrupt (stop.h), with the rows that are complete. The
 * last row, which was being measured, is dropped, and *ended becomes the message of `error`, in the arena.
 * KWHY_E_LOST: no row is left.
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_end_early(
	struct kwhy_arena *arena, size_t *row_count, const char **ended, const struct kwhy_error *error);

#endif
