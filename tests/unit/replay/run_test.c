/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests replays on the host back end, which needs no GPU. Its times are those of the CPU and are only checked
 * for lower limits.
 */
#include "build.h"
#include "launch/stop.h"
#include "replay/replay.h"

#include <math.h>
#include <signal.h>
#include <string.h>

static struct kwhy_error error;

static struct kwhy_replay *replayed(struct build *build, const char *id, uint32_t number)
{
	struct kwhy_whatif_request change_request = {id ? kwhy_whatif_change_find(id) : NULL, number};
	const struct kwhy_replay_request request = {.backend = KWHY_GPU_HOST,
		.change_requests = &change_request,
		.change_request_count = id ? 1 : 0,
		.repeat = 6};
	struct kwhy_replay *replay = NULL;
	struct kwhy_whatif *whatif;

	build_finish(build, true);
	assert_int_equal(
		kwhy_whatif_new(build->recording, build->ledger, build->profile, &whatif, &error), KWHY_OK);
	if (kwhy_replay(whatif, &request, &replay, &error))
		fail_msg("%s", error.text);
	kwhy_whatif_free(whatif);
	build_free(build);
	return replay;
}

static void launch(struct build *build, uint32_t thread, uint32_t stream, int64_t call_us, int64_t start_us)
{
	build_issued_kernel(build, (struct build_issue){thread, "cudaLaunchKernel", call_us, call_us + 2},
		stream, start_us, start_us + 5);
}

static void copy(struct build *build, enum kwhy_copy_kind kind, enum kwhy_memory_kind memory, uint64_t bytes,
	int64_t call_us)
{
	build_issued_copy(build, (struct build_issue){0, "cudaMemcpyAsync", call_us, call_us + 2}, 0,
		(struct build_copied){kind, memory, bytes, call_us + 10, call_us + 15});
}

static void everything_that_a_recording_asked_for_runs(void **state)
{
	struct build build = build_new(1);
	uint32_t second = build_stream(&build, 0);
	struct kwhy_replay *replay;

	(void)state;
	for (int i = 0; i < 10; i++) {
		copy(&build, KWHY_COPY_H2D, KWHY_MEMORY_PAGEABLE, 100, 200 * i);
		copy(&build, KWHY_COPY_H2D, KWHY_MEMORY_PINNED, 3 << 20, 200 * i + 20);
		launch(&build, 0, 0, 200 * i + 40, 200 * i + 50);
		launch(&build, 0, second, 200 * i + 43, 200 * i + 56);
		copy(&build, KWHY_COPY_D2D, KWHY_MEMORY_DEVICE, 5000, 200 * i + 60);
		copy(&build, KWHY_COPY_D2H, KWHY_MEMORY_PINNED, 700, 200 * i + 80);
		build_call(&build, 0, "cudaStreamSynchronize", 200 * i + 82, 200 * i + 99);
	}
	replay = replayed(&build, NULL, 0);
	assert_false(replay->has_changed);
	assert_int_equal(replay->as_recorded.runs, 6);
	assert_int_equal(replay->as_recorded.kernels, 20);
	assert_int_equal(replay->as_recorded.copies, 40);
	assert_int_equal(replay->as_recorded.waits, 10);
	assert_int_equal(replay->as_recorded.replay_streams, 2);
	assert_true(replay->as_recorded.span_s.median > 0);
	/* the last launch may not come before its recorded time */
	assert_true(replay->as_recorded.span_s.least > 1.7e-3);
	assert_string_equal(replay->energy_missing, "not asked for");
	assert_true(isnan(replay->as_recorded.gross.value));
	kwhy_replay_free(replay);
}

static void threads_that_hand_over_work_and_wait_for_events_come_to_an_end(void **state)
{
	struct build build = build_new(1);
	uint32_t thread = build_thread(&build, 0), stream = build_stream(&build, 0);
	struct kwhy_replay *replay;

	(void)state;
	for (int i = 0; i < 20; i++) {
		launch(&build, 0, 0, 200 * i, 200 * i + 10);
		launch(&build, thread, stream, 200 * i + 100, 200 * i + 110);
	}
	replay = replayed(&build, NULL, 0);
	assert_int_equal(replay->as_recorded.threads, 2);
	assert_int_equal(replay->as_recorded.kernels, 40);
	kwhy_replay_free(replay);
}

static struct build four_loops(void)
{
	struct build build = build_new(1);

	for (int i = 0; i < 4; i++) {
		for (int k = 0; k < 6; k++)
			launch(&build, 0, 0, 150 * i + 20 * k, 150 * i + 20 * k + 10);
		build_call(&build, 0, "cudaStreamSynchronize", 150 * i + 102, 150 * i + 120);
	}
	return build;
}

/*
 * Replays four_loops() with each loop of six kernels launched as a graph. By the profile, the launch of a
 * graph takes 4 us and node_s more for each node after the first.
 */
static struct kwhy_replay *replayed_as_graphs(double node_s)
{
	struct build build = four_loops();
	struct kwhy_profile profile;

	kwhy_profile_init(&profile);
	profile.graph_launch_s.value = 4e-6;
	profile.graph_launch_node_s.value = node_s;
	build.profile = &profile;
	return replayed(&build, "graph", 0);
}

