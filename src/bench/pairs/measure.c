/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/pairs/testbed.h"

#include "base/clock.h"
#include "bench/pairs/collectives.h"
#include "bench/pairs/ranks.h"
#include "bench/transfers/measure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { PUT_WARM = 8, PUT_TIMED = 64, WARM_FEW = 1, TIMED_FEW = 4, LOAD_BEYOND = 8, NCCL_TIMED = 20 };
/*
 * Transfers above this size are repeated only TIMED_FEW times, because their start-up time is negligible. 512
 * MiB, the default size of nvbandwidth, still gets all repetitions.
 */
#define FEW_BYTES (UINT64_C(512) << 20)

enum { PAUSE_NS = 20000, TIMEOUT_NS = 200000, CHECK_BYTES = 4096 };

static bool is_collective(const struct kwhy_pair_work *work)
{
	return kwhy_pair_is_collective(work->config->engine);
}

static bool is_socket(const struct kwhy_pair_work *work)
{
	return work->config->engine == KWHY_PAIR_SOCKET;
}

/*
 * Checks that in the last puts the kernel of the source GPU has not reached its timeout while it waited for a
 * flag. KWHY_E_UNSUPPORTED: it has. The flags then no longer match the number of rounds, so puts are marked
 * as impossible (testbed->no_put).
 */
static enum kwhy_status check_put(const struct kwhy_pair_work *work, struct kwhy_error *error)
{
	uint64_t late = 0;
	struct kwhy_gpu_copy copy = {.to = kwhy_gpu_address(&late),
		.from = work->testbed->flags[work->config->source] +
			KWHY_PAIR_PUT_LATE_WORD * sizeof(uint64_t),
		.bytes = sizeof(late)};
	enum kwhy_status status = kwhy_pair_set_current(work->source, error);

	if (!status)
		status = work->source->gpu->ops->copy_now(work->source->gpu, &copy, error);
	if (!status && late) {
		snprintf(work->testbed->no_put, sizeof(work->testbed->no_put),
			"GPU %u waited for seconds for a flag of GPU %u: kernels of both do not run "
			"concurrently here",
			work->config->source, work->config->target);
		status = kwhy_fail(error, KWHY_E_UNSUPPORTED, "%s", work->testbed->no_put);
	}
	return status;
}

static enum kwhy_status check_late(const struct kwhy_pair_work *work, struct kwhy_error *error)
{
	if (is_collective(work))
		return kwhy_pair_collective_check(work, error);
	return work->config->engine == KWHY_PAIR_PUT ? check_put(work, error) : KWHY_OK;
}

/*
 * Waits until the first stream of a GPU of this process is empty; its work depends on other processes.
 * KWHY_E_LOST: one of them has ended.
 */
static enum kwhy_status await_stream(const struct kwhy_pair_testbed *testbed,
	const struct kwhy_bench_buffers *buffers, struct kwhy_error *error)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	struct kwhy_gpu_event *event = buffers->joins[KWHY_BENCH_STREAMS - 1];
	int64_t start_ns = kwhy_clock_mono_ns();
	enum kwhy_status status = buffers->gpu->ops->event_record(
		buffers->gpu, event, buffers->streams[0], error);
	bool done = false;

	while (!status && !done) {
		status = buffers->gpu->ops->event_reached(buffers->gpu, event, &done, error);
		if (status || done || kwhy_clock_mono_ns() - start_ns < TIMEOUT_NS)
			continue;
		status = kwhy_rank_link_check(&testbed->ranks->calls.link, error);
		nanosleep(&pause, NULL);
	}
	return status;
}

static enum kwhy_status drain_space(
	const struct kwhy_pair_work *work, uint32_t i, uint32_t streams, struct kwhy_error *error)
{
	const struct kwhy_bench_buffers *buffers = work->testbed->gpu_buffers[i];
	enum kwhy_status status;

	if (!kwhy_pair_is_own(work->testbed, i))
		return KWHY_OK;
	status = kwhy_pair_set_current(buffers, error);
	if (!status && work->testbed->ranks && kwhy_pair_is_shared(work->config))
		status = await_stream(work->testbed, buffers, error);
	for (uint32_t k = 0; !status && k < streams; k++)
		status = buffers->gpu->ops->synchronize(buffers->gpu, buffers->streams[k], error);
	return status;
}

enum kwhy_status kwhy_pair_drain(struct kwhy_pair_work *work, struct kwhy_error *error)
{
	const struct kwhy_pair_config *config = work->config;
	bool is_alone = config->load == KWHY_PAIR_ALONE || config->load == KWHY_PAIR_REFERENCE;
	enum kwhy_status status = KWHY_OK;

