/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the changes that replace several launches by one: graph, fuse and batch. */
#include "planned.h"
#include "whatif/steps.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Returns two loops of six launches, 20 us apart, of kernels of 5 us, with a wait after each. */
static struct build two_loops(void)
{
	struct build build = build_new(1);

	for (int i = 0; i < 2; i++) {
		for (int k = 0; k < 6; k++)
			launch(&build, 150 * i + 20 * k, 150 * i + 20 * k + 10, 150 * i + 20 * k + 15);
		build_call(&build, 0, "cudaStreamSynchronize", 150 * i + 102, 150 * i + 120);
	}
	return build;
}

static struct kwhy_profile with_graphs(void)
{
	struct kwhy_profile profile;

	kwhy_profile_init(&profile);
	profile.graph_launch_s.value = 4e-6;
	return profile;
}

static void a_stretch_that_repeats_is_launched_as_one_graph(void **state)
{
	struct build build = two_loops();
	struct kwhy_profile profile = with_graphs();

	(void)state;
	/*
	 * six kernels of 5 us with gaps of 1.2 us take 36 us; the wait returns 5 us after them, the next
	 * graph is launched 30 us later, begins 10 us after that and takes 36 us too
	 */
	assert_made(made(&build, "graph", 0, &profile), 12, 36000 + 45000 + 36000);
}

/*
 * Returns three steps, 500 us apart, each with a range. In each the first thread launches four kernels, then
 * the thread of the backward pass four, and after 120 us the first thread four more. waits: the first thread
 * waits for the device before its last four launches. paused_us: length of a pause of the host before the
 * last two launches.
 */
static struct build three_steps_of_two_threads(bool waits, int64_t paused_us)
{
	struct build build = build_new(1);
	const uint32_t backward = build_thread(&build, 0);

	for (int i = 0; i < 3; i++) {
		const int64_t from_us = (500 + paused_us) * i;

		build_range(&build, 0, "step", from_us, from_us + paused_us + 390);
		build.recording->ranges[i].kind = KWHY_RANGE_STEP;
		for (int k = 0; k < 12; k++) {
			const int64_t at_us = from_us + 20 * k + (k < 8 ? 0 : 120) + (k < 10 ? 0 : paused_us);
			const struct build_issue from = {
				k / 4 == 1 ? backward : 0, "cudaLaunchKernel", at_us, at_us + 2};

			build_issued_kernel(&build, from, 0, at_us + 10, at_us + 15);
		}
		if (waits)
			build_call(&build, 0, "cudaStreamSynchronize", from_us + 200, from_us + 270);
	}
	return build;
}

/*
 * The graph of a step has 12 kernels of 5 us with gaps of 1.2 us. The host begins a step every 162 us: the
 * launch of the graph takes 4 us, and 158 us pass, as recorded, between two steps.
 */
static void a_step_of_several_threads_is_one_graph(void **state)
{
	struct build build = three_steps_of_two_threads(false, 0);
	struct kwhy_profile profile = with_graphs();
	struct kwhy_plan *plan = made(&build, "graph", 0, &profile);

	(void)state;
	assert_non_null(strstr(plan->changes[0].assumption, "become 3 graph launches"));
	assert_made(plan, 36, 2 * 162000 + 12 * 5000 + 11 * 1200);
}

static void a_step_in_which_a_thread_waits_is_several_graphs(void **state)
{
	struct build build = three_steps_of_two_threads(true, 0);
	struct kwhy_profile profile = with_graphs();
	struct kwhy_plan *plan = made(&build, "graph", 0, &profile);

	(void)state;
	assert_non_null(strstr(plan->changes[0].assumption, "become 9 graph launches"));
	kwhy_plan_free(plan);
}

/*
 * The backward thread goes on launching after the first thread has waited. As work follows the wait, the
 * launches of a step cannot be a single graph: there are two in each step.
 */