static void a_change_is_projected_and_measured(void **state)
{
	struct kwhy_replay *replay = replayed_as_graphs(0);

	(void)state;
	assert_true(replay->has_changed);
	assert_int_equal(replay->plan->change_count, 1);
	assert_int_equal(replay->changed.graphs, 1);
	assert_int_equal(replay->changed.kernels, 24);
	assert_int_equal(replay->changed.loose_graphs, 0);
	assert_int_equal(replay->changed.runs, 6);
	assert_int_equal(replay->changed.pattern_span_ns, kwhy_plan_after(replay->plan)->time_ns);
	kwhy_replay_free(replay);
}

/*
 * The graph is launched four times; three of these launches lie between the begin of the first
 * graph and the end of the last one. By the profile each takes 4 us + 5 x 200 us, about 1 ms, which
 * the replay must wait for, although no graph launch was recorded.
 */
static void calls_of_a_kind_that_was_not_recorded_take_what_is_projected(void **state)
{
	struct kwhy_replay *replay = replayed_as_graphs(200e-6);

	(void)state;
	assert_int_equal(replay->changed.graphs, 1);
	assert_true(replay->changed.span_s.least > 2.8e-3);
	kwhy_replay_free(replay);
}

static void a_refused_change_is_not_run(void **state)
{
	struct build build = build_new(1);
	struct kwhy_replay *replay;

	(void)state;
	launch(&build, 0, 0, 0, 10);
	replay = replayed(&build, "pinned", 1);
	assert_false(replay->has_changed);
	assert_int_equal(replay->plan->refused_count, 1);
	kwhy_replay_free(replay);
}

/*
 * Progress callback: raises SIGINT, as Ctrl-C does, when the part of the replay that has the name `context`
 * begins.
 */
static void press(void *context, const char *what)
{
	if (!strcmp(what, context))
		raise(SIGINT);
}

/*
 * Replays a program and its change by drop-waits, which removes a wait. Interrupts when the part `at` begins:
 * "as recorded" or "changed".
 */
static enum kwhy_status interrupted(const char *at, struct kwhy_replay **out)
{
	struct kwhy_whatif_request change_request = {kwhy_whatif_change_find("drop-waits"), 0};
	const struct kwhy_replay_request request = {.backend = KWHY_GPU_HOST,
		.change_requests = &change_request,
		.change_request_count = 1,
		.repeat = 3,
		.progress = press,
		.context = (void *)at};
	struct build build = build_new(1);
	struct kwhy_whatif *whatif;
	enum kwhy_status status;

	launch(&build, 0, 0, 0, 10);
	build_call(&build, 0, "cudaDeviceSynchronize", 60, 80);
	build_call(&build, 0, "cudaDeviceSynchronize", 90, 95);
	launch(&build, 0, 0, 100, 110);
	build_finish(&build, true);
	assert_int_equal(
		kwhy_whatif_new(build.recording, build.ledger, build.profile, &whatif, &error), KWHY_OK);
	kwhy_stop_watch(true);
	status = kwhy_replay(whatif, &request, out, &error);
	kwhy_whatif_free(whatif);
	build_free(&build);
	return status;
}

static void an_interrupt_leaves_the_runs_before(void **state)
{
	struct kwhy_replay *replay;

	(void)state;
	assert_int_equal(interrupted("changed", &replay), KWHY_OK);
	assert_int_equal(replay->as_recorded.runs, 3);
	assert_false(replay->has_changed);
	assert_string_equal(replay->ended, "it was interrupted, after 0 runs changed");
	kwhy_replay_free(replay);
	assert_int_equal(interrupted("as recorded", &replay), KWHY_E_LOST);
	assert_string_equal(error.text, "it was interrupted");
}

static void accounts_of_kernels_are_listed_with_what_stands_for_them(void **state)
{
	struct build build = build_new(1);
	struct kwhy_replay *replay;

	(void)state;
	launch(&build, 0, 0, 0, 10);
	launch(&build, 0, 0, 3, 20);
	replay = replayed(&build, NULL, 0);
	assert_true(replay->proxy_count <= 1);
	for (size_t i = 0; i < replay->proxy_count; i++) {
		assert_int_equal(replay->proxies[i].count, 2);
		assert_int_equal(replay->proxies[i].choice.class, KWHY_PROXY_WAIT);
	}
	kwhy_replay_free(replay);
}

static void joules_compare_where_one_factor_was_asked_of_both(void **state)
{
	(void)state;
	assert_true(kwhy_replay_joules_compare(
		&(struct kwhy_replay){.work_factor = 1.5, .changed_work_factor = 1.5}));
	assert_true(kwhy_replay_joules_compare(
		&(struct kwhy_replay){.work_factor = NAN, .changed_work_factor = NAN}));
	assert_false(kwhy_replay_joules_compare(
		&(struct kwhy_replay){.work_factor = 5.7, .changed_work_factor = 1.2}));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_that_a_recording_asked_for_runs),
		cmocka_unit_test(threads_that_hand_over_work_and_wait_for_events_come_to_an_end),
		cmocka_unit_test(a_change_is_projected_and_measured),
		cmocka_unit_test(calls_of_a_kind_that_was_not_recorded_take_what_is_projected),
		cmocka_unit_test(a_refused_change_is_not_run),
		cmocka_unit_test(accounts_of_kernels_are_listed_with_what_stands_for_them),
		cmocka_unit_test(joules_compare_where_one_factor_was_asked_of_both),
		/* last, because a raised SIGINT stops all later replays of this process */
		cmocka_unit_test(an_interrupt_leaves_the_runs_before),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
