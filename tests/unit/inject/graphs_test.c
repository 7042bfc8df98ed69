/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests what kwhy probe knows of the kernels in executable graphs and their child graphs, also after the
 * program has changed their parameters.
 */
#include "cmocka_all.h"
#include "inject/probe/graphs.h"

#include <stdlib.h>
#include <string.h>

enum { NODES_MAX = 4, KERNEL = KWHY_CUDA_GRAPH_NODE_KERNEL, CHILD = KWHY_CUDA_GRAPH_NODE_CHILD, OTHER = 1 };

/* A kernel with one parameter of eight bytes. */
struct kwhy_cuda_function_opaque {
	const char *name;
};

struct kwhy_cuda_graph_node_opaque {
	int type;
	kwhy_cuda_function function;
	void *value;
	void *arguments[1];
	kwhy_cuda_graph child;
	bool is_cooperative;
};

struct kwhy_cuda_graph_opaque {
	size_t count;
	struct kwhy_cuda_graph_node_opaque nodes[NODES_MAX];
};

#define EXEC ((kwhy_cuda_graph_exec)(uintptr_t)64) /* NOLINT(performance-no-int-to-ptr) */

static struct kwhy_cuda_function_opaque fit = {"loop_add_fusion"}, fit_too = {"nvjet_tst"},
					unfit = {"my_kernel"}, waiting = {"xla::DelayKernel"};
static struct kwhy_probe_accounts *accounts;
static struct kwhy_probe_graphs *graphs;
static struct kwhy_cuda_probe driver;
static struct kwhy_probe_graph_maker maker;

static enum kwhy_cuda_result nodes_of(kwhy_cuda_graph graph, kwhy_cuda_graph_node *out, size_t *count)
{
	for (size_t i = 0; out && i < *count && i < graph->count; i++)
		out[i] = &graph->nodes[i];
	*count = graph->count;
	return KWHY_CUDA_SUCCESS;
}

static enum kwhy_cuda_result type_of(kwhy_cuda_graph_node node, int *out)
{
	*out = node->type;
	return KWHY_CUDA_SUCCESS;
}

static enum kwhy_cuda_result child_of(kwhy_cuda_graph_node node, kwhy_cuda_graph *out)
{
	*out = node->child;
	return KWHY_CUDA_SUCCESS;
}

static struct kwhy_cuda_kernel_node as_reported(kwhy_cuda_graph_node node)
{
	node->arguments[0] = &node->value;
	return (struct kwhy_cuda_kernel_node){.function = node->function,
		.grid = {2, 1, 1},
		.block = {32, 1, 1},
		.arguments = node->arguments};
}

static enum kwhy_cuda_result parameters_of(kwhy_cuda_graph_node node, struct kwhy_cuda_kernel_node *out)
{
	*out = as_reported(node);
	return KWHY_CUDA_SUCCESS;
}

static enum kwhy_cuda_result attribute_of(kwhy_cuda_graph_node node, int id, void *out)
{
	const int value = id == KWHY_CUDA_LAUNCH_COOPERATIVE && node->is_cooperative;

	memcpy(out, &value, sizeof(value));
	return KWHY_CUDA_SUCCESS;
}

static enum kwhy_cuda_result parameter_of(
	kwhy_cuda_function function, size_t index, size_t *out_offset, size_t *out_bytes)
{
	(void)function;
	*out_offset = 0;
	*out_bytes = 8;
	return index ? KWHY_CUDA_INVALID_VALUE : KWHY_CUDA_SUCCESS;
}

static enum kwhy_cuda_result name_of(const char **out, kwhy_cuda_function function)
{
	*out = function->name;
	return KWHY_CUDA_SUCCESS;
}

static enum kwhy_cuda_result launch_with(const struct kwhy_cuda_launch_config *config,
	kwhy_cuda_function function, void **arguments, void **extra)
{
	(void)config, (void)function, (void)arguments, (void)extra;
	return KWHY_CUDA_SUCCESS;
}

static int setup(void **state)
{
	(void)state;
	accounts = calloc(1, sizeof(*accounts));
	graphs = calloc(1, sizeof(*graphs));
	driver = (struct kwhy_cuda_probe){.cuGraphGetNodes = nodes_of,
		.cuGraphNodeGetType = type_of,
		.cuGraphChildGraphNodeGetGraph = child_of,
		.cuGraphKernelNodeGetParams_v2 = parameters_of,
		.cuGraphKernelNodeGetAttribute = attribute_of,
		.cuKernelGetParamInfo = parameter_of,
		.cuFuncGetName = name_of,
		.cuLaunchKernelEx = launch_with};
	maker = (struct kwhy_probe_graph_maker){.driver = &driver, .accounts = accounts};
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	kwhy_probe_graphs_forget(graphs, EXEC);
	free(graphs);
	free(accounts);
	return 0;
}

