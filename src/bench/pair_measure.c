/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/pair_place.h"

#include "base/clock.h"
#include "bench/transfer_measure.h"

#include <stdio.h>

enum { PUT_WARM = 8, PUT_TIMED = 64, WARM_FEW = 1, TIMED_FEW = 4, LOAD_BEYOND = 8, NCCL_TIMED = 20 };

static bool is_nccl(const struct kwhy_pair_work *work)
{
	return work->config->engine == KWHY_PAIR_NCCL || work->config->engine == KWHY_PAIR_NCCL_EXCHANGE;
}

static enum kwhy_status check_engine(const struct kwhy_pair_work *work, struct kwhy_error *error)
{
	const struct kwhy_pair_place *place = work->place;
	const struct kwhy_pair_config *config = work->config;
	bool is_direct = place->is_direct[config->source][config->target],
	     is_direct_back = place->is_direct[config->target][config->source];

	if (is_nccl(work))
		return kwhy_pair_nccl_start(work->place, config->source, config->target, error);
	if (config->engine == KWHY_PAIR_PUT && *place->no_put)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED, "%s", place->no_put);
	if ((config->engine == KWHY_PAIR_KERNEL && !is_direct) ||
		(config->engine == KWHY_PAIR_PUT && (!is_direct || !is_direct_back)))
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"GPU %u does not reach the memory of GPU %u directly, so no kernel of the one writes "
			"there; "
			"see kwhy doctor",
			config->source, config->target);
	return KWHY_OK;
}

static enum kwhy_status find_ends(struct kwhy_pair_work *work, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_pair_turn(work->source, error);

	work->there.bytes = work->back.bytes = work->config->bytes;
	if (!status)
		status = kwhy_bench_device(work->source, KWHY_BENCH_SOURCE, &work->there.from, error);
	if (!status)
		status = kwhy_bench_device(work->source, KWHY_BENCH_SINK, &work->back.to, error);
	if (!status && work->config->engine == KWHY_PAIR_STAGED)
		status = kwhy_bench_host(
			work->source, KWHY_BENCH_PINNED, KWHY_BENCH_STAGING, &work->staging, error);
	if (!status)
		status = kwhy_pair_turn(work->target, error);
	if (!status)
		status = kwhy_bench_device(work->target, KWHY_BENCH_SOURCE, &work->back.from, error);
	return status ? status : kwhy_bench_device(work->target, KWHY_BENCH_SINK, &work->there.to, error);
}

/* What goes on beside it has buffers of its own, made before anything is held. */
static enum kwhy_status find_load(struct kwhy_pair_work *work, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	struct kwhy_gpu_host host;
	uint64_t address;

	if (work->config->load == KWHY_PAIR_ALONE || work->config->load == KWHY_PAIR_REFERENCE)
		return KWHY_OK;
	for (uint32_t i = 0; !status && i < work->place->count; i++) {
		status = kwhy_pair_turn(work->place->rooms[i], error);
		if (!status)
			status = kwhy_bench_device(work->place->rooms[i], KWHY_BENCH_SOURCE, &address, error);
		if (!status)
			status = kwhy_bench_device(
				work->place->rooms[i], KWHY_BENCH_STAGING, &address, error);
	}
	if (!status && work->config->load == KWHY_PAIR_FROM_HOST) {
		status = kwhy_pair_turn(work->target, error);
		if (!status)
			status = kwhy_bench_host(
				work->target, KWHY_BENCH_PINNED, KWHY_BENCH_SOURCE, &host, error);
	}
	return status;
}

/* The complement of the first byte that will come. */
static enum kwhy_status spoil(const struct kwhy_bench_room *source, const struct kwhy_bench_room *target,
	uint64_t sink, uint64_t bytes, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = target->gpu;
	enum kwhy_status status = kwhy_pair_turn(target, error);
	uint8_t byte;

	kwhy_bench_pattern_write(&byte, 1, source->seed, 0);
	if (!status)
		status = gpu->ops->fill(gpu, target->streams[0], sink, (uint8_t)~byte, bytes, error);
	return status ? status : gpu->ops->synchronize(gpu, target->streams[0], error);
}

static bool goes_back(const struct kwhy_pair_work *work)
{
	return work->config->engine == KWHY_PAIR_PUT || work->config->engine == KWHY_PAIR_PING_PONG ||
		kwhy_pair_is_exchange(work->config->engine);
}

