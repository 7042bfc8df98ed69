/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "property/time_plan.h"
#include "whatif/stretch.h"

#include <inttypes.h>
#include <stdlib.h>

/* Checks what must hold for plans of changes on any recording, on random ones. */

enum { CASES = 10000 };

static struct kwhy_error error;

static void must(enum kwhy_status status, uint64_t seed)
{
	if (status)
		fail_msg("seed %" PRIu64 ": %s", seed, error.text);
}

static void assert_bounds(const struct kwhy_projection *projection, uint64_t seed)
{
	if (projection->time_low_ns > projection->time_ns || projection->time_ns > projection->time_high_ns)
		fail_msg("seed %" PRIu64 ": %" PRId64 " is not between %" PRId64 " and %" PRId64, seed,
			projection->time_ns, projection->time_low_ns, projection->time_high_ns);
}

/*
 * Checks a stretch, the time interval by which a plan shows what it changes: each item is either an activity
 * or a call, items lie inside it and are sorted by start, and an item that the plan removes has no times
 * after the change.
 */
static void assert_stretch(const struct kwhy_stretch *stretch, uint64_t seed)
{
	for (size_t i = 0; stretch && i < stretch->item_count; i++) {
		const struct kwhy_stretch_item *item = &stretch->items[i];
		bool goes = item->after_start_ns == KWHY_UNKNOWN_TIME;

		if ((item->activity == KWHY_NONE) == (item->call == KWHY_NONE) || item->before_start_ns < 0 ||
			item->before_end_ns > stretch->before_ns ||
			item->before_start_ns > item->before_end_ns ||
			goes != (item->after_end_ns == KWHY_UNKNOWN_TIME) ||
			(!goes &&
				(item->after_start_ns < 0 || item->after_start_ns > item->after_end_ns ||
					item->after_end_ns > stretch->after_ns)) ||
			(i && item->before_start_ns < stretch->items[i - 1].before_start_ns))
			fail_msg("seed %" PRIu64 ": item %zu of the stretch", seed, i);
	}
}

static struct kwhy_profile cheap_graphs(void)
{
	struct kwhy_profile profile;

	kwhy_profile_init(&profile);
	profile.graph_launch_s.value = 2e-9;
	profile.graph_launch_node_s.value = 1e-9;
	profile.queued_kernel_s.value = 3e-9;
	profile.graph_node_s.value = 1e-9;
	return profile;
}

typedef void check_plan(struct kwhy_whatif *whatif, uint64_t seed);

/* Runs the check on random recordings. */
static void on_random_recordings(check_plan *check)
{
	struct kwhy_profile profile = cheap_graphs();

	for (uint64_t seed = 1; seed <= CASES; seed++) {
		struct plan rows = plan_make(seed);
		struct plan_variant whole = plan_whole();
		struct kwhy_recording *recording = plan_build(&rows, &whole);
		struct kwhy_whatif *whatif;

		must(kwhy_whatif_new(recording, NULL, &profile, &whatif, &error), seed);
		check(whatif, seed);
		kwhy_whatif_free(whatif);
		kwhy_recording_free(recording);
	}
}

static void check_bounds(struct kwhy_whatif *whatif, uint64_t seed)
{
	struct kwhy_plan *plan;

	must(kwhy_whatif_plan(whatif, 0, true, &plan, &error), seed);
	must(kwhy_whatif_add_stretch(whatif, plan, &error), seed);
	for (size_t i = 0; i < plan->change_count; i++) {
		assert_bounds(&plan->changes[i].after, seed);
		if (!plan->changes[i].places || plan->changes[i].saved_ns < 0)
			fail_msg("seed %" PRIu64 ": %s is in the plan", seed, plan->changes[i].id);
	}
	assert_stretch(plan->stretch, seed);
	kwhy_plan_free(plan);
}

static void times_of_a_plan_lie_within_its_bounds(void **state)
{
	(void)state;
	on_random_recordings(check_bounds);
}

/*
 * Lets kwhy choose a plan, then requests the same changes in the same order. Both must have the same effects.
 */
static void check_again(struct kwhy_whatif *whatif, uint64_t seed)
{
	struct kwhy_whatif_request change_requests[32];
	struct kwhy_plan *plan, *again;

	must(kwhy_whatif_plan(whatif, 0, true, &plan, &error), seed);
	assert_true(plan->change_count <= sizeof(change_requests) / sizeof(*change_requests));
	for (size_t i = 0; i < plan->change_count; i++)
		change_requests[i] = (struct kwhy_whatif_request){
			kwhy_whatif_change_find(plan->changes[i].id), plan->changes[i].number};
	must(kwhy_whatif_project(whatif, change_requests, plan->change_count, &again, &error), seed);
	assert_int_equal(again->change_count, plan->change_count);
	for (size_t i = 0; i < plan->change_count; i++)
		if (again->changes[i].after.time_ns != plan->changes[i].after.time_ns ||
			again->changes[i].places != plan->changes[i].places)
			fail_msg("seed %" PRIu64 ": %s gives %" PRId64 " in the plan and %" PRId64
				 " when asked for",
				seed, plan->changes[i].id, plan->changes[i].after.time_ns,
				again->changes[i].after.time_ns);
	kwhy_plan_free(plan);
	kwhy_plan_free(again);
}

static void a_plan_is_what_its_changes_come_to(void **state)
{
	(void)state;
	on_random_recordings(check_again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_of_a_plan_lie_within_its_bounds),
		cmocka_unit_test(a_plan_is_what_its_changes_come_to),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
