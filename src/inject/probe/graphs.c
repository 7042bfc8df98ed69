/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/probe/graphs.h"

#include "inject/probe/fit.h"

#include <sched.h>
#include <string.h>
#include <sys/mman.h>

enum { PARAMETERS_MOST = 512, PARAMETER_BYTES_MOST = 8192 };

static void take(struct kwhy_probe_graphs *graphs)
{
	while (atomic_flag_test_and_set_explicit(&graphs->lock, memory_order_acquire))
		sched_yield();
}

static void give(struct kwhy_probe_graphs *graphs)
{
	atomic_flag_clear_explicit(&graphs->lock, memory_order_release);
}

/* Memory of one graph, handed out from its beginning on. */
struct arena {
	unsigned char *memory;
	size_t used, bytes;
};

static void *take_bytes(struct arena *arena, size_t bytes)
{
	const size_t at = (arena->used + 15) & ~(size_t)15;

	if (bytes > arena->bytes || at > arena->bytes - bytes)
		return NULL;
	arena->used = at + bytes;
	return arena->memory + at;
}

/* The parameters as they are now; false: the driver does not tell them, or they are too many. */
static bool keep_arguments(const struct kwhy_cuda_probe *driver, struct kwhy_probe_node *node,
	void **arguments, struct arena *arena)
{
	__typeof__(cuFuncGetParamInfo) *ask = driver->cuFuncGetParamInfo;
	size_t offset, bytes, count = 0;

	if (!arguments)
		return false;
	if (!ask || ask(node->function, 0, &offset, &bytes))
		ask = driver->cuKernelGetParamInfo;
	while (ask && count < PARAMETERS_MOST && !ask(node->function, count, &offset, &bytes))
		count++;
	node->arguments = take_bytes(arena, (count + 1) * sizeof(*node->arguments));
	if (!count || count == PARAMETERS_MOST || !node->arguments)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (ask(node->function, i, &offset, &bytes))
			return false;
		node->arguments[i] = take_bytes(arena, bytes);
		if (!node->arguments[i])
			return false;
		memcpy(node->arguments[i], arguments[i], bytes);
	}
	return true;
}

static void keep_attributes(
	const struct kwhy_cuda_probe *driver, struct kwhy_probe_node *node, kwhy_cuda_graph_node handle)
{
	static const int kept[KWHY_PROBE_NODE_ATTRIBUTES] = {
		KWHY_CUDA_LAUNCH_CLUSTER, KWHY_CUDA_LAUNCH_CLUSTER_SCHEDULING};

	for (size_t i = 0; i < KWHY_PROBE_NODE_ATTRIBUTES; i++) {
		struct kwhy_cuda_launch_attribute
			*attribute = &node->attributes[node->config.attribute_count];

		*attribute = (struct kwhy_cuda_launch_attribute){.id = kept[i]};
		if (!driver->cuGraphKernelNodeGetAttribute(handle, kept[i], &attribute->value) &&
			attribute->value.number)
			node->config.attribute_count++;
	}
}

static const char *name_of(const struct kwhy_cuda_probe *driver, kwhy_cuda_function function)
{
	const char *name = NULL;

	if (driver->cuFuncGetName && !driver->cuFuncGetName(&name, function) && name)
		return name;
	return driver->cuKernelGetName && !driver->cuKernelGetName(&name, function) && name ? name : "";
}

static bool is_cooperative(const struct kwhy_cuda_probe *driver, kwhy_cuda_graph_node handle)
{
	struct kwhy_cuda_launch_attribute attribute = {0};

	return !driver->cuGraphKernelNodeGetAttribute(
		       handle, KWHY_CUDA_LAUNCH_COOPERATIVE, &attribute.value) &&
		attribute.value.number;
}

static bool keep_node(const struct kwhy_probe_graph_maker *maker, struct kwhy_probe_node *node,
	kwhy_cuda_graph_node handle, struct arena *arena)
{
	struct kwhy_cuda_kernel_node parameters;
	struct kwhy_probe_shape shape;
	int type = -1;

	if (maker->driver->cuGraphNodeGetType(handle, &type) || type != KWHY_CUDA_GRAPH_NODE_KERNEL ||
		maker->driver->cuGraphKernelNodeGetParams_v2(handle, &parameters))
		return false;
	*node = (struct kwhy_probe_node){
		.function = parameters.function ? parameters.function : parameters.kernel};
	memcpy(node->config.grid, parameters.grid, sizeof(parameters.grid));
	memcpy(node->config.block, parameters.block, sizeof(parameters.block));
	node->config.shared_bytes = parameters.shared_bytes;
	shape = (struct kwhy_probe_shape){
		.function = node->function, .name = name_of(maker->driver, node->function)};
	memcpy(shape.grid, parameters.grid, sizeof(shape.grid));
	memcpy(shape.block, parameters.block, sizeof(shape.block));
	if (!shape.name[0])
		return false;
	node->account = kwhy_probe_account_of(maker->accounts, &shape, maker->reason_of);
	node->is_fit = kwhy_probe_is_fit(shape.name, shape.grid) && !is_cooperative(maker->driver, handle) &&
		keep_arguments(maker->driver, node, parameters.arguments, arena);
	if (node->is_fit)
		keep_attributes(maker->driver, node, handle);
	return true;
}