enum kwhy_status kwhy_pair_work_begin(struct kwhy_pair_place *place, const struct kwhy_pair_config *config,
	bool spoils, struct kwhy_pair_work *out, struct kwhy_error *error)
{
	enum kwhy_status status;

	*out = (struct kwhy_pair_work){.place = place,
		.config = config,
		.source = place->rooms[config->source],
		.target = place->rooms[config->target]};
	out->main = config->engine == KWHY_PAIR_READ ? out->target : out->source;
	status = check_engine(out, error);
	if (!status)
		status = find_ends(out, error);
	if (!status)
		status = find_load(out, error);
	if (!status && spoils)
		status = spoil(out->source, out->target, out->there.to, config->bytes, error);
	if (!status && spoils && goes_back(out))
		status = spoil(out->target, out->source, out->back.to, config->bytes, error);
	return status;
}

/* Of a put that was late for the other one: the flags are of no use any more. */
static enum kwhy_status check_put(const struct kwhy_pair_work *work, struct kwhy_error *error)
{
	uint64_t late = 0;
	struct kwhy_gpu_copy copy = {.to = kwhy_gpu_address(&late),
		.from = work->place->flags[work->config->source] + 8 * sizeof(uint64_t),
		.bytes = sizeof(late)};
	enum kwhy_status status = kwhy_pair_turn(work->source, error);

	if (!status)
		status = work->source->gpu->ops->copy_now(work->source->gpu, &copy, error);
	if (!status && late) {
		snprintf(work->place->no_put, sizeof(work->place->no_put),
			"GPU %u waited for seconds for a flag of GPU %u: kernels of both do not run at once "
			"here",
			work->config->source, work->config->target);
		status = kwhy_fail(error, KWHY_E_UNSUPPORTED, "%s", work->place->no_put);
	}
	return status;
}

static enum kwhy_status drain_room(
	const struct kwhy_bench_room *room, uint32_t streams, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_pair_turn(room, error);

	for (uint32_t i = 0; !status && i < streams; i++)
		status = room->gpu->ops->synchronize(room->gpu, room->streams[i], error);
	return status;
}

enum kwhy_status kwhy_pair_drain(struct kwhy_pair_work *work, struct kwhy_error *error)
{
	bool is_alone = work->config->load == KWHY_PAIR_ALONE || work->config->load == KWHY_PAIR_REFERENCE;
	enum kwhy_status status = KWHY_OK;

	if (is_alone) {
		status = drain_room(work->source, 1, error);
		return status ? status : drain_room(work->target, 1, error);
	}
	for (uint32_t i = 0; !status && i < work->place->count; i++)
		status = drain_room(work->place->rooms[i], KWHY_BENCH_STREAMS, error);
	return status;
}

enum kwhy_status kwhy_pair_warm_up(struct kwhy_pair_work *work, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_pair_issue(work, 1, error);

	if (!status)
		status = kwhy_pair_drain(work, error);
	return !status && work->config->engine == KWHY_PAIR_PUT ? check_put(work, error) : status;
}

static enum kwhy_status record(
	const struct kwhy_pair_work *work, struct kwhy_gpu_event *event, struct kwhy_error *error)
{
	struct kwhy_bench_room *main = work->main;
	enum kwhy_status status = kwhy_pair_turn(main, error);

	return status ? status : main->gpu->ops->event_record(main->gpu, event, main->streams[0], error);
}

static enum kwhy_status elapsed(const struct kwhy_pair_work *work, double *out_s, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = work->main->gpu;
	double time_ns = 0;
	enum kwhy_status status = kwhy_pair_turn(work->main, error);

	if (!status)
		status = gpu->ops->event_synchronize(gpu, work->main->end, error);
	if (!status)
		status = gpu->ops->event_elapsed_ns(gpu, work->main->begin, work->main->end, &time_ns, error);
	*out_s = time_ns * 1e-9;
	return status;
}

static enum kwhy_status timed(
	struct kwhy_pair_work *work, uint32_t warm, uint32_t count, struct kwhy_error *error)
{
	enum kwhy_status status = warm ? kwhy_pair_issue(work, warm, error) : KWHY_OK;

	if (!status)
		status = record(work, work->main->begin, error);
	if (!status)
		status = kwhy_pair_issue(work, count, error);
	return status ? status : record(work, work->main->end, error);
}

/* One way of what goes to and fro is half of it. */
static double ways(const struct kwhy_pair_work *work)
{
	return work->config->engine == KWHY_PAIR_PUT || work->config->engine == KWHY_PAIR_PING_PONG ? 2 : 1;
}

/* As nccl-tests does it: queued one by one while the first ones run. A library that may wait for the device
 * or make memory while it queues must not stand behind a gate. */
static enum kwhy_status sample_without_gate(
	struct kwhy_pair_work *work, double *out_s, struct kwhy_error *error)
{
	uint32_t count = work->config->bytes > KWHY_BENCH_FEW_BYTES ? TIMED_FEW : NCCL_TIMED;
	enum kwhy_status status = timed(work, 1, count, error);

