/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/transfers/rows.h"

#include "bench/transfers/plan.h"
#include "cmocka_all.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char head[] = KWHY_BENCH_ROWS_MARK
	"\n# backend: host\n# device: A machine\n# driver: unknown\n# seed: 12\n# begun: 2026-01-02\n";

static struct kwhy_error error;

static enum kwhy_status read_text(const char *rows, bool add, struct kwhy_transfers *transfers)
{
	struct kwhy_text text = {0};
	enum kwhy_status status;

	kwhy_text_add(&text, head);
	kwhy_text_addf(&text, "%s\n%s", kwhy_bench_row_names, rows);
	status = kwhy_bench_rows_read("t.csv", &text, add, transfers, &error);
	kwhy_text_done(&text);
	return status;
}

static void samples_come_back_as_they_were_written(void **state)
{
	double samples[] = {1.25e-6, 3.5e-6};
	struct kwhy_transfer_moment moments[] = {{0.5, 3}, {0.75, NAN}};
	struct kwhy_transfer_point point = {.strategy = "packed",
		.direction = KWHY_TRANSFER_D2H,
		.clock = KWHY_TRANSFER_BY_HOST,
		.bytes = 4096,
		.pieces = 16,
		.samples_s = samples,
		.moments = moments,
		.sample_count = 2,
		.conditions = {41.5, 1.98e9, NAN, 120.25, 5},
		.link_bytes = 4288,
		.verified = true};
	struct kwhy_transfers *transfers = kwhy_transfers_new();
	struct kwhy_text rows = {0};

	(void)state;
	kwhy_bench_row_write(&point, 0, &rows);
	kwhy_bench_row_write(&point, 1, &rows);
	assert_int_equal(read_text(rows.data, true, transfers), KWHY_OK);
	assert_int_equal(transfers->point_count, 1);
	assert_string_equal(transfers->points[0].strategy, "packed");
	assert_int_equal(transfers->points[0].direction, KWHY_TRANSFER_D2H);
	assert_int_equal(transfers->points[0].sample_count, 2);
	assert_true(transfers->points[0].samples_s[1] == 3.5e-6);
	assert_true(transfers->points[0].moments[0].at_s == 0.5);
	assert_true(transfers->points[0].moments[0].cpu == 3);
	assert_true(isnan(transfers->points[0].moments[1].cpu));
	assert_true(transfers->points[0].conditions.power_w == 120.25);
	assert_true(isnan(transfers->points[0].conditions.memory_clock_hz));
	assert_int_equal(transfers->points[0].conditions.throttle_bits, 5);
	assert_true(transfers->points[0].verified);
	assert_true(transfers->points[0].summary.median_s == (1.25e-6 + 3.5e-6) / 2);
	kwhy_text_done(&rows);
	kwhy_transfers_free(transfers);
}

static void rows_of_earlier_versions_have_no_moments(void **state)
{
	struct kwhy_transfers *transfers = kwhy_transfers_new();

	(void)state;
	assert_int_equal(read_text("pinned,h2d,host,1,1,1e-6,1,1,,,,,0\n", true, transfers), KWHY_OK);
	assert_true(isnan(transfers->points[0].moments[0].at_s));
	assert_true(isnan(transfers->points[0].moments[0].cpu));
	kwhy_transfers_free(transfers);
}

static void settings_are_taken_over_and_unknown_ones_stay_unknown(void **state)
{
	struct kwhy_transfers *transfers = kwhy_transfers_new();

	(void)state;
	assert_int_equal(read_text("pinned,h2d,host,1,1,1e-6,1,1,,,,,0\n", true, transfers), KWHY_OK);
	assert_string_equal(transfers->backend, "host");
	assert_string_equal(transfers->device_name, "A machine");
	assert_null(transfers->driver);
	assert_int_equal(transfers->seed, 12);
	assert_string_equal(transfers->measured_on, "2026-01-02");
	kwhy_transfers_free(transfers);
}

static void wrong_rows_are_named_by_their_line(void **state)
{
	static const char *const rows[] = {
		"pinned,h2d,host,1,1,1e-6,1,1,,,,\n",
		"pinned,up,host,1,1,1e-6,1,1,,,,,0\n",
		"pinned,h2d,sun,1,1,1e-6,1,1,,,,,0\n",
		"pinned,h2d,host,1,0,1e-6,1,1,,,,,0\n",
		"pinned,h2d,host,3,4,1e-6,1,1,,,,,0\n",
		"pinned,h2d,host,1,1,-1e-6,1,1,,,,,0\n",
		"pinned,h2d,host,1,1,,1,1,,,,,0\n",
		"pinned,h2d,host,1,1,nan,1,1,,,,,0\n",
		",h2d,host,1,1,1e-6,1,1,,,,,0\n",
		"\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct kwhy_transfers *transfers = kwhy_transfers_new();

		assert_int_equal(read_text(rows[i], true, transfers), KWHY_E_INPUT);
		assert_non_null(strstr(error.text, "t.csv, line 8"));
		kwhy_transfers_free(transfers);
	}
}