	if (is_alone && !is_collective(work)) {
		status = drain_space(work, config->source, 1, error);
		return status ? status : drain_space(work, config->target, 1, error);
	}
	for (uint32_t i = 0; !status && i < work->testbed->count; i++)
		status = drain_space(work, i, KWHY_BENCH_STREAMS, error);
	return status;
}

/*
 * Starts the queued transfers in all ranks at nearly the same time: opens the gate that holds the first
 * stream of the GPU `gated`, and asks the other ranks to open their gates. `gated` NULL: no gate holds a
 * stream in this rank.
 */
static enum kwhy_status let_go(
	struct kwhy_pair_work *work, struct kwhy_bench_buffers *gated, struct kwhy_error *error)
{
	struct kwhy_error other;
	enum kwhy_status status = gated ? kwhy_pair_set_current(gated, error) : KWHY_OK,
			 requested = kwhy_pair_ranks_go(work, status ? &other : error), opened = KWHY_OK;

	if (gated)
		opened = gated->gpu->ops->gate_open(
			gated->gpu, gated->gate, status || requested ? &other : error);
	if (!status)
		status = requested ? requested : opened;
	requested = kwhy_pair_ranks_gone(work, status ? &other : error);
	return status ? status : requested;
}

/*
 * Runs one untimed transfer. The other ranks queue their parts while this rank queues its own: in its first
 * transfer NCCL may connect the ranks, which requires all of them at once.
 */
static enum kwhy_status issue_first(struct kwhy_pair_work *work, struct kwhy_error *error)
{
	struct kwhy_error other;
	double seconds;
	enum kwhy_status status = kwhy_pair_ranks_issue(work, 0, 1, false, error), issued;

	if (status)
		return status;
	status = kwhy_pair_issue(work, 1, error);
	issued = kwhy_pair_ranks_issued(work, status ? &other : error);
	if (!status)
		status = issued;
	issued = let_go(work, NULL, status ? &other : error);
	if (!status)
		status = issued;
	if (!status)
		status = kwhy_pair_drain(work, error);
	return status ? status : kwhy_pair_ranks_drain(work, &seconds, error);
}

enum kwhy_status kwhy_pair_warm_up(struct kwhy_pair_work *work, struct kwhy_error *error)
{
	enum kwhy_status status;
	double seconds;

	if (is_socket(work))
		return kwhy_pair_ranks_stream(work, 1, true, &seconds, error);
	status = issue_first(work, error);
	return status ? status : check_late(work, error);
}

/*
 * Whether a transfer is timed on every GPU that takes part in it; the longest of these times is then the time
 * of the transfer. A time from one GPU alone would include the time that an event of the other GPU takes to
 * arrive: 5 us to 10 us on an H200. A put between ranks is timed on one GPU only, because the other GPU's
 * part is a single kernel that also runs the warm-up rounds.
 */
static bool is_of_all_ends(const struct kwhy_pair_work *work)
{
	return is_collective(work) ||
		(kwhy_pair_is_shared(work->config) &&
			!(work->testbed->ranks && work->config->engine == KWHY_PAIR_PUT));
}

/* Whether this process records events on the first stream of GPU `i` before and after the timed transfers. */
static bool tells_time(const struct kwhy_pair_work *work, uint32_t i)
{
	const struct kwhy_pair_testbed *testbed = work->testbed;

	if (testbed->ranks)
		return i == testbed->own;
	if (!is_of_all_ends(work))
		return testbed->gpu_buffers[i] == work->main;
	return is_collective(work) || i == work->config->source || i == work->config->target;
}

static enum kwhy_status record(const struct kwhy_pair_work *work, bool is_end, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = 0; !status && i < work->testbed->count; i++) {
		struct kwhy_bench_buffers *buffers = work->testbed->gpu_buffers[i];

		if (!tells_time(work, i))
			continue;
		status = kwhy_pair_set_current(buffers, error);
		if (!status)
			status = buffers->gpu->ops->event_record(buffers->gpu,
				is_end ? buffers->end : buffers->begin, buffers->streams[0], error);
	}
	return status;
}

static enum kwhy_status space_elapsed(
	const struct kwhy_bench_buffers *buffers, double *out_ns, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = buffers->gpu;
	enum kwhy_status status = kwhy_pair_set_current(buffers, error);

	if (!status)
		status = gpu->ops->event_synchronize(gpu, buffers->end, error);
	return status ? status : gpu->ops->event_elapsed_ns(gpu, buffers->begin, buffers->end, out_ns, error);
}

/*
 * Gets the time between the events `begin` and `end`, in seconds: the longest among the GPUs that this
 * process times.
 */
static enum kwhy_status elapsed(struct kwhy_pair_work *work, double *out_s, struct kwhy_error *error)
{
	double time_ns = 0, most_ns = 0;
	enum kwhy_status status = KWHY_OK;

