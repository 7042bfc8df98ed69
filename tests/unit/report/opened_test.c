/* SPDX-License-Identifier: Apache-2.0 */
#include "report/opened.h"

#include "cmocka_all.h"

enum { DEVICES = 12 };

/* A report of up to 12 devices, made by make(). Device d is busy for (12 - d)/20 of the run. */
struct made {
	struct kwhy_device_ledger devices[DEVICES];
	struct kwhy_ledger ledger;
	struct kwhy_finding finding;
	struct kwhy_findings findings;
	struct kwhy_report report;
	struct kwhy_error error;
};

static void make(struct made *made, size_t count)
{
	*made = (struct made){.ledger = {.devices = made->devices, .device_count = count}};
	for (size_t d = 0; d < count; d++)
		made->devices[d].time = (struct kwhy_device_time){
			.span_ns = 20, .busy_ns = (int64_t)(DEVICES - d), .kernel_count = 1};
	made->finding = (struct kwhy_finding){
		.id = "launch-bound", .device = 3, .time_ns = 5, .saving = {.time_ns = 5}};
	made->findings = (struct kwhy_findings){.items = &made->finding, .count = 1};
	made->report.ledger = &made->ledger;
}

static size_t count_opened(const struct kwhy_opened *opened, size_t count)
{
	size_t sum = 0;

	for (size_t d = 0; d < count; d++)
		sum += opened->devices[d];
	return sum;
}

static void few_devices_are_all_opened(void **state)
{
	struct kwhy_opened opened;
	struct made made;

	(void)state;
	make(&made, KWHY_OPENED_MAX);
	assert_int_equal(kwhy_opened_init(&opened, &made.report, &made.error), KWHY_OK);
	assert_false(kwhy_opened_is_part(&opened));
	assert_int_equal(count_opened(&opened, KWHY_OPENED_MAX), KWHY_OPENED_MAX);
	kwhy_opened_done(&opened);
}

static void of_many_the_least_busy_and_the_median_are_opened(void **state)
{
	struct kwhy_opened opened;
	struct made made;

	(void)state;
	make(&made, DEVICES);
	assert_int_equal(kwhy_opened_init(&opened, &made.report, &made.error), KWHY_OK);
	assert_true(kwhy_opened_is_part(&opened));
	assert_int_equal(opened.worst, DEVICES - 1);
	assert_int_equal(opened.median, DEVICES / 2 - 1);
	assert_int_equal(count_opened(&opened, DEVICES), 2);
	kwhy_opened_done(&opened);
}

static void the_device_that_the_first_advice_names_is_the_worst(void **state)
{
	struct kwhy_opened opened;
	struct made made;

	(void)state;
	make(&made, DEVICES);
	made.report.findings = &made.findings;
	assert_int_equal(kwhy_opened_init(&opened, &made.report, &made.error), KWHY_OK);
	assert_int_equal(opened.worst, 3);
	assert_int_not_equal(opened.median, 3);
	assert_true(opened.devices[3]);
	kwhy_opened_done(&opened);
}

static void devices_that_did_nothing_are_not_opened(void **state)
{
	struct kwhy_opened opened;
	struct made made;

	(void)state;
	make(&made, DEVICES);
	for (size_t d = 1; d < DEVICES; d++)
		made.devices[d].time = (struct kwhy_device_time){0};
	assert_int_equal(kwhy_opened_init(&opened, &made.report, &made.error), KWHY_OK);
	assert_int_equal(opened.worst, 0);
	assert_int_equal(opened.median, 0);
	assert_int_equal(count_opened(&opened, DEVICES), 1);
	kwhy_opened_done(&opened);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_devices_are_all_opened),
		cmocka_unit_test(of_many_the_least_busy_and_the_median_are_opened),
		cmocka_unit_test(the_device_that_the_first_advice_names_is_the_worst),
		cmocka_unit_test(devices_that_did_nothing_are_not_opened),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
