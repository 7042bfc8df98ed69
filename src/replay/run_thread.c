/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/run_parts.h"

#include "base/clock.h"
#include "launch/stop.h"

#include <sched.h>
#include <time.h>

enum {
	NAP_NS = 2000000, /* in ns: a thread sleeps while more than this is left of a wait, and spins in the
			     rest */
	NAP_MAX_NS = 100000000, /* in ns: longest sleep, after which the thread checks for an interrupt */
	NAP_LATE_NS = 1000000,	/* in ns: largest time by which a sleeping thread may wake up late */
	YIELD_NS = 20000,	/* in ns: while more than this is left of a wait, a spinning thread yields its
				   processor */
	/* iterations of a wait for another thread after which the processor is yielded */
	SPINS = 1000,
	DEBT_MAX_NS = 100000 /* in ns: largest delay of the schedule that a thread still catches up with */
};

static void relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#endif
}

static void nap(int64_t length_ns)
{
	const struct timespec time = {length_ns / 1000000000, length_ns % 1000000000};

	nanosleep(&time, NULL);
}

/*
 * Waits until mono_ns on CLOCK_MONOTONIC. Returns earlier at an interrupt, if that ends runs (ends_inside)
 * and more than NAP_NS is left.
 */
static void wait_until(const struct kwhy_replay_run *run, int64_t mono_ns)
{
	int64_t left_ns;

	while ((left_ns = mono_ns - kwhy_clock_mono_ns()) > 0) {
		if (left_ns > NAP_NS && run->ends_inside && kwhy_stop_asked())
			return;
		if (left_ns > NAP_NS)
			nap(left_ns - NAP_LATE_NS < NAP_MAX_NS ? left_ns - NAP_LATE_NS : NAP_MAX_NS);
		else if (left_ns > YIELD_NS)
			sched_yield();
		else
			relax();
	}
}

/*
 * One iteration of a loop that waits for another thread. The processor is yielded regularly, because that
 * thread may need it.
 */
static void wait_turn(uint32_t *turns)
{
	if (++*turns % SPINS)
		relax();
	else
		sched_yield();
}

/*
 * Checks for failures while waiting for other threads. KWHY_E_LOST: another thread has failed, and its error
 * is the one that is reported.
 */
static enum kwhy_status check(const struct kwhy_replay_run *run)
{
	return atomic_load_explicit(&run->has_failed, memory_order_relaxed) ? KWHY_E_LOST : KWHY_OK;
}

static enum kwhy_status wait_for_mark(const struct kwhy_replay_run *run, uint32_t mark)
{
	uint32_t turns = 0;

	while (!atomic_load_explicit(&run->mark_is_set[mark], memory_order_acquire)) {
		if (check(run))
			return KWHY_E_LOST;
		wait_turn(&turns);
	}
	return KWHY_OK;
}

static enum kwhy_status wait_for_op(const struct kwhy_replay_run *run, uint32_t op, int64_t *out_ns)
{
	uint32_t turns = 0;

	while (!(*out_ns = atomic_load_explicit(&run->done_ns[op], memory_order_acquire))) {
		if (check(run))
			return KWHY_E_LOST;
		wait_turn(&turns);
	}
	return KWHY_OK;
}

/* --- Work --- */

static enum kwhy_status issue_kernel(
	struct kwhy_replay_run *run, const struct kwhy_replay_work *work, struct kwhy_error *error)
{
	static const struct kwhy_proxy_choice wait = {KWHY_PROXY_WAIT, KWHY_PROXY_BUSY, 0};
	const struct kwhy_proxy_launch launch = {.stream = run->streams[work->replay_stream],
		.grid = work->grid,
		.choice = work->account == KWHY_NONE ? wait : run->runner.choices[work->account],
		.length_ns = (double)work->length_ns,
		.queued_ns = (double)run->runner.pattern->queued_ns};

	return kwhy_proxies_launch(run->runner.proxies, &launch, error);
}

