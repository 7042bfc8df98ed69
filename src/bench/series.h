/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_SERIES_H
#define KWHY_BENCH_SERIES_H

#include "base/arena.h"
#include "bench/busy_gauge.h"
#include "fit/median.h"
#include "measure/device_energy.h"

/* How a benchmark of a workload measures each of its rows, and what it then says of them. One thread. */

/* Runs of the same: `repeat` of them, and then as many as follow each other in a window of energy. */
struct kwhy_bench_series {
	/* The run of that number, from 0; its length in *out_s. */
	enum kwhy_status (*run)(void *context, size_t number, double *out_s, struct kwhy_error *error);
	void *context;
	uint32_t repeat;
	size_t kept_most;		   /* only the first N are in the median */
	struct kwhy_device_energy *energy; /* NULL: no window */
	const char *window;		   /* its name */
	double window_s;
	struct kwhy_busy_gauge *gauge; /* asked in the window; NULL: none */
	/* What came of it, up to a failure: */
	size_t run_count, energy_runs; /* all that were timed; those in the window */
	struct kwhy_median run_s;      /* only where none failed */
};

KWHY_MUST_USE enum kwhy_status kwhy_bench_series_run(
	struct kwhy_bench_series *series, struct kwhy_error *error);

/* Of a copy: steps keep their order. NAN: there are none. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_steps_sum_up(const double *steps_s, size_t count,
	struct kwhy_median *out, double *out_p99_s, struct kwhy_error *error);

/*
 * Share of a run that the device is at work: its work, timed behind a gate in a run of its own, over the
 * usual run. All of it where that work took longer than a usual run: runs differ. NAN: a time is not known.
 */
double kwhy_bench_busy_ratio(double busy_s, double usual_run_s);

/* Why the energy is unknown where nobody asked for it. */
const char *kwhy_bench_energy_unrequested(enum kwhy_gpu_backend backend);

/* With a look at the idle level. End with kwhy_device_energy_close(). */
KWHY_MUST_USE enum kwhy_status kwhy_bench_meters_open(struct kwhy_gpu *const *gpus, uint32_t gpu_count,
	struct kwhy_device_energy **out, struct kwhy_error *error);

/* After all windows. *missing becomes why the GPUs' energy is unknown, in the arena, where it is. `energy`
 * NULL: nothing happens, here and below. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_meters_read(struct kwhy_device_energy *energy,
	struct kwhy_arena *arena, const char **missing, struct kwhy_error *error);

/* kwhy_device_energy_of() whose words live in the arena. */
void kwhy_bench_meters_of(const struct kwhy_device_energy *energy, const char *window, uint32_t gpu_count,
	struct kwhy_arena *arena, struct kwhy_window_joules *out);

/*
 * A lost device, or an interrupt (stop.h), ends a benchmark with what was measured: the last row, which was
 * at it, goes, and *ended says in the arena what `error` does. KWHY_E_LOST where no row is left.
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_end_early(
	struct kwhy_arena *arena, size_t *row_count, const char **ended, const struct kwhy_error *error);

#endif
