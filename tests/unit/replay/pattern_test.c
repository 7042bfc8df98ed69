/* SPDX-License-Identifier: Apache-2.0 */
#include "build.h"
#include "replay/pattern.h"

#include <math.h>
#include <string.h>

static struct kwhy_error error;

enum { US = 1000 };

/* The pattern of a replay, and the projection and the changes from which it was made. */
struct made {
	struct kwhy_whatif *whatif;
	struct kwhy_replay_changes changes;
	struct kwhy_replay_pattern *pattern;
};

static struct made made(struct build *build, const char *id, uint32_t number)
{
	struct kwhy_whatif_request change_request = {id ? kwhy_whatif_change_find(id) : NULL, number};
	struct made made;

	build_finish(build, true);
	assert_int_equal(
		kwhy_whatif_new(build->recording, build->ledger, build->profile, &made.whatif, &error),
		KWHY_OK);
	assert_int_equal(
		kwhy_replay_change(made.whatif, &change_request, id ? 1 : 0, &made.changes, &error), KWHY_OK);
	if (kwhy_replay_pattern_new(made.whatif, &made.changes, &made.pattern, &error))
		fail_msg("%s", error.text);
	return made;
}

static void done(struct build *build, struct made *made)
{
	kwhy_replay_pattern_free(made->pattern);
	kwhy_replay_changes_done(&made->changes);
	kwhy_whatif_free(made->whatif);
	build_free(build);
}

static struct build_issue issue(uint32_t thread, const char *call, int64_t start_us, int64_t end_us)
{
	return (struct build_issue){thread, call, start_us, end_us};
}

static void launch(struct build *build, int64_t call_us, int64_t start_us, int64_t end_us)
{
	build_issued_kernel(build, issue(0, "cudaLaunchKernel", call_us, call_us + 2), 0, start_us, end_us);
}

static void copy(struct build *build, enum kwhy_copy_kind kind, enum kwhy_memory_kind memory, uint64_t bytes,
	int64_t call_us)
{
	build_issued_copy(build, issue(0, "cudaMemcpyAsync", call_us, call_us + 2), 0,
		(struct build_copied){kind, memory, bytes, call_us + 10, call_us + 15});
}

static void calls_keep_their_pauses_and_what_they_take(void **state)
{
	struct build build = build_new(1);
	struct made made_;
	const struct kwhy_replay_pattern *pattern;

	(void)state;
	launch(&build, 0, 10, 14);
	launch(&build, 7, 17, 20);
	made_ = made(&build, NULL, 0);
	pattern = made_.pattern;
	assert_int_equal(pattern->thread_count, 1);
	assert_int_equal(pattern->op_count, 2);
	assert_int_equal(pattern->kernels, 2);
	assert_int_equal(pattern->ops[0].gap_ns, 0);
	assert_int_equal(pattern->ops[0].own_ns, 2 * US);
	assert_int_equal(pattern->ops[1].gap_ns, 5 * US);
	assert_int_equal(pattern->works[0].length_ns, 4 * US);
	assert_int_equal(pattern->works[0].issue_ns, 10 * US);
	assert_int_equal(pattern->span_ns, 10 * US);
	assert_int_equal(pattern->replay_stream_count, 1);
	done(&build, &made_);
}

static void calls_that_neither_issue_nor_wait_are_pauses(void **state)
{
	struct build build = build_new(1);
	struct made made_;

	(void)state;
	build_call(&build, 0, "cudaSetDevice", -50, -40);
	launch(&build, 0, 10, 14);
	build_call(&build, 0, "cudaMalloc", 3, 9);
	build_call(&build, 0, "cudaGetDevice", 9, 11);
	launch(&build, 12, 22, 24);
	made_ = made(&build, NULL, 0);
	assert_int_equal(made_.pattern->op_count, 2);
	assert_int_equal(made_.pattern->ops[1].gap_ns, 10 * US);
	assert_int_equal(made_.pattern->left.allocations, 1);
	done(&build, &made_);
}

static void a_wait_is_for_the_stream_of_the_work(void **state)
{
	struct build build = build_new(1);
	struct made made_;
	const struct kwhy_replay_op *wait;

	(void)state;
	launch(&build, 0, 10, 30);
	build_call(&build, 0, "cudaStreamSynchronize", 3, 35);
	made_ = made(&build, NULL, 0);
	assert_int_equal(made_.pattern->op_count, 2);
	assert_int_equal(made_.pattern->waits, 1);
	wait = &made_.pattern->ops[1];
	assert_int_equal(wait->wait_kind, KWHY_REPLAY_WAIT_REPLAY_STREAM);
	assert_int_equal(wait->wait, 0);
	assert_int_equal(wait->return_ns, 5 * US);
	done(&build, &made_);
}

/*
 * Both kernels are issued before the wait, which returns while the second one still runs. So it is a wait for
 * an event after the first kernel, not for the stream.
 */