static bool can_ask(const struct kwhy_cuda_probe *driver)
{
	return driver->cuGraphGetNodes && driver->cuGraphNodeGetType &&
		driver->cuGraphKernelNodeGetParams_v2 && driver->cuGraphKernelNodeGetAttribute &&
		driver->cuLaunchKernelEx;
}

/* Pages that are not written to take no memory. */
static void *new_memory(size_t bytes)
{
	void *memory = mmap(
		NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static void release(const struct kwhy_probe_graph *graph)
{
	if (graph->memory)
		munmap(graph->memory, graph->bytes);
}

static bool read_graph(
	const struct kwhy_probe_graph_maker *maker, kwhy_cuda_graph graph, struct kwhy_probe_graph *out)
{
	struct arena arena = {0};
	kwhy_cuda_graph_node *handles;
	size_t count = 0;

	if (!can_ask(maker->driver) || maker->driver->cuGraphGetNodes(graph, NULL, &count) || !count ||
		count > KWHY_PROBE_NODES_MOST)
		return false;
	arena.bytes = count * (sizeof(kwhy_cuda_graph_node) + sizeof(*out->nodes) + PARAMETER_BYTES_MOST) +
		64;
	arena.memory = new_memory(arena.bytes);
	handles = arena.memory ? take_bytes(&arena, count * sizeof(kwhy_cuda_graph_node)) : NULL;
	*out = (struct kwhy_probe_graph){.bytes = arena.bytes, .memory = arena.memory};
	out->nodes = handles ? take_bytes(&arena, count * sizeof(*out->nodes)) : NULL;
	if (!out->nodes || maker->driver->cuGraphGetNodes(graph, handles, &count)) {
		release(out);
		return false;
	}
	for (size_t i = 0; i < count; i++)
		out->count += keep_node(maker, &out->nodes[out->count], handles[i], &arena);
	return true;
}

static struct kwhy_probe_graph *graph_of(struct kwhy_probe_graphs *graphs, kwhy_cuda_graph_exec exec)
{
	for (size_t i = 0; i < KWHY_PROBE_GRAPHS; i++)
		if (graphs->at[i].exec == exec)
			return &graphs->at[i];
	return NULL;
}

void kwhy_probe_graphs_add(struct kwhy_probe_graphs *graphs, const struct kwhy_probe_graph_maker *maker,
	kwhy_cuda_graph_exec exec, kwhy_cuda_graph graph)
{
	struct kwhy_probe_graph made, *place;

	kwhy_probe_graphs_forget(graphs, exec);
	if (!read_graph(maker, graph, &made))
		return;
	made.exec = exec;
	take(graphs);
	place = graph_of(graphs, NULL);
	if (place)
		*place = made;
	give(graphs);
	if (!place)
		release(&made);
}

void kwhy_probe_graphs_forget(struct kwhy_probe_graphs *graphs, kwhy_cuda_graph_exec exec)
{
	struct kwhy_probe_graph gone = {0}, *place;

	take(graphs);
	place = graph_of(graphs, exec);
	if (place) {
		gone = *place;
		*place = (struct kwhy_probe_graph){0};
	}
	give(graphs);
	release(&gone);
}

bool kwhy_probe_graphs_launched(struct kwhy_probe_graphs *graphs, kwhy_cuda_graph_exec exec)
{
	const struct kwhy_probe_graph *graph;

	take(graphs);
	graph = graph_of(graphs, exec);
	for (size_t i = 0; graph && i < graph->count; i++)
		if (graph->nodes[i].account)
			atomic_fetch_add_explicit(
				&graph->nodes[i].account->launches, 1, memory_order_relaxed);
	give(graphs);
	return graph != NULL;
}

bool kwhy_probe_graphs_choose(struct kwhy_probe_graphs *graphs, kwhy_cuda_graph_exec exec, uint64_t first,
	bool (*wants)(void *context, struct kwhy_probe_account *account), void *context,
	struct kwhy_probe_node *out)
{
	const struct kwhy_probe_graph *graph;
	bool is_found = false;

	take(graphs);
	graph = graph_of(graphs, exec);
	for (size_t i = 0; graph && i < graph->count && !is_found; i++) {
		const struct kwhy_probe_node *node = &graph->nodes[(first + i) % graph->count];

		is_found = node->account && node->is_fit && wants(context, node->account);
		if (is_found)
			*out = *node;
	}
	give(graphs);
	return is_found;
}

void kwhy_probe_launch_of_node(struct kwhy_probe_launch *out, const struct kwhy_cupti_callback *graph,
	const struct kwhy_probe_node *node, bool is_of_thread)
{
	const struct kwhy_cupti_parameters_graph *parameters = graph->parameters;

	/* The graph's kernels have the number of its launch; what the prober calls from here on has later
	 * ones. */
	*out = (struct kwhy_probe_launch){.context = graph->context,
		.context_id = graph->context_id,
		.correlation = graph->correlation,
		.function = node->function,
		.shared_bytes = node->config.shared_bytes,
		.stream = kwhy_probe_stream_of(parameters->stream, is_of_thread),
		.config = &node->config,
		.arguments = node->arguments,
		.name = node->account->name};
	memcpy(out->grid, node->config.grid, sizeof(out->grid));
	memcpy(out->block, node->config.block, sizeof(out->block));
}
