/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/pairs/clocks.h"

#include "base/clock.h"

enum { TRIES = 16 };

static enum kwhy_status try_once(
	const struct kwhy_bench_buffers *buffers, struct kwhy_pair_mark *out, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = buffers->gpu;
	enum kwhy_status status = gpu->ops->event_new(gpu, true, &out->event, error);

	if (!status)
		status = gpu->ops->synchronize(gpu, buffers->streams[0], error);
	out->before_ns = kwhy_clock_mono_ns();
	if (!status)
		status = gpu->ops->event_record(gpu, out->event, buffers->streams[0], error);
	if (!status)
		status = gpu->ops->event_synchronize(gpu, out->event, error);
	out->after_ns = kwhy_clock_mono_ns();
	return status;
}

static enum kwhy_status take(
	const struct kwhy_bench_buffers *buffers, struct kwhy_pair_mark *out, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_pair_set_current(buffers, error);

	for (int i = 0; !status && i < TRIES; i++) {
		struct kwhy_pair_mark mark = {.event = NULL};

		status = try_once(buffers, &mark, error);
		if (!status &&
			(!out->event || mark.after_ns - mark.before_ns < out->after_ns - out->before_ns)) {
			struct kwhy_pair_mark worse = *out;

			*out = mark;
			mark = worse;
		}
		buffers->gpu->ops->event_free(buffers->gpu, mark.event);
	}
	return status;
}

enum kwhy_status kwhy_pair_marks_take(
	struct kwhy_pair_testbed *testbed, struct kwhy_pair_marks *out, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = 0; !status && i < testbed->count; i++)
		if (kwhy_pair_is_own(testbed, i))
			status = take(testbed->gpu_buffers[i], &out->marks[i], error);
	return status;
}

void kwhy_pair_marks_free(struct kwhy_pair_testbed *testbed, struct kwhy_pair_marks *marks)
{
	struct kwhy_error error;

	for (uint32_t i = 0; i < testbed->count; i++) {
		struct kwhy_gpu *gpu;

		if (!marks->marks[i].event)
			continue;
		gpu = testbed->gpu_buffers[i]->gpu;
		if (!gpu->ops->enter(gpu, &error))
			gpu->ops->event_free(gpu, marks->marks[i].event);
		marks->marks[i].event = NULL;
	}
}

enum kwhy_status kwhy_pair_drifts(struct kwhy_pair_testbed *testbed, const struct kwhy_pair_marks *begin,
	const struct kwhy_pair_marks *end, struct kwhy_pair_drift *out, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = 0; !status && i < testbed->count; i++) {
		const struct kwhy_pair_mark *first = &begin->marks[i], *last = &end->marks[i];
		struct kwhy_gpu *gpu = testbed->gpu_buffers[i]->gpu;
		double device_ns,
			host_ns = (double)(last->before_ns - first->before_ns + last->after_ns -
					  first->after_ns) /
			2,
			width_ns = (double)(first->after_ns - first->before_ns + last->after_ns -
				last->before_ns);

		if (!kwhy_pair_is_own(testbed, i))
			continue;
		status = kwhy_pair_set_current(testbed->gpu_buffers[i], error);
		if (!status)
			status = gpu->ops->event_elapsed_ns(
				gpu, first->event, last->event, &device_ns, error);
		if (status || !(host_ns > 0))
			continue;
		out[i].ppm = (device_ns - host_ns) / host_ns * 1e6;
		out[i].half_width_ppm = width_ns / 2 / host_ns * 1e6;
	}
	return status;
}