enum kwhy_status kwhy_replay_issue(
	struct kwhy_replay_run *run, const struct kwhy_replay_work *work, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = run->runner.gpu;
	struct kwhy_gpu_stream *stream = run->streams[work->replay_stream];
	struct kwhy_gpu_copy copy;

	switch (work->kind) {
	case KWHY_REPLAY_COPY:
		copy = kwhy_replay_buffers_take(&run->buffers, work);
		return gpu->ops->copy(gpu, stream, &copy, error);
	case KWHY_REPLAY_FILL:
		return gpu->ops->fill(gpu, stream, run->buffers.to, 0, work->bytes, error);
	default:
		return issue_kernel(run, work, error);
	}
}

/*
 * Makes the stream of `work` wait for the events after the work of other streams that `work` follows. Before
 * that, waits on the host until other threads have recorded these events.
 */
static enum kwhy_status follow_others(
	struct kwhy_replay_run *run, const struct kwhy_replay_work *work, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = run->runner.gpu;
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < 2; i++) {
		uint32_t mark;

		if (work->after[i] == KWHY_NONE)
			continue;
		mark = run->runner.pattern->works[work->after[i]].mark;
		status = wait_for_mark(run, mark);
		if (!status)
			status = gpu->ops->stream_wait(
				gpu, run->streams[work->replay_stream], run->marks[mark], error);
	}
	return status;
}

/*
 * Records the events that follow a piece of work, as needed: that of the stream's end after its last work,
 * and the one for which other work or calls wait.
 */
static enum kwhy_status mark_end(struct kwhy_replay_run *run, uint32_t at, struct kwhy_error *error)
{
	const struct kwhy_replay_work *work = &run->runner.pattern->works[at];
	struct kwhy_gpu *gpu = run->runner.gpu;
	enum kwhy_status status = KWHY_OK;

	if (run->runner.pattern->replay_streams[work->replay_stream].last_work == at)
		status = gpu->ops->event_record(
			gpu, run->ends[work->replay_stream], run->streams[work->replay_stream], error);
	if (status || work->mark == KWHY_NONE)
		return status;
	status = gpu->ops->event_record(
		gpu, run->marks[work->mark], run->streams[work->replay_stream], error);
	if (!status)
		atomic_store_explicit(&run->mark_is_set[work->mark], true, memory_order_release);
	return status;
}

static enum kwhy_status mark_start(
	struct kwhy_replay_run *run, const struct kwhy_replay_op *op, struct kwhy_error *error)
{
	const struct kwhy_replay_pattern *pattern = run->runner.pattern;
	struct kwhy_gpu *gpu = run->runner.gpu;

	if (pattern->first_work < op->work || pattern->first_work >= op->work + op->work_count)
		return KWHY_OK;
	return gpu->ops->event_record(
		gpu, run->start, run->streams[pattern->works[pattern->first_work].replay_stream], error);
}

/*
 * Issues the work of an op piece by piece. Sets took_ns[at] to the duration of the calls themselves, without
 * waits for other threads and without the replay's own events.
 */
static enum kwhy_status issue_pieces(struct kwhy_replay_run *run, uint32_t at, struct kwhy_error *error)
{
	const struct kwhy_replay_op *op = &run->runner.pattern->ops[at];
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = 0; !status && i < op->work_count; i++) {
		const struct kwhy_replay_work *work = &run->runner.pattern->works[op->work + i];

		int64_t start_ns;

		status = follow_others(run, work, error);
		start_ns = kwhy_clock_mono_ns();
		if (!status)
			status = kwhy_replay_issue(run, work, error);
		run->took_ns[at] += kwhy_clock_mono_ns() - start_ns;
		if (!status)
			status = mark_end(run, op->work + i, error);
	}
	return status;
}

static enum kwhy_status issue_graph(struct kwhy_replay_run *run, uint32_t at, struct kwhy_error *error)
{
	const struct kwhy_replay_op *op = &run->runner.pattern->ops[at];
	const struct kwhy_replay_work *first = &run->runner.pattern->works[op->work];
	struct kwhy_gpu *gpu = run->runner.gpu;
	enum kwhy_status status = follow_others(run, first, error);
	int64_t start_ns = kwhy_clock_mono_ns();

