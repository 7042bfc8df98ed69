/* SPDX-License-Identifier: Apache-2.0 */
#include "build.h"
#include "unit/failing_memory.h"
#include "varied.h"

#include <stdlib.h>

enum { VARIED = 60 };

/* Makes a recording in which most detectors find something, on two devices. */
static struct build much_waste(void)
{
	struct build build = build_new(2);

	for (int64_t i = 0; i < 400; i++) {
		int64_t at = i * 20;
		uint32_t d = (uint32_t)i % 2;
		struct build_issue issue = {d, i % 5 ? "cudaMemcpyAsync" : "cudaMemcpy", at - 5, at + 3};
		struct build_copied scalar = {KWHY_COPY_D2H, KWHY_MEMORY_PAGEABLE, 4, at, at + 5};

		if (i % 7 == 0)
			build_issued_copy(&build, issue, d, scalar);
		else if (i % 7 < 3)
			build_copy(
				&build, d, i % 7 == 1 ? KWHY_COPY_H2D : KWHY_COPY_D2H, 1 << 20, at, at + 9);
		else if (i % 7 == 3)
			build_blocks(&build, d, 5, at, at + 6);
		else if (i % 7 == 4)
			build_collective(&build, d, at, at + 4 + 10 * (int)d);
		else if (i % 7 == 5)
			build_issued_memset(&build, issue, d, at, at + 2);
		else
			build_issued_kernel(&build, issue, d, at, at + 4);
		build_call(&build, d, i % 3 ? "cudaDeviceSynchronize" : "cudaMalloc", at + 10, at + 14);
	}
	build_finish(&build, true);
	return build;
}

static size_t count_findings(const struct build *build, long failure, enum kwhy_status *out_status)
{
	struct kwhy_detect_options options = kwhy_detect_options_default();
	struct kwhy_findings *findings = NULL;
	struct kwhy_error error;
	size_t count;

	options.min_gain_ratio = 0;
	failed = false;
	left_until_failure = failure;
	*out_status = kwhy_detect_run(build->recording, build->ledger, NULL, &options, &findings, &error);
	left_until_failure = -1;
	assert_true(*out_status == KWHY_OK || !findings);
	count = findings ? findings->count : 0;
	kwhy_findings_free(findings);
	return count;
}

static void whichever_allocation_fails_it_is_said_and_nothing_is_missing_silently(void **state)
{
	struct build build = much_waste();
	enum kwhy_status status;
	size_t all = count_findings(&build, -1, &status);
	long failures = 0;

	(void)state;
	assert_true(status == KWHY_OK && all > 10);
	for (failed = true; failed; failures++) {
		size_t count = count_findings(&build, failures, &status);

		assert_true(status == KWHY_E_MEMORY || (status == KWHY_OK && count == all));
	}
	assert_true(failures > 50);
	build_free(&build);
}

static void in_varied_recordings_too(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < VARIED; seed++) {
		struct varied varied = varied_new(seed, false);
		struct build build = {.recording = varied.recording, .ledger = varied.ledger};
		enum kwhy_status status;
		size_t all = count_findings(&build, -1, &status);
		long failures = 0;

		assert_int_equal(status, KWHY_OK);
		for (failed = true; failed; failures++) {
			size_t count = count_findings(&build, failures, &status);

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
		cmocka_unit_test(whichever_allocation_fails_it_is_said_and_nothing_is_missing_silently),
		cmocka_unit_test(in_varied_recordings_too),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
