/* SPDX-License-Identifier: Apache-2.0 */
#include "build.h"
#include "whatif/graph.h"
#include "whatif/parts.h"

static struct kwhy_error error;

enum { US = 1000 };

static struct kwhy_whatif_graph *graph_of(struct build *build)
{
	struct kwhy_whatif_graph *graph;

	build_finish(build, false);
	assert_int_equal(kwhy_whatif_graph_new(build->recording, &graph, &error), KWHY_OK);
	return graph;
}

static void done(struct build *build, struct kwhy_whatif_graph *graph)
{
	kwhy_whatif_graph_free(graph);
	build_free(build);
}

static void set_length(struct kwhy_whatif_graph *graph, uint32_t row, int64_t own_ns)
{
	struct kwhy_whatif_node *node = kwhy_whatif_edit(graph, row);

	assert_non_null(node);
	kwhy_whatif_set_own(graph, node, own_ns);
	assert_int_equal(kwhy_whatif_play(graph, &error), KWHY_OK);
}

static void a_kernel_that_waited_for_the_one_before_it_comes_earlier(void **state)
{
	struct build build = build_new(1);
	struct kwhy_whatif_graph *graph;

	(void)state;
	build_issued_kernel(&build, (struct build_issue){0, "cudaLaunchKernel", 0, 4}, 0, 10, 110);
	build_issued_kernel(&build, (struct build_issue){0, "cudaLaunchKernel", 5, 9}, 0, 112, 150);
	graph = graph_of(&build);
	set_length(graph, 0, 40 * US);
	assert_int_equal(graph->start_ns[1], 52 * US);
	assert_int_equal(graph->end_ns[1], 90 * US);
	done(&build, graph);
}

static void a_kernel_comes_no_earlier_than_its_launch_allows(void **state)
{
	struct build build = build_new(1);
	struct kwhy_whatif_graph *graph;

	(void)state;
	build_issued_kernel(&build, (struct build_issue){0, "cudaLaunchKernel", 0, 4}, 0, 10, 110);
	build_issued_kernel(&build, (struct build_issue){0, "cudaLaunchKernel", 60, 64}, 0, 112, 150);
	graph = graph_of(&build);
	set_length(graph, 0, 10 * US);
	/*
	 * the first kernel is now 10 us long; the second begins 10 us after its launch (at 60 us), as the
	 * first one did
	 */
	assert_int_equal(graph->start_ns[1], 70 * US);
	done(&build, graph);
}

/*
 * The second of three kernels was launched 4 us before the end of the first. As a launch takes 10 us to
 * arrive, the kernel was not queued at that end, so its delay does not show the gap between queued kernels.
 * The third kernel was launched in time and shows it.
 */
static void only_what_had_arrived_says_how_queued_kernels_follow_each_other(void **state)
{
	struct build build = build_new(1);
	struct kwhy_whatif_graph *graph;

	(void)state;
	for (int i = 0; i < 9; i++) {
		int at_us = 200 * i;

		build_issued_kernel(&build, (struct build_issue){0, "cudaLaunchKernel", at_us, at_us + 2}, 0,
			at_us + 10, at_us + 20);
		build_issued_kernel(&build,
			(struct build_issue){0, "cudaLaunchKernel", at_us + 16, at_us + 18}, 0, at_us + 26,
			at_us + 40);
		build_issued_kernel(&build,
			(struct build_issue){0, "cudaLaunchKernel", at_us + 19, at_us + 21}, 0, at_us + 41,
			at_us + 42);
	}
	graph = graph_of(&build);
	assert_int_equal(kwhy_whatif_queued_ns(graph, 1, 2), 1 * US);
	done(&build, graph);
}

static void a_wait_returns_when_its_work_ends_and_what_follows_it_comes_earlier(void **state)
{
	struct build build = build_new(1);
	struct kwhy_whatif_graph *graph;

	(void)state;
	build_issued_kernel(&build, (struct build_issue){0, "cudaLaunchKernel", 0, 4}, 0, 10, 110);
	build_call(&build, 0, "cudaStreamSynchronize", 5, 113);
	build_issued_kernel(&build, (struct build_issue){0, "cudaLaunchKernel", 120, 124}, 0, 130, 140);
	graph = graph_of(&build);
	set_length(graph, 0, 20 * US);
	assert_int_equal(graph->end_ns[kwhy_whatif_call_node(graph, 1)], 33 * US);
	assert_int_equal(graph->start_ns[1], 50 * US);
	done(&build, graph);
}