	if (!status)
		status = gpu->ops->graph_launch(
			gpu, run->streams[first->replay_stream], run->graphs[op->graph], error);
	run->took_ns[at] = kwhy_clock_mono_ns() - start_ns;
	for (uint32_t i = 0; !status && i < op->work_count; i++)
		status = mark_end(run, op->work + i, error);
	return status;
}

/* --- Calls --- */

static struct kwhy_replay_overhead overhead_of(const struct kwhy_replay_worker *worker, uint32_t work)
{
	const struct kwhy_replay_runner *runner = &worker->run->runner;

	return kwhy_replay_overhead_of(
		runner->latencies, runner->proxies, runner->pattern, &runner->pattern->works[work]);
}

/*
 * Whether a call is to take the time that it takes on this machine, plus what a recorder adds, instead of the
 * recorded or projected time own_ns. This is so if runner.is_timed is set, the call starts work and does not
 * wait, and the recording has calls of its kind.
 */
static bool is_timed(const struct kwhy_replay_run *run, const struct kwhy_replay_op *op)
{
	return run->runner.is_timed && op->work_count && op->wait_kind == KWHY_REPLAY_WAIT_NONE &&
		run->runner.latencies->calls[kwhy_replay_call_of(run, op)].count;
}

static int64_t added_ns(const struct kwhy_replay_run *run, const struct kwhy_replay_op *op)
{
	return (int64_t)kwhy_replay_added_ns(
		run->runner.latencies, kwhy_replay_call_of(run, op), op->work_count);
}

/*
 * Delays a call if its work would otherwise start on the device sooner after the start of the call than in
 * the recording. The delay is at most the time that the call should take; only a call that waits for that
 * work may be delayed longer.
 */
static void wait_for_issue(const struct kwhy_replay_worker *worker, const struct kwhy_replay_op *op)
{
	const struct kwhy_replay_runner *runner = &worker->run->runner;
	bool timed = is_timed(worker->run, op);
	int64_t most_ns = timed ? added_ns(worker->run, op) : op->own_ns;
	double later_ns = (double)runner->pattern->works[op->work].issue_ns -
		overhead_of(worker, op->work).issue_ns;

	if (op->graph != KWHY_NONE)
		later_ns -= runner->latencies->graph_ns - runner->latencies->kernel_ns;
	/*
	 * The driver starts a graph's work only when it has prepared the whole launch, so the time that a
	 * recorder adds to the call passes before that.
	 */
	if (timed && op->graph != KWHY_NONE)
		later_ns = (double)most_ns;
	if (op->wait != op->work && later_ns > (double)most_ns)
		later_ns = (double)most_ns;
	if (later_ns > 0)
		wait_until(worker->run, worker->due_ns + (int64_t)later_ns);
}

static enum kwhy_status issue_all(struct kwhy_replay_worker *worker, uint32_t at, struct kwhy_error *error)
{
	struct kwhy_replay_run *run = worker->run;
	const struct kwhy_replay_op *op = &run->runner.pattern->ops[at];
	enum kwhy_status status;

	if (!op->work_count)
		return KWHY_OK;
	wait_for_issue(worker, op);
	run->took_ns[at] = 0;
	status = mark_start(run, op, error);
	if (status)
		return status;
	return op->graph != KWHY_NONE && run->graphs[op->graph] ? issue_graph(run, at, error)
								: issue_pieces(run, at, error);
}

/*
 * Whether no wait is needed, because the work for which the op waits is a copy that the op itself issued
 * last, and whose call returned only when the copy had ended.
 */
static bool has_waited(
	const struct kwhy_gpu *gpu, const struct kwhy_replay_op *op, const struct kwhy_replay_work *work)
{
	return op->graph == KWHY_NONE && op->work_count && op->wait == op->work + op->work_count - 1 &&
		work->kind == KWHY_REPLAY_COPY &&
		kwhy_replay_ends_with_call(
			gpu, (enum kwhy_replay_direction)work->way, (enum kwhy_gpu_host_kind)work->host);
}

