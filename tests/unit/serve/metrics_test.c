/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/metrics.h"

#include "../live/made_snapshot.h"
#include "cmocka_all.h"
#include "serve/exposition.h"

#include <string.h>

static void write_and_compare(enum kwhy_exposition_form form, const char *name)
{
	struct kwhy_text text = {0};

	kwhy_metrics_write(made_snapshot(), form, "1.2.3", &text);
	assert_false(text.failed);
	assert_same_as_golden(name, text.data);
	kwhy_text_done(&text);
}

static void the_prometheus_text_of_a_machine_is_as_before(void **state)
{
	(void)state;
	write_and_compare(KWHY_EXPOSITION_PROMETHEUS, "metrics.prometheus.golden");
}

static void the_openmetrics_text_of_a_machine_is_as_before(void **state)
{
	(void)state;
	write_and_compare(KWHY_EXPOSITION_OPENMETRICS, "metrics.openmetrics.golden");
}

static void what_is_unknown_has_no_series(void **state)
{
	struct kwhy_text text = {0};

	(void)state;
	kwhy_metrics_write(made_snapshot_bare(), KWHY_EXPOSITION_PROMETHEUS, "1.2.3", &text);
	assert_null(strstr(text.data, "joules"));
	assert_null(strstr(text.data, "watts"));
	assert_null(strstr(text.data, "ratio"));
	assert_null(strstr(text.data, "process_start_time"));
	assert_null(strstr(text.data, "nan"));
	assert_non_null(strstr(text.data, "kwhy_device_lost{device=\"0\",name=\"a card\"} 0\n"));
	kwhy_text_done(&text);
}

static void a_label_that_is_no_utf8_becomes_one(void **state)
{
	static const struct kwhy_family family = {.name = "a", .unit = "", .help = "b"};
	const struct kwhy_label labels[] = {{"path", "w\xff\"x\n\\.csv"}, {NULL, NULL}};
	struct kwhy_text text = {0};
	struct kwhy_exposition exposition = {.out = &text, .described = &family};

	(void)state;
	kwhy_exposition_add(&exposition, &family, labels, 1);
	assert_string_equal(text.data, "a{path=\"w\xef\xbf\xbd\\\"x \\\\.csv\"} 1\n");
	kwhy_text_done(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_prometheus_text_of_a_machine_is_as_before),
		cmocka_unit_test(the_openmetrics_text_of_a_machine_is_as_before),
		cmocka_unit_test(what_is_unknown_has_no_series),
		cmocka_unit_test(a_label_that_is_no_utf8_becomes_one),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