static struct kwhy_cuda_graph_node_opaque kernel(kwhy_cuda_function function, void *value)
{
	return (struct kwhy_cuda_graph_node_opaque){.type = KERNEL, .function = function, .value = value};
}

static struct kwhy_cuda_graph_node_opaque within(kwhy_cuda_graph child)
{
	return (struct kwhy_cuda_graph_node_opaque){.type = CHILD, .child = child};
}

static bool wants_all(void *context, struct kwhy_probe_account *account)
{
	(void)context, (void)account;
	return true;
}

/*
 * Lets the prober choose a kernel of the graph, beginning the search at kernel `number`. Returns the argument
 * of the kernel; NULL if it chose none.
 */
static void *value_at(uint64_t number)
{
	struct kwhy_probe_node node;

	if (!kwhy_probe_graphs_choose(graphs, EXEC, number, wants_all, NULL, &node))
		return NULL;
	return *(void **)node.arguments[0];
}

static const struct kwhy_probe_account *account_of(kwhy_cuda_function function)
{
	for (unsigned i = 0; i < accounts->count; i++)
		if (!strcmp(kwhy_probe_account_at(accounts, i)->name, function->name))
			return kwhy_probe_account_at(accounts, i);
	fail_msg("no account of %s", function->name);
	return NULL;
}

static int memory[8];

/* A graph with kernels and a child graph, which has a child graph with two kernels. */
static struct kwhy_cuda_graph_opaque innermost, inner, outer;

static void add_nested(void)
{
	innermost = (struct kwhy_cuda_graph_opaque){
		2, {kernel(&fit, &memory[1]), kernel(&fit_too, &memory[2])}};
	inner = (struct kwhy_cuda_graph_opaque){2, {{.type = OTHER}, within(&innermost)}};
	outer = (struct kwhy_cuda_graph_opaque){
		3, {kernel(&fit, &memory[0]), within(&inner), kernel(&fit, &memory[3])}};
	kwhy_probe_graphs_add(graphs, &maker, EXEC, &outer);
}

static void kernels_of_graphs_within_graphs_are_known(void **state)
{
	(void)state;
	add_nested();
	for (uint64_t i = 0; i < 4; i++)
		assert_ptr_equal(value_at(i), &memory[i]);
	assert_true(kwhy_probe_graphs_launched(graphs, EXEC));
	assert_int_equal(account_of(&fit)->launches, 3);
	assert_int_equal(account_of(&fit_too)->launches, 1);
}

static void a_kernel_that_is_changed_has_its_new_parameters(void **state)
{
	struct kwhy_cuda_kernel_node to;
	struct kwhy_cuda_graph_node_opaque changed = kernel(&fit, &memory[5]);

	(void)state;
	add_nested();
	to = as_reported(&changed);
	kwhy_probe_graphs_set_kernel(graphs, &maker, EXEC, &innermost.nodes[0], &to);
	assert_ptr_equal(value_at(1), &memory[5]);
	assert_ptr_equal(value_at(2), &memory[2]);
	changed = kernel(&fit_too, &memory[6]); /* a kernel of another function */
	to = as_reported(&changed);
	kwhy_probe_graphs_set_kernel(graphs, &maker, EXEC, &innermost.nodes[0], &to);
	assert_ptr_equal(value_at(1), &memory[6]);
	kwhy_probe_graphs_launched(graphs, EXEC);
	assert_int_equal(account_of(&fit_too)->launches, 2);
	to.arguments = NULL; /* without an array of arguments, the form that kwhy does not read: the kernel is
				not repeated any more */
	kwhy_probe_graphs_set_kernel(graphs, &maker, EXEC, &innermost.nodes[0], &to);
	assert_ptr_equal(value_at(1), &memory[2]);
}

