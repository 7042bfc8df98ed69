/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "cupti_pm_layout.h"
#include "vendor/cupti_pm_abi.h"

#define S(ours, last, theirs) {#ours, KWHY_CUPTI_PM_BYTES(kwhy_cupti_pm_##ours, last)},
#define M(ours, theirs, our_member, their_member) \
	{#ours "." #our_member, offsetof(struct kwhy_cupti_pm_##ours, our_member)},
#define C(ours, theirs) {#ours, (size_t)(ours)},

static void arguments_and_numbers_of_pm_sampling_are_those_of_the_toolkit(void **state)
{
	(void)state;
#ifdef KWHY_HAVE_CUPTI_PM_H
	static const struct cupti_pm_layout_row ours[] = {CUPTI_PM_LAYOUT(S, M, C)};
	const struct cupti_pm_layout_row *theirs = cupti_pm_layout_of_toolkit();

	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		if (ours[i].value != theirs[i].value)
			fail_msg("%s is %zu, %s is %zu", ours[i].what, ours[i].value, theirs[i].what,
				theirs[i].value);
#else
	kwhy_skip("no cupti_pmsampling.h here");
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arguments_and_numbers_of_pm_sampling_are_those_of_the_toolkit),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