	/*
	 * kwhy_pair_drain() fails if another process, for which the stream waits, has ended; without that
	 * check, the wait for the event below would never return.
	 */
	if (work->testbed->ranks && kwhy_pair_is_shared(work->config))
		status = kwhy_pair_drain(work, error);
	for (uint32_t i = 0; !status && i < work->testbed->count; i++)
		if (tells_time(work, i)) {
			status = space_elapsed(work->testbed->gpu_buffers[i], &time_ns, error);
			most_ns = fmax(most_ns, time_ns);
		}
	*out_s = most_ns * 1e-9;
	return status;
}

static enum kwhy_status timed_row(
	struct kwhy_pair_work *work, uint32_t warm, uint32_t count, struct kwhy_error *error)
{
	enum kwhy_status status = warm ? kwhy_pair_issue(work, warm, error) : KWHY_OK;

	if (!status)
		status = record(work, false, error);
	if (!status)
		status = kwhy_pair_issue(work, count, error);
	return status ? status : record(work, true, error);
}

static enum kwhy_status timed(
	struct kwhy_pair_work *work, uint32_t warm, uint32_t count, struct kwhy_error *error)
{
	enum kwhy_status status;

	if (!is_of_all_ends(work) || work->testbed->ranks)
		return timed_row(work, warm, count, error);
	status = is_collective(work) ? kwhy_pair_fork_all(work, error) : kwhy_pair_fork(work, error);
	work->is_forked = true;
	if (!status)
		status = timed_row(work, warm, count, error);
	work->is_forked = false;
	return status;
}

/*
 * Number of transfers in one direction per repetition: 2 for a put and a ping-pong, which send the bytes
 * there and back, otherwise 1.
 */
static double ways(const struct kwhy_pair_work *work)
{
	return work->config->engine == KWHY_PAIR_PUT || work->config->engine == KWHY_PAIR_PING_PONG ? 2 : 1;
}

/*
 * Takes a sample as nccl-tests does: transfers are queued while earlier ones already run, each at another
 * offset of the buffers.
 */
static enum kwhy_status sample_queued(struct kwhy_pair_work *work, double *out_s, struct kwhy_error *error)
{
	uint32_t count = work->config->bytes > FEW_BYTES ? TIMED_FEW : NCCL_TIMED;
	enum kwhy_status status = kwhy_pair_ranks_issue(work, 1, count, true, error);

	if (!status)
		status = timed(work, 1, count, error);
	if (!status)
		status = elapsed(work, out_s, error);
	*out_s /= count;
	return status;
}

static enum kwhy_status sample_row(struct kwhy_pair_work *work, double *out_s, struct kwhy_error *error)
{
	bool few = work->config->bytes > FEW_BYTES, put = work->config->engine == KWHY_PAIR_PUT;
	uint32_t warm = few ? WARM_FEW
		: put	    ? PUT_WARM
			    : KWHY_BENCH_WARM_COPIES,
		 count = few ? TIMED_FEW
		: put	     ? PUT_TIMED
			     : KWHY_BENCH_TIMED_COPIES;
	struct kwhy_bench_buffers *main = work->main;
	struct kwhy_error other;
	enum kwhy_status status = kwhy_pair_ranks_issue(work, warm, count, true, error), opened;

	if (!status)
		status = kwhy_pair_set_current(main, error);
	if (!status)
		status = main->gpu->ops->gate_hold(main->gpu, main->gate, main->streams[0], error);
	if (status)
		return status;
	status = kwhy_pair_load_issue(work, warm + count + LOAD_BEYOND, error);
	if (!status)
		status = timed(work, warm, count, error);
	opened = let_go(work, main, status ? &other : error);
	if (!status)
		status = opened;
	if (!status)
		status = elapsed(work, out_s, error);
	*out_s /= count * ways(work);
	return status;
}