static void work_behind_an_event_of_another_stream_waits_for_it(void **state)
{
	struct build build = build_new(1);
	uint32_t stream = build_stream(&build, 0);
	struct kwhy_whatif_graph *graph;

	(void)state;
	build_issued_kernel(&build, (struct build_issue){0, "cudaLaunchKernel", -40, -36}, 0, -30, -20);
	build_issued_kernel(&build, (struct build_issue){0, "cudaLaunchKernel", 0, 4}, 0, 10, 110);
	build_call(&build, 0, "cudaStreamWaitEvent", 5, 6);
	build_issued_kernel(&build, (struct build_issue){0, "cudaLaunchKernel", 7, 9}, stream, 112, 150);
	graph = graph_of(&build);
	assert_int_equal(graph->nodes[2].from[KWHY_LINK_CROSS], 1);
	set_length(graph, 1, 200 * US);
	assert_int_equal(graph->start_ns[2], 212 * US);
	done(&build, graph);
}

static void a_collective_ends_when_its_last_rank_has_come(void **state)
{
	struct build build = build_new(2);
	struct kwhy_whatif_graph *graph;

	(void)state;
	build_kernel(&build, 1, "compute", 0, 50);
	build_collective(&build, 0, 10, 80);
	build_collective(&build, 1, 60, 80);
	graph = graph_of(&build);
	assert_int_equal(graph->node_count, 4);
	set_length(graph, 1, 20 * US); /* node 1: compute kernel of device 1 */
	assert_int_equal(graph->end_ns[2], 50 * US);
	assert_int_equal(graph->end_ns[0], 50 * US);
	done(&build, graph);
}

static void a_thread_that_was_handed_work_comes_behind_the_other(void **state)
{
	struct build build = build_new(1);
	uint32_t other = build_thread(&build, 0);
	struct kwhy_whatif_graph *graph;

	(void)state;
	build_issued_kernel(&build, (struct build_issue){0, "cudaLaunchKernel", 0, 4}, 0, 10, 100);
	build_call(&build, 0, "cudaStreamSynchronize", 5, 101);
	build_issued_kernel(&build, (struct build_issue){other, "cudaLaunchKernel", 150, 154}, 0, 160, 170);
	graph = graph_of(&build);
	set_length(graph, 0, 30 * US);
	assert_int_equal(graph->start_ns[1], 100 * US);
	done(&build, graph);
}

/*
 * Kernel "b" was recorded last. It is edited to start at 5 us, and "a", which was recorded first, to start 3
 * us after b's end. A node may follow one with a higher index.
 */
static void a_node_may_follow_one_that_came_later(void **state)
{
	struct build build = build_new(2);
	struct kwhy_whatif_graph *graph;
	struct kwhy_whatif_node *node;

	(void)state;
	build_kernel(&build, 0, "a", 0, 10);
	build_kernel(&build, 0, "c", 12, 15);
	build_kernel(&build, 1, "b", 20, 30);
	graph = graph_of(&build);
	node = kwhy_whatif_edit(graph, 2);
	node->from[KWHY_LINK_ORDER] = node->from[KWHY_LINK_CROSS] = KWHY_NONE;
	kwhy_whatif_set_lag(
		graph, node, KWHY_LINK_ORDER, 5 * US); /* absolute time: the node follows no other */
	assert_non_null(kwhy_whatif_edit(graph, 0));
	kwhy_whatif_follow(graph, 0, KWHY_LINK_CROSS, 2, 3 * US);
	assert_int_equal(kwhy_whatif_play(graph, &error), KWHY_OK);
	assert_int_equal(graph->start_ns[2], 5 * US);
	assert_int_equal(graph->start_ns[0], 18 * US);
	assert_int_equal(graph->end_ns[1], 33 * US);
	assert_int_equal(graph->last_ns, 33 * US);
	kwhy_whatif_undo(graph, 1);
	assert_int_equal(kwhy_whatif_play(graph, &error), KWHY_OK);
	assert_int_equal(graph->start_ns[0], 0);
	done(&build, graph);
}

/*
 * The graph stores times up to about two seconds in 32-bit codes, and longer ones apart (graph.h). Times of
 * hours must be exact, and edits of them must be undone exactly.
 */
static void times_of_hours_are_exact_and_taken_back(void **state)
{
	const int64_t hour_us = INT64_C(3600) * 1000000, longer_ns = 3 * hour_us * US + 1;
	struct build build = build_new(1);
	struct kwhy_whatif_graph *graph;
	int64_t start_ns, gap_ns;
	size_t far;

	(void)state;
	build_kernel(&build, 0, "a", -hour_us, -hour_us + 7);
	build_kernel(&build, 0, "b", hour_us, 2 * hour_us);
	build_kernel(&build, 0, "c", 40 * hour_us, 40 * hour_us + 2);
	graph = graph_of(&build);
	far = graph->far_count;
	start_ns = graph->start_ns[0];
	gap_ns = graph->start_ns[1] - graph->end_ns[0];
	assert_int_equal(graph->start_ns[2] - start_ns, 41 * hour_us * US);
	set_length(graph, 0, longer_ns);
	assert_int_equal(graph->start_ns[0], start_ns);
	assert_int_equal(graph->start_ns[1], start_ns + longer_ns + gap_ns);
	assert_int_equal(graph->end_ns[2] - graph->start_ns[1], (39 * hour_us + 2) * US);
	set_length(graph, 0, 2 * longer_ns);
	kwhy_whatif_undo(graph, 1);
	assert_int_equal(kwhy_whatif_own_ns(graph, &graph->nodes[0]), longer_ns);
	kwhy_whatif_undo(graph, 0);
	assert_int_equal(graph->far_count, far);
	assert_int_equal(kwhy_whatif_play(graph, &error), KWHY_OK);
	assert_int_equal(graph->end_ns[0] - start_ns, 7 * US);
	assert_int_equal(graph->start_ns[2] - start_ns, 41 * hour_us * US);
	done(&build, graph);
}

