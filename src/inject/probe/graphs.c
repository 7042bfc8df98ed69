/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/probe/graphs.h"

#include "inject/probe/fit.h"

#include <sched.h>
#include <string.h>
#include <sys/mman.h>

enum { PARAMETERS_MAX = 512, PARAMETER_BYTES_MAX = 8192 };

static void take(struct kwhy_probe_graphs *graphs)
{
	while (atomic_flag_test_and_set_explicit(&graphs->lock, memory_order_acquire))
		sched_yield();
}

static void give(struct kwhy_probe_graphs *graphs)
{
	atomic_flag_clear_explicit(&graphs->lock, memory_order_release);
}

static void *take_bytes(struct kwhy_probe_graph *graph, size_t bytes)
{
	const size_t at = (graph->used + 15) & ~(size_t)15;

	if (bytes > graph->bytes || at > graph->bytes - bytes)
		return NULL;
	graph->used = at + bytes;
	return graph->memory + at;
}

/* Maps zeroed memory. Pages that are never written use no physical memory. */
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

/* The kernels of a graph and of its child graphs, in the driver's order. */
struct list {
	const struct kwhy_cuda_probe *driver;
	size_t count, child_count;
	kwhy_cuda_graph_node handles[KWHY_PROBE_NODES_MAX];
	struct kwhy_probe_child children[KWHY_PROBE_CHILDREN_MAX];
};

static bool list_graph(struct list *list, kwhy_cuda_graph graph, unsigned depth);

static bool list_child(struct list *list, kwhy_cuda_graph_node handle, unsigned depth)
{
	const size_t number = list->child_count;
	kwhy_cuda_graph graph;

	if (depth == KWHY_PROBE_DEPTH_MAX || number == KWHY_PROBE_CHILDREN_MAX ||
		!list->driver->cuGraphChildGraphNodeGetGraph ||
		list->driver->cuGraphChildGraphNodeGetGraph(handle, &graph))
		return false;
	list->child_count++;
	list->children[number] = (struct kwhy_probe_child){.handle = handle, .first = list->count};
	if (!list_graph(list, graph, depth + 1))
		return false;
	list->children[number].count = list->count - list->children[number].first;
	return true;
}

static bool list_node(struct list *list, kwhy_cuda_graph_node handle, unsigned depth)
{
	int type = -1;

	if (list->driver->cuGraphNodeGetType(handle, &type))
		return false;
	if (type == KWHY_CUDA_GRAPH_NODE_CHILD)
		return list_child(list, handle, depth);
	if (type != KWHY_CUDA_GRAPH_NODE_KERNEL)
		return true;
	if (list->count == KWHY_PROBE_NODES_MAX)
		return false;
	list->handles[list->count++] = handle;
	return true;
}

static bool list_graph(struct list *list, kwhy_cuda_graph graph, unsigned depth)
{
	kwhy_cuda_graph_node *handles;
	size_t count = 0;
	bool is_whole;

	if (list->driver->cuGraphGetNodes(graph, NULL, &count))
		return false;
	if (!count)
		return true;
	handles = new_memory(count * sizeof(kwhy_cuda_graph_node));
	is_whole = handles && !list->driver->cuGraphGetNodes(graph, handles, &count);
	for (size_t i = 0; is_whole && i < count; i++)
		is_whole = list_node(list, handles[i], depth);
	if (handles)
		munmap(handles, count * sizeof(kwhy_cuda_graph_node));
	return is_whole;
}

static bool can_ask(const struct kwhy_cuda_probe *driver)
{
	return driver->cuGraphGetNodes && driver->cuGraphNodeGetType &&
		driver->cuGraphKernelNodeGetParams_v2 && driver->cuGraphKernelNodeGetAttribute &&
		driver->cuLaunchKernelEx;
}

/*
 * Lists the kernels of a graph and its child graphs; free the list with free_list(). NULL: the driver lacks a
 * call or one fails, the graph has too many kernels or child graphs, or memory is short.
 */
static struct list *new_list(const struct kwhy_cuda_probe *driver, kwhy_cuda_graph graph)
{
	struct list *list = can_ask(driver) ? new_memory(sizeof(*list)) : NULL;

	if (!list)
		return NULL;
	list->driver = driver;
	if (list_graph(list, graph, 0))
		return list;
	munmap(list, sizeof(*list));
	return NULL;
}

static void free_list(struct list *list)
{
	if (list)
		munmap(list, sizeof(*list));
}