static void a_wait_for_work_with_more_behind_it_is_for_its_event(void **state)
{
	struct build build = build_new(1);
	struct made made_;
	const struct kwhy_replay_pattern *pattern;

	(void)state;
	launch(&build, 0, 10, 30);
	launch(&build, 3, 31, 90);
	build_call(&build, 0, "cudaEventSynchronize", 6, 33);
	made_ = made(&build, NULL, 0);
	pattern = made_.pattern;
	assert_int_equal(pattern->ops[2].wait_kind, KWHY_REPLAY_WAIT_WORK);
	assert_int_equal(pattern->ops[2].wait, 0);
	assert_int_equal(pattern->mark_count, 1);
	assert_int_equal(pattern->works[0].mark, 0);
	done(&build, &made_);
}

static void work_of_another_stream_that_came_before_is_an_event(void **state)
{
	struct build build = build_new(1);
	uint32_t other = build_stream(&build, 0);
	struct made made_;
	const struct kwhy_replay_pattern *pattern;

	(void)state;
	launch(&build, 0, 10, 60);
	build_call(&build, 0, "cudaStreamWaitEvent", 3, 4);
	build_issued_kernel(&build, issue(0, "cudaLaunchKernel", 5, 7), other, 61, 70);
	made_ = made(&build, NULL, 0);
	pattern = made_.pattern;
	assert_int_equal(pattern->replay_stream_count, 2);
	assert_int_equal(pattern->works[1].after[0], 0);
	assert_int_equal(pattern->works[0].mark, 0);
	done(&build, &made_);
}

static void a_thread_that_takes_over_waits_for_the_other(void **state)
{
	struct build build = build_new(1);
	uint32_t second = build_thread(&build, 0);
	struct made made_;
	const struct kwhy_replay_pattern *pattern;

	(void)state;
	build_issued_kernel(&build, issue(second, "cudaLaunchKernel", -100, -98), 0, -90, -80);
	launch(&build, 0, 10, 14);
	build_issued_kernel(&build, issue(second, "cudaLaunchKernel", 6, 8), 0, 16, 20);
	made_ = made(&build, NULL, 0);
	pattern = made_.pattern;
	assert_int_equal(pattern->thread_count, 2);
	assert_int_equal(pattern->op_count, 3);
	/*
	 * ops are sorted by thread: 0 is of the first thread, 1 and 2 of the second; 2 is issued 4 us after 0
	 */
	assert_int_equal(pattern->ops[2].after_op, 0);
	assert_int_equal(pattern->ops[2].after_ns, 4 * US);
	done(&build, &made_);
}

static void work_without_calls_is_issued_at_its_time(void **state)
{
	struct build build = build_new(1);
	struct made made_;

	(void)state;
	build_kernel(&build, 0, "a", 10, 20);
	build_kernel(&build, 0, "b", 35, 40);
	made_ = made(&build, NULL, 0);
	assert_int_equal(made_.pattern->thread_count, 1);
	assert_int_equal(made_.pattern->ops[0].gap_ns, 0);
	assert_int_equal(made_.pattern->ops[1].gap_ns, 25 * US);
	assert_int_equal(made_.pattern->left.uncalled, 2);
	done(&build, &made_);
}

static void the_device_with_most_work_is_replayed_and_the_rest_counted(void **state)
{
	struct build build = build_new(2);
	struct made made_;

	(void)state;
	build_kernel(&build, 0, "a", 10, 20);
	build_kernel(&build, 1, "a", 10, 20);
	build_kernel(&build, 1, "a", 21, 30);
	made_ = made(&build, NULL, 0);
	assert_int_equal(made_.pattern->device, 1);
	assert_int_equal(made_.pattern->kernels, 2);
	assert_int_equal(made_.pattern->left.other_devices, 1);
	done(&build, &made_);
}

static void copies_keep_direction_bytes_and_memory(void **state)
{
	struct build build = build_new(1);
	struct made made_;
	const struct kwhy_replay_work *works;

	(void)state;
	copy(&build, KWHY_COPY_H2D, KWHY_MEMORY_PAGEABLE, 100, 0);
	copy(&build, KWHY_COPY_D2H, KWHY_MEMORY_PINNED, 200, 20);
	copy(&build, KWHY_COPY_D2D, KWHY_MEMORY_DEVICE, 300, 40);
	copy(&build, KWHY_COPY_P2P, KWHY_MEMORY_DEVICE, 400, 60);
	copy(&build, KWHY_COPY_H2D, KWHY_MEMORY_PINNED, KWHY_UNKNOWN_BYTES, 80);
	made_ = made(&build, NULL, 0);
	works = made_.pattern->works;
	assert_int_equal(made_.pattern->copies, 4);
	assert_int_equal(works[0].way, KWHY_REPLAY_H2D);
	assert_int_equal(works[0].host, KWHY_GPU_HOST_PAGEABLE);
	assert_int_equal(works[0].bytes, 100);
	assert_int_equal(works[1].way, KWHY_REPLAY_D2H);
	assert_int_equal(works[1].host, KWHY_GPU_HOST_PINNED);
	assert_int_equal(works[2].way, KWHY_REPLAY_D2D);
	assert_int_equal(works[3].way, KWHY_REPLAY_D2D);
	assert_int_equal(made_.pattern->left.peer_copies, 1);
	assert_int_equal(works[4].kind, KWHY_REPLAY_KERNEL);
	assert_int_equal(made_.pattern->left.unknown, 1);
	done(&build, &made_);
}

