/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/run_parts.h"

#include "base/clock.h"

#include <stdlib.h>

/* --- Making one --- */

static enum kwhy_status make_lanes(struct kwhy_replay_run *run, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = run->runner.gpu;
	enum kwhy_status status = gpu->ops->event_new(gpu, true, &run->start, error);

	for (size_t i = 0; !status && i < run->runner.pattern->lane_count; i++) {
		status = gpu->ops->stream_new(gpu, &run->streams[i], error);
		if (!status)
			status = gpu->ops->event_new(gpu, true, &run->ends[i], error);
	}
	for (size_t i = 0; !status && i < run->runner.pattern->mark_count; i++)
		status = gpu->ops->event_new(gpu, false, &run->marks[i], error);
	return status;
}

/* KWHY_E_UNSUPPORTED where the driver does not take some of it into a graph. */
static enum kwhy_status capture(
	struct kwhy_replay_run *run, size_t at, struct kwhy_gpu_graph **out, struct kwhy_error *error)
{
	const struct kwhy_replay_pattern *pattern = run->runner.pattern;
	const struct kwhy_replay_graph *graph = &pattern->graphs[at];
	struct kwhy_gpu *gpu = run->runner.gpu;
	struct kwhy_gpu_stream *stream = run->streams[pattern->works[graph->work].lane];
	struct kwhy_error second;
	enum kwhy_status status = gpu->ops->capture_begin(gpu, stream, error), ended;

	if (status)
		return status;
	for (uint32_t i = 0; !status && i < graph->work_count; i++)
		status = kwhy_replay_issue(run, &pattern->works[graph->work + i], error);
	ended = gpu->ops->capture_end(gpu, stream, out, status ? &second : error);
	if (status && !ended) {
		gpu->ops->graph_free(gpu, *out);
		*out = NULL;
	}
	return status ? status : ended;
}

static enum kwhy_status make_graphs(struct kwhy_replay_run *run, struct kwhy_error *error)
{
	const struct kwhy_replay_pattern *pattern = run->runner.pattern;
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < pattern->graph_count; i++) {
		status = run->runner.gpu->ops->capture_begin ? capture(run, i, &run->graphs[i], error)
							     : KWHY_E_UNSUPPORTED;
		if (status != KWHY_E_UNSUPPORTED)
			continue;
		run->loose_graphs += pattern->graphs[i].launches;
		run->graphs[i] = NULL;
		status = KWHY_OK;
	}
	return status;
}

static enum kwhy_status reserve(struct kwhy_replay_run *run, struct kwhy_error *error)
{
	const struct kwhy_replay_pattern *pattern = run->runner.pattern;

	run->streams = calloc(pattern->lane_count + 1, sizeof(void *));
	run->ends = calloc(pattern->lane_count + 1, sizeof(void *));
	run->marks = calloc((size_t)pattern->mark_count + 1, sizeof(void *));
	run->mark_is_set = calloc((size_t)pattern->mark_count + 1, sizeof(*run->mark_is_set));
	run->graphs = calloc(pattern->graph_count + 1, sizeof(void *));
	run->done_ns = calloc(pattern->op_count + 1, sizeof(*run->done_ns));
	run->workers = calloc(pattern->thread_count + 1, sizeof(*run->workers));
	if (!run->streams || !run->ends || !run->marks || !run->mark_is_set || !run->graphs ||
		!run->done_ns || !run->workers)
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
	status = reserve(run, error);
	if (!status)
		status = kwhy_replay_buffers_init(&run->buffers, runner->gpu, runner->pattern, error);
	if (!status)
		status = make_lanes(run, error);
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

	/* what is still queued, after a failure, must not find its memory gone */
	for (size_t i = 0; run->streams && i < pattern->lane_count; i++)
		if (run->streams[i])
			(void)gpu->ops->synchronize(gpu, run->streams[i], &ignored);
	free_graphs(run);
	for (size_t i = 0; run->marks && i < pattern->mark_count; i++)
		gpu->ops->event_free(gpu, run->marks[i]);
	for (size_t i = 0; run->ends && i < pattern->lane_count; i++)
		gpu->ops->event_free(gpu, run->ends[i]);
	for (size_t i = 0; run->streams && i < pattern->lane_count; i++)
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
	free(run->workers);
	free(run);
}

uint64_t kwhy_replay_run_loose_graphs(const struct kwhy_replay_run *run)
{
	return run->loose_graphs;
}

/* --- Running it --- */

enum { LEAD_NS = 2000000 /* until all threads are there */ };

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
			"here; "
			"raise the limit (ulimit -u)",
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

/* All lanes end behind work that has run. */
static enum kwhy_status read_span(struct kwhy_replay_run *run, double *out_s, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = run->runner.gpu;
	double longest_ns = 0, one_ns = 0;
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < run->runner.pattern->lane_count; i++) {
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
	enum kwhy_status status;

	forget(run);
	status = run_threads(run, error);
	out->late_s = late_s(run);
	return status ? status : read_span(run, &out->span_s, error);
}