/*
 * What is stored about a kernel node. It is read from the driver before the lock is taken, which must not be
 * held during calls of the driver.
 */
struct described {
	const struct kwhy_cuda_kernel_node *parameters;
	kwhy_cuda_function function;
	struct kwhy_probe_account *account;
	bool is_fit; /* kwhy_probe_is_fit() is true for the kernel */
	size_t count;
	uint16_t bytes[PARAMETERS_MAX];
};

static const char *name_of(const struct kwhy_cuda_probe *driver, kwhy_cuda_function function)
{
	const char *name = NULL;

	if (driver->cuFuncGetName && !driver->cuFuncGetName(&name, function) && name)
		return name;
	return driver->cuKernelGetName && !driver->cuKernelGetName(&name, function) && name ? name : "";
}

/*
 * Reads the size in bytes of each parameter of out->function into out->bytes. out->count is their number; 0:
 * the sizes are unknown, or the parameters are too many or too long.
 */
static void describe_parameters(const struct kwhy_cuda_probe *driver, struct described *out)
{
	__typeof__(cuFuncGetParamInfo) *ask = driver->cuFuncGetParamInfo;
	size_t offset, bytes;

	if (!ask || ask(out->function, 0, &offset, &bytes))
		ask = driver->cuKernelGetParamInfo;
	for (out->count = 0; ask && out->count < PARAMETERS_MAX; out->count++) {
		if (ask(out->function, out->count, &offset, &bytes))
			return;
		if (bytes > PARAMETER_BYTES_MAX)
			break;
		out->bytes[out->count] = (uint16_t)bytes;
	}
	out->count = 0;
}

static void describe(const struct kwhy_probe_graph_maker *maker,
	const struct kwhy_cuda_kernel_node *parameters, struct described *out)
{
	struct kwhy_probe_shape shape;

	out->parameters = parameters;
	out->function = parameters->function ? parameters->function : parameters->kernel;
	shape = (struct kwhy_probe_shape){
		.function = out->function, .name = name_of(maker->driver, out->function)};
	memcpy(shape.grid, parameters->grid, sizeof(shape.grid));
	memcpy(shape.block, parameters->block, sizeof(shape.block));
	out->account = shape.name[0] ? kwhy_probe_account_of(maker->accounts, &shape, maker->reason_of)
				     : NULL;
	out->is_fit = shape.name[0] && kwhy_probe_is_fit(shape.name, shape.grid) && parameters->arguments;
	out->count = 0;
	if (out->is_fit)
		describe_parameters(maker->driver, out);
}

/*
 * Copies the values of the kernel's parameters to the graph's memory. If the node has values of the same
 * function already, they are overwritten. False: the memory is used up.
 */
static bool keep_arguments(
	struct kwhy_probe_graph *graph, struct kwhy_probe_node *node, const struct described *described)
{
	const bool is_same = node->arguments != NULL;

	if (!is_same)
		node->arguments = take_bytes(graph, (described->count + 1) * sizeof(*node->arguments));
	if (!node->arguments)
		return false;
	for (size_t i = 0; i < described->count; i++) {
		if (!is_same)
			node->arguments[i] = take_bytes(graph, described->bytes[i]);
		if (!node->arguments[i]) {
			node->arguments = NULL;
			return false;
		}
		memcpy(node->arguments[i], described->parameters->arguments[i], described->bytes[i]);
	}
	return true;
}

static void set_reason(struct kwhy_probe_account *account, enum kwhy_probe_reason reason)
{
	unsigned char none = KWHY_PROBE_NONE;

	if (account)
		atomic_compare_exchange_strong(&account->reason, &none, (unsigned char)reason);
}

/* Stores a kernel in a node. To be called under the lock, or for a graph that no other thread knows yet. */
static void keep(
	struct kwhy_probe_graph *graph, struct kwhy_probe_node *node, const struct described *described)
{
	const struct kwhy_cuda_kernel_node *parameters = described->parameters;

	if (node->function != described->function)
		node->arguments = NULL;
	node->function = described->function;
	node->account = described->account;
	node->is_fit = node->is_plain && described->is_fit && described->count &&
		keep_arguments(graph, node, described);
	memcpy(node->config.grid, parameters->grid, sizeof(parameters->grid));
	memcpy(node->config.block, parameters->block, sizeof(parameters->block));
	node->config.shared_bytes = parameters->shared_bytes;
	if (!node->is_plain)
		set_reason(node->account, KWHY_PROBE_COOPERATIVE);
	else if (!node->is_fit)
		set_reason(node->account, described->is_fit ? KWHY_PROBE_PARAMETERS : KWHY_PROBE_GRAPH);
}

