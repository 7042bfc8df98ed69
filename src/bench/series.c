/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/series.h"

#include "base/clock.h"
#include "base/quantile.h"
#include "launch/stop.h"

#include <stdlib.h>
#include <string.h>

#define IDLE_S 2.0

static enum kwhy_status run_once(struct kwhy_bench_series *series, double *run_s, struct kwhy_error *error)
{
	double length_s;
	enum kwhy_status status = kwhy_stop_check(error);

	if (!status)
		status = series->run(series->context, series->run_count, &length_s, error);
	if (status)
		return status;
	if (series->run_count < series->kept_most)
		run_s[series->run_count] = length_s;
	series->run_count++;
	return KWHY_OK;
}

static enum kwhy_status run_window(struct kwhy_bench_series *series, double *run_s, struct kwhy_error *error)
{
	size_t before = series->run_count;
	int64_t end_ns;
	enum kwhy_status status;

	if (!series->energy)
		return KWHY_OK;
	status = kwhy_device_energy_begin(series->energy, series->window, error);
	if (series->gauge)
		kwhy_busy_gauge_begin(series->gauge);
	end_ns = kwhy_clock_mono_ns() + (int64_t)(series->window_s * 1e9);
	while (!status && kwhy_clock_mono_ns() < end_ns) {
		status = run_once(series, run_s, error);
		if (series->gauge)
			kwhy_busy_gauge_poll(series->gauge);
	}
	kwhy_device_energy_end(series->energy);
	series->energy_runs = series->run_count - before;
	return status;
}

enum kwhy_status kwhy_bench_series_run(struct kwhy_bench_series *series, struct kwhy_error *error)
{
	double *run_s = malloc(series->kept_most * sizeof(*run_s));
	enum kwhy_status status = run_s ? KWHY_OK : kwhy_fail_memory(error, "the times of runs");

	for (uint32_t i = 0; !status && i < series->repeat; i++)
		status = run_once(series, run_s, error);
	if (!status)
		status = run_window(series, run_s, error);
	if (!status)
		kwhy_median_of(run_s,
			series->run_count < series->kept_most ? series->run_count : series->kept_most,
			&series->run_s);
	free(run_s);
	return status;
}

double kwhy_bench_busy_ratio(double busy_s, double usual_run_s)
{
	double ratio = busy_s / usual_run_s;

	return ratio > 1 ? 1 : ratio;
}

enum kwhy_status kwhy_bench_steps_sum_up(const double *steps_s, size_t count, struct kwhy_median *out,
	double *out_p99_s, struct kwhy_error *error)
{
	double *sorted = malloc((count + 1) * sizeof(*sorted));

	if (!sorted)
		return kwhy_fail_memory(error, "the times of steps");
	memcpy(sorted, steps_s, count * sizeof(*sorted));
	kwhy_median_of(sorted, count, out);
	*out_p99_s = kwhy_quantile(sorted, count, 0.99);
	free(sorted);
	return KWHY_OK;
}

const char *kwhy_bench_energy_unrequested(enum kwhy_gpu_backend backend)
{
	return backend == KWHY_GPU_HOST ? "the host back end has no GPU's meters" : "not asked for";
}

enum kwhy_status kwhy_bench_meters_open(struct kwhy_gpu *const *gpus, uint32_t gpu_count,
	struct kwhy_device_energy **out, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_device_energy_open(gpus, gpu_count, out, error);

	return status ? status : kwhy_device_energy_idle(*out, IDLE_S, error);
}

enum kwhy_status kwhy_bench_meters_read(struct kwhy_device_energy *energy, struct kwhy_arena *arena,
	const char **missing, struct kwhy_error *error)
{
	enum kwhy_status status = energy ? kwhy_device_energy_read(energy, error) : KWHY_OK;
	const char *reason = energy && !status ? kwhy_device_energy_missing(energy) : NULL;

	if (reason)
		*missing = kwhy_arena_copy(arena, reason);
	return status;
}

void kwhy_bench_meters_of(const struct kwhy_device_energy *energy, const char *window, uint32_t gpu_count,
	struct kwhy_arena *arena, struct kwhy_window_joules *out)
{
	if (!energy)
		return;
	kwhy_device_energy_of(energy, window, gpu_count, out);
	if (out->basis)
		out->basis = kwhy_arena_copy(arena, out->basis);
}

enum kwhy_status kwhy_bench_end_early(
	struct kwhy_arena *arena, size_t *row_count, const char **ended, const struct kwhy_error *error)
{
	if (*row_count)
		--*row_count;
	*ended = kwhy_arena_copy(arena, error->text);
	return *row_count && *ended ? KWHY_OK : KWHY_E_LOST;
}
