/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of the driver that only kwhy probe makes, and the kernels of kwhy probe in C. */
#include "fake.h"

#include <string.h>

enum { CHUNK_BYTES = 65536 };

static uint64_t sum_of(kwhy_cuda_address address, uint64_t from, uint64_t to)
{
	const unsigned char *bytes = (const unsigned char *)(uintptr_t)address;
	uint64_t sum = 0;

	for (uint64_t i = from; i < to; i++)
		sum += (bytes[i] + 1) * (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
	return sum;
}

static void hash(const struct kwhy_gpu_grid *grid, void **arguments)
{
	uint64_t *out = (uint64_t *)*(uintptr_t *)arguments[2];

	(void)grid;
	*out += sum_of(*(kwhy_cuda_address *)arguments[0], 0, *(uint64_t *)arguments[1]);
}

static void hash_chunks(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const uint64_t bytes = *(uint64_t *)arguments[1], factor = *(uint64_t *)arguments[4];
	uint64_t *out = (uint64_t *)*(uintptr_t *)arguments[2],
		 *table = (uint64_t *)*(uintptr_t *)arguments[3];

	(void)grid;
	for (uint64_t i = 0; i < bytes; i += CHUNK_BYTES) {
		const uint64_t sum = sum_of(*(kwhy_cuda_address *)arguments[0], i,
			i + CHUNK_BYTES < bytes ? i + CHUNK_BYTES : bytes);

		*out += sum;
		table[i / CHUNK_BYTES] += factor * sum;
	}
}

static const struct kwhy_gpu_host_kernel kernels[] = {{"kwhy_probe_hash", hash, {8, 8, 8}},
	{"kwhy_probe_chunks", hash_chunks, {8, 8, 8, 8, 8}}, {NULL, NULL, {0}}};

__attribute__((constructor)) static void give_kernels(void)
{
	kwhy_fake_gpu_kernels(kernels);
}

enum kwhy_cuda_result cuFuncGetParamInfo(
	kwhy_cuda_function function, size_t index, size_t *out_offset, size_t *out_bytes)
{
	size_t offset = 0;

	BEGIN("cuFuncGetParamInfo");
	for (size_t i = 0; i < index && i < KWHY_GPU_HOST_ARGUMENTS_MAX; i++)
		offset += (function->host.argument_bytes[i] + 7u) / 8 * 8;
	if (index >= KWHY_GPU_HOST_ARGUMENTS_MAX || !function->host.argument_bytes[index])
		return fake_end(KWHY_CUDA_INVALID_VALUE);
	*out_offset = offset;
	*out_bytes = function->host.argument_bytes[index];
	return fake_end(KWHY_CUDA_SUCCESS);
}

enum kwhy_cuda_result cuCtxGetDevice(kwhy_cuda_device *out_device)
{
	BEGIN("cuCtxGetDevice");
	*out_device = fake_current_device();
	return fake_end(fake_current_device() < 0 ? KWHY_CUDA_INVALID_CONTEXT : KWHY_CUDA_SUCCESS);
}

enum kwhy_cuda_result cuThreadExchangeStreamCaptureMode(int *mode)
{
	static _Thread_local int now;
	const int before = now;

	now = *mode;
	*mode = before;
	return KWHY_CUDA_SUCCESS;
}

/* Returns the nodes of a graph, which are the operations that were captured. */
enum kwhy_cuda_result cuGraphGetNodes(kwhy_cuda_graph graph, kwhy_cuda_graph_node *out_nodes, size_t *count)
{
	size_t found = 0;

	BEGIN("cuGraphGetNodes");
	for (struct fake_operation *at = graph->queue.first; at; at = at->next, found++)
		if (out_nodes && found < *count)
			out_nodes[found] = (kwhy_cuda_graph_node)at;
	*count = found;
	return fake_end(KWHY_CUDA_SUCCESS);
}

enum kwhy_cuda_result cuGraphNodeGetType(kwhy_cuda_graph_node node, int *out_type)
{
	BEGIN("cuGraphNodeGetType");
	*out_type = ((const struct fake_operation *)node)->kind == FAKE_KERNEL ? KWHY_CUDA_GRAPH_NODE_KERNEL
									       : 1;
	return fake_end(KWHY_CUDA_SUCCESS);
}

enum kwhy_cuda_result cuGraphKernelNodeGetParams_v2(
	kwhy_cuda_graph_node node, struct kwhy_cuda_kernel_node *out_parameters)
{
	static _Thread_local void *arguments[KWHY_GPU_HOST_ARGUMENTS_MAX];
	struct fake_operation *operation = (struct fake_operation *)node;
	const uint16_t *bytes = operation->function->host.argument_bytes;
	size_t used = 0;

	BEGIN("cuGraphKernelNodeGetParams_v2");
	for (size_t i = 0; bytes[i]; i++) {
		arguments[i] = &operation->arguments[used];
		used += (bytes[i] + 7u) / 8;
	}
	*out_parameters = (struct kwhy_cuda_kernel_node){.function = operation->function,
		.grid = {operation->grid.blocks, 1, 1},
		.block = {operation->grid.threads_per_block, 1, 1},
		.shared_bytes = operation->grid.shared_bytes,
		.arguments = arguments};
	return fake_end(KWHY_CUDA_SUCCESS);
}

enum kwhy_cuda_result cuGraphKernelNodeGetAttribute(kwhy_cuda_graph_node node, int attribute, void *out_value)
{
	(void)node, (void)attribute, (void)out_value;
	return KWHY_CUDA_INVALID_VALUE;
}

enum kwhy_cuda_result cuFuncGetName(const char **out_name, kwhy_cuda_function function)
{
	*out_name = function->host.name;
	return KWHY_CUDA_SUCCESS;
}

enum kwhy_cuda_result cuGraphChildGraphNodeGetGraph(kwhy_cuda_graph_node node, kwhy_cuda_graph *out_graph)
{
	*out_graph = ((const struct fake_operation *)node)->child;
	return *out_graph ? KWHY_CUDA_SUCCESS : KWHY_CUDA_INVALID_VALUE;
}

/* Adds a copy of the graph `child` as a node. `child` must have no child graphs itself. */
enum kwhy_cuda_result cuGraphAddChildGraphNode(kwhy_cuda_graph_node *out_node, kwhy_cuda_graph graph,
	const kwhy_cuda_graph_node *after, size_t after_count, kwhy_cuda_graph child)
{
	struct fake_operation operation = {.kind = FAKE_CHILD};
	struct fake_operation *last;

	(void)after, (void)after_count;
	BEGIN("cuGraphAddChildGraphNode");
	operation.child = fake_new(sizeof(*operation.child));
	if (!operation.child)
		return fake_end(KWHY_CUDA_OUT_OF_MEMORY);
	operation.child->queue.last = &operation.child->queue.first;
	for (const struct fake_operation *at = child->queue.first; at; at = at->next)
		fake_queue_put(&operation.child->queue, at);
	fake_queue_put(&graph->queue, &operation);
	for (last = graph->queue.first; last->next;)
		last = last->next;
	*out_node = (kwhy_cuda_graph_node)last;
	return fake_end(KWHY_CUDA_SUCCESS);
}

static struct fake_operation *operation_of(kwhy_cuda_graph_exec exec, const struct fake_operation *node)
{
	struct fake_operation *at = ((kwhy_cuda_graph)(void *)exec)->queue.first;

	while (at && at->node != node)
		at = at->next;
	return at;
}

enum kwhy_cuda_result cuGraphExecKernelNodeSetParams_v2(
	kwhy_cuda_graph_exec exec, kwhy_cuda_graph_node node, const struct kwhy_cuda_kernel_node *parameters)
{
	struct fake_operation *operation;
	size_t used = 0;

	BEGIN("cuGraphExecKernelNodeSetParams_v2");
	operation = operation_of(exec, (const struct fake_operation *)node);
	if (!operation)
		return fake_end(KWHY_CUDA_INVALID_VALUE);
	operation->function = parameters->function;
	for (size_t i = 0; parameters->function->host.argument_bytes[i]; i++) {
		const size_t bytes = parameters->function->host.argument_bytes[i];

		memcpy(&operation->arguments[used], parameters->arguments[i], bytes);
		used += (bytes + 7u) / 8;
	}
	return fake_end(KWHY_CUDA_SUCCESS);
}

enum kwhy_cuda_result cuGraphExecChildGraphNodeSetParams(
	kwhy_cuda_graph_exec exec, kwhy_cuda_graph_node node, kwhy_cuda_graph child)
{
	const struct fake_operation *from = child->queue.first,
				    *within = ((const struct fake_operation *)node)->child->queue.first;

	BEGIN("cuGraphExecChildGraphNodeSetParams");
	for (; from && within; from = from->next, within = within->next) {
		struct fake_operation *operation = operation_of(exec, within);

		operation->function = from->function;
		memcpy(operation->arguments, from->arguments, sizeof(operation->arguments));
	}
	return fake_end(from || within ? KWHY_CUDA_INVALID_VALUE : KWHY_CUDA_SUCCESS);
}
