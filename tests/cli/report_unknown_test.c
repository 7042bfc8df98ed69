/* SPDX-License-Identifier: Apache-2.0 */
/* Tests what reports of example recordings say of what is not known. */
#include "cmocka_all.h"
#include "spawned_checks.h"

#define EXAMPLES KWHY_SOURCE_DIR "/examples/"

/*
 * This recording has meter readings and no activities (--power-only). So there are no powers of activities to
 * compare with the energy counter, and the report must not say that these contradict each other. It must say
 * once, under "Not known", that nothing was recorded.
 */
static void without_activities_the_counter_contradicts_nothing(void **state)
{
	struct spawned screen = SPAWN("report", "-q", EXAMPLES "h100-counters/mixed-1.kwhy");
	struct spawned all = SPAWN("report", "-q", EXAMPLES "h100-counters/mixed-1.kwhy", "--section",
		"unknown", "--section", "method");

	(void)state;
	unwrap(screen.out.data);
	unwrap(all.out.data);
	assert_null(strstr(all.out.data, "readings give"));
	assert_null(strstr(all.out.data, "predict the counter"));
	assert_null(strstr(screen.out.data, "No activity of a device"));
	assert_non_null(strstr(screen.out.data,
		"Not known What the program ran on its devices is not recorded: --power-only was given. GPU "
		"0 "
		"left out"));
	spawned_done(&all);
	spawned_done(&screen);
}

/*
 * The recording has all four ranks, which share two devices. As there are fewer devices than ranks, the
 * report must not conclude that traces of ranks are missing.
 */
static void ranks_that_share_devices_are_not_missing(void **state)
{
	struct spawned all = SPAWN("report", "-q", EXAMPLES "recordings/ddp.kwhy", "--section", "unknown");

	(void)state;
	unwrap(all.out.data);
	assert_non_null(strstr(all.out.data, "4 ranks share 2 devices, so the time of collectives"));
	assert_null(strstr(all.out.data, "ranks were given"));
	spawned_done(&all);
}

/*
 * In this recording `kwhy probe` measured the powers of kernels that have most of the energy. The
 * intervals of their energies must be narrow, and the report must not advise to probe the program
 * again.
 */
static void a_well_probed_program_needs_no_probe(void **state)
{
	json_t *document = json_of(
		SPAWN("report", "-q", "--json", EXAMPLES "recordings/operators-probed.kwhy"));
	json_t *device = json_array_get(json_object_get(document, "devices"), 0), *account;
	struct spawned screen = SPAWN("report", "-q", EXAMPLES "recordings/operators-probed.kwhy");
	double known_nj = 0, all_nj = 0;
	size_t i;

	(void)state;
	json_array_foreach(json_object_get(device, "accounts"), i, account)
	{
		const char *category = json_string_value(json_object_get(account, "category"));
		const double gross_nj = number_in(account, NULL, "gross_nj");
		const double width_nj = number_in(account, NULL, "high_nj") -
			number_in(account, NULL, "low_nj");

		if (strcmp(category, "compute") != 0)
			continue;
		all_nj += gross_nj;
		known_nj += width_nj <= 0.1 * gross_nj ? gross_nj : 0;
	}
	assert_true(known_nj > 0.8 * all_nj);
	assert_null(strstr(screen.out.data, "is known within"));
	spawned_done(&screen);
	json_decref(document);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_activities_the_counter_contradicts_nothing),
		cmocka_unit_test(ranks_that_share_devices_are_not_missing),
		cmocka_unit_test(a_well_probed_program_needs_no_probe),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