static void a_graph_within_that_is_changed_has_its_new_parameters(void **state)
{
	struct kwhy_cuda_graph_opaque to = {2, {kernel(&fit, &memory[6]), kernel(&fit_too, &memory[7])}};

	(void)state;
	add_nested();
	kwhy_probe_graphs_set_child(graphs, &maker, EXEC, &inner.nodes[1], &to);
	assert_ptr_equal(value_at(0), &memory[0]);
	assert_ptr_equal(value_at(1), &memory[6]);
	assert_ptr_equal(value_at(2), &memory[7]);
	assert_ptr_equal(value_at(3), &memory[3]);
}

static void a_graph_within_of_another_form_is_left_out_and_the_reason_said(void **state)
{
	struct kwhy_cuda_graph_opaque to = {1, {kernel(&fit, &memory[6])}};

	(void)state;
	add_nested();
	kwhy_probe_graphs_set_child(graphs, &maker, EXEC, &inner.nodes[1], &to);
	assert_ptr_equal(value_at(1), &memory[3]);
	assert_int_equal(account_of(&fit_too)->reason, KWHY_PROBE_GRAPH_CHANGED);
}

static void an_update_changes_all_kernels_and_keeps_what_they_are_known_by(void **state)
{
	struct kwhy_cuda_graph_opaque to = {4,
		{kernel(&fit, &memory[4]), kernel(&fit, &memory[5]), kernel(&fit_too, &memory[6]),
			kernel(&fit, &memory[7])}};
	struct kwhy_cuda_graph_node_opaque changed = kernel(&fit, &memory[0]);
	const struct kwhy_cuda_kernel_node other = as_reported(&changed);

	(void)state;
	add_nested();
	assert_true(kwhy_probe_graphs_update(graphs, &maker, EXEC, &to));
	for (uint64_t i = 0; i < 4; i++)
		assert_ptr_equal(value_at(i), &memory[4 + i]);
	kwhy_probe_graphs_set_kernel(graphs, &maker, EXEC, &outer.nodes[2], &other);
	assert_ptr_equal(value_at(3), &memory[0]);
	to.count = 3;
	assert_false(kwhy_probe_graphs_update(graphs, &maker, EXEC, &to));
	assert_false(kwhy_probe_graphs_launched(graphs, EXEC));
}

static void a_kernel_that_is_off_neither_counts_nor_is_launched(void **state)
{
	(void)state;
	add_nested();
	kwhy_probe_graphs_set_enabled(graphs, EXEC, &innermost.nodes[1], false);
	assert_ptr_equal(value_at(2), &memory[3]);
	kwhy_probe_graphs_launched(graphs, EXEC);
	assert_int_equal(account_of(&fit_too)->launches, 0);
	kwhy_probe_graphs_set_enabled(graphs, EXEC, &innermost.nodes[1], true);
	assert_ptr_equal(value_at(2), &memory[2]);
}

static void what_is_not_launched_behind_a_graph_has_a_reason(void **state)
{
	struct kwhy_cuda_graph_opaque graph = {
		3, {kernel(&unfit, &memory[0]), kernel(&fit, &memory[1]), kernel(&waiting, &memory[2])}};

	(void)state;
	graph.nodes[1].is_cooperative = true;
	kwhy_probe_graphs_add(graphs, &maker, EXEC, &graph);
	assert_null(value_at(0));
	assert_int_equal(account_of(&unfit)->reason, KWHY_PROBE_GRAPH);
	assert_int_equal(account_of(&fit)->reason, KWHY_PROBE_COOPERATIVE);
	assert_int_equal(account_of(&waiting)->reason, KWHY_PROBE_GRAPH);
}

/* A graph that is its own child, so its depth is unlimited. */
static void graphs_too_deep_within_are_not_followed(void **state)
{
	struct kwhy_cuda_graph_opaque graph = {1, {{.type = CHILD}}};

	(void)state;
	graph.nodes[0].child = &graph;
	kwhy_probe_graphs_add(graphs, &maker, EXEC, &graph);
	assert_false(kwhy_probe_graphs_launched(graphs, EXEC));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(kernels_of_graphs_within_graphs_are_known),
		TEST(a_kernel_that_is_changed_has_its_new_parameters),
		TEST(a_graph_within_that_is_changed_has_its_new_parameters),
		TEST(a_graph_within_of_another_form_is_left_out_and_the_reason_said),
		TEST(an_update_changes_all_kernels_and_keeps_what_they_are_known_by),
		TEST(a_kernel_that_is_off_neither_counts_nor_is_launched),
		TEST(what_is_not_launched_behind_a_graph_has_a_reason),
		TEST(graphs_too_deep_within_are_not_followed),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
