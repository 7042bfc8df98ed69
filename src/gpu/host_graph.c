/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/host.h"

#include <stdlib.h>

enum { FIRST_SPACE = 16 };

struct kwhy_gpu_graph {
	struct kwhy_gpu_host_owned owned;
	atomic_uint holders;
	struct kwhy_gpu_host_operation *operations;
	size_t count, space;
};

static void graph_drop(struct kwhy_gpu_graph *graph)
{
	if (atomic_fetch_sub(&graph->holders, 1) > 1)
		return;
	for (size_t i = 0; i < graph->count; i++)
		if (graph->operations[i].verb->drop)
			graph->operations[i].verb->drop(&graph->operations[i]);
	free(graph->operations);
	free(graph);
}

static void graph_release(struct kwhy_gpu_host_owned *owned)
{
	kwhy_gpu_host_forget(owned);
	graph_drop((struct kwhy_gpu_graph *)(void *)owned);
}

void kwhy_gpu_host_graph_free(struct kwhy_gpu *gpu, struct kwhy_gpu_graph *graph)
{
	(void)gpu;
	if (graph)
		graph_release(&graph->owned);
}

enum kwhy_status kwhy_gpu_host_record(struct kwhy_gpu_graph *graph,
	const struct kwhy_gpu_host_operation *operation, struct kwhy_error *error)
{
	if (graph->count == graph->space) {
		size_t space = graph->space ? 2 * graph->space : FIRST_SPACE;
		struct kwhy_gpu_host_operation *operations = realloc(
			graph->operations, space * sizeof(*operations));

		if (!operations)
			return kwhy_fail_memory(error, "a graph");
		graph->operations = operations;
		graph->space = space;
	}
	graph->operations[graph->count++] = *operation;
	return KWHY_OK;
}

enum kwhy_status kwhy_gpu_host_capture_begin(
	struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream, struct kwhy_error *error)
{
	struct kwhy_gpu_graph **recording = kwhy_gpu_host_recording(gpu, stream), *graph;

	if (*recording)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"a stream of the host records already; end that recording first");
	graph = calloc(1, sizeof(*graph));
	if (!graph)
		return kwhy_fail_memory(error, "a graph");
	atomic_init(&graph->holders, 1);
	kwhy_gpu_host_keep(gpu, &graph->owned, graph_release);
	*recording = graph;
	return KWHY_OK;
}

enum kwhy_status kwhy_gpu_host_capture_end(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream,
	struct kwhy_gpu_graph **out, struct kwhy_error *error)
{
	struct kwhy_gpu_graph **recording = kwhy_gpu_host_recording(gpu, stream);

	if (!*recording)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"a stream of the host does not record; begin a recording first");
	*out = *recording;
	*recording = NULL;
	return KWHY_OK;
}

static void run_graph(const struct kwhy_gpu_host_operation *operation)
{
	const struct kwhy_gpu_graph *graph = operation->graph;

	for (size_t i = 0; i < graph->count; i++)
		graph->operations[i].verb->run(&graph->operations[i]);
}

static void drop_graph(struct kwhy_gpu_host_operation *operation)
{
	graph_drop(operation->graph);
}

enum kwhy_status kwhy_gpu_host_graph_launch(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream,
	struct kwhy_gpu_graph *graph, struct kwhy_error *error)
{
	static const struct kwhy_gpu_host_verb verb = {.run = run_graph, .drop = drop_graph};
	struct kwhy_gpu_host_operation operation = {.verb = &verb, .graph = graph};

	atomic_fetch_add(&graph->holders, 1);
	return kwhy_gpu_host_queue(gpu, stream, &operation, error);
}