static void a_step_in_which_another_thread_goes_on_after_a_wait_is_several_graphs(void **state)
{
	struct build build = build_new(1);
	const uint32_t backward = build_thread(&build, 0);
	struct kwhy_profile profile = with_graphs();
	struct kwhy_plan *plan;

	(void)state;
	for (int i = 0; i < 3; i++) {
		const int64_t from_us = 500 * i;

		build_range(&build, 0, "step", from_us, from_us + 390);
		build.recording->ranges[i].kind = KWHY_RANGE_STEP;
		for (int k = 0; k < 8; k++) {
			const int64_t at_us = from_us + 20 * k + (k < 4 ? 0 : 20);
			const struct build_issue from = {
				k < 4 ? 0 : backward, "cudaLaunchKernel", at_us, at_us + 2};

			build_issued_kernel(&build, from, 0, at_us + 10, at_us + 15);
		}
		build_call(&build, 0, "cudaStreamSynchronize", from_us + 65, from_us + 90);
	}
	plan = made(&build, "graph", 0, &profile);
	assert_non_null(strstr(plan->changes[0].assumption, "become 6 graph launches"));
	kwhy_plan_free(plan);
}

/* Within a step's launches the host does something else for 2 ms, so a step becomes two graphs. */
static void a_step_in_which_the_host_pauses_is_several_graphs(void **state)
{
	struct build build = three_steps_of_two_threads(false, 2000);
	struct kwhy_profile profile = with_graphs();
	struct kwhy_plan *plan = made(&build, "graph", 0, &profile);

	(void)state;
	assert_non_null(strstr(plan->changes[0].assumption, "become 6 graph launches"));
	kwhy_plan_free(plan);
}

/*
 * As two_loops(), but in the middle of each loop the host does something else for 500 us. The launch of a
 * graph does not replace that, so the second graph is launched that much later.
 */
static void what_else_the_host_does_in_a_stretch_stays(void **state)
{
	struct build build = build_new(1);
	struct kwhy_profile profile = with_graphs();

	(void)state;
	for (int i = 0; i < 2; i++) {
		for (int k = 0; k < 6; k++) {
			int64_t at_us = 650 * i + 20 * k + (k > 2 ? 500 : 0);

			launch(&build, at_us, at_us + 10, at_us + 15);
		}
		build_call(&build, 0, "cudaStreamSynchronize", 650 * i + 602, 650 * i + 620);
	}
	/*
	 * from the first graph's begin to the second's: 4 us launch, 500 us of the host, 5 us of a wait that
	 * finds all work done, 30 us to the next launch; then 36 us of kernels
	 */
	assert_made(made(&build, "graph", 0, &profile), 12, 4000 + 500000 + 5000 + 30000 + 36000);
}

static void a_graph_saves_between_kernels_what_the_profile_says(void **state)
{
	struct build build = two_loops();
	struct kwhy_profile profile = with_graphs();

	(void)state;
	profile.queued_kernel_s.value = 1.9e-6;
	profile.graph_node_s.value = 1.5e-6;
	/* by the profile a gap is 1.9 - 1.5 = 0.4 us shorter in a graph: 0.8 us instead of 1.2 us */
	assert_made(made(&build, "graph", 0, &profile), 12, 34000 + 45000 + 34000);
}

/*
 * Gaps of 1.2 us between queued kernels are assumed, as launches may have been too slow to show the device's
 * own gaps. In a graph a gap must not exceed the profile's time of an empty node, 0.5 us.
 */
static void kernels_of_a_graph_lie_no_further_apart_than_an_empty_one_takes(void **state)
{
	struct build build = two_loops();
	struct kwhy_profile profile = with_graphs();

	(void)state;
	profile.graph_node_s.value = 0.5e-6;
	assert_made(made(&build, "graph", 0, &profile), 12, 32500 + 45000 + 32500);
}

/* A graph's launch takes 4 us and 10 us per node after the first; then the graph begins. */
static void a_graph_of_many_nodes_takes_longer_to_launch(void **state)
{
	struct build build = two_loops();
	struct kwhy_profile profile = with_graphs();

	(void)state;
	launch(&build, 300, 310, 315);
	profile.graph_launch_node_s.value = 10e-6;
	/*
	 * The run's time counts from the begin of the first graph (36 us). The second one begins 5 us (wait)
	 * + 30 us (host) + 60 us (launch) later. A kernel of 5 us is launched 5 + 30 us after its end and
	 * begins 10 us later.
	 */
	assert_made(made(&build, "graph", 0, &profile), 12, 36000 + 95000 + 36000 + 45000 + 5000);
}

