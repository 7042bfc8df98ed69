/* SPDX-License-Identifier: Apache-2.0 */
#include "build.h"
#include "whatif/findings.h"

#include <string.h>

static struct kwhy_error error;

enum { US = 1000, TIMES = 20 };

/* Kernels of 50 us, each waited for. */
static void add_waits(struct build *build, uint32_t device)
{
	for (int i = 0; i < TIMES; i++) {
		int64_t at = 70 * i;

		build_issued_kernel(build, (struct build_issue){device, "cudaLaunchKernel", at, at + 2},
			device, at + 10, at + 60);
		build_call(build, device, "cudaDeviceSynchronize", at + 3, at + 63);
	}
}

static const struct kwhy_finding *find(struct build *build)
{
	struct kwhy_detect_options options = kwhy_detect_options_default();

	assert_non_null(build_detect(build, "sync-after-every-op", &options));
	assert_int_equal(
		kwhy_whatif_project_findings(build->recording, build->ledger, NULL, build->findings, &error),
		KWHY_OK);
	for (size_t i = 0; i < build->findings->count; i++)
		if (strcmp(build->findings->items[i].id, "sync-after-every-op") == 0)
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
	finding = find(&build);
	assert_non_null(finding);
	assert_true(finding->saving.is_projected);
	/* queued, kernels follow each other by 1.2 us in place of 20 */
	assert_int_equal(finding->saving.time_ns, (TIMES - 1) * 18800);
	assert_int_equal(finding->saving.energy_nj, (TIMES - 1) * 18800 * 100);
	assert_non_null(strstr(finding->saving.assumption, "become events"));
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
	finding = find(&build);
	assert_non_null(finding);
	assert_false(finding->saving.is_projected);
	build_free(&build);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_finding_saves_what_its_cure_is_projected_to),
		cmocka_unit_test(findings_of_several_devices_keep_their_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
