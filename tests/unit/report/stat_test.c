/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "report/compare/stat.h"
#include "report/stat.h"
#include "report/stat/columns.h"

#include <math.h>
#include <string.h>

static struct kwhy_error error;

/*
 * A result of two runs of 1 s on one GPU, of 100 J and 110 J, with 50 tokens each. The GPU idles at 20 W
 * without a context and at 50 W with one.
 */
struct example {
	struct kwhy_stat stat;
	struct kwhy_stat_domain domain;
	struct kwhy_stat_run runs[2];
	struct kwhy_stat_energy energies[2];
	struct kwhy_stat_work work;
	struct kwhy_stat_metric metric;
	struct kwhy_stat_point points[4];
	double counts[2];
};

static void make(struct example *e)
{
	*e = (struct example){
		.domain = {.kind = KWHY_STAT_DEVICE,
			.name = "gpu 0",
			.device = "NVIDIA H200",
			.idle = {.watts = 20, .low_w = 20, .high_w = 20, .processes = 0},
			.clean_idle_w = 20,
			.context_idle_w = 50,
			.profile = "h200.json",
			.in_total = true},
		.energies = {{.joules = 100,
				     .low_j = 98,
				     .high_j = 102,
				     .mean_w = 100,
				     .peak_w = 120,
				     .basis = "counter+power"},
			{.joules = 110,
				.low_j = 107.8,
				.high_j = 112.2,
				.mean_w = 110,
				.peak_w = 150,
				.basis = "counter+power"}},
		.work = {.unit = "tokens", .pattern = "x"},
		.points = {{0, 0.1, 10, 4}, {0, 0.5, 50, 2}, {1, 0.1, 11, 4}, {1, 0.6, 66, 2}},
		.counts = {50, 50},
	};
	for (size_t r = 0; r < 2; r++)
		e->runs[r] = (struct kwhy_stat_run){.counted = true,
			.seconds = 1,
			.user_s = 0.5,
			.max_rss_bytes = 1e6,
			.energies = &e->energies[r],
			.work = &e->counts[r]};
	e->metric = (struct kwhy_stat_metric){
		.name = "loss", .pattern = "l=(.)", .points = e->points, .count = 4};
	e->stat = (struct kwhy_stat){.command = "train \xff",
		.wanted_runs = 2,
		.idle_s = 3,
		.interval_s = NAN,
		.domains = &e->domain,
		.runs = e->runs,
		.work = &e->work,
		.metrics = &e->metric,
		.domain_count = 1,
		.run_count = 2,
		.work_count = 1,
		.metric_count = 1,
		.cost = {.drift_ratio = NAN}};
}

static void assert_close(double value, double expected)
{
	if (!(fabs(value - expected) < 1e-6 * fabs(expected)))
		fail_msg("%.12g is not %.12g", value, expected);
}

/* Returns the figure in column `key` of the first domain and the first unit of work. */
static struct kwhy_stat_figure figure_of(const struct kwhy_stat *stat,
	const struct kwhy_stat_summary *summary, const struct kwhy_columns *columns, const char *key)
{
	const struct kwhy_stat_row row = kwhy_stat_row_of(stat, summary, 0, 0);

	for (size_t i = 0; i < columns->count; i++)
		if (columns->items[i].key && strcmp(columns->items[i].key, key) == 0)
			return kwhy_column_value(&columns->items[i], &row).figure;
	fail_msg("no column '%s'", key);
	return (struct kwhy_stat_figure){.basis = KWHY_STAT_BY_NONE};
}