/* Returns two loops of 20 launches, 20 us apart, with a wait after each. */
static struct build two_long_loops(void)
{
	struct build build = build_new(1);

	for (int i = 0; i < 2; i++) {
		for (int k = 0; k < 20; k++)
			launch(&build, 450 * i + 20 * k, 450 * i + 20 * k + 10, 450 * i + 20 * k + 15);
		build_call(&build, 0, "cudaStreamSynchronize", 450 * i + 382, 450 * i + 400);
	}
	return build;
}

/*
 * The launch of a graph takes 1 us more for each node after the first. The graph begins before the launch
 * returns: of the nodes after the 16th each delays its begin by 0.4 us only, if the profile has that figure,
 * else by 1 us too.
 */
static void a_graph_of_many_nodes_begins_before_its_launch_returns(void **state)
{
	static const struct {
		double start_node_s;
		int64_t later_ns;
	} cases[] = {{NAN, 19000}, {0.4e-6, 15000 + 1600}};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct build build = two_long_loops();
		struct kwhy_profile profile = with_graphs();

		profile.graph_launch_node_s.value = 1e-6;
		profile.graph_start_node_s.value = cases[i].start_node_s;
		/*
		 * two graphs of 20 kernels of 5 us with gaps of 1.2 us: 122.8 us each; between them 5 us of
		 * the wait's return, 50 us of the host, 10 us of a launch, and later_ns
		 */
		assert_made(made(&build, "graph", 0, &profile), 40, 2 * 122800 + cases[i].later_ns + 65000);
	}
}

static int64_t least_with_nodes_of(double sd_s)
{
	struct build build = two_loops();
	struct kwhy_profile profile = with_graphs();
	struct kwhy_plan *plan;
	int64_t low_ns;

	profile.graph_launch_node_s.value = 10e-6;
	profile.graph_launch_node_s.sd = sd_s;
	plan = made(&build, "graph", 0, &profile);
	low_ns = plan->changes[0].after.time_low_ns;
	kwhy_plan_free(plan);
	return low_ns;
}

/*
 * The standard uncertainty of the launch time per node, 2 us, must be in the interval. At its lower end
 * (1.645 standard deviations) each of the five nodes after the first takes 3.29 us less. As this is host
 * time, it is also multiplied by the factor for a host that is faster in another run.
 */
static void how_well_a_node_is_known_is_in_the_interval(void **state)
{
	const double less_ns = 5 * 3290 * exp(-KWHY_SCATTER_QUANTILE * KWHY_HOST_LOG_RATIO_SD);

	(void)state;
	assert_true(fabs((double)(least_with_nodes_of(0) - least_with_nodes_of(2e-6)) - less_ns) < 2);
}

/* Returns six steps of four launches, 20 us apart, with a range each, and without waits. */
static struct build six_steps(void)
{
	struct build build = build_new(1);

	for (int i = 0; i < 6; i++) {
		build_range(&build, 0, "step", 100 * i, 100 * i + 90);
		for (int k = 0; k < 4; k++)
			launch(&build, 100 * i + 20 * k, 100 * i + 20 * k + 10, 100 * i + 20 * k + 15);
	}
	for (size_t i = 0; i < build.recording->range_count; i++)
		build.recording->ranges[i].kind = KWHY_RANGE_STEP;
	return build;
}

static uint64_t graphs_in(struct build *build, uint32_t steps, uint64_t *out_launches)
{
	struct kwhy_profile profile = with_graphs();
	struct kwhy_plan *plan = made(build, "graph", steps, &profile);
	unsigned long long launches = 0, graphs = 0;

	assert_int_equal(plan->change_count, 1);
	assert_int_equal(sscanf(plan->changes[0].assumption,
				 "%llu launches of repeated sequences become %llu graph", &launches, &graphs),
		2);
	*out_launches = launches;
	kwhy_plan_free(plan);
	return graphs;
}

static void a_graph_has_as_many_steps_as_asked_for(void **state)
{
	static const struct {
		uint32_t steps;
		uint64_t graphs, launches;
	} cases[] = {{0, 6, 24}, {1, 6, 24}, {2, 3, 24}, {3, 2, 24}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct build build = six_steps();
		uint64_t launches;

		assert_int_equal(graphs_in(&build, cases[i].steps, &launches), cases[i].graphs);
		assert_int_equal(launches, cases[i].launches);
	}
}

