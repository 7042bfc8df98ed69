/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/savings.h"
#include "build.h"
#include "whatif/whatif.h"

#include <string.h>

static struct kwhy_error error;

enum { US = 1000, TIMES = 20 };

/*
 * Adds 20 kernels of 50 us with gaps of 20 us between them. After each launch the host waits for the kernel
 * (cudaDeviceSynchronize).
 */
static void add_waits_at(struct build *build, uint32_t device, int64_t from_us)
{
	for (int i = 0; i < TIMES; i++) {
		int64_t at = from_us + 70 * i;

		build_issued_kernel(build, (struct build_issue){device, "cudaLaunchKernel", at, at + 2},
			device, at + 10, at + 60);
		build_call(build, device, "cudaDeviceSynchronize", at + 3, at + 63);
	}
}

static void add_waits(struct build *build, uint32_t device)
{
	add_waits_at(build, device, 0);
}

/*
 * Adds two kernels that were queued together, from which kwhy measures a gap of 2 us between queued kernels.
 * Then adds 20 loops, each of eight kernels of 5 us, launched every 20 us, and a synchronisation.
 */
static void add_loops(struct build *build)
{
	build_issued_kernel(build, (struct build_issue){0, "cudaLaunchKernel", 0, 2}, 0, 10, 40);
	build_issued_kernel(build, (struct build_issue){0, "cudaLaunchKernel", 3, 5}, 0, 42, 72);
	build_call(build, 0, "cudaStreamSynchronize", 6, 80);
	for (int i = 0; i < TIMES; i++) {
		int64_t at = 200 * i + 100;

		for (int k = 0; k < 8; k++, at += 20)
			build_issued_kernel(build, (struct build_issue){0, "cudaLaunchKernel", at, at + 2}, 0,
				at + 10, at + 15);
		build_call(build, 0, "cudaStreamSynchronize", at, at + 3);
	}
}

/* Projects the savings of the findings if the recording and its ledger permit it. */
static void project(struct build *build, const struct kwhy_ledger *ledger, const struct kwhy_profile *profile)
{
	struct kwhy_whatif *whatif;

	if (!kwhy_savings_are_projected(build->recording, ledger))
		return;
	assert_int_equal(kwhy_whatif_new(build->recording, ledger, profile, &whatif, &error), KWHY_OK);
	assert_int_equal(kwhy_savings_project(whatif, build->findings, &error), KWHY_OK);
	kwhy_whatif_free(whatif);
}

static const struct kwhy_finding *find_with(
	struct build *build, const char *id, const struct kwhy_profile *profile)
{
	struct kwhy_detect_options options = kwhy_detect_options_default();

	assert_non_null(build_detect(build, id, &options));
	project(build, build->ledger, profile);
	for (size_t i = 0; i < build->findings->count; i++)
		if (strcmp(build->findings->items[i].id, id) == 0)
			return &build->findings->items[i];
	return NULL;
}

static const struct kwhy_finding *find(struct build *build, const char *id)
{
	return find_with(build, id, NULL);
}

static void a_finding_saves_what_its_cure_is_projected_to(void **state)
{
	struct build build = build_new(1);
	const struct kwhy_finding *finding;

	(void)state;
	add_waits(&build, 0);
	build_finish(&build, true);
	finding = find(&build, "sync-after-every-op");
	assert_non_null(finding);
	assert_int_equal(finding->saving.bound, KWHY_BOUND_EXPECTED);
	/* without the waits, the 19 gaps of 20 us become 1.2 us, the gap between queued kernels */
	assert_int_equal(finding->saving.time_ns, (TIMES - 1) * 18800);
	assert_int_equal(finding->saving.energy_nj, (TIMES - 1) * 18800 * 100);
	assert_non_null(strstr(finding->saving.assumption, "become events"));
	build_free(&build);
}

/*
 * With lost records a simulation would take the time of lost work for idle time. So savings are not
 * projected, and findings keep their upper bounds.
 */
static void where_rows_are_lost_findings_keep_their_bounds(void **state)
{
	struct build build = build_new(1);
	const struct kwhy_finding *finding;

	(void)state;
	add_waits(&build, 0);
	build.recording->lost.has_holes = true;
	build_finish(&build, true);
	finding = find(&build, "sync-after-every-op");
	assert_non_null(finding);
	assert_int_equal(finding->saving.bound, KWHY_BOUND_UPPER);
	assert_non_null(strstr(finding->saving.assumption, "rows are lost"));
	build_free(&build);
}

static void findings_of_several_devices_keep_their_bounds(void **state)
{
	struct build build = build_new(2);
	const struct kwhy_finding *finding;

	(void)state;
	add_waits(&build, 0);
	add_waits(&build, 1);
	build_finish(&build, false);
	finding = find(&build, "sync-after-every-op");
	assert_non_null(finding);
	assert_int_equal(finding->saving.bound, KWHY_BOUND_UPPER);
	build_free(&build);
}

/*
 * Checks that the saving of the finding equals that of a plan which consists of this one change. `profile`
 * may be NULL.
 */
static void assert_as_planned(const struct build *build, const struct kwhy_finding *finding,
	const char *change, const struct kwhy_profile *profile)
{
	struct kwhy_whatif_request change_request = {kwhy_whatif_change_find(change), 0};
	struct kwhy_whatif *whatif;
	struct kwhy_plan *plan;

	assert_int_equal(kwhy_whatif_new(build->recording, build->ledger, profile, &whatif, &error), KWHY_OK);
	assert_int_equal(kwhy_whatif_project(whatif, &change_request, 1, &plan, &error), KWHY_OK);
	assert_int_equal(plan->change_count, 1);
	assert_int_equal(finding->saving.time_ns, plan->changes[0].saved_ns);
	assert_int_equal(finding->saving.energy_nj, plan->changes[0].saved_nj);
	assert_int_equal(finding->saving.bound, plan->changes[0].bound);
	kwhy_plan_free(plan);
	kwhy_whatif_free(whatif);
}