static void means_over_runs_have_the_interval_of_their_scatter(void **state)
{
	struct example e;
	struct kwhy_stat_summary summary;

	(void)state;
	make(&e);
	assert_int_equal(kwhy_stat_summary_make(&e.stat, &summary, &error), KWHY_OK);
	assert_close(summary.domains[0].energy_j.estimate.mean, 105);
	assert_close(summary.domains[0].energy_j.estimate.high, 105 + 12.706204736 * sqrt(50) / sqrt(2));
	assert_int_equal(summary.domains[0].energy_j.basis, KWHY_STAT_BY_RUNS);
	assert_close(figure_of(&e.stat, &summary, &kwhy_stat_domain_columns, "net_j").estimate.mean, 85);
	assert_close(summary.domains[0].context_j, 30);
	assert_close(summary.domains[0].peak_w, 150);
	assert_close(summary.domains[0].meter_half_ratio, 0.02);
	assert_close(
		figure_of(&e.stat, &summary, &kwhy_stat_work_domain_columns, "joules_per_unit").estimate.mean,
		2.1);
	assert_close(
		figure_of(&e.stat, &summary, &kwhy_stat_work_domain_columns, "units_per_joule").estimate.mean,
		100 / 210.0);
	/* t(0.975, n - 1) x 7.07 J / sqrt(n) is at most 10.5 J, 10 % of the mean, from n = 5 runs on */
	assert_int_equal(summary.domains[0].runs_needed, 5);
	kwhy_stat_summary_done(&summary);
}

/*
 * 50 tokens took 100 J, and 200 tokens 110 J. A third run, of 900 J, stated no tokens, so it must not count
 * in J/token and tokens/s.
 */
static void a_ratio_is_of_the_sums_of_the_runs_that_have_both(void **state)
{
	struct example e;
	struct kwhy_stat_run runs[3];
	struct kwhy_stat_energy third = {.joules = 900, .low_j = 899, .high_j = 901, .basis = "counter"};
	double unreported = NAN;
	struct kwhy_stat_summary summary;
	struct kwhy_stat_figure joules;

	(void)state;
	make(&e);
	e.counts[1] = 200;
	memcpy(runs, e.runs, sizeof(e.runs));
	runs[2] = (struct kwhy_stat_run){
		.counted = true, .seconds = 3, .energies = &third, .work = &unreported};
	e.stat.runs = runs;
	e.stat.run_count = 3;
	assert_int_equal(kwhy_stat_summary_make(&e.stat, &summary, &error), KWHY_OK);
	joules = figure_of(&e.stat, &summary, &kwhy_stat_work_domain_columns, "joules_per_unit");
	assert_close(joules.estimate.mean, 210 / 250.0);
	assert_int_equal(joules.estimate.count, 2);
	assert_true(joules.estimate.low > 0);
	assert_close(
		figure_of(&e.stat, &summary, &kwhy_stat_work_domain_columns, "units_per_joule").estimate.mean,
		250 / 210.0);
	assert_close(figure_of(&e.stat, &summary, &kwhy_stat_work_columns, "per_s").estimate.mean, 125);
	assert_close(
		figure_of(&e.stat, &summary, &kwhy_stat_domain_columns, "mean_w").estimate.mean, 1110 / 5.0);
	kwhy_stat_summary_done(&summary);
}

/*
 * The ends of the interval are not equally far from the ratio of J to tokens, so the text must show both
 * distances.
 */
static void a_wide_interval_of_a_ratio_tells_both_sides(void **state)
{
	struct kwhy_text_style style = {.columns = 80};
	struct kwhy_text text = {0};
	struct example e;

	(void)state;
	make(&e);
	e.counts[1] = 60;
	assert_int_equal(kwhy_stat_text(&e.stat, &style, &text, &error), KWHY_OK);
	assert_non_null(strstr(text.data, "-42 +73 %"));
	kwhy_text_done(&text);
}

