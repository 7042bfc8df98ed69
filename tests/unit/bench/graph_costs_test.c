/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/calibration/graph_costs.h"

#include "base/clock.h"
#include "cmocka_all.h"

#include <math.h>
#include <stdio.h>

/*
 * A fake GPU. An empty kernel takes 1300 ns if queued in a stream and 900 ns in a graph. The time between two
 * events is that of the kernels issued between them, plus 5 us. On the host, launching a graph takes 3 us per
 * node, and waiting for its end 2 us per node.
 */
struct counting {
	struct kwhy_gpu gpu;
	int launches, nodes, captured;
	int held, most_after_gate;
	bool captures, fails_in_gate, opened;
	int graph_sizes[2];
	size_t graphs, freed;
	double queued_ns, node_ns;
	int waited_for; /* number of nodes launched since the last wait */
};

static struct counting *of(struct kwhy_gpu *gpu)
{
	return (struct counting *)gpu;
}

static enum kwhy_status launch(
	struct kwhy_gpu *gpu, const struct kwhy_gpu_launch *launch, struct kwhy_error *error)
{
	(void)launch;
	if (of(gpu)->captures)
		of(gpu)->captured++;
	else
		of(gpu)->launches++;
	if (of(gpu)->held && of(gpu)->fails_in_gate)
		return kwhy_fail(error, KWHY_E_LOST, "the device is lost");
	if (of(gpu)->held && ++of(gpu)->held - 1 > of(gpu)->most_after_gate)
		of(gpu)->most_after_gate = of(gpu)->held - 1;
	return KWHY_OK;
}

static void spin(int64_t length_ns)
{
	int64_t end_ns = kwhy_clock_mono_ns() + length_ns;

	while (kwhy_clock_mono_ns() < end_ns)
		;
}

static enum kwhy_status synchronize(
	struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream, struct kwhy_error *error)
{
	(void)stream;
	(void)error;
	spin(2000 * of(gpu)->waited_for);
	of(gpu)->waited_for = 0;
	return KWHY_OK;
}

static enum kwhy_status event_new(
	struct kwhy_gpu *gpu, bool timed, struct kwhy_gpu_event **out, struct kwhy_error *error)
{
	(void)gpu;
	(void)error;
	assert_true(timed);
	*out = NULL;
	return KWHY_OK;
}

static void event_free(struct kwhy_gpu *gpu, struct kwhy_gpu_event *event)
{
	(void)gpu;
	(void)event;
}

static enum kwhy_status event_record(struct kwhy_gpu *gpu, struct kwhy_gpu_event *event,
	struct kwhy_gpu_stream *stream, struct kwhy_error *error)
{
	(void)event;
	(void)stream;
	(void)error;
	if (of(gpu)->held == 1)
		of(gpu)->launches = of(gpu)->nodes = 0;
	return KWHY_OK;
}

static enum kwhy_status event_elapsed_ns(struct kwhy_gpu *gpu, const struct kwhy_gpu_event *start,
	const struct kwhy_gpu_event *end, double *out_ns, struct kwhy_error *error)
{
	(void)start;
	(void)end;
	(void)error;
	*out_ns = 5000 + of(gpu)->queued_ns * of(gpu)->launches + of(gpu)->node_ns * of(gpu)->nodes;
	return KWHY_OK;
}

static enum kwhy_status capture_begin(
	struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream, struct kwhy_error *error)
{
	(void)stream;
	(void)error;
	of(gpu)->captures = true;
	of(gpu)->captured = 0;
	return KWHY_OK;
}

static enum kwhy_status capture_end(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream,
	struct kwhy_gpu_graph **out, struct kwhy_error *error)
{
	int *size = &of(gpu)->graph_sizes[of(gpu)->graphs++];

	(void)stream;
	(void)error;
	of(gpu)->captures = false;
	*size = of(gpu)->captured;
	*out = (struct kwhy_gpu_graph *)size;
	return KWHY_OK;
}

static enum kwhy_status graph_launch(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream,
	struct kwhy_gpu_graph *graph, struct kwhy_error *error)
{
	(void)stream;
	(void)error;
	of(gpu)->nodes += *(int *)graph;
	of(gpu)->waited_for = *(int *)graph;
	of(gpu)->held += of(gpu)->held > 0;
	spin(3000 * *(int *)graph);
	return KWHY_OK;
}

static void graph_free(struct kwhy_gpu *gpu, struct kwhy_gpu_graph *graph)
{
	of(gpu)->freed += graph != NULL;
}

static enum kwhy_status gate_new(struct kwhy_gpu *gpu, struct kwhy_gpu_gate **out, struct kwhy_error *error)
{
	(void)gpu;
	(void)error;
	*out = NULL;
	return KWHY_OK;
}

static void gate_free(struct kwhy_gpu *gpu, struct kwhy_gpu_gate *gate)
{
	(void)gpu;
	(void)gate;
}

static enum kwhy_status gate_hold(struct kwhy_gpu *gpu, struct kwhy_gpu_gate *gate,
	struct kwhy_gpu_stream *stream, struct kwhy_error *error)
{
	(void)gate;
	(void)stream;
	(void)error;
	of(gpu)->held = 1;
	of(gpu)->opened = false;
	return KWHY_OK;
}