static void a_point_that_was_not_planned_is_refused_when_carrying_on(void **state)
{
	struct kwhy_transfers *transfers = kwhy_transfers_new();

	(void)state;
	assert_int_equal(read_text("pinned,h2d,host,1,1,1e-6,1,1,,,,,0\n", false, transfers), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "do not measure"));
	kwhy_transfers_free(transfers);
}

static void another_file_is_no_file_of_samples(void **state)
{
	struct kwhy_transfers *transfers = kwhy_transfers_new();
	struct kwhy_text text = {0};

	(void)state;
	assert_int_equal(kwhy_bench_rows_read("t.csv", &text, true, transfers, &error), KWHY_E_INPUT);
	kwhy_text_add(&text, "time_ns,device\n1,2\n");
	assert_int_equal(kwhy_bench_rows_read("t.csv", &text, true, transfers, &error), KWHY_E_INPUT);
	kwhy_text_done(&text);
	kwhy_transfers_free(transfers);
}

static void more_samples_than_are_ever_taken_are_refused(void **state)
{
	struct kwhy_transfers *transfers = kwhy_transfers_new();
	struct kwhy_text rows = {0};

	(void)state;
	for (int i = 0; i <= KWHY_TRANSFER_SAMPLES_MAX; i++)
		kwhy_text_add(&rows, "pinned,h2d,host,1,1,1e-6,1,1,,,,,0\n");
	assert_int_equal(read_text(rows.data, true, transfers), KWHY_E_INPUT);
	kwhy_text_done(&rows);
	kwhy_transfers_free(transfers);
}

static void energies_come_back_as_they_were_written(void **state)
{
	const struct kwhy_transfer_energy energy = {.strategy = "pinned",
		.direction = KWHY_TRANSFER_BOTH,
		.bytes = 1 << 20,
		.pieces = 1,
		.transfers = 5000,
		.seconds = 2e-4,
		.gross_j = 0.03,
		.gross_low_j = 0.029,
		.gross_high_j = 0.031,
		.net_j = 0.01,
		.net_low_j = NAN,
		.net_high_j = NAN,
		.host_j = NAN,
		.host_low_j = NAN,
		.host_high_j = NAN};
	struct kwhy_transfers *transfers = kwhy_transfers_new();
	struct kwhy_text text = {0};

	(void)state;
	kwhy_text_addf(&text, "%s\n", kwhy_bench_energy_row_names);
	kwhy_bench_energy_row_write(&energy, &text);
	assert_int_equal(kwhy_bench_energy_rows_read("e.csv", &text, transfers, &error), KWHY_OK);
	assert_int_equal(transfers->energy_count, 1);
	assert_int_equal(transfers->energies[0].transfers, 5000);
	assert_true(transfers->energies[0].gross_high_j == 0.031);
	assert_true(isnan(transfers->energies[0].host_j));
	kwhy_text_done(&text);
	kwhy_transfers_free(transfers);
}

static void an_order_holds_every_point_once_and_follows_the_seed(void **state)
{
	size_t first[100], second[100], seen[100] = {0};
	uint64_t one = 5, again = 5, other = 6;

	(void)state;
	kwhy_bench_shuffle(first, 100, &one);
	kwhy_bench_shuffle(second, 100, &again);
	assert_memory_equal(first, second, sizeof(first));
	kwhy_bench_shuffle(second, 100, &other);
	assert_memory_not_equal(first, second, sizeof(first));
	for (size_t i = 0; i < 100; i++)
		seen[first[i]]++;
	for (size_t i = 0; i < 100; i++)
		assert_int_equal(seen[i], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_come_back_as_they_were_written),
		cmocka_unit_test(rows_of_earlier_versions_have_no_moments),
		cmocka_unit_test(settings_are_taken_over_and_unknown_ones_stay_unknown),
		cmocka_unit_test(wrong_rows_are_named_by_their_line),
		cmocka_unit_test(a_point_that_was_not_planned_is_refused_when_carrying_on),
		cmocka_unit_test(another_file_is_no_file_of_samples),
		cmocka_unit_test(more_samples_than_are_ever_taken_are_refused),
		cmocka_unit_test(energies_come_back_as_they_were_written),
		cmocka_unit_test(an_order_holds_every_point_once_and_follows_the_seed),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