/*
 * Each of 300,002 edits makes one of two kernels 1 ns longer, in turn. They fill several blocks of the
 * journal of edits. Undoing back to any number must be exact.
 */
static void as_many_edits_as_fill_several_pieces_of_the_journal_are_taken_back_up_to_any(void **state)
{
	const size_t edits = 300002, left = 100001;
	struct build build = build_new(1);
	struct kwhy_whatif_graph *graph;

	(void)state;
	build_kernel(&build, 0, "a", 0, 10);
	build_kernel(&build, 0, "b", 20, 30);
	graph = graph_of(&build);
	for (size_t i = 0; i < edits; i++) {
		struct kwhy_whatif_node *node = kwhy_whatif_edit(graph, i % 2);

		assert_non_null(node);
		kwhy_whatif_set_own(graph, node, kwhy_whatif_own_ns(graph, node) + 1);
	}
	assert_int_equal(kwhy_whatif_own_ns(graph, &graph->nodes[0]), 10 * US + (int64_t)edits / 2);
	kwhy_whatif_undo(graph, left);
	assert_int_equal(graph->journal_count, left);
	assert_int_equal(kwhy_whatif_own_ns(graph, &graph->nodes[0]), 10 * US + (int64_t)(left + 1) / 2);
	assert_int_equal(kwhy_whatif_own_ns(graph, &graph->nodes[1]), 10 * US + (int64_t)left / 2);
	kwhy_whatif_undo(graph, 0);
	assert_int_equal(kwhy_whatif_play(graph, &error), KWHY_OK);
	assert_int_equal(graph->end_ns[0], 10 * US);
	assert_int_equal(graph->end_ns[1], 30 * US);
	done(&build, graph);
}

static void links_that_make_a_node_wait_for_itself_are_told(void **state)
{
	struct build build = build_new(1);
	struct kwhy_whatif_graph *graph;

	(void)state;
	build_kernel(&build, 0, "a", 0, 10);
	build_kernel(&build, 0, "b", 20, 30);
	graph = graph_of(&build);
	for (uint32_t from = 0; from < 2; from++) { /* a cycle: node 0 follows itself or node 1 */
		assert_non_null(kwhy_whatif_edit(graph, 0));
		kwhy_whatif_follow(graph, 0, KWHY_LINK_CROSS, from, 0);
		assert_int_equal(kwhy_whatif_play(graph, &error), KWHY_E_INPUT);
		kwhy_whatif_undo(graph, 0);
		assert_int_equal(kwhy_whatif_play(graph, &error), KWHY_OK);
		assert_int_equal(graph->end_ns[1], 30 * US);
	}
	done(&build, graph);
}

static void a_recording_of_nothing_can_be_played(void **state)
{
	struct build build = build_new(1);
	struct kwhy_whatif_graph *graph = graph_of(&build);

	(void)state;
	assert_int_equal(graph->node_count, 0);
	done(&build, graph);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kernel_that_waited_for_the_one_before_it_comes_earlier),
		cmocka_unit_test(a_kernel_comes_no_earlier_than_its_launch_allows),
		cmocka_unit_test(only_what_had_arrived_says_how_queued_kernels_follow_each_other),
		cmocka_unit_test(a_wait_returns_when_its_work_ends_and_what_follows_it_comes_earlier),
		cmocka_unit_test(work_behind_an_event_of_another_stream_waits_for_it),
		cmocka_unit_test(a_collective_ends_when_its_last_rank_has_come),
		cmocka_unit_test(a_thread_that_was_handed_work_comes_behind_the_other),
		cmocka_unit_test(a_node_may_follow_one_that_came_later),
		cmocka_unit_test(times_of_hours_are_exact_and_taken_back),
		cmocka_unit_test(
			as_many_edits_as_fill_several_pieces_of_the_journal_are_taken_back_up_to_any),
		cmocka_unit_test(links_that_make_a_node_wait_for_itself_are_told),
		cmocka_unit_test(a_recording_of_nothing_can_be_played),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
