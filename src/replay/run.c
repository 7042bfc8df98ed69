/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/run_parts.h"

#include "base/clock.h"
#include "fit/median.h"
#include "launch/stop.h"

#include <stdlib.h>

/*
 * In ns. An interrupt ends a run at once if the pattern is longer than this. Otherwise the run is completed,
 * and no further run begins.
 */
#define WHOLE_MAX_NS 2000000000

/* --- Creation --- */

static enum kwhy_status make_replay_streams(struct kwhy_replay_run *run, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = run->runner.gpu;
	enum kwhy_status status = gpu->ops->event_new(gpu, true, &run->start, error);

	for (size_t i = 0; !status && i < run->runner.pattern->replay_stream_count; i++) {
		status = gpu->ops->stream_new(gpu, &run->streams[i], error);
		if (!status)
			status = gpu->ops->event_new(gpu, true, &run->ends[i], error);
	}
	for (size_t i = 0; !status && i < run->runner.pattern->mark_count; i++)
		status = gpu->ops->event_new(gpu, false, &run->marks[i], error);
	return status;
}

struct graph_work {
	struct kwhy_replay_run *run;
	const struct kwhy_replay_graph *graph;
};

static enum kwhy_status issue_graph(void *context, struct kwhy_error *error)
{
	const struct graph_work *work = context;
	const struct kwhy_replay_work *works = work->run->runner.pattern->works + work->graph->work;
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = 0; !status && i < work->graph->work_count; i++)
		status = kwhy_replay_issue(work->run, &works[i], error);
	return status;
}

/* Makes the graphs. The work of a graph that the driver rejects is launched piece by piece. */
static enum kwhy_status make_graphs(struct kwhy_replay_run *run, struct kwhy_error *error)
{
	const struct kwhy_replay_pattern *pattern = run->runner.pattern;
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < pattern->graph_count; i++) {
		const struct kwhy_replay_graph *graph = &pattern->graphs[i];
		struct graph_work work = {run, graph};

		status = kwhy_gpu_capture(run->runner.gpu,
			run->streams[pattern->works[graph->work].replay_stream], issue_graph, &work,
			&run->graphs[i], error);
		if (status != KWHY_E_UNSUPPORTED)
			continue;
		run->loose_graphs += graph->launches;
		status = KWHY_OK;
	}
	return status;
}

static enum kwhy_status reserve(struct kwhy_replay_run *run, struct kwhy_error *error)
{
	const struct kwhy_replay_pattern *pattern = run->runner.pattern;

	run->streams = calloc(pattern->replay_stream_count + 1, sizeof(void *));
	run->ends = calloc(pattern->replay_stream_count + 1, sizeof(void *));
	run->marks = calloc((size_t)pattern->mark_count + 1, sizeof(void *));
	run->mark_is_set = calloc((size_t)pattern->mark_count + 1, sizeof(*run->mark_is_set));
	run->graphs = calloc(pattern->graph_count + 1, sizeof(void *));
	run->done_ns = calloc(pattern->op_count + 1, sizeof(*run->done_ns));
	run->took_ns = calloc(pattern->op_count + 1, sizeof(*run->took_ns));
	run->workers = calloc(pattern->thread_count + 1, sizeof(*run->workers));
	if (!run->streams || !run->ends || !run->marks || !run->mark_is_set || !run->graphs ||
		!run->done_ns || !run->took_ns || !run->workers)
		return kwhy_fail_memory(error, "a replay");
	for (size_t i = 0; i < pattern->thread_count; i++)
		run->workers[i] = (struct kwhy_replay_worker){.run = run, .thread = &pattern->threads[i]};
	return KWHY_OK;
}

enum kwhy_status kwhy_replay_run_new(
	const struct kwhy_replay_runner *runner, struct kwhy_replay_run **out, struct kwhy_error *error)
{
	struct kwhy_replay_run *run = calloc(1, sizeof(*run));
	enum kwhy_status status;

	if (!run)
		return kwhy_fail_memory(error, "a replay");
	run->runner = *runner;
	run->ends_inside = runner->pattern->span_ns > WHOLE_MAX_NS;
	status = reserve(run, error);
	if (!status)
		status = kwhy_replay_buffers_init(&run->buffers, runner->gpu, runner->pattern, error);
	if (!status)
		status = make_replay_streams(run, error);
	if (!status)
		status = make_graphs(run, error);
	if (status)
		kwhy_replay_run_free(run);
	else
		*out = run;
	return status;
}

