/* SPDX-License-Identifier: Apache-2.0 */
#include "build.h"
#include "whatif/findings.h"
#include "whatif/whatif.h"

#include <string.h>

static struct kwhy_error error;

enum { US = 1000, TIMES = 20 };

/* Kernels of 50 us, each waited for. */
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

/* Loops of kernels of 5 us, launched every 20 us; each loop is waited for. Two queued kernels are 2 us apart.
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

static const struct kwhy_finding *find(struct build *build, const char *id)
{
	struct kwhy_detect_options options = kwhy_detect_options_default();

	assert_non_null(build_detect(build, id, &options));
	assert_int_equal(
		kwhy_whatif_project_findings(build->recording, build->ledger, NULL, build->findings, &error),
		KWHY_OK);
	for (size_t i = 0; i < build->findings->count; i++)
		if (strcmp(build->findings->items[i].id, id) == 0)
			return &build->findings->items[i];
	return NULL;
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
	assert_true(finding->saving.is_projected);
	/* queued, kernels follow each other by 1.2 us in place of 20 */
	assert_int_equal(finding->saving.time_ns, (TIMES - 1) * 18800);
	assert_int_equal(finding->saving.energy_nj, (TIMES - 1) * 18800 * 100);
	assert_non_null(strstr(finding->saving.assumption, "become events"));
	build_free(&build);
}

/* What is lost would be played as idle. */
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
	assert_false(finding->saving.is_projected);
	assert_non_null(strstr(finding->saving.assumption, "rows are lost"));
	build_free(&build);
}

/* Kernels of 20 and of 100 us in turn, each waited for: another run may differ by more than the waits cost.
 */
static void a_saving_ends_where_the_cost_does_even_of_unknown_interval(void **state)
{
	struct build build = build_new(1);
	const struct kwhy_finding *finding;

	(void)state;
	for (int i = 0; i < TIMES; i++) {
		int64_t at = 130 * i, length = i % 2 ? 100 : 20;

		build_issued_kernel(&build, (struct build_issue){0, "cudaLaunchKernel", at, at + 2}, 0,
			at + 10, at + 10 + length);
		build_call(&build, 0, "cudaDeviceSynchronize", at + 3, at + 13 + length);
	}
	build_finish(&build, true);
	build.ledger->devices[0].accounts[1].low_nj = KWHY_UNKNOWN_NJ; /* of idle time */
	build.ledger->devices[0].accounts[1].high_nj = KWHY_UNKNOWN_NJ;
	finding = find(&build, "sync-after-every-op");
	assert_non_null(finding);
	assert_true(finding->high_nj == KWHY_UNKNOWN_NJ);
	assert_true(finding->saving.energy_nj > 0);
	assert_true(finding->saving.energy_nj <= finding->energy_nj);
	assert_int_equal(finding->saving.high_nj, finding->energy_nj);
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
	assert_false(finding->saving.is_projected);
	build_free(&build);
}

/* Eight kernels a loop with nothing between them; the finding itself says that gaps of 15 us close to 2 us.
 */
static void a_cure_of_unknown_cost_gives_a_bound_that_no_cost_can_pass(void **state)
{
	struct kwhy_profile profile;
	struct kwhy_whatif_ask ask = {kwhy_whatif_change_find("graph"), 0};
	struct build build = build_new(1);
	const struct kwhy_finding *finding;
	struct kwhy_whatif *whatif;
	struct kwhy_plan *plan;

	(void)state;
	kwhy_profile_init(&profile);
	profile.graph_launch_s.value = 1e-6;
	add_loops(&build);
	build_finish(&build, true);
	finding = find(&build, "launch-bound");
	assert_non_null(finding);
	assert_false(finding->saving.is_projected);
	assert_non_null(strstr(finding->saving.assumption, "not known"));
	assert_int_equal(kwhy_whatif_new(build.recording, build.ledger, &profile, &whatif, &error), KWHY_OK);
	assert_int_equal(kwhy_whatif_project(whatif, &ask, 1, &plan, &error), KWHY_OK);
	assert_int_equal(plan->change_count, 1);
	assert_true(finding->saving.time_ns >= plan->changes[0].saved_ns);
	kwhy_plan_free(plan);
	kwhy_whatif_free(whatif);
	build_free(&build);
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
	assert_true(finding->saving.is_projected);
	assert_non_null(strstr(finding->saving.assumption, "become 20 kernels"));
	build_free(&build);
}

/* The cure reaches places, too, that the finding does not count: of 357.2 us it saves 300 here. */
static void a_finding_saves_no_more_than_it_costs(void **state)
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
	finding->energy_nj = finding->high_nj = 300 * US * 100;
	finding->low_nj = 280 * US * 100;
	assert_int_equal(
		kwhy_whatif_project_findings(build.recording, build.ledger, NULL, build.findings, &error),
		KWHY_OK);
	assert_int_equal(finding->saving.time_ns, 300 * US);
	assert_int_equal(finding->saving.energy_nj, 300 * US * 100);
	assert_int_equal(finding->saving.low_nj, finding->low_nj);
	assert_int_equal(finding->saving.high_nj, finding->energy_nj);
	assert_non_null(strstr(finding->saving.assumption, "takes 357 \xc2\xb5s off"));
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
		cmocka_unit_test(a_cure_of_unknown_cost_gives_a_bound_that_no_cost_can_pass),
		cmocka_unit_test(chains_save_what_fusing_them_is_projected_to),
		cmocka_unit_test(a_saving_ends_where_the_cost_does_even_of_unknown_interval),
		cmocka_unit_test(counts_in_words_are_grouped_as_in_the_report),
		cmocka_unit_test(a_finding_saves_no_more_than_it_costs),
		cmocka_unit_test(where_rows_are_lost_findings_keep_their_bounds),
		cmocka_unit_test(findings_of_several_devices_keep_their_bounds),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
