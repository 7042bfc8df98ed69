/* SPDX-License-Identifier: Apache-2.0 */
#include "build.h"
#include "whatif/whatif.h"

#include <string.h>

/*
 * Counts calls of kwhy_whatif_play(), which simulates the graph. The first evaluation of a change takes
 * three: with expected, fast and slow costs (kwhy_whatif_corner). A repeated evaluation of the same change
 * must take none.
 */

static struct kwhy_error error;
static size_t plays;

enum kwhy_status __real_kwhy_whatif_play(struct kwhy_whatif_graph *graph, struct kwhy_error *out);
enum kwhy_status __wrap_kwhy_whatif_play(struct kwhy_whatif_graph *graph, struct kwhy_error *out);

enum kwhy_status __wrap_kwhy_whatif_play(struct kwhy_whatif_graph *graph, struct kwhy_error *out)
{
	plays++;
	return __real_kwhy_whatif_play(graph, out);
}

/* Makes a recording of twenty kernels, for each of which the host waits. Returns its projection. */
static struct kwhy_whatif *make(struct build *build)
{
	struct kwhy_whatif *whatif;

	*build = build_new(1);
	for (int i = 0; i < 20; i++) {
		int64_t at = 70 * i;

		build_issued_kernel(
			build, (struct build_issue){0, "cudaLaunchKernel", at, at + 2}, 0, at + 10, at + 60);
		build_call(build, 0, "cudaDeviceSynchronize", at + 3, at + 63);
	}
	build_finish(build, true);
	assert_int_equal(kwhy_whatif_new(build->recording, build->ledger, NULL, &whatif, &error), KWHY_OK);
	return whatif;
}

static struct kwhy_plan *project(struct kwhy_whatif *whatif, const char *id)
{
	struct kwhy_whatif_request change_request = {kwhy_whatif_change_find(id), 0};
	struct kwhy_plan *plan;

	plays = 0;
	assert_int_equal(kwhy_whatif_project(whatif, &change_request, 1, &plan, &error), KWHY_OK);
	return plan;
}

static void a_change_alone_is_played_once(void **state)
{
	struct build build;
	struct kwhy_whatif *whatif = make(&build);
	struct kwhy_plan *first = project(whatif, "event-waits"), *again;

	(void)state;
	assert_int_equal(plays, 3);
	assert_int_equal(first->change_count, 1);
	again = project(whatif, "event-waits");
	assert_int_equal(plays, 0);
	assert_int_equal(again->change_count, 1);
	assert_memory_equal(
		&again->changes[0].after, &first->changes[0].after, sizeof(first->changes[0].after));
	assert_string_equal(again->changes[0].assumption, first->changes[0].assumption);
	kwhy_plan_free(first);
	kwhy_plan_free(again);
	kwhy_whatif_free(whatif);
	build_free(&build);
}

static void a_refusal_is_remembered(void **state)
{
	struct build build;
	struct kwhy_whatif *whatif = make(&build);
	struct kwhy_plan *first = project(whatif, "pinned"), *again = project(whatif, "pinned");

	(void)state;
	assert_int_equal(plays, 0);
	assert_int_equal(first->refused_count, 1);
	assert_int_equal(again->refused_count, 1);
	assert_string_equal(again->refused[0].reason, first->refused[0].reason);
	kwhy_plan_free(first);
	kwhy_plan_free(again);
	kwhy_whatif_free(whatif);
	build_free(&build);
}

static struct kwhy_plan *plan(struct kwhy_whatif *whatif, size_t *out_plays)
{
	struct kwhy_plan *made;

	plays = 0;
	assert_int_equal(kwhy_whatif_plan(whatif, 0.01, false, &made, &error), KWHY_OK);
	*out_plays = plays;
	return made;
}

/*
 * A plan needs to know what each change saves alone. Where that is known from an earlier plan, it must not be
 * simulated again.
 */
static void a_plan_plays_no_change_alone_that_was_played(void **state)
{
	struct build build;
	struct kwhy_whatif *whatif = make(&build);
	size_t fresh, after;
	struct kwhy_plan *first = plan(whatif, &fresh), *again = plan(whatif, &after), *alone;

	(void)state;
	assert_true(first->change_count > 0);
	assert_true(after < fresh);
	assert_int_equal(again->change_count, first->change_count);
	assert_memory_equal(kwhy_plan_after(again), kwhy_plan_after(first), sizeof(first->before));
	alone = project(whatif, first->changes[0].id);
	assert_int_equal(plays, 2);
	kwhy_plan_free(alone);
	kwhy_plan_free(first);
	kwhy_plan_free(again);
	kwhy_whatif_free(whatif);
	build_free(&build);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_change_alone_is_played_once),
		cmocka_unit_test(a_refusal_is_remembered),
		cmocka_unit_test(a_plan_plays_no_change_alone_that_was_played),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