static void free_graphs(struct kwhy_replay_run *run)
{
	for (size_t i = 0; run->graphs && i < run->runner.pattern->graph_count; i++) {
		if (run->graphs[i])
			run->runner.gpu->ops->graph_free(run->runner.gpu, run->graphs[i]);
		run->graphs[i] = NULL;
	}
}

enum kwhy_status kwhy_replay_run_renew(struct kwhy_replay_run *run, struct kwhy_error *error)
{
	free_graphs(run);
	run->loose_graphs = 0;
	return make_graphs(run, error);
}

static void free_work(struct kwhy_replay_run *run)
{
	const struct kwhy_replay_pattern *pattern = run->runner.pattern;
	struct kwhy_gpu *gpu = run->runner.gpu;
	struct kwhy_error ignored;

	/* After a failure, work may still be queued; it must end before its memory is freed. */
	for (size_t i = 0; run->streams && i < pattern->replay_stream_count; i++)
		if (run->streams[i])
			(void)gpu->ops->synchronize(gpu, run->streams[i], &ignored);
	free_graphs(run);
	for (size_t i = 0; run->marks && i < pattern->mark_count; i++)
		gpu->ops->event_free(gpu, run->marks[i]);
	for (size_t i = 0; run->ends && i < pattern->replay_stream_count; i++)
		gpu->ops->event_free(gpu, run->ends[i]);
	for (size_t i = 0; run->streams && i < pattern->replay_stream_count; i++)
		gpu->ops->stream_free(gpu, run->streams[i]);
	gpu->ops->event_free(gpu, run->start);
	kwhy_replay_buffers_done(&run->buffers);
}

void kwhy_replay_run_free(struct kwhy_replay_run *run)
{
	if (!run)
		return;
	free_work(run);
	free(run->streams);
	free(run->ends);
	free(run->marks);
	free((void *)run->mark_is_set);
	free(run->graphs);
	free((void *)run->done_ns);
	free(run->took_ns);
	free(run->workers);
	free(run);
}

uint64_t kwhy_replay_run_loose_graphs(const struct kwhy_replay_run *run)
{
	return run->loose_graphs;
}

/* --- Execution --- */

enum {
	LEAD_NS = 2000000 /* in ns: from the creation of a run's first thread to time 0 of its schedule; all
			     threads start in this time */
};

static void forget(struct kwhy_replay_run *run)
{
	for (size_t i = 0; i < run->runner.pattern->mark_count; i++)
		atomic_store(&run->mark_is_set[i], false);
	for (size_t i = 0; i < run->runner.pattern->op_count; i++)
		atomic_store(&run->done_ns[i], 0);
	atomic_store(&run->has_failed, false);
}

static enum kwhy_status run_threads(struct kwhy_replay_run *run, struct kwhy_error *error)
{
	size_t threads = run->runner.pattern->thread_count, begun = 0;
	enum kwhy_status status = KWHY_OK;

	run->start_mono_ns = kwhy_clock_mono_ns() + LEAD_NS;
	while (begun < threads &&
		!pthread_create(&run->workers[begun].id, NULL, kwhy_replay_work_off, &run->workers[begun]))
		begun++;
	if (begun < threads) {
		atomic_store(&run->has_failed, true);
		status = kwhy_fail(error, KWHY_E_MEMORY,
			"the recording has %zu threads that issue work, and no more than %zu can be begun "
			"here; raise the limit (ulimit -u)",
			threads, begun);
	}
	for (size_t i = 0; i < begun; i++) {
		const struct kwhy_replay_worker *worker = &run->workers[i];

		pthread_join(worker->id, NULL);
		if (worker->status && !status) {
			status = worker->status;
			*error = worker->error;
		}
	}
	return status;
}

/*
 * Waits for all streams, and reads the time in s from the start of the run's first work to the end of its
 * last.
 */