static void launches_of_one_sequence_share_a_graph_of_mean_lengths(void **state)
{
	struct build build = build_new(1);
	struct made made_;
	struct kwhy_profile profile;

	(void)state;
	kwhy_profile_init(&profile);
	profile.graph_launch_s.value = 4e-6;
	build.profile = &profile;
	for (int i = 0; i < 3; i++) {
		for (int k = 0; k < 6; k++)
			launch(&build, 150 * i + 20 * k, 150 * i + 20 * k + 10,
				150 * i + 20 * k + 13 + 2 * i);
		build_call(&build, 0, "cudaStreamSynchronize", 150 * i + 102, 150 * i + 125);
	}
	made_ = made(&build, "graph", 0);
	assert_int_equal(made_.pattern->graph_count, 1);
	assert_int_equal(made_.pattern->graphs[0].launches, 3);
	assert_int_equal(made_.pattern->graphs[0].work_count, 6);
	assert_int_equal(made_.pattern->works[made_.pattern->graphs[0].work].length_ns, 5 * US);
	done(&build, &made_);
}

static void copies_beside_compute_get_a_stream_of_their_own(void **state)
{
	struct build build = build_new(1);
	struct made made_;
	const struct kwhy_replay_pattern *pattern;

	(void)state;
	for (int i = 0; i < 4; i++) {
		build_issued_copy(&build, issue(0, "cudaMemcpyAsync", 6 * i, 6 * i + 2), 0,
			(struct build_copied){
				KWHY_COPY_H2D, KWHY_MEMORY_PINNED, 1000, 100 * i + 50, 100 * i + 90});
		launch(&build, 6 * i + 3, 100 * i + 91, 100 * i + 149);
	}
	made_ = made(&build, "overlap-copies", 2);
	pattern = made_.pattern;
	assert_int_equal(pattern->replay_stream_count, 2);
	assert_int_equal(pattern->left.orders, 0);
	for (size_t i = 0; i < pattern->work_count; i++) {
		const struct kwhy_replay_work *work = &pattern->works[i];

		assert_int_equal(work->replay_stream,
			work->kind == KWHY_REPLAY_COPY ? pattern->works[0].replay_stream
						       : 1 - pattern->works[0].replay_stream);
		/* each kernel starts after a copy on the other stream */
		if (work->kind == KWHY_REPLAY_KERNEL)
			assert_true(work->after[0] != KWHY_NONE);
	}
	done(&build, &made_);
}

static void what_has_no_work_cannot_be_replayed(void **state)
{
	struct build build = build_new(1);
	struct kwhy_replay_pattern *pattern;
	struct kwhy_replay_changes changes;
	struct kwhy_whatif *whatif;

	(void)state;
	build_call(&build, 0, "cudaMalloc", 0, 5);
	build_finish(&build, true);
	assert_int_equal(kwhy_whatif_new(build.recording, build.ledger, NULL, &whatif, &error), KWHY_OK);
	assert_int_equal(kwhy_replay_change(whatif, NULL, 0, &changes, &error), KWHY_OK);
	assert_int_equal(kwhy_replay_pattern_new(whatif, &changes, &pattern, &error), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "nothing to replay"));
	kwhy_replay_changes_done(&changes);
	kwhy_whatif_free(whatif);
	build_free(&build);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_keep_their_pauses_and_what_they_take),
		cmocka_unit_test(calls_that_neither_issue_nor_wait_are_pauses),
		cmocka_unit_test(a_wait_is_for_the_stream_of_the_work),
		cmocka_unit_test(a_wait_for_work_with_more_behind_it_is_for_its_event),
		cmocka_unit_test(work_of_another_stream_that_came_before_is_an_event),
		cmocka_unit_test(a_thread_that_takes_over_waits_for_the_other),
		cmocka_unit_test(work_without_calls_is_issued_at_its_time),
		cmocka_unit_test(the_device_with_most_work_is_replayed_and_the_rest_counted),
		cmocka_unit_test(copies_keep_direction_bytes_and_memory),
		cmocka_unit_test(launches_of_one_sequence_share_a_graph_of_mean_lengths),
		cmocka_unit_test(copies_beside_compute_get_a_stream_of_their_own),
		cmocka_unit_test(what_has_no_work_cannot_be_replayed),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
