/* SPDX-License-Identifier: Apache-2.0 */
/* `kwhy record` of a run of kwhy-lab has the NVTX ranges of the workload `flow`. */
#include "spawned_checks.h"

#include <unistd.h>

static const json_t *range_of(const json_t *report, const char *name)
{
	const json_t *ranges = json_object_get(report, "ranges");
	size_t i;
	json_t *range;

	json_array_foreach(ranges, i,
		range) if (strcmp(json_string_value(json_object_get(range, "name")), name) == 0) return range;
	fail_msg("no range '%s'", name);
	return NULL;
}

/*
 * A warm-up run and a timed run of two steps each: four steps. Each step has one range `neuron`, one
 * `carrier` and two `memory operations`.
 */
static void components_of_flow_are_ranges(void **state)
{
	static char path[] = "kwhy-flow-XXXXXX";
	static const char *const words[] = {"record", "-q", "--one-file", "-o", path, "--", KWHY_LAB_PROGRAM,
		"flow", "--backend", "host", "--flows", "9", "--steps", "2", "--variant", "n2", "--repeat",
		"1", "--runs-only", "-q", "-o", "/dev/null", "--json", NULL};
	struct spawned spawned;
	json_t *report;
	int made = mkstemp(path);

	(void)state;
	assert_true(made >= 0);
	close(made);
	unlink(path);
	spawned = spawn_run(
		&(struct spawn){.words = words, .environment = "KWHY_INJECT=" KWHY_INJECT_LIBRARY});
	assert_int_equal(spawned.exit, 0);
	spawned_done(&spawned);
	report = json_of(SPAWN("report", path, "--json"));
	assert_true(number_in(range_of(report, "n2"), NULL, "count") == 2);
	assert_true(number_in(range_of(report, "neuron"), NULL, "count") == 4);
	assert_true(number_in(range_of(report, "carrier"), NULL, "count") == 4);
	assert_true(number_in(range_of(report, "memory operations"), NULL, "count") == 8);
	json_decref(report);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(components_of_flow_are_ranges)};

	return kwhy_test_main(tests, NULL, NULL);
}
