/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/transfers/reference.h"

#include "bench/transfers/measure.h"

#include <math.h>
#include <sched.h>

enum { BYTES = 16 };

/* The least of a few: what interrupts one of them says nothing about the others. */
static const int tries[KWHY_TRANSFER_CLOCK_COUNT] = {
	[KWHY_TRANSFER_BACK_TO_BACK] = 1, [KWHY_TRANSFER_ISOLATED] = 2, [KWHY_TRANSFER_BY_HOST] = 3};

static enum kwhy_status sample(
	struct kwhy_bench_work *work, enum kwhy_transfer_clock clock, double *out_s, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (int i = 0; !status && i < tries[clock]; i++) {
		double seconds;

		status = kwhy_bench_sample(work, clock, &seconds, error);
		if (!status)
			*out_s = isnan(*out_s) ? seconds : fmin(*out_s, seconds);
	}
	return status;
}

static enum kwhy_status sample_all(
	struct kwhy_bench_work *work, struct kwhy_transfer_moment *out, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_bench_warm_up(work, error);

	for (int clock = KWHY_TRANSFER_CLOCK_COUNT; !status && clock-- > 0;)
		status = sample(work, (enum kwhy_transfer_clock)clock, &out->reference_s[clock], error);
	return status;
}

enum kwhy_status kwhy_bench_reference_measure(
	struct kwhy_bench_room *room, struct kwhy_transfer_moment *out, struct kwhy_error *error)
{
	const struct kwhy_transfer_point point = {
		.strategy = "pinned", .direction = KWHY_TRANSFER_H2D, .bytes = BYTES, .pieces = 1};
	struct kwhy_bench_work work;
	enum kwhy_status status;
	int cpu = sched_getcpu();

	out->cpu = cpu < 0 ? NAN : cpu;
	for (int clock = 0; clock < KWHY_TRANSFER_CLOCK_COUNT; clock++)
		out->reference_s[clock] = NAN;
	status = kwhy_bench_work_begin(room, kwhy_bench_strategy_find(point.strategy), &point, &work, error);
	if (!status) {
		status = sample_all(&work, out, error);
		kwhy_bench_work_end(&work);
	}
	return status == KWHY_E_LOST ? status : KWHY_OK;
}