static bool has_attribute(const struct kwhy_cuda_probe *driver, kwhy_cuda_graph_node handle, int id)
{
	struct kwhy_cuda_launch_attribute attribute = {0};

	return !driver->cuGraphKernelNodeGetAttribute(handle, id, &attribute.value) && attribute.value.number;
}

static void keep_attributes(
	const struct kwhy_cuda_probe *driver, struct kwhy_probe_node *node, kwhy_cuda_graph_node handle)
{
	static const int kept[KWHY_PROBE_NODE_ATTRIBUTES] = {
		KWHY_CUDA_LAUNCH_CLUSTER, KWHY_CUDA_LAUNCH_CLUSTER_SCHEDULING};

	node->is_plain = !has_attribute(driver, handle, KWHY_CUDA_LAUNCH_COOPERATIVE) &&
		!has_attribute(driver, handle, KWHY_CUDA_LAUNCH_UPDATABLE_NODE);
	for (size_t i = 0; i < KWHY_PROBE_NODE_ATTRIBUTES; i++) {
		struct kwhy_cuda_launch_attribute
			*attribute = &node->attributes[node->config.attribute_count];

		*attribute = (struct kwhy_cuda_launch_attribute){.id = kept[i]};
		if (!driver->cuGraphKernelNodeGetAttribute(handle, kept[i], &attribute->value) &&
			attribute->value.number)
			node->config.attribute_count++;
	}
}

/* Allocates a graph's arrays. False: out of memory. */
static bool make_graph(struct kwhy_probe_graph *out, const struct list *list)
{
	*out = (struct kwhy_probe_graph){.count = list->count,
		.child_count = list->child_count,
		.bytes = list->count * (sizeof(*out->nodes) + PARAMETER_BYTES_MAX) +
			list->child_count * sizeof(*out->children) + 64};
	out->memory = new_memory(out->bytes);
	if (!out->memory)
		return false;
	out->nodes = take_bytes(out, list->count * sizeof(*out->nodes));
	out->children = take_bytes(out, list->child_count * sizeof(*out->children));
	memcpy(out->children, list->children, list->child_count * sizeof(*out->children));
	return true;
}

static void read_nodes(
	const struct kwhy_probe_graph_maker *maker, const struct list *list, struct kwhy_probe_graph *out)
{
	struct kwhy_cuda_kernel_node parameters;
	struct described described;

	for (size_t i = 0; i < list->count; i++) {
		struct kwhy_probe_node *node = &out->nodes[i];

		node->handle = list->handles[i];
		if (maker->driver->cuGraphKernelNodeGetParams_v2(node->handle, &parameters))
			continue;
		keep_attributes(maker->driver, node, node->handle);
		describe(maker, &parameters, &described);
		keep(out, node, &described);
	}
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
	struct list *list = new_list(maker->driver, graph);
	struct kwhy_probe_graph made, *probe_context;

	kwhy_probe_graphs_forget(graphs, exec);
	if (list && list->count && make_graph(&made, list)) {
		read_nodes(maker, list, &made);
		made.exec = exec;
		take(graphs);
		probe_context = graph_of(graphs, NULL);
		if (probe_context)
			*probe_context = made;
		give(graphs);
		if (!probe_context)
			release(&made);
	}
	free_list(list);
}

/*
 * Excludes a node from repetition after a change of it that could not be followed: its stored parameters may
 * be outdated.
 */
static void leave_out(struct kwhy_probe_node *node)
{
	node->is_fit = false;
	set_reason(node->account, KWHY_PROBE_GRAPH_CHANGED);
}

/*
 * Replaces kernels in the stored copy of an executable graph by those of a list: list->handles[i] becomes
 * kernel number first + i.
 */
static void set_nodes(struct kwhy_probe_graphs *graphs, const struct kwhy_probe_graph_maker *maker,
	kwhy_cuda_graph_exec exec, const struct list *list, size_t first)
{
	struct kwhy_cuda_kernel_node parameters;
	struct described described;
	struct kwhy_probe_graph *graph;

	for (size_t i = 0; i < list->count; i++) {
		const bool is_reported = !maker->driver->cuGraphKernelNodeGetParams_v2(
			list->handles[i], &parameters);

		if (is_reported)
			describe(maker, &parameters, &described);
		take(graphs);
		graph = graph_of(graphs, exec);
		if (graph && is_reported)
			keep(graph, &graph->nodes[first + i], &described);
		else if (graph)
			leave_out(&graph->nodes[first + i]);
		give(graphs);
	}
}

