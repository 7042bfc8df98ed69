/* SPDX-License-Identifier: Apache-2.0 */
#include "build.h"
#include "unit/failing_memory.h"
#include "varied.h"
#include "whatif/busy.h"
#include "whatif/stretch.h"

#include <stdlib.h>

enum { VARIED = 12 };

/* Returns a recording of two devices to which most of the changes apply. */
static struct build much_waste(void)
{
	struct build build = build_new(2);

	for (int64_t i = 0; i < 60; i++) {
		int64_t at = i * 200;
		uint32_t d = (uint32_t)i % 2;
		struct build_issue issue = {d, "cudaMemcpyAsync", at - 5, at + 3};
		struct build_copied up = {
			KWHY_COPY_H2D, KWHY_MEMORY_PINNED, (uint64_t)(i % 3 + 1) * 4000, at, at + 5};
		struct build_copied down = {KWHY_COPY_D2H, KWHY_MEMORY_PAGEABLE, 8000, at + 30, at + 35};

		build_issued_copy(&build, issue, d, up);
		for (int k = 0; k < 6; k++)
			build_issued_kernel(&build,
				(struct build_issue){d, "cudaLaunchKernel", at + 4 + k, at + 5 + k}, d,
				at + 8 + 3 * k, at + 10 + 3 * k);
		build_collective(&build, d, at + 27, at + 29);
		build_issued_copy(
			&build, (struct build_issue){d, "cudaMemcpyAsync", at + 12, at + 38}, d, down);
		build_call(&build, d, "cudaDeviceSynchronize", at + 39, at + 42);
		build_call(&build, d, i % 2 ? "cudaMalloc" : "cudaFree", at + 43, at + 60);
	}
	build_finish(&build, true);
	return build;
}

static size_t count_changes(const struct build *build, long failure, enum kwhy_status *out_status)
{
	struct kwhy_whatif *whatif = NULL;
	struct kwhy_plan *plan = NULL;
	struct kwhy_error error;
	size_t count;

	failed = false;
	left_until_failure = failure;
	*out_status = kwhy_whatif_new(build->recording, build->ledger, NULL, &whatif, &error);
	if (!*out_status)
		*out_status = kwhy_whatif_plan(whatif, 0.001, true, &plan, &error);
	if (!*out_status)
		*out_status = kwhy_whatif_add_busy(whatif, plan, &error);
	if (!*out_status) {
		*out_status = kwhy_whatif_add_stretch(whatif, plan, &error);
		assert_true(*out_status || plan->stretch || !build->recording->activities.count);
	}
	left_until_failure = -1;
	count = plan ? plan->change_count : 0;
	kwhy_plan_free(plan);
	kwhy_whatif_free(whatif);
	return count;
}

static void whichever_allocation_fails_it_is_said_and_no_change_is_missing_silently(void **state)
{
	struct build build = much_waste();
	enum kwhy_status status;
	size_t all = count_changes(&build, -1, &status);
	long failures = 0;

	(void)state;
	assert_true(status == KWHY_OK && all > 2);
	for (failed = true; failed; failures++) {
		size_t count = count_changes(&build, failures, &status);

		assert_true(status == KWHY_E_MEMORY || (status == KWHY_OK && count == all));
	}
	assert_true(failures > 50);
	build_free(&build);
}

static void in_varied_recordings_too(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < VARIED; seed++) {
		struct varied varied = varied_new(seed, true);
		struct build build = {.recording = varied.recording, .ledger = varied.ledger};
		enum kwhy_status status;
		size_t all = count_changes(&build, -1, &status);
		long failures = 0;

		assert_int_equal(status, KWHY_OK);
		for (failed = true; failed; failures++) {
			size_t count = count_changes(&build, failures, &status);

			if (status != KWHY_E_MEMORY && (status || count != all))
				fail_msg("case %u: after %ld allocations status %d, %zu instead of %zu",
					(unsigned)seed, failures, (int)status, count, all);
		}
		varied_free(&varied);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whichever_allocation_fails_it_is_said_and_no_change_is_missing_silently),
		cmocka_unit_test(in_varied_recordings_too),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
