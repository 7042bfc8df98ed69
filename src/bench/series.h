/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_SERIES_H
#define KWHY_BENCH_SERIES_H

#include "base/arena.h"
#include "bench/busy_gauge.h"
#include "fit/median.h"
#include "measure/device_energy.h"

/*
 * Measurement of one workload of a benchmark: time, energy and utilisation. Only one thread may use a series.
 */

/*
 * A series of runs of one workload: first `repeat` runs and then, if `energy` is not NULL, as many runs as
 * begin within window_s seconds, whose energy is measured (the energy window).
 */
struct kwhy_bench_series {
	/* Runs the workload once and stores its duration in seconds. `number` counts the runs from 0. */
	enum kwhy_status (*run)(void *context, size_t number, double *out_s, struct kwhy_error *error);
	void *context;
	uint32_t repeat;
	size_t kept_most; /* number of runs, from the first, of which run_s is the median; memory is allocated
			     for this number */
	struct kwhy_device_energy
		*energy;    /* meters that measure the energy window; NULL: there is no window */
	const char *window; /* name of the energy window */
	double window_s;
	struct kwhy_busy_gauge *gauge; /* polled during the window; NULL: not polled */
	/* Results. After a failure, they hold what was measured before it. */
	size_t run_count, energy_runs; /* number of all timed runs, and of those in the energy window */
	struct kwhy_median run_s;      /* median time of a run; valid only after KWHY_OK */
};

KWHY_MUST_USE enum kwhy_status kwhy_bench_series_run(
	struct kwhy_bench_series *series, struct kwhy_error *error);

/*
 * Gets the median and the 99th percentile of step durations, in seconds; NAN: there are no steps. steps_s
 * keeps its order.
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_steps_sum_up(const double *steps_s, size_t count,
	struct kwhy_median *out, double *out_p99_s, struct kwhy_error *error);

/*
 * Share of a run's time in which its device works. busy_s: duration of the device's work alone, measured by
 * queuing all of the work behind a gate before any of it may run. usual_run_s: duration of a usual run. The
 * ratio is limited to 1, since the two durations come from different runs. NAN: one of them is unknown.
 */
double kwhy_bench_busy_ratio(double busy_s, double usual_run_s);

/* Why the energy is unknown if the user did not request it; a constant text. */
const char *kwhy_bench_energy_unrequested(enum kwhy_gpu_backend backend);

/* Opens the meters of the GPUs and measures their idle power for 2 s. End with kwhy_device_energy_close(). */
KWHY_MUST_USE enum kwhy_status kwhy_bench_meters_open(struct kwhy_gpu *const *gpus, uint32_t gpu_count,
	struct kwhy_device_energy **out, struct kwhy_error *error);

/*
 * Reads the meters after all windows. If the GPUs' energy is unknown, *missing becomes the reason, allocated
 * in the arena. `energy` NULL: this function and kwhy_bench_meters_of() do nothing.
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_meters_read(struct kwhy_device_energy *energy,
	struct kwhy_arena *arena, const char **missing, struct kwhy_error *error);

/* Does the same as kwhy_device_energy_of(), and copies its texts to the arena. */
void kwhy_bench_meters_of(const struct kwhy_device_energy *energy, const char *window, uint32_t gpu_count,
	struct kwhy_arena *arena, struct kwhy_window_joules *out);

/*
 * Ends a benchmark early because the device was lost or because of an interrupt (stop.h). *row_count is
 * decreased by one: the last row is dropped, because its measurement is incomplete. *ended becomes the
 * message of `error`, in the arena. KWHY_E_LOST: no row is left.
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_end_early(
	struct kwhy_arena *arena, size_t *row_count, const char **ended, const struct kwhy_error *error);

#endif