static void steps_of_a_graph_have_to_be_known(void **state)
{
	struct build build = build_new(1);
	struct kwhy_profile profile = with_graphs();

	(void)state;
	launch(&build, 0, 10, 15);
	assert_refused(made(&build, "graph", 2, &profile), "no steps are known");
}

/* The gaps of a recorded graph of nine kernels, 0.5 us, hold for the graphs made of two loops. */
static void kernels_of_recorded_graphs_show_their_gaps(void **state)
{
	struct build build = build_new(1);
	struct kwhy_activities *rows = &build.recording->activities;
	struct kwhy_profile profile = with_graphs();

	(void)state;
	for (int k = 0; k < 9; k++) {
		build_issued_kernel(&build, issue("cudaGraphLaunch", 0, 2), 0, 10, 12);
		rows->start_ns[k] = 10 * US + 2500 * k;
		rows->end_ns[k] = 12 * US + 2500 * k;
		rows->call[k] = rows->call[0];
		rows->graph_node[k] = (uint32_t)k;
	}
	for (int i = 0; i < 2; i++) {
		for (int k = 0; k < 6; k++)
			launch(&build, 150 * i + 20 * k + 200, 150 * i + 20 * k + 210,
				150 * i + 20 * k + 215);
		build_call(&build, 0, "cudaStreamSynchronize", 150 * i + 302, 150 * i + 320);
	}
	/* 200 us after the recorded graph six kernels of 5 us with gaps of 0.5 us; 45 us later again */
	assert_made(made(&build, "graph", 0, &profile), 12, 200000 + 32500 + 45000 + 32500);
}

/*
 * Without a profile a graph's launch costs what it does on an H200, and its kernels have no gaps. So the
 * saving is an upper bound.
 */
static void a_graph_of_unknown_cost_has_a_generic_one(void **state)
{
	struct build build = two_loops();
	struct kwhy_plan *plan = made(&build, "graph", 0, NULL);

	(void)state;
	assert_int_equal(plan->change_count, 1);
	assert_int_equal(plan->changes[0].bound, KWHY_BOUND_UPPER);
	assert_non_null(
		strstr(plan->changes[0].assumption, "1.15 \xC2\xB5s on average (an H200, not known here)"));
	/* six kernels of 5 us; then 5 us until the wait returns, 30 us of the host, 10 us of launch */
	assert_made(plan, 12, 30000 + 45000 + 30000);
}

/*
 * Three queued kernels of 4, 3 and 2 us, 1 us apart, are fused. Saved are both gaps and two launches, each 2
 * us as the shortest kernel is nearly all launch: 11 us become 5 us.
 */
static void tiny_kernels_in_a_row_become_one(void **state)
{
	struct build build = build_new(1);

	(void)state;
	launch(&build, 0, 10, 14);
	launch(&build, 3, 15, 18);
	launch(&build, 6, 19, 21);
	assert_made(made(&build, "fuse", 0, NULL), 3, 5000);
}

/*
 * Adds the kernel number `place`, which lasts 2 us, has `blocks` blocks, and is queued 1 us after the
 * previous one.
 */
static void launch_blocks(struct build *build, int place, uint32_t blocks)
{
	struct kwhy_activities *rows = &build->recording->activities;

	launch(build, 2 * place, 20 + 3 * place, 22 + 3 * place);
	rows->blocks[rows->count - 1] = blocks;
}

/*
 * Kernels of 2, 1, 64, 64 and 8 blocks. A fused kernel has the grid of its first kernel, so the 64 blocks
 * begin a second one: two kernels of 2 us remain, 1 us apart.
 */
static void a_fused_kernel_ends_where_the_next_grid_is_larger(void **state)
{
	static const uint32_t blocks[] = {2, 1, 64, 64, 8};
	struct build build = build_new(1);

	(void)state;
	for (int i = 0; i < 5; i++)
		launch_blocks(&build, i, blocks[i]);
	assert_made(made(&build, "fuse", 0, NULL), 5, 5000);
}

