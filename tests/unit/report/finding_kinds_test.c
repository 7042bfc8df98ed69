/* SPDX-License-Identifier: Apache-2.0 */
#include "report/finding_kinds.h"

#include "cmocka_all.h"

#include <string.h>

/* Checks which of the findings' kinds would save something: their ids, in order. Each finding is a kind of
 * its own. */
static void assert_worth(struct kwhy_finding *findings, size_t count, const char *const *ids, size_t id_count)
{
	const struct kwhy_findings all = {.items = findings, .count = count};
	struct kwhy_finding_kinds kinds;
	struct kwhy_error error;

	assert_int_equal(kwhy_finding_kinds_init(&kinds, &all, &error), KWHY_OK);
	assert_int_equal(kinds.count, count);
	assert_int_equal(kinds.worth_count, id_count);
	for (size_t i = 0; i < id_count; i++)
		assert_string_equal(kinds.items[i].worst->id, ids[i]);
	kwhy_finding_kinds_done(&kinds);
}

static void a_leading_kind_that_saves_nothing_hides_no_other(void **state)
{
	struct kwhy_finding findings[] = {
		{.id = "straggler", .leads = true},
		{.id = "small", .saving = {1, 10}},
		{.id = "large", .saving = {2, 20}},
	};
	static const char *const ids[] = {"large", "small"};
	static const char *const led[] = {"straggler", "large", "small"};

	(void)state;
	assert_worth(findings, 3, ids, 2);
	findings[0].saving.time_ns = 1;
	assert_worth(findings, 3, led, 3);
}

/* One energy is unknown, so the kinds are sorted by time. */
static void a_kind_that_saves_energy_alone_comes_before_those_that_save_nothing(void **state)
{
	struct kwhy_finding findings[] = {
		{.id = "a", .saving = {0, 0}},
		{.id = "b", .saving = {0, 10}},
		{.id = "c", .saving = {5, KWHY_UNKNOWN_NJ}},
	};
	static const char *const ids[] = {"c", "b"};

	(void)state;
	assert_worth(findings, 3, ids, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_leading_kind_that_saves_nothing_hides_no_other),
		cmocka_unit_test(a_kind_that_saves_energy_alone_comes_before_those_that_save_nothing),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