static void a_single_run_has_its_meters_interval(void **state)
{
	struct example e;
	struct kwhy_stat_summary summary;

	(void)state;
	make(&e);
	e.runs[1].counted = false;
	assert_int_equal(kwhy_stat_summary_make(&e.stat, &summary, &error), KWHY_OK);
	assert_int_equal(summary.domains[0].energy_j.basis, KWHY_STAT_BY_METER);
	assert_close(summary.domains[0].energy_j.estimate.low, 98);
	assert_close(
		figure_of(&e.stat, &summary, &kwhy_stat_work_domain_columns, "units_per_joule").estimate.low,
		50 / 102.0);
	assert_close(
		figure_of(&e.stat, &summary, &kwhy_stat_work_domain_columns, "units_per_joule").estimate.high,
		50 / 98.0);
	assert_int_equal(
		figure_of(&e.stat, &summary, &kwhy_stat_time_columns, "elapsed_s").basis, KWHY_STAT_BY_NONE);
	assert_int_equal(summary.domains[0].runs_needed, 0);
	assert_int_equal(summary.note_count, 1);
	assert_non_null(strstr(summary.notes[0], "no part of the means"));
	kwhy_stat_summary_done(&summary);
}

static void what_is_unknown_stays_unknown_and_says_why(void **state)
{
	struct example e;
	struct kwhy_stat_summary summary;
	struct kwhy_text text = {0};
	struct kwhy_text_style style = {.columns = 80};

	(void)state;
	make(&e);
	for (size_t r = 0; r < 2; r++)
		e.energies[r] = (struct kwhy_stat_energy){
			NAN, NAN, NAN, NAN, NAN, NULL, "the meter went away"};
	assert_int_equal(kwhy_stat_summary_make(&e.stat, &summary, &error), KWHY_OK);
	assert_true(isnan(summary.domains[0].energy_j.estimate.mean));
	assert_true(isnan(summary.domains[0].context_j));
	assert_true(isnan(figure_of(&e.stat, &summary, &kwhy_stat_work_domain_columns, "joules_per_unit")
				  .estimate.mean));
	kwhy_stat_summary_done(&summary);
	assert_int_equal(kwhy_stat_text(&e.stat, &style, &text, &error), KWHY_OK);
	assert_non_null(strstr(text.data, "n/a"));
	assert_non_null(strstr(text.data, "the meter went away"));
	assert_null(strstr(text.data, "nan"));
	kwhy_text_clear(&text);
	assert_int_equal(kwhy_stat_json(&e.stat, &text, &error), KWHY_OK);
	assert_null(strstr(text.data, "nan"));
	kwhy_text_done(&text);
}

/*
 * The host is metered by a sensor of the board. The CPU's RAPL counter lacks only permission, which the text
 * must say; that hwmon has no sensor need not be said.
 */
static void a_refused_cpu_counter_is_told_beside_another_host_meter(void **state)
{
	struct kwhy_stat_absence absences[] = {
		{.backend = "rapl", .text = "for root alone", .is_refused = true},
		{.backend = "hwmon", .text = "no sensor"}};
	struct kwhy_text_style style = {.columns = 80};
	struct kwhy_text text = {0};
	struct example e;

	(void)state;
	make(&e);
	e.domain.kind = KWHY_STAT_HOST;
	e.stat.absences = absences;
	e.stat.absence_count = 2;
	e.stat.cost.running_s = 2;
	assert_int_equal(kwhy_stat_text(&e.stat, &style, &text, &error), KWHY_OK);
	assert_non_null(strstr(text.data, "rapl: for root alone"));
	assert_null(strstr(text.data, "no sensor"));
	assert_non_null(strstr(text.data, "its joules: not available"));
	e.domain.is_package = true;
	e.stat.cost.cpu_s = 0.01;
	e.stat.cost.busy_s = 1; /* 1 % (cpu_s / busy_s) of 210 J less 2 s x 20 W idle */
	kwhy_text_clear(&text);
	assert_int_equal(kwhy_stat_text(&e.stat, &style, &text, &error), KWHY_OK);
	assert_non_null(strstr(text.data, "1.7 J (modelled)"));
	kwhy_text_done(&text);
}

