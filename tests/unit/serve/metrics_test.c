/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/metrics.h"

#include "../live/made_snapshot.h"
#include "cmocka_all.h"
#include "serve/exposition.h"

#include <string.h>

/*
 * Returns the state of a keeper of accounts with four owners: a job whose name must be escaped, a pod, idle
 * time of GPU 0, and the host. Valid until the next call.
 */
static struct kwhy_keeper_state made_owners(void)
{
	static struct kwhy_store_meter meters[] = {{.key = "GPU-1", .name = "NVIDIA H200", .index = 0},
		{.key = "host:rapl.package-0", .name = "rapl.package-0", .is_host = true, .index = -1}};
	static struct kwhy_owner_account job[] = {{.meter = 0, .shown = {1234.5, 12.5, 200, 60, 45, 60}},
		{.meter = 1, .shown = {.energy_j = 55}}},
					 pod[] = {{.meter = 0, .shown = {700, 0, 0, 30, 30, 30}}},
					 idle[] = {{.meter = 0, .shown = {.energy_j = 80.25}}},
					 other[] = {{.meter = 0, .shown = {9, 0, 9, 1, 0, 1}}};
	static struct kwhy_owner_row rows[] = {
		{.owner = {.kind = KWHY_OWNER_OTHER}, .accounts = other, .account_count = 1},
		{.owner = {KWHY_OWNER_SLURM, "47\"11", "0", "", "a\\b"}, .accounts = job, .account_count = 2},
		{.owner = {KWHY_OWNER_KUBERNETES, "llama-0", "main", "research", "root"},
			.accounts = pod,
			.account_count = 1},
		{.owner = {.kind = KWHY_OWNER_IDLE}, .accounts = idle, .account_count = 1},
		{.owner = {.kind = KWHY_OWNER_USER, .name = "hidden"}},
		{.owner = {.kind = KWHY_OWNER_USER, .name = "gone"}},
	};

	for (int i = 0; i < 6; i++) {
		rows[i].is_there = i < 5;
		rows[i].is_labelled = i < 4;
	}
	return (struct kwhy_keeper_state){rows, 6, meters, 2, 3, NULL};
}

static void write_and_compare(enum kwhy_exposition_form form, const char *name)
{
	struct kwhy_keeper_state owners = made_owners();
	struct kwhy_text text = {0};

	kwhy_metrics_write(made_snapshot(), &owners, form, "1.2.3", &text);
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
	kwhy_metrics_write(made_snapshot_bare(), NULL, KWHY_EXPOSITION_PROMETHEUS, "1.2.3", &text);
	assert_null(strstr(text.data, "joules"));
	assert_null(strstr(text.data, "watts"));
	assert_null(strstr(text.data, "ratio"));
	assert_null(strstr(text.data, "process_start_time"));
	assert_null(strstr(text.data, "nan"));
	assert_non_null(strstr(text.data, "kwhy_device_lost{device=\"0\",name=\"a card\"} 0\n"));
	kwhy_text_done(&text);
}

/*
 * GPU 0 was divided into MIG instances while the server ran, and an instance of GPU 1 ended. Their figures
 * must be absent or marked.
 */
static void what_is_refused_or_divided_anew_is_not_available(void **state)
{
	const struct kwhy_live_device devices[] = {{.mig_index = -1, .division = KWHY_DIVISION_OTHER},
		{.index = 1, .mig_index = -1, .division = KWHY_DIVISION_WHOLE},
		{.index = 1, .mig_index = 0, .lost = true}};
	const struct kwhy_live_source sources[] = {
		{.name = "busy_permille", .device = &devices[0], .refused = true},
		{.name = "sm_clock_hz", .device = &devices[0]}};
	const struct kwhy_live_snapshot snapshot = {
		.devices = devices, .device_count = 3, .sources = sources, .source_count = 2};
	struct kwhy_text text = {0};

	(void)state;
	kwhy_metrics_write(&snapshot, NULL, KWHY_EXPOSITION_PROMETHEUS, "1.2.3", &text);
	assert_non_null(strstr(text.data, "{source=\"busy_permille\",device=\"0\"} 0\n"));
	assert_non_null(strstr(text.data, "{source=\"sm_clock_hz\",device=\"0\"} 1\n"));
	assert_non_null(strstr(text.data,
		"{source=\"nvml\",reason=\"GPU 0 was divided anew (MIG); restart kwhy to see its "
		"instances\"} 0\n"));
	assert_null(strstr(text.data, "GPU 1 was"));
	assert_non_null(strstr(text.data, "kwhy_device_lost{device=\"1:0\"} 1\n"));
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
		cmocka_unit_test(what_is_refused_or_divided_anew_is_not_available),
		cmocka_unit_test(a_label_that_is_no_utf8_becomes_one),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