static enum kwhy_status wait_for_device(
	struct kwhy_replay_run *run, const struct kwhy_replay_op *op, struct kwhy_error *error)
{
	const struct kwhy_replay_work *work = &run->runner.pattern->works[op->wait];
	struct kwhy_gpu *gpu = run->runner.gpu;
	enum kwhy_status status;

	if (has_waited(gpu, op, work))
		return KWHY_OK;
	if (op->wait_kind == KWHY_REPLAY_WAIT_REPLAY_STREAM)
		return gpu->ops->synchronize(gpu, run->streams[work->replay_stream], error);
	status = wait_for_mark(run, work->mark);
	return status ? status : gpu->ops->event_synchronize(gpu, run->marks[work->mark], error);
}

/*
 * Time on CLOCK_MONOTONIC at which a wait that has just returned on this machine should return: as long after
 * the end of the work as recorded. If it lies in the past, the thread makes up for the delay in the next
 * pauses.
 */
static int64_t returned_ns(const struct kwhy_replay_worker *worker, const struct kwhy_replay_op *op)
{
	double sooner_ns = overhead_of(worker, op->wait).return_ns + worker->run->runner.latencies->late_ns;

	return kwhy_clock_mono_ns() + op->return_ns - (int64_t)sooner_ns;
}

static enum kwhy_status begin(struct kwhy_replay_worker *worker, const struct kwhy_replay_op *op)
{
	int64_t done_ns;
	enum kwhy_status status = check(worker->run);

	if (!status && worker->run->ends_inside)
		status = kwhy_stop_check(&worker->error);
	worker->due_ns += op->gap_ns;
	if (!status && op->after_op != KWHY_NONE) {
		status = wait_for_op(worker->run, op->after_op, &done_ns);
		if (!status && done_ns + op->after_ns > worker->due_ns)
			worker->due_ns = done_ns + op->after_ns;
	}
	wait_until(worker->run, worker->due_ns);
	return status;
}

static void end(struct kwhy_replay_worker *worker, uint32_t at)
{
	int64_t now_ns;

	wait_until(worker->run, worker->due_ns);
	now_ns = kwhy_clock_mono_ns();
	if (worker->due_ns < now_ns - DEBT_MAX_NS) {
		worker->late_ns += now_ns - DEBT_MAX_NS - worker->due_ns;
		worker->due_ns = now_ns - DEBT_MAX_NS;
	}
	atomic_store_explicit(&worker->run->done_ns[at], worker->due_ns, memory_order_release);
}

static enum kwhy_status call(struct kwhy_replay_worker *worker, uint32_t at, struct kwhy_error *error)
{
	const struct kwhy_replay_op *op = &worker->run->runner.pattern->ops[at];
	enum kwhy_status status = begin(worker, op);
	int64_t back_ns;

	if (!status)
		status = issue_all(worker, at, error);
	worker->due_ns += is_timed(worker->run, op) ? worker->run->took_ns[at] + added_ns(worker->run, op)
						    : op->own_ns;
	if (!status && op->wait_kind != KWHY_REPLAY_WAIT_NONE) {
		status = wait_for_device(worker->run, op, error);
		back_ns = returned_ns(worker, op);
		worker->due_ns = back_ns > worker->due_ns ? back_ns : worker->due_ns;
	}
	if (!status)
		end(worker, at);
	return status;
}

void *kwhy_replay_work_off(void *context)
{
	struct kwhy_replay_worker *worker = context;
	struct kwhy_replay_run *run = worker->run;
	struct kwhy_gpu *gpu = run->runner.gpu;
	const struct kwhy_replay_thread *thread = worker->thread;

	worker->due_ns = run->start_mono_ns;
	worker->late_ns = 0;
	worker->status = gpu->ops->enter(gpu, &worker->error);
	for (uint32_t i = 0; !worker->status && i < thread->op_count; i++)
		worker->status = call(worker, thread->op + i, &worker->error);
	/* A thread that stopped because another thread failed reports no error of its own. */
	if (worker->status && atomic_exchange(&run->has_failed, true))
		worker->status = KWHY_OK;
	return NULL;
}