static void doubtful_runs_are_noted(void **state)
{
	struct example e;
	struct kwhy_stat_summary summary;
	struct kwhy_text all = {0};
	static const char *const said[] = {"2 of 5 runs", "lived on after its end (1 of 2 runs)",
		"counter was reset", "stood still", "left the counter's course", "2 processes held it",
		"7 matches or lines held no number", "3 values beyond", "9 readings were overwritten",
		"refused 4 readings", "2.0 % of a core", "clock was set by 3 s",
		"whose 2 MIG instances share it", "made whole (MIG) meanwhile",
		"line 41: no reading of a wall meter"};

	(void)state;
	make(&e);
	e.stat.wanted_runs = 5;
	e.runs[0].left_running = true;
	e.domain.counter_reset = e.domain.counter_stuck = e.domain.counter_misread = true;
	e.domain.idle.processes = 2;
	e.domain.instances = 2;
	e.domain.divided_anew = true;
	e.domain.bad_line = 41;
	e.work.unreadable = 7;
	e.metric.dropped = 3;
	e.stat.cost = (struct kwhy_stat_cost){
		.running_s = 1, .cpu_s = 0.02, .lost = 9, .failures = 4, .step_s = 3, .drift_ratio = NAN};
	assert_int_equal(kwhy_stat_summary_make(&e.stat, &summary, &error), KWHY_OK);
	for (size_t i = 0; i < summary.note_count; i++)
		kwhy_text_addf(&all, "%s\n", summary.notes[i]);
	for (size_t i = 0; i < sizeof(said) / sizeof(*said); i++)
		if (!strstr(all.data, said[i]))
			fail_msg("no '%s' in '%s'", said[i], all.data);
	kwhy_text_done(&all);
	kwhy_stat_summary_done(&summary);
}

/*
 * Two results are written as JSON, read back and compared. The runs of b use half the energy of a's, and the
 * second one 5 J less than that: 50 J and 50 J instead of 100 J and 110 J.
 */
static void a_result_is_compared_with_another(void **state)
{
	struct example a, b;
	struct kwhy_text texts[2] = {{0}};
	struct kwhy_read_stat read[2];
	struct kwhy_stat_comparison comparison;

	(void)state;
	make(&a);
	make(&b);
	for (size_t r = 0; r < 2; r++)
		b.energies[r].joules = a.energies[r].joules / 2 + (double)r * -5;
	for (size_t i = 0; i < 4; i++)
		b.points[i].joules /= 2;
	b.points[1].value = b.points[3].value = 1;
	assert_int_equal(kwhy_stat_json(&a.stat, &texts[0], &error), KWHY_OK);
	assert_int_equal(kwhy_stat_json(&b.stat, &texts[1], &error), KWHY_OK);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(
			kwhy_read_stat_of(&read[i], "a.json", texts[i].data, texts[i].length, &error),
			KWHY_OK);
	assert_int_equal(kwhy_compare_stat(&comparison, &read[0], &read[1], &error), KWHY_OK);
	assert_string_equal(comparison.changes[3].name, "energy");
	assert_string_equal(comparison.changes[3].of, "gpu 0");
	assert_close(comparison.changes[3].difference.change, -55);
	assert_true(comparison.changes[3].difference.low < -55);
	assert_int_equal(comparison.curve_count, 1);
	assert_int_equal(comparison.curves[0].level_count, KWHY_STAT_LEVELS);
	assert_false(comparison.curves[0].rises);
	assert_close(comparison.curves[0].levels[4].value, 2);
	assert_close(comparison.curves[0].levels[4].joules[0], 58);
	assert_close(comparison.curves[0].levels[4].joules[1], 29);
	assert_int_equal(comparison.curves[0].levels[4].runs[1], 2);
	assert_true(comparison.sides[0].energy_nj == 105000000000);
	kwhy_compare_stat_done(&comparison);
	for (size_t i = 0; i < 2; i++) {
		kwhy_read_stat_done(&read[i]);
		kwhy_text_done(&texts[i]);
	}
}

