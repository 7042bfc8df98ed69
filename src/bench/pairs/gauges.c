/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/pairs/gauges.h"

#include "base/clock.h"

#include <math.h>
#include <time.h>

#define KEEP_NS INT64_C(1000000000)

enum { HISTORY_S = 30, PAUSES = 25, PAUSE_NS = 40000000 };

enum kwhy_status kwhy_pair_gauges_open(
	const struct kwhy_pair_testbed *testbed, struct kwhy_pair_gauges *gauges, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_bench_sensors_open(
		testbed->gpu_buffers[0]->gpu, HISTORY_S, &gauges->sensors[0], error);

	for (uint32_t i = 1; !status && i < testbed->count; i++) {
		gauges->sensors[i] = gauges->sensors[0];
		kwhy_bench_sensors_find(testbed->gpu_buffers[i]->gpu, &gauges->sensors[i]);
	}
	return status;
}

void kwhy_pair_gauges_close(struct kwhy_pair_gauges *gauges)
{
	kwhy_bench_sensors_close(&gauges->sensors[0]);
}

enum kwhy_status kwhy_pair_gauges_fold(const struct kwhy_pair_gauges *gauges, uint32_t gpu, size_t readings,
	struct kwhy_transfer_conditions *conditions, struct kwhy_error *error)
{
	if (gauges->ranks)
		return kwhy_pair_ranks_sense(gauges->ranks, gpu, readings, conditions, error);
	kwhy_bench_conditions_fold(&gauges->sensors[gpu], readings, conditions);
	return KWHY_OK;
}

static enum kwhy_status keep_reading(struct kwhy_pairs *pairs, struct kwhy_pair_store *store, uint32_t gpu,
	const struct kwhy_transfer_conditions *now, struct kwhy_error *error)
{
	const struct kwhy_pair_reading reading = {
		kwhy_clock_unix_ns(), gpu, now->temperature_c, now->power_w, now->clock_hz};
	enum kwhy_status status = kwhy_pairs_add_reading(pairs, &reading, error);

	return !status && store ? kwhy_pair_store_add_reading(store, &reading, error) : status;
}

enum kwhy_status kwhy_pair_gauges_keep(struct kwhy_pair_gauges *gauges, struct kwhy_pairs *pairs,
	struct kwhy_pair_store *store, struct kwhy_error *error)
{
	int64_t now_ns = kwhy_clock_mono_ns();
	enum kwhy_status status = KWHY_OK;

	if (now_ns < gauges->due_ns)
		return KWHY_OK;
	gauges->due_ns = now_ns + KEEP_NS;
	for (uint32_t i = 0; !status && i < gauges->count; i++) {
		struct kwhy_transfer_conditions now = {NAN, NAN, NAN, NAN, 0};

		status = kwhy_pair_gauges_fold(gauges, i, 0, &now, error);
		if (!status && (isfinite(now.temperature_c) || isfinite(now.power_w)))
			status = keep_reading(pairs, store, i, &now, error);
	}
	return status;
}

enum kwhy_status kwhy_pair_gauges_coldest(
	const struct kwhy_pair_gauges *gauges, double *out_c, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	*out_c = NAN;
	for (uint32_t i = 0; !status && i < gauges->count; i++) {
		struct kwhy_transfer_conditions now = {NAN, NAN, NAN, NAN, 0};

		status = kwhy_pair_gauges_fold(gauges, i, 0, &now, error);
		*out_c = fmin(*out_c, now.temperature_c);
	}
	return status;
}

enum kwhy_status kwhy_pair_gauges_await_coldest(
	const struct kwhy_pair_gauges *gauges, double *out_c, struct kwhy_error *error)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	enum kwhy_status status = kwhy_pair_gauges_coldest(gauges, out_c, error);

	for (int i = 0; !status && isnan(*out_c) && i < PAUSES; i++) {
		nanosleep(&pause, NULL);
		status = kwhy_pair_gauges_coldest(gauges, out_c, error);
	}
	return status;
}
