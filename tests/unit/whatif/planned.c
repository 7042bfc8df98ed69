/* SPDX-License-Identifier: Apache-2.0 */
#include "planned.h"

#include <string.h>

struct kwhy_plan *all_made(struct build *build, const struct kwhy_whatif_request *change_requests,
	size_t count, const struct kwhy_profile *profile)
{
	struct kwhy_whatif *whatif;
	struct kwhy_plan *plan;
	struct kwhy_error error;

	build_finish(build, true);
	assert_int_equal(kwhy_whatif_new(build->recording, build->ledger, profile, &whatif, &error), KWHY_OK);
	assert_int_equal(kwhy_whatif_project(whatif, change_requests, count, &plan, &error), KWHY_OK);
	kwhy_whatif_free(whatif);
	build_free(build);
	return plan;
}

struct kwhy_plan *made(
	struct build *build, const char *id, uint32_t number, const struct kwhy_profile *profile)
{
	struct kwhy_whatif_request change_request = {kwhy_whatif_change_find(id), number};

	return all_made(build, &change_request, 1, profile);
}

void assert_made(struct kwhy_plan *plan, uint64_t places, int64_t after_ns)
{
	if (!plan->change_count)
		fail_msg("refused: %s", plan->refused[0].reason);
	assert_int_equal(plan->changes[0].places, places);
	assert_int_equal(plan->changes[0].after.time_ns, after_ns);
	kwhy_plan_free(plan);
}

void assert_refused(struct kwhy_plan *plan, const char *word)
{
	assert_int_equal(plan->change_count, 0);
	assert_int_equal(plan->refused_count, 1);
	assert_non_null(strstr(plan->refused[0].reason, word));
	kwhy_plan_free(plan);
}

struct build_issue issue(const char *call, int64_t start_us, int64_t end_us)
{
	return (struct build_issue){0, call, start_us, end_us};
}

struct build_copied copied(enum kwhy_copy_kind kind, enum kwhy_memory_kind memory, uint64_t bytes,
	int64_t start_us, int64_t end_us)
{
	return (struct build_copied){kind, memory, bytes, start_us, end_us};
}

void launch(struct build *build, int64_t call_us, int64_t start_us, int64_t end_us)
{
	build_issued_kernel(build, issue("cudaLaunchKernel", call_us, call_us + 2), 0, start_us, end_us);
}

void read_back(struct build *build, int64_t call_us, int64_t start_us, int64_t end_us)
{
	build_issued_copy(build, issue("cudaMemcpyAsync", call_us, call_us + 2), 0,
		copied(KWHY_COPY_D2H, KWHY_MEMORY_PINNED, 1 << 20, start_us, end_us));
}