/*
 * The second run, of 110 J, stated no tokens. So J/token, read back from JSON, must be that of the first run:
 * 100 J / 50 = 2 J.
 */
static void energy_each_is_read_as_it_was_told(void **state)
{
	struct example e;
	struct kwhy_text text = {0};
	struct kwhy_read_stat read;
	struct kwhy_stat_comparison comparison;

	(void)state;
	make(&e);
	e.counts[1] = NAN;
	e.runs[1].work = &e.counts[1];
	assert_int_equal(kwhy_stat_json(&e.stat, &text, &error), KWHY_OK);
	assert_int_equal(kwhy_read_stat_of(&read, "a.json", text.data, text.length, &error), KWHY_OK);
	assert_int_equal(kwhy_compare_stat(&comparison, &read, &read, &error), KWHY_OK);
	assert_close(comparison.sides[0].work[0].each_j, 2);
	kwhy_compare_stat_done(&comparison);
	kwhy_read_stat_done(&read);
	kwhy_text_done(&text);
}

static void damaged_results_are_refused_or_unknown_and_never_read_wrongly(void **state)
{
	static const char *const bad[] = {"", "[]", "{}", "{\"schema\":\"kwhy.stat/2\"}", "{\"schema\":5}"};
	static const char *const odd[] = {"{\"schema\":\"kwhy.stat/1\"}",
		"{\"schema\":\"kwhy.stat/1\",\"domains\":[{\"name\":\"gpu 0\",\"energy_j\":7},5,null]}",
		"{\"schema\":\"kwhy.stat/1\",\"domains\":5,\"time\":[],\"work\":{},\"runs\":\"x\"}",
		("{\"schema\":\"kwhy.stat/1\",\"metrics\":[{\"name\":\"l\",\"points\":[{},{\"value\":1}]}],"
		 "\"time\":{\"elapsed_s\":{\"count\":-3,\"mean\":1e300}}}")};
	struct kwhy_stat_comparison comparison;
	struct kwhy_read_stat read;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(kwhy_read_stat_of(&read, "a", bad[i], strlen(bad[i]), &error), KWHY_E_INPUT);
	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++) {
		assert_int_equal(kwhy_read_stat_of(&read, "a", odd[i], strlen(odd[i]), &error), KWHY_OK);
		assert_int_equal(kwhy_compare_stat(&comparison, &read, &read, &error), KWHY_OK);
		assert_int_equal(comparison.change_count, 0);
		kwhy_compare_stat_done(&comparison);
		kwhy_read_stat_done(&read);
	}
}

static void amounts_of_work_are_grouped(void **state)
{
	struct kwhy_text_style style = {.columns = 80};
	struct kwhy_text text = {0};
	struct example e;

	(void)state;
	make(&e);
	e.counts[0] = e.counts[1] = 8311;
	assert_int_equal(kwhy_stat_text(&e.stat, &style, &text, &error), KWHY_OK);
	assert_non_null(strstr(text.data, " 8,311/s"));
	kwhy_text_done(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(means_over_runs_have_the_interval_of_their_scatter),
		cmocka_unit_test(a_ratio_is_of_the_sums_of_the_runs_that_have_both),
		cmocka_unit_test(a_wide_interval_of_a_ratio_tells_both_sides),
		cmocka_unit_test(a_single_run_has_its_meters_interval),
		cmocka_unit_test(what_is_unknown_stays_unknown_and_says_why),
		cmocka_unit_test(a_refused_cpu_counter_is_told_beside_another_host_meter),
		cmocka_unit_test(amounts_of_work_are_grouped),
		cmocka_unit_test(doubtful_runs_are_noted),
		cmocka_unit_test(a_result_is_compared_with_another),
		cmocka_unit_test(energy_each_is_read_as_it_was_told),
		cmocka_unit_test(damaged_results_are_refused_or_unknown_and_never_read_wrongly),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