static enum kwhy_status read_span(struct kwhy_replay_run *run, double *out_s, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = run->runner.gpu;
	double longest_ns = 0, one_ns = 0;
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < run->runner.pattern->replay_stream_count; i++) {
		status = gpu->ops->synchronize(gpu, run->streams[i], error);
		if (!status)
			status = gpu->ops->event_elapsed_ns(gpu, run->start, run->ends[i], &one_ns, error);
		longest_ns = one_ns > longest_ns ? one_ns : longest_ns;
	}
	*out_s = longest_ns * 1e-9;
	return status;
}

static double late_s(const struct kwhy_replay_run *run)
{
	int64_t most_ns = 0;

	for (size_t i = 0; i < run->runner.pattern->thread_count; i++)
		most_ns = run->workers[i].late_ns > most_ns ? run->workers[i].late_ns : most_ns;
	return (double)most_ns * 1e-9;
}

enum kwhy_status kwhy_replay_run_once(
	struct kwhy_replay_run *run, struct kwhy_replay_span *out, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_stop_check(error);

	if (status)
		return status;
	forget(run);
	status = run_threads(run, error);
	out->late_s = late_s(run);
	return status ? status : read_span(run, &out->span_s, error);
}

/* --- Lengths of calls --- */

enum kwhy_replay_call kwhy_replay_call_of(const struct kwhy_replay_run *run, const struct kwhy_replay_op *op)
{
	const struct kwhy_replay_work *first = &run->runner.pattern->works[op->work];

	if (op->graph != KWHY_NONE && run->graphs[op->graph])
		return KWHY_REPLAY_CALL_GRAPH;
	if (first->kind != KWHY_REPLAY_COPY)
		return first->kind == KWHY_REPLAY_FILL ? KWHY_REPLAY_CALL_FILL : KWHY_REPLAY_CALL_LAUNCH;
	if (first->way == KWHY_REPLAY_D2D)
		return KWHY_REPLAY_CALL_DEVICE;
	return first->host == KWHY_GPU_HOST_PAGEABLE ? KWHY_REPLAY_CALL_PAGEABLE : KWHY_REPLAY_CALL_COPY;
}

/*
 * Whether an op issues one piece of work or one graph, by a call of this kind, and does not wait. Its time is
 * then that of a single call that issues work.
 */
static bool is_plain(
	const struct kwhy_replay_run *run, const struct kwhy_replay_op *op, enum kwhy_replay_call kind)
{
	return op->work_count && op->wait_kind == KWHY_REPLAY_WAIT_NONE &&
		kwhy_replay_call_of(run, op) == kind &&
		(op->work_count == 1 || kind == KWHY_REPLAY_CALL_GRAPH);
}

static void sum_up(const struct kwhy_replay_run *run, enum kwhy_replay_call kind, double *recorded_ns,
	double *here_ns, struct kwhy_replay_call_times *out)
{
	const struct kwhy_replay_pattern *pattern = run->runner.pattern;
	size_t count = 0;
	struct kwhy_median recorded, here;

	for (size_t i = 0; i < pattern->op_count; i++) {
		if (!is_plain(run, &pattern->ops[i], kind))
			continue;
		recorded_ns[count] = (double)pattern->ops[i].own_ns;
		here_ns[count++] = (double)run->took_ns[i];
	}
	*out = (struct kwhy_replay_call_times){.count = count};
	if (!count)
		return;
	kwhy_median_of(recorded_ns, count, &recorded);
	kwhy_median_of(here_ns, count, &here);
	out->recorded_ns = recorded.median;
	out->here_ns = here.median;
}

enum kwhy_status kwhy_replay_run_call_times(const struct kwhy_replay_run *run,
	struct kwhy_replay_call_times out[KWHY_REPLAY_CALL_COUNT], struct kwhy_error *error)
{
	size_t most = run->runner.pattern->op_count + 1;
	double *recorded_ns = malloc(most * sizeof(*recorded_ns)), *here_ns = malloc(most * sizeof(*here_ns));
	bool has_memory = recorded_ns && here_ns;

	for (int kind = 0; has_memory && kind < KWHY_REPLAY_CALL_COUNT; kind++)
		sum_up(run, (enum kwhy_replay_call)kind, recorded_ns, here_ns, &out[kind]);
	free(recorded_ns);
	free(here_ns);
	return has_memory ? KWHY_OK : kwhy_fail_memory(error, "the times of calls");
}