static enum kwhy_status sample_isolated(struct kwhy_pair_work *work, double *out_s, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_pair_ranks_issue(work, 0, 1, true, error);

	if (!status)
		status = timed(work, 0, 1, error);
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

/*
 * Takes a sample of a socket: the time of one transfer in one direction, computed from several transfers in a
 * row (KWHY_PAIR_BACK_TO_BACK) or from round trips.
 */
static enum kwhy_status sample_socket(struct kwhy_pair_work *work, double *out_s, struct kwhy_error *error)
{
	bool few = work->config->bytes > FEW_BYTES;

	return work->config->clock == KWHY_PAIR_BACK_TO_BACK
		? kwhy_pair_ranks_stream(work, few ? TIMED_FEW : NCCL_TIMED, false, out_s, error)
		: kwhy_pair_ranks_stream(work, few ? 1 : TIMED_FEW, true, out_s, error);
}

static enum kwhy_status sample_clock(struct kwhy_pair_work *work, double *out_s, struct kwhy_error *error)
{
	if (is_socket(work))
		return sample_socket(work, out_s, error);
	switch (work->config->clock) {
	case KWHY_PAIR_BACK_TO_BACK:
		return sample_row(work, out_s, error);
	case KWHY_PAIR_QUEUED:
		return sample_queued(work, out_s, error);
	case KWHY_PAIR_ISOLATED:
		return sample_isolated(work, out_s, error);
	default:
		return sample_host(work, out_s, error);
	}
}

enum kwhy_status kwhy_pair_sample(
	struct kwhy_pair_work *work, struct kwhy_pair_sample *out, struct kwhy_error *error)
{
	enum kwhy_status status;
	double others_s = NAN;

	out->start_unix_ns = kwhy_clock_unix_ns();
	status = sample_clock(work, &out->seconds, error);
	if (!status)
		status = kwhy_pair_drain(work, error);
	out->end_unix_ns = kwhy_clock_unix_ns();
	if (!status)
		status = kwhy_pair_ranks_drain(work, &others_s, error);
	/*
	 * Of the ranks' times the longest counts, since a transfer ends when the last rank has done its part.
	 * An isolated transfer is an exception: the other ranks' times begin before this rank has queued its
	 * part, and would be too long.
	 */
	if (is_of_all_ends(work) && work->config->clock != KWHY_PAIR_ISOLATED)
		out->seconds = fmax(out->seconds, others_s);
	return status ? status : check_late(work, error);
}

enum kwhy_status kwhy_pair_part_issue(
	struct kwhy_pair_work *work, uint32_t warm, uint32_t count, struct kwhy_error *error)
{
	work->part_count = count;
	/* the kernel of a put runs the warm-up rounds, too, so they cannot be queued apart */
	if (work->config->engine == KWHY_PAIR_PUT)
		return timed(work, 0, warm + count, error);
	return timed(work, warm, count, error);
}

enum kwhy_status kwhy_pair_part_elapsed(struct kwhy_pair_work *work, double *out_s, struct kwhy_error *error)
{
	enum kwhy_status status = elapsed(work, out_s, error);

	*out_s /= work->part_count ? work->part_count : 1;
	return status;
}

static enum kwhy_status verify_way(const struct kwhy_bench_buffers *source, struct kwhy_bench_buffers *target,
	uint64_t sink, uint64_t bytes, bool *out_same, struct kwhy_error *error)
{
	uint32_t seed = source->seed;
	uint64_t first = 0, wrong = 1;
	void *arguments[] = {&sink, &bytes, &seed, &first, &bytes, &bytes, &target->counter};
	enum kwhy_status status = kwhy_pair_set_current(target, error);

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

static bool is_socket_same(const struct kwhy_pair_work *work)
{
	unsigned char expected[CHECK_BYTES];

	for (uint64_t at = 0; at < work->config->bytes; at += CHECK_BYTES) {
		uint64_t left = work->config->bytes - at;
		size_t length = left < CHECK_BYTES ? (size_t)left : CHECK_BYTES;

		kwhy_bench_pattern_write(expected, length, work->source->seed, at);
		if (memcmp(work->testbed->ranks->socket_sink + at, expected, length) != 0)
			return false;
	}
	return true;
}

enum kwhy_status kwhy_pair_part_verify(struct kwhy_pair_work *work, bool *out_same, struct kwhy_error *error)
{
	const struct kwhy_pair_config *config = work->config;
	enum kwhy_status status = KWHY_OK;

	*out_same = true;
	if (is_collective(work))
		return kwhy_pair_collective_verify(work, out_same, error);
	if (is_socket(work)) {
		*out_same = is_socket_same(work);
		return KWHY_OK;
	}
	if (kwhy_pair_is_own(work->testbed, config->target))
		status = verify_way(
			work->source, work->target, work->there.to, config->bytes, out_same, error);
	if (!status && *out_same && kwhy_pair_goes_back(work) &&
		kwhy_pair_is_own(work->testbed, config->source))
		status = verify_way(
			work->target, work->source, work->back.to, config->bytes, out_same, error);
	return status;
}

/*
 * Compares the received bytes on all GPUs that receive with those sent. Of a socket transfer, also compares
 * the bytes that the target sent back to this rank.
 */
enum kwhy_status kwhy_pair_verify(struct kwhy_pair_work *work, bool *out_same, struct kwhy_error *error)
{
	bool same = true;
	enum kwhy_status status = kwhy_pair_part_verify(work, out_same, error);

	if (!status)
		status = kwhy_pair_ranks_verify(work, &same, error);
	*out_same = *out_same && same;
	return status;
}