static enum kwhy_status gate_open(struct kwhy_gpu *gpu, struct kwhy_gpu_gate *gate, struct kwhy_error *error)
{
	(void)gate;
	(void)error;
	of(gpu)->held = 0;
	of(gpu)->opened = true;
	return KWHY_OK;
}

static const struct kwhy_gpu_ops with_graphs = {
	.launch = launch,
	.synchronize = synchronize,
	.event_new = event_new,
	.event_free = event_free,
	.event_record = event_record,
	.event_elapsed_ns = event_elapsed_ns,
	.capture_begin = capture_begin,
	.capture_end = capture_end,
	.graph_launch = graph_launch,
	.graph_free = graph_free,
	.gate_new = gate_new,
	.gate_free = gate_free,
	.gate_hold = gate_hold,
	.gate_open = gate_open,
};

static struct kwhy_error error;

static void a_kernel_more_is_told_apart_from_what_every_chain_takes(void **state)
{
	struct counting counting = {.gpu.ops = &with_graphs, .queued_ns = 1300, .node_ns = 900};
	struct kwhy_gpu_launch launch = {.blocks = 1};
	struct kwhy_graph_costs costs;

	(void)state;
	assert_int_equal(kwhy_graph_costs_measure(&counting.gpu, &launch, &costs, &error), KWHY_OK);
	assert_float_equal(costs.queued_kernel_s.value, 1300e-9, 1e-15);
	assert_float_equal(costs.node_s.value, 900e-9, 1e-15);
	assert_float_equal(costs.node_s.sd, 0, 1e-15);
	/*
	 * launching takes 3 us per node; launching and waiting together take 5 us, less 0.9 us for the kernel
	 * itself. Only lower bounds are checked, as a busy machine takes longer
	 */
	assert_true(costs.launch_node_s.value > 2.9e-6);
	assert_true(costs.start_node_s.value > 4.0e-6);
	assert_true(counting.most_after_gate <= 100);
	assert_int_equal(counting.graphs, 2);
	assert_int_equal(counting.freed, 2);
}

static void without_graphs_the_queue_is_measured_alone(void **state)
{
	struct kwhy_gpu_ops ops = with_graphs;
	struct counting counting = {.gpu.ops = &ops, .queued_ns = 1300, .node_ns = 900};
	struct kwhy_gpu_launch launch = {.blocks = 1};
	struct kwhy_graph_costs costs;

	(void)state;
	ops.capture_begin = NULL;
	assert_int_equal(kwhy_graph_costs_measure(&counting.gpu, &launch, &costs, &error), KWHY_OK);
	assert_float_equal(costs.queued_kernel_s.value, 1300e-9, 1e-15);
	assert_true(isnan(costs.node_s.value) && isnan(costs.launch_node_s.value) &&
		isnan(costs.start_node_s.value));
}

static void a_longer_chain_that_takes_no_longer_is_no_figure(void **state)
{
	struct counting counting = {.gpu.ops = &with_graphs, .queued_ns = 0, .node_ns = 900};
	struct kwhy_gpu_launch launch = {.blocks = 1};
	struct kwhy_graph_costs costs;

	(void)state;
	assert_int_equal(kwhy_graph_costs_measure(&counting.gpu, &launch, &costs, &error), KWHY_OK);
	assert_true(isnan(costs.queued_kernel_s.value));
	assert_float_equal(costs.node_s.value, 900e-9, 1e-15);
}

static void a_graph_whose_kernels_take_no_time_says_nothing_of_its_beginning(void **state)
{
	struct counting counting = {.gpu.ops = &with_graphs, .queued_ns = 1300, .node_ns = 0};
	struct kwhy_gpu_launch launch = {.blocks = 1};
	struct kwhy_graph_costs costs;

	(void)state;
	assert_int_equal(kwhy_graph_costs_measure(&counting.gpu, &launch, &costs, &error), KWHY_OK);
	assert_true(isnan(costs.node_s.value) && isnan(costs.start_node_s.value));
	assert_true(costs.launch_node_s.value > 2.9e-6);
}

static void a_failure_behind_the_gate_opens_it(void **state)
{
	struct counting counting = {.gpu.ops = &with_graphs, .fails_in_gate = true};
	struct kwhy_gpu_launch launch = {.blocks = 1};
	struct kwhy_graph_costs costs;

	(void)state;
	assert_int_equal(kwhy_graph_costs_measure(&counting.gpu, &launch, &costs, &error), KWHY_E_LOST);
	assert_string_equal(error.text, "the device is lost");
	assert_true(counting.opened);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kernel_more_is_told_apart_from_what_every_chain_takes),
		cmocka_unit_test(without_graphs_the_queue_is_measured_alone),
		cmocka_unit_test(a_longer_chain_that_takes_no_longer_is_no_figure),
		cmocka_unit_test(a_graph_whose_kernels_take_no_time_says_nothing_of_its_beginning),
		cmocka_unit_test(a_failure_behind_the_gate_opens_it),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