static void a_finding_and_a_plan_state_one_bound(void **state)
{
	struct kwhy_profile profile;
	const struct kwhy_profile *const profiles[] = {NULL, &profile};

	(void)state;
	kwhy_profile_init(&profile);
	profile.graph_launch_s.value = 1e-6;
	for (size_t i = 0; i < 2; i++) {
		struct build build = build_new(1);
		const struct kwhy_finding *finding;

		add_loops(&build);
		build_finish(&build, true);
		finding = find_with(&build, "launch-bound", profiles[i]);
		assert_non_null(finding);
		assert_int_equal(finding->saving.bound, i ? KWHY_BOUND_EXPECTED : KWHY_BOUND_UPPER);
		assert_as_planned(&build, finding, "graph", profiles[i]);
		build_free(&build);
	}
}

static void chains_save_what_fusing_them_is_projected_to(void **state)
{
	struct build build = build_new(1);
	const struct kwhy_finding *finding;

	(void)state;
	add_loops(&build);
	build_finish(&build, true);
	finding = find(&build, "tiny-kernel-chains");
	assert_non_null(finding);
	assert_int_equal(finding->saving.bound, KWHY_BOUND_EXPECTED);
	assert_non_null(strstr(finding->saving.assumption, "become 20 kernels"));
	build_free(&build);
}

/*
 * The change saves 357.2 us (19 gaps of 20 us that become 1.2 us). The test sets the cost of the finding to
 * only 300 us, as if it counted fewer gaps; the finding must then explain the difference.
 */
static void what_a_cure_saves_beyond_the_cost_is_explained(void **state)
{
	struct kwhy_detect_options options = kwhy_detect_options_default();
	struct build build = build_new(1);
	struct kwhy_finding *finding;

	(void)state;
	add_waits(&build, 0);
	build_finish(&build, true);
	assert_non_null(build_detect(&build, "sync-after-every-op", &options));
	assert_int_equal(build.findings->count, 1);
	finding = &build.findings->items[0];
	finding->time_ns = 300 * US;
	project(&build, build.ledger, NULL);
	assert_int_equal(finding->saving.time_ns, 357200);
	assert_non_null(strstr(finding->saving.assumption, "shortens more than what is counted here"));
	build_free(&build);
}

/*
 * Of several findings with the same change, the one with the highest cost has the saving, and the others
 * refer to it.
 */
static void the_saving_of_one_change_counts_once(void **state)
{
	struct kwhy_detect_options options = kwhy_detect_options_default();
	struct build build = build_new(1);
	const struct kwhy_finding *owner;

	(void)state;
	add_loops(&build);
	build_finish(&build, true);
	assert_non_null(build_detect(&build, "launch-bound", &options));
	for (size_t i = 0; i < build.findings->count; i++)
		build.findings->items[i].change = "graph";
	project(&build, build.ledger, NULL);
	assert_true(build.findings->count > 1);
	owner = &build.findings->items[0];
	assert_null(owner->credited_to);
	assert_true(owner->saving.time_ns > 0);
	for (size_t i = 1; i < build.findings->count; i++) {
		const struct kwhy_finding *other = &build.findings->items[i];

		assert_true(owner->energy_nj >= other->energy_nj);
		assert_non_null(strstr(owner->saving.assumption, other->id));
		assert_string_equal(other->credited_to, owner->id);
		assert_int_equal(other->saving.time_ns, 0);
		assert_int_equal(other->saving.energy_nj, 0);
		assert_non_null(strstr(other->saving.assumption, "--graph"));
	}
	build_free(&build);
}

/*
 * The threshold is above the projected saving of the finding, 357.2 us, but below its cost: it must be
 * dropped.
 */
static void what_saves_too_little_is_no_finding(void **state)
{
	struct kwhy_detect_options options = kwhy_detect_options_default();
	struct build build = build_new(1);

	(void)state;
	add_waits(&build, 0);
	build_finish(&build, false);
	assert_non_null(build_detect(&build, "sync-after-every-op", &options));
	build.findings->items[0].least_ns = 357201;
	project(&build, NULL, NULL);
	assert_int_equal(build.findings->count, 0);
	build_free(&build);
}

static void counts_in_words_are_grouped_as_in_the_report(void **state)
{
	struct build build = build_new(1);
	const struct kwhy_finding *finding;

	(void)state;
	for (int i = 0; i < 60; i++)
		add_waits_at(&build, 0, 70 * TIMES * i);
	build_finish(&build, true);
	finding = find(&build, "sync-after-every-op");
	assert_non_null(finding);
	assert_non_null(strstr(finding->saving.assumption, "1,199 waits"));
	build_free(&build);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_finding_saves_what_its_cure_is_projected_to),
		cmocka_unit_test(a_finding_and_a_plan_state_one_bound),
		cmocka_unit_test(chains_save_what_fusing_them_is_projected_to),
		cmocka_unit_test(counts_in_words_are_grouped_as_in_the_report),
		cmocka_unit_test(the_saving_of_one_change_counts_once),
		cmocka_unit_test(what_a_cure_saves_beyond_the_cost_is_explained),
		cmocka_unit_test(what_saves_too_little_is_no_finding),
		cmocka_unit_test(where_rows_are_lost_findings_keep_their_bounds),
		cmocka_unit_test(findings_of_several_devices_keep_their_bounds),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