bool kwhy_probe_graphs_update(struct kwhy_probe_graphs *graphs, const struct kwhy_probe_graph_maker *maker,
	kwhy_cuda_graph_exec exec, kwhy_cuda_graph graph)
{
	struct list *list = new_list(maker->driver, graph);
	const struct kwhy_probe_graph *known;
	bool is_same;

	take(graphs);
	known = graph_of(graphs, exec);
	is_same = known && list && known->count == list->count;
	give(graphs);
	if (is_same)
		set_nodes(graphs, maker, exec, list, 0);
	else
		kwhy_probe_graphs_forget(graphs, exec);
	free_list(list);
	return is_same;
}

static struct kwhy_probe_node *node_of(
	struct kwhy_probe_graphs *graphs, kwhy_cuda_graph_exec exec, kwhy_cuda_graph_node handle)
{
	struct kwhy_probe_graph *graph = graph_of(graphs, exec);

	for (size_t i = 0; graph && i < graph->count; i++)
		if (graph->nodes[i].handle == handle)
			return &graph->nodes[i];
	return NULL;
}

void kwhy_probe_graphs_set_kernel(struct kwhy_probe_graphs *graphs,
	const struct kwhy_probe_graph_maker *maker, kwhy_cuda_graph_exec exec, kwhy_cuda_graph_node handle,
	const struct kwhy_cuda_kernel_node *to)
{
	struct described described;
	struct kwhy_probe_node *node;

	describe(maker, to, &described);
	take(graphs);
	node = node_of(graphs, exec, handle);
	if (node)
		keep(graph_of(graphs, exec), node, &described);
	give(graphs);
}

/*
 * The stored entry of the child graph in node `handle`. Its count is 0 if the node is unknown, or if the
 * stored child graph does not have `count` kernels.
 */
static struct kwhy_probe_child child_of(struct kwhy_probe_graphs *graphs, kwhy_cuda_graph_exec exec,
	kwhy_cuda_graph_node handle, size_t count)
{
	struct kwhy_probe_child found = {0};
	struct kwhy_probe_graph *graph;

	take(graphs);
	graph = graph_of(graphs, exec);
	for (size_t i = 0; graph && i < graph->child_count; i++)
		if (graph->children[i].handle == handle)
			found = graph->children[i];
	for (size_t i = 0; i < found.count && found.count != count; i++)
		leave_out(&graph->nodes[found.first + i]);
	give(graphs);
	return found.count == count ? found : (struct kwhy_probe_child){0};
}

void kwhy_probe_graphs_set_child(struct kwhy_probe_graphs *graphs, const struct kwhy_probe_graph_maker *maker,
	kwhy_cuda_graph_exec exec, kwhy_cuda_graph_node handle, kwhy_cuda_graph to)
{
	struct list *list = new_list(maker->driver, to);
	const struct kwhy_probe_child child = child_of(graphs, exec, handle, list ? list->count : 0);

	if (child.count)
		set_nodes(graphs, maker, exec, list, child.first);
	free_list(list);
}

void kwhy_probe_graphs_set_enabled(struct kwhy_probe_graphs *graphs, kwhy_cuda_graph_exec exec,
	kwhy_cuda_graph_node handle, bool is_enabled)
{
	struct kwhy_probe_node *node;

	take(graphs);
	node = node_of(graphs, exec, handle);
	if (node)
		node->is_disabled = !is_enabled;
	give(graphs);
}

void kwhy_probe_graphs_forget(struct kwhy_probe_graphs *graphs, kwhy_cuda_graph_exec exec)
{
	struct kwhy_probe_graph gone = {0}, *probe_context;

	take(graphs);
	probe_context = graph_of(graphs, exec);
	if (probe_context) {
		gone = *probe_context;
		*probe_context = (struct kwhy_probe_graph){0};
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
		if (graph->nodes[i].account && !graph->nodes[i].is_disabled)
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

		is_found = node->account && node->is_fit && !node->is_disabled &&
			wants(context, node->account);
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

	/*
	 * The correlation id of a graph's kernels is that of the graph's launch. The prober's own calls,
	 * which come later, have higher ids.
	 */
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
