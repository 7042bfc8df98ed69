/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/transfers/measure.h"

#include "base/clock.h"

enum { WARM_FEW = 1, TIMED_FEW = 4 };

enum kwhy_status kwhy_bench_work_begin(struct kwhy_bench_buffers *buffers,
	const struct kwhy_bench_strategy *strategy, const struct kwhy_transfer_point *point,
	struct kwhy_bench_work *work, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	*work = (struct kwhy_bench_work){.buffers = buffers,
		.strategy = strategy,
		.direction = point->direction,
		.bytes = point->bytes,
		.pieces = point->pieces,
		.piece_bytes = point->bytes / point->pieces,
		.stream_count = 1,
		.link_bytes = (double)point->bytes};
	work->stride = kwhy_bench_stride(work->piece_bytes, point->pieces);
	kwhy_bench_buffers_begin(buffers, work->pieces * work->stride);
	if (strategy->prepare)
		status = strategy->prepare(work, error);
	if (status)
		kwhy_bench_work_end(work);
	return status;
}

void kwhy_bench_work_end(struct kwhy_bench_work *work)
{
	if (work->strategy->release)
		work->strategy->release(work);
}

static enum kwhy_status complete(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_bench_issue(work, error);

	if (!status && !work->strategy->returns_done)
		status = work->buffers->gpu->ops->synchronize(
			work->buffers->gpu, work->buffers->streams[0], error);
	if (!status && work->strategy->finish)
		status = work->strategy->finish(work, error);
	return status;
}

enum kwhy_status kwhy_bench_warm_up(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	return complete(work, error);
}

static enum kwhy_status sample_host(struct kwhy_bench_work *work, double *out_s, struct kwhy_error *error)
{
	enum kwhy_status status = work->strategy->rewind ? work->strategy->rewind(work, error) : KWHY_OK;
	int64_t start_ns;

	if (status)
		return status;
	start_ns = kwhy_clock_mono_ns();
	status = complete(work, error);
	*out_s = (double)(kwhy_clock_mono_ns() - start_ns) * 1e-9;
	return status;
}

static enum kwhy_status elapsed(struct kwhy_bench_work *work, double *out_s, struct kwhy_error *error)
{
	struct kwhy_bench_buffers *buffers = work->buffers;
	double time_ns;
	enum kwhy_status status = buffers->gpu->ops->event_synchronize(buffers->gpu, buffers->end, error);

	if (!status)
		status = buffers->gpu->ops->event_elapsed_ns(
			buffers->gpu, buffers->begin, buffers->end, &time_ns, error);
	if (!status)
		*out_s = time_ns * 1e-9;
	return status;
}

static enum kwhy_status record(
	struct kwhy_bench_work *work, struct kwhy_gpu_event *event, struct kwhy_error *error)
{
	return work->buffers->gpu->ops->event_record(
		work->buffers->gpu, event, work->buffers->streams[0], error);
}

static enum kwhy_status sample_isolated(struct kwhy_bench_work *work, double *out_s, struct kwhy_error *error)
{
	enum kwhy_status status = record(work, work->buffers->begin, error);

	if (!status)
		status = kwhy_bench_issue(work, error);
	if (!status)
		status = record(work, work->buffers->end, error);
	return status ? status : elapsed(work, out_s, error);
}

static enum kwhy_status issue_row(struct kwhy_bench_work *work, int count, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_bench_fork(work, error);

	for (int i = 0; !status && i < count; i++)
		status = work->strategy->issue(work, error);
	return status ? status : kwhy_bench_join(work, error);
}

static enum kwhy_status queue_row(struct kwhy_bench_work *work, int warm, int timed, struct kwhy_error *error)
{
	enum kwhy_status status = issue_row(work, warm, error);

	if (!status)
		status = record(work, work->buffers->begin, error);
	if (!status)
		status = issue_row(work, timed, error);
	return status ? status : record(work, work->buffers->end, error);
}

static enum kwhy_status sample_back_to_back(
	struct kwhy_bench_work *work, double *out_s, struct kwhy_error *error)
{
	bool few = work->bytes > KWHY_BENCH_FEW_BYTES;
	int warm = few ? WARM_FEW : KWHY_BENCH_WARM_COPIES, timed = few ? TIMED_FEW : KWHY_BENCH_TIMED_COPIES;
	struct kwhy_bench_buffers *buffers = work->buffers;
	struct kwhy_error other;
	enum kwhy_status status = buffers->gpu->ops->gate_hold(
				 buffers->gpu, buffers->gate, buffers->streams[0], error),
			 opened;

	if (status)
		return status;
	status = queue_row(work, warm, timed, error);
	opened = buffers->gpu->ops->gate_open(buffers->gpu, buffers->gate, status ? &other : error);
	if (!status)
		status = opened;
	if (!status)
		status = elapsed(work, out_s, error);
	if (!status)
		*out_s /= timed;
	return status;
}

enum kwhy_status kwhy_bench_sample(
	struct kwhy_bench_work *work, enum kwhy_transfer_clock clock, double *out_s, struct kwhy_error *error)
{
	if (clock == KWHY_TRANSFER_BACK_TO_BACK)
		return sample_back_to_back(work, out_s, error);
	return clock == KWHY_TRANSFER_ISOLATED ? sample_isolated(work, out_s, error)
					       : sample_host(work, out_s, error);
}
