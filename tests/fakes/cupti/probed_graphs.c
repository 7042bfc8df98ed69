/* SPDX-License-Identifier: Apache-2.0 */
/* Work of the program that kwhy probe is tested on: CUDA graphs. */
#include "probed_program.h"
#include "vendor/cupti_abi.h"

#include <stdlib.h>

static kwhy_cuda_graph_exec instantiate(kwhy_cuda_graph graph)
{
	kwhy_cuda_graph_exec exec = NULL;
	struct kwhy_cupti_parameters_instantiate parameters = {&exec, graph};
	struct kwhy_cupti_callback data = {
		.parameters = &parameters, .correlation = probed_next_correlation()};
	enum kwhy_cuda_result result;

	probed_call("cuGraphInstantiateWithFlags", &data, KWHY_CUPTI_ENTER);
	result = probed_cuda.instantiate(&exec, graph, 0);
	data.result = &result;
	probed_call("cuGraphInstantiateWithFlags", &data, KWHY_CUPTI_EXIT);
	return exec;
}

static void launch_graph(kwhy_cuda_graph_exec exec)
{
	struct kwhy_cupti_parameters_graph parameters = {exec, probed_stream};
	struct kwhy_cupti_callback data = {
		.parameters = &parameters, .correlation = probed_next_correlation()};
	enum kwhy_cuda_result result;

	probed_call("cuGraphLaunch", &data, KWHY_CUPTI_ENTER);
	result = probed_cuda.launch_graph(exec, probed_stream);
	data.result = &result;
	probed_call("cuGraphLaunch", &data, KWHY_CUPTI_EXIT);
}

/* Launches a graph whose kernels the program never launches outside of a graph. */
void probed_cold_graph(struct probed_memory *own, int launches)
{
	void *added[] = {&own->in, &own->out}, *counted[] = {&own->counter};
	kwhy_cuda_graph made;
	kwhy_cuda_graph_exec exec;

	if (probed_cuda.new_stream(&probed_stream, 0) ||
		probed_cuda.begin_capture(probed_stream, KWHY_CUDA_CAPTURE_THREAD_LOCAL))
		exit(93);
	probed_launch("vectorized_elementwise_kernel", added);
	probed_launch("count", counted);
	probed_launch("add", added);
	if (probed_cuda.end_capture(probed_stream, &made))
		exit(92);
	exec = instantiate(made);
	probed_cuda.destroy_graph(made);
	for (int i = 0; exec && i < launches; i++)
		launch_graph(exec);
	probed_cuda.wait(probed_stream);
	probed_stream = NULL;
}

/* Launches the graph of probed_cold_graph() after one of its kernels ran outside of it, as in a warm-up. */
void probed_graph(struct probed_memory *own, int launches)
{
	void *added[] = {&own->in, &own->out};

	probed_launch("vectorized_elementwise_kernel", added);
	probed_cold_graph(own, launches);
}

static kwhy_cuda_graph capture(const struct probed_memory *memory)
{
	struct probed_memory its = *memory;
	kwhy_cuda_graph made;

	if (probed_cuda.begin_capture(probed_stream, KWHY_CUDA_CAPTURE_THREAD_LOCAL))
		exit(93);
	probed_launch("vectorized_elementwise_kernel", (void *[]){&its.in, &its.out});
	if (probed_cuda.end_capture(probed_stream, &made))
		exit(92);
	return made;
}

static void set_node(const char *name, kwhy_cuda_graph_exec exec, kwhy_cuda_graph_node node,
	const struct kwhy_cuda_kernel_node *kernel, kwhy_cuda_graph child)
{
	struct kwhy_cupti_parameters_set_node parameters = {.exec = exec, .node = node};
	struct kwhy_cupti_callback data = {
		.parameters = &parameters, .correlation = probed_next_correlation()};
	enum kwhy_cuda_result result;

	if (kernel)
		parameters.to.kernel = kernel;
	else
		parameters.to.child = child;
	probed_call(name, &data, KWHY_CUPTI_ENTER);
	result = kernel ? probed_cuda.set_kernel(exec, node, kernel)
			: probed_cuda.set_child(exec, node, child);
	data.result = &result;
	probed_call(name, &data, KWHY_CUPTI_EXIT);
	if (result)
		exit(90);
}

/*
 * Changes the arguments of two kernels of an executable graph: its own kernel (nodes[0]) gets memory[0], the
 * kernel of its child graph (nodes[1]) memory[1].
 */
static void change(
	kwhy_cuda_graph_exec exec, const kwhy_cuda_graph_node nodes[2], struct probed_memory memory[2])
{
	void *arguments[] = {&memory[0].in, &memory[0].out};
	const struct kwhy_cuda_kernel_node kernel = {
		.function = probed_function_of("vectorized_elementwise_kernel"),
		.grid = {264, 1, 1},
		.block = {256, 1, 1},
		.arguments = arguments};
	kwhy_cuda_graph child = capture(&memory[1]);

	set_node("cuGraphExecKernelNodeSetParams_v2", exec, nodes[0], &kernel, NULL);
	set_node("cuGraphExecChildGraphNodeSetParams", exec, nodes[1], NULL, child);
	probed_cuda.destroy_graph(child);
}

/*
 * Launches a graph with a child graph. The memory that the kernels are given when the graph is created is
 * freed before the first launch. Before each launch, the kernels' arguments are changed to other memory.
 */
void probed_nested_graph(struct probed_memory *own, int launches)
{
	struct probed_memory memory[2] = {probed_new_memory(), probed_new_memory()},
			     first[2] = {probed_new_memory(), probed_new_memory()};
	kwhy_cuda_graph_node nodes[2];
	kwhy_cuda_graph made, child;
	kwhy_cuda_graph_exec exec;
	size_t count = 1;

	if (probed_cuda.new_stream(&probed_stream, 0))
		exit(93);
	made = capture(&first[0]);
	child = capture(&first[1]);
	if (probed_cuda.get_nodes(made, nodes, &count) ||
		probed_cuda.add_child(&nodes[1], made, NULL, 0, child))
		exit(89);
	exec = instantiate(made);
	for (int i = 0; i < 2; i++) {
		probed_release(first[i].in);
		probed_release(first[i].out);
	}
	for (int i = 0; i < launches; i++) {
		memory[i % 2].in[0] += (uint64_t)i;
		change(exec, nodes, memory);
		launch_graph(exec);
		probed_cuda.wait(probed_stream);
	}
	for (size_t i = 0; i < PROBED_WORDS; i++)
		own->out[i] += memory[0].out[i] + 3 * memory[1].out[i];
	probed_stream = NULL;
}