/*
 * Kernels of 64, 64 and 8 blocks. At best one kernel of 2 us remains. At worst kernels of different grids
 * cannot be fused, and only the gap between the first two is saved: 8 us become 7 us.
 */
static void how_many_launches_a_chain_needs_is_in_its_interval(void **state)
{
	static const uint32_t blocks[] = {64, 64, 8};
	struct build build = build_new(1);
	struct kwhy_plan *plan;

	(void)state;
	for (int i = 0; i < 3; i++)
		launch_blocks(&build, i, blocks[i]);
	plan = made(&build, "fuse", 0, NULL);
	assert_int_equal(plan->changes[0].after.time_ns, 2000);
	assert_int_equal(plan->changes[0].after.time_low_ns, 2000);
	assert_int_equal(plan->changes[0].after.time_high_ns, 7000);
	kwhy_plan_free(plan);
}

/* At worst no two kernels share a launch, so the change is not made: the run takes 5 us, as recorded. */
static void a_change_refused_at_its_worst_saves_nothing_there(void **state)
{
	static const uint32_t blocks[] = {64, 8};
	struct build build = build_new(1);
	struct kwhy_plan *plan;

	(void)state;
	for (int i = 0; i < 2; i++)
		launch_blocks(&build, i, blocks[i]);
	plan = made(&build, "fuse", 0, NULL);
	assert_int_equal(plan->changes[0].after.time_ns, 2000);
	assert_int_equal(plan->changes[0].after.time_low_ns, 2000);
	assert_int_equal(plan->changes[0].after.time_high_ns, 5000);
	kwhy_plan_free(plan);
}

/* A kernel, a memset and a kernel become one of 2 us; the copy from the host stays. */
static void what_the_device_does_alone_is_part_of_a_chain(void **state)
{
	struct build build = build_new(1);

	(void)state;
	launch(&build, 0, 20, 22);
	build_issued_memset(&build, issue("cudaMemsetAsync", 3, 5), 0, 23, 25);
	launch(&build, 6, 26, 28);
	build_issued_copy(&build, issue("cudaMemcpyAsync", 9, 11), 0,
		copied(KWHY_COPY_H2D, KWHY_MEMORY_PINNED, 64, 29, 31));
	assert_made(made(&build, "fuse", 0, NULL), 3, 5000);
}

/*
 * In three steps there are two kernels of 2 us, 1 us apart. In the third step the host is held up by 30 us
 * between them, but they are fused there too.
 */
static void a_host_that_is_held_up_once_cuts_no_chain(void **state)
{
	struct build build = build_new(1);

	(void)state;
	for (int i = 0; i < 3; i++) {
		int late_us = i == 2 ? 30 : 0;

		launch(&build, 100 * i, 100 * i + 20, 100 * i + 22);
		launch(&build, 100 * i + 3 + late_us, 100 * i + 23 + late_us, 100 * i + 25 + late_us);
		build_call(
			&build, 0, "cudaStreamSynchronize", 100 * i + 40 + late_us, 100 * i + 42 + late_us);
	}
	/* two steps lose 3 us (gap and kernel); the third one ends with its kernel */
	assert_made(made(&build, "fuse", 0, NULL), 6, 2 * 97000 + 2000);
}

/* In all three steps the host is held up by 30 us between the two kernels, so they are no chain that could be
 * fused. */
static void kernels_that_mostly_lie_apart_are_no_chain(void **state)
{
	struct build build = build_new(1);

	(void)state;
	for (int i = 0; i < 3; i++) {
		launch(&build, 100 * i, 100 * i + 20, 100 * i + 22);
		launch(&build, 100 * i + 33, 100 * i + 53, 100 * i + 55);
		build_call(&build, 0, "cudaStreamSynchronize", 100 * i + 70, 100 * i + 72);
	}
	assert_refused(made(&build, "fuse", 0, NULL), "no two kernels");
}

static void equal_launches_in_a_row_share_the_device(void **state)
{
	struct build build = build_new(1);

	(void)state;
	for (int i = 0; i < 4; i++)
		build_blocks(&build, 0, 40, 11 * i, 11 * i + 10);
	assert_refused(made(&build, "batch", 4, NULL), "launched twice");
}

