/* SPDX-License-Identifier: Apache-2.0 */
#include "build.h"
#include "replay/pattern.h"
#include "unit/failing_memory.h"

/* Returns a recording of copies, kernels and waits on two streams, which two threads issue. */
static struct build some_of_all(void)
{
	struct build build = build_new(1);
	uint32_t stream = build_stream(&build, 0), thread = build_thread(&build, 0);

	for (int64_t i = 0; i < 20; i++) {
		int64_t at = i * 200;
		struct build_copied up = {KWHY_COPY_H2D, KWHY_MEMORY_PINNED, 4000, at + 10, at + 15};

		build_issued_copy(&build, (struct build_issue){0, "cudaMemcpyAsync", at, at + 3}, 0, up);
		for (int k = 0; k < 6; k++)
			build_issued_kernel(&build,
				(struct build_issue){0, "cudaLaunchKernel", at + 4 + 2 * k, at + 5 + 2 * k},
				0, at + 18 + 3 * k, at + 20 + 3 * k);
		build_issued_kernel(&build,
			(struct build_issue){thread, "cudaLaunchKernel", at + 60, at + 62}, stream, at + 70,
			at + 90);
		build_call(&build, 0, "cudaDeviceSynchronize", at + 40, at + 44);
	}
	build_finish(&build, true);
	return build;
}

static size_t count_work(struct kwhy_whatif *whatif, long failure, enum kwhy_status *out_status)
{
	const struct kwhy_whatif_request change_request = {kwhy_whatif_change_find("fuse"), 1};
	struct kwhy_replay_pattern *pattern = NULL;
	struct kwhy_replay_changes changes = {0};
	struct kwhy_error error;
	size_t count;

	failed = false;
	left_until_failure = failure;
	*out_status = kwhy_replay_change(whatif, &change_request, 1, &changes, &error);
	if (!*out_status)
		*out_status = kwhy_replay_pattern_new(whatif, &changes, &pattern, &error);
	left_until_failure = -1;
	whatif->out_of_memory = false;
	count = pattern ? pattern->work_count : 0;
	kwhy_replay_pattern_free(pattern);
	kwhy_replay_changes_done(&changes);
	return count;
}

static void whichever_allocation_fails_it_is_said_and_no_work_is_missing(void **state)
{
	struct build build = some_of_all();
	struct kwhy_whatif *whatif;
	struct kwhy_error error;
	enum kwhy_status status;
	long failures = 0;
	size_t all;

	(void)state;
	assert_int_equal(kwhy_whatif_new(build.recording, build.ledger, NULL, &whatif, &error), KWHY_OK);
	all = count_work(whatif, -1, &status);
	assert_true(status == KWHY_OK && all == 60);
	for (failed = true; failed; failures++) {
		size_t count = count_work(whatif, failures, &status);

		assert_true(status == KWHY_E_MEMORY || (status == KWHY_OK && count == all));
	}
	assert_true(failures > 10);
	kwhy_whatif_free(whatif);
	build_free(&build);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whichever_allocation_fails_it_is_said_and_no_work_is_missing),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