	if (!status)
		status = elapsed(work, out_s, error);
	*out_s /= count;
	return status;
}

static enum kwhy_status sample_row(struct kwhy_pair_work *work, double *out_s, struct kwhy_error *error)
{
	bool few = work->config->bytes > KWHY_BENCH_FEW_BYTES, put = work->config->engine == KWHY_PAIR_PUT;
	uint32_t warm = few ? WARM_FEW
		: put	    ? PUT_WARM
			    : KWHY_BENCH_WARM_COPIES,
		 count = few ? TIMED_FEW
		: put	     ? PUT_TIMED
			     : KWHY_BENCH_TIMED_COPIES;
	struct kwhy_bench_room *main = work->main;
	struct kwhy_error other;
	enum kwhy_status status = kwhy_pair_turn(main, error), opened;

	if (!status)
		status = main->gpu->ops->gate_hold(main->gpu, main->gate, main->streams[0], error);
	if (status)
		return status;
	status = kwhy_pair_load_issue(work, warm + count + LOAD_BEYOND, error);
	if (!status)
		status = timed(work, warm, count, error);
	opened = kwhy_pair_turn(main, status ? &other : error);
	if (!opened)
		opened = main->gpu->ops->gate_open(main->gpu, main->gate, status ? &other : error);
	if (!status)
		status = opened;
	if (!status)
		status = elapsed(work, out_s, error);
	*out_s /= count * ways(work);
	return status;
}

static enum kwhy_status sample_isolated(struct kwhy_pair_work *work, double *out_s, struct kwhy_error *error)
{
	enum kwhy_status status = timed(work, 0, 1, error);

	return status ? status : elapsed(work, out_s, error);
}

static enum kwhy_status sample_host(struct kwhy_pair_work *work, double *out_s, struct kwhy_error *error)
{
	int64_t start_ns = kwhy_clock_mono_ns(), issued_ns, end_ns;
	enum kwhy_status status = kwhy_pair_issue(work, 1, error);

	issued_ns = kwhy_clock_mono_ns();
	if (!status)
		status = kwhy_pair_drain(work, error);
	end_ns = work->config->clock == KWHY_PAIR_CALL ? issued_ns : kwhy_clock_mono_ns();
	*out_s = (double)(end_ns - start_ns) * 1e-9;
	return status;
}

enum kwhy_status kwhy_pair_sample(
	struct kwhy_pair_work *work, struct kwhy_pair_sample *out, struct kwhy_error *error)
{
	enum kwhy_pair_clock clock = work->config->clock;
	enum kwhy_status status;

	out->start_unix_ns = kwhy_clock_unix_ns();
	if (clock == KWHY_PAIR_BACK_TO_BACK && is_nccl(work))
		status = sample_without_gate(work, &out->seconds, error);
	else
		status = clock == KWHY_PAIR_BACK_TO_BACK ? sample_row(work, &out->seconds, error)
			: clock == KWHY_PAIR_ISOLATED	 ? sample_isolated(work, &out->seconds, error)
							 : sample_host(work, &out->seconds, error);
	if (!status)
		status = kwhy_pair_drain(work, error);
	out->end_unix_ns = kwhy_clock_unix_ns();
	if (!status && work->config->engine == KWHY_PAIR_PUT)
		status = check_put(work, error);
	return status;
}

static enum kwhy_status verify_way(const struct kwhy_bench_room *source, struct kwhy_bench_room *target,
	uint64_t sink, uint64_t bytes, bool *out_same, struct kwhy_error *error)
{
	uint32_t seed = source->seed;
	uint64_t first = 0, wrong = 1;
	void *arguments[] = {&sink, &bytes, &seed, &first, &bytes, &bytes, &target->counter};
	enum kwhy_status status = kwhy_pair_turn(target, error);

	if (!status)
		status = kwhy_bench_counter_clear(target, error);
	if (!status)
		status = kwhy_bench_launch(
			target, KWHY_BENCH_KERNEL_CHECK, bytes, arguments, target->streams[0], error);
	if (!status)
		status = kwhy_bench_counter_read(target, &wrong, error);
	*out_same = wrong == 0;
	return status;
}

enum kwhy_status kwhy_pair_verify(struct kwhy_pair_work *work, bool *out_same, struct kwhy_error *error)
{
	uint64_t bytes = work->config->bytes;
	enum kwhy_status status = verify_way(
		work->source, work->target, work->there.to, bytes, out_same, error);

	if (!status && *out_same && goes_back(work))
		status = verify_way(work->target, work->source, work->back.to, bytes, out_same, error);
	return status;
}