/*
 * Kernels of 1 and 40 blocks, 2 us each, alternate three times, 1 us apart. They become one kernel
 * of 3 and one of 120 blocks, 1 us apart. The latter takes 2 us at best and 4 us at worst, as 100
 * multiprocessors may need two waves for 120 blocks: 5 us to 7 us in all.
 */
static void a_sequence_that_follows_itself_is_launched_once(void **state)
{
	struct build build = build_new(1);
	struct kwhy_plan *plan;

	(void)state;
	for (int i = 0; i < 6; i++)
		launch_blocks(&build, i, i % 2 ? 40 : 1);
	plan = made(&build, "batch", 1000, NULL);
	assert_int_equal(plan->changes[0].after.time_low_ns, 5000);
	assert_int_equal(plan->changes[0].after.time_high_ns, 7000);
	assert_made(plan, 6, 7000);
}

/* Of four pairs of kernels two become one at a time: four kernels, 1 us apart, remain. */
static void no_more_turns_are_one_than_asked_for(void **state)
{
	struct build build = build_new(1);

	(void)state;
	for (int i = 0; i < 8; i++)
		launch_blocks(&build, i, i % 2 ? 4 : 1);
	assert_made(made(&build, "batch", 2, NULL), 8, 11000);
}

/*
 * Eight kernels of 4 us are launched every 10 us. The fifth launch takes 90 us, as the queue is full while
 * the fourth kernel runs; it belongs to the batch all the same. One kernel of 8 x 4 us remains.
 */
static void a_launch_that_waits_for_room_is_one_of_a_batch(void **state)
{
	struct build build = build_new(1);

	(void)state;
	for (int i = 0; i < 8; i++) {
		int64_t at_us = 10 * i + (i > 4 ? 100 : 0);

		if (i == 4)
			build_issued_kernel(&build, issue("cudaLaunchKernel", 40, 130), 0, 131, 135);
		else
			launch(&build, at_us, at_us + (i == 3 ? 11 : 5), at_us + (i == 3 ? 15 : 9));
	}
	assert_made(made(&build, "batch", 8, NULL), 8, 32000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stretch_that_repeats_is_launched_as_one_graph),
		cmocka_unit_test(a_step_of_several_threads_is_one_graph),
		cmocka_unit_test(a_step_in_which_a_thread_waits_is_several_graphs),
		cmocka_unit_test(a_step_in_which_another_thread_goes_on_after_a_wait_is_several_graphs),
		cmocka_unit_test(a_step_in_which_the_host_pauses_is_several_graphs),
		cmocka_unit_test(what_else_the_host_does_in_a_stretch_stays),
		cmocka_unit_test(a_graph_saves_between_kernels_what_the_profile_says),
		cmocka_unit_test(kernels_of_a_graph_lie_no_further_apart_than_an_empty_one_takes),
		cmocka_unit_test(a_graph_of_many_nodes_takes_longer_to_launch),
		cmocka_unit_test(a_graph_of_many_nodes_begins_before_its_launch_returns),
		cmocka_unit_test(how_well_a_node_is_known_is_in_the_interval),
		cmocka_unit_test(a_graph_has_as_many_steps_as_asked_for),
		cmocka_unit_test(steps_of_a_graph_have_to_be_known),
		cmocka_unit_test(kernels_of_recorded_graphs_show_their_gaps),
		cmocka_unit_test(a_graph_of_unknown_cost_has_a_generic_one),
		cmocka_unit_test(tiny_kernels_in_a_row_become_one),
		cmocka_unit_test(a_fused_kernel_ends_where_the_next_grid_is_larger),
		cmocka_unit_test(a_host_that_is_held_up_once_cuts_no_chain),
		cmocka_unit_test(kernels_that_mostly_lie_apart_are_no_chain),
		cmocka_unit_test(a_change_refused_at_its_worst_saves_nothing_there),
		cmocka_unit_test(how_many_launches_a_chain_needs_is_in_its_interval),
		cmocka_unit_test(what_the_device_does_alone_is_part_of_a_chain),
		cmocka_unit_test(equal_launches_in_a_row_share_the_device),
		cmocka_unit_test(a_sequence_that_follows_itself_is_launched_once),
		cmocka_unit_test(no_more_turns_are_one_than_asked_for),
		cmocka_unit_test(a_launch_that_waits_for_room_is_one_of_a_batch),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
