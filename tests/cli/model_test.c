/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "cmocka_all.h"
#include "spawned_checks.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "kwhy-model-XXXXXX";

static const char *place(const char *name)
{
	return place_in(folder, name);
}

static const char *given(const char *name, const char *text)
{
	return text_file_in(folder, name, text);
}

static int begin(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int end(void **state)
{
	static const char *const names[] = {
		"a.json", "b.json", "in.csv", "bad.json", "report.json", "cost.json"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		unlink(place(names[i]));
	return rmdir(folder);
}

#define STAT_WITH(energy, seconds, work)                                                      \
	"{\"schema\":\"kwhy.stat/1\",\"time\":{\"elapsed_s\":{\"mean\":" seconds "}},"        \
	"\"domains\":[{\"name\":\"gpu 0\",\"kind\":\"device\",\"energy_j\":{\"mean\":" energy \
	",\"low\":990,\"high\":1010}}],\"work\":[" work "]}"

/*
 * Member of `work` in a stat.json: 2000 tokens per run, joules per token of GPU 0 (mean and ends of the
 * interval), and tokens per second.
 */
#define TOKENS(each_j, low_j, high_j, per_s)                                                      \
	"{\"unit\":\"tokens\",\"count\":{\"mean\":2000},\"per_s\":{\"mean\":" per_s               \
	"},\"domains\":[{\"name\":\"cpu\",\"joules_per_unit\":{\"mean\":9}},{\"name\":\"gpu 0\"," \
	"\"joules_per_unit\":{\"mean\":" each_j ",\"low\":" low_j ",\"high\":" high_j "}}]}"

#define STAT(energy, seconds) STAT_WITH(energy, seconds, TOKENS("0.2", "0.1", "0.4", "400"))

static void a_family_lists_its_members_and_names_the_nearest(void **state)
{
	struct spawned alone;

	(void)state;
	assert_says(SPAWN("help", "model"), "model carbon");
	assert_says(SPAWN("model", "--help"), "model carbon");
	assert_says(SPAWN("help", "model", "cost"), "usage: kwhy model cost");
	assert_says(SPAWN("model", "cost", "-h"), "usage: kwhy model cost");
	alone = SPAWN("model");
	assert_int_equal(alone.exit, 2);
	assert_non_null(strstr(alone.err.data, "  model cost "));
	spawned_done(&alone);
	assert_fails(SPAWN("model", "csot"), 2, "did you mean 'model cost'?");
	assert_fails(SPAWN("modle", "cost"), 2, "did you mean 'model'?");
	assert_fails(SPAWN("model", "zzzzzz"), 2, "'kwhy help model' lists them");
	assert_fails(SPAWN("help", "report", "x"), 2, "one command at a time");
	assert_fails(SPAWN("model", "cost", "--nonsense"), 2, "see 'kwhy help model cost'");
}

static void costs_of_two_runs_and_what_is_saved(void **state)
{
	const char *a = given("a.json", STAT("1000", "10")), *b = given("b.json", STAT("400", "5"));
	json_t *answer = json_of(SPAWN("model", "cost", "--price", "0.36EUR", "--json", a, b));

	(void)state;
	assert_near(number_at(answer, "runs.0.answer.amount.value"), 1000 / 3.6e6 * 0.36);
	assert_near(number_at(answer, "runs.0.answer.amount.low"), 990 / 3.6e6 * 0.36);
	json_decref(answer);
	assert_says(SPAWN("model", "cost", "--price", "0.36EUR", a, b), "saved");
	assert_says(SPAWN("model", "cost", "--hourly-price", "3.6USD", a), "0.01 USD");
	assert_fails(SPAWN("model", "cost", "--price", "1", "--hourly-price", "1", a), 2, "already contains");
	assert_fails(SPAWN("model", "cost", a), 2, "needs --price");
	assert_fails(SPAWN("model", "cost", "--price", "1"), 2, "--joules");
	assert_fails(SPAWN("model", "cost", "--price", "1", "--joules", "-1", "--seconds", "1"), 2,
		"cannot be negative");
	assert_fails(
		SPAWN("model", "cost", "--price", "1", given("bad.json", "{}")), 1, "neither a stat.json");
	assert_fails(SPAWN("model", "cost", "--price", "1", "--pue", "0.5", a), 2, "PUE");
}

/*
 * In a stat.json the mean energy (1000 J) is of all runs, the joules per token (0.2 J) only of the runs that
 * stated tokens. So the cost per token must be computed from 0.2 J, not from 1000 J / 2000 tokens = 0.5 J.
 */
static void a_unit_of_work_takes_what_the_runs_that_tell_of_it_took(void **state)
{
	const char *a = given("a.json", STAT("1000", "10"));
	json_t *answer = json_of(SPAWN("model", "cost", "--price", "3.6EUR", "--json", a));

	(void)state;
	assert_near(number_at(answer, "runs.0.answer.amount.value"), 1000 / 1e6);
	assert_near(number_at(answer, "runs.0.answer.amount_per_unit.value"), 0.2 / 1e6);
	assert_near(number_at(answer, "runs.0.answer.amount_per_unit.high"), 0.4 / 1e6);
	json_decref(answer);
	answer = json_of(SPAWN("model", "cost", "--hourly-price", "3.6EUR", "--json", a));
	assert_near(number_at(answer, "runs.0.answer.amount_per_unit.value"), 1e-3 / 400);
	json_decref(answer);
	answer = json_of(SPAWN("model", "cost", "--price", "3.6EUR", "--work", "tokens=4000", "--json", a));
	assert_near(number_at(answer, "runs.0.answer.amount_per_unit.value"), 1000 / 1e6 / 4000);
	json_decref(answer);
	answer = json_of(SPAWN("model", "tokens", "--json", a));
	assert_near(number_at(answer, "phases.0.joules_per_token.value"), 0.2);
	assert_near(number_at(answer, "phases.0.joules_per_token.low"), 0.1);
	assert_near(number_at(answer, "phases.0.tokens_per_joule.low"), 2.5);
	assert_near(number_at(answer, "phases.0.tokens_per_s"), 400);
	assert_near(number_at(answer, "phases.0.joules.value"), 400);
	json_decref(answer);
	answer = json_of(SPAWN("model", "tokens", "--tokens", "4000", "--json", a));
	assert_near(number_at(answer, "phases.0.joules_per_token.value"), 0.25);
	assert_near(number_at(answer, "phases.0.tokens_per_s"), 400);
	json_decref(answer);
}

static void an_answer_is_written_into_a_folder_under_its_name(void **state)
{
	json_t *answer;

	(void)state;
	assert_says(SPAWN("model", "cost", "--price", "1EUR", "--joules", "5", "--json", "-o", folder), "");
	answer = json_load_file(place("cost.json"), 0, NULL);
	assert_string_equal(json_string_value(json_object_get(answer, "schema")), "kwhy.model.cost/1");
	json_decref(answer);
}

static void assert_narrow(struct spawned spawned, const char *says)
{
	assert_fits_80_columns(spawned.out.data);
	assert_says(spawned, says);
}

static void carbon_of_a_country_a_region_and_an_own_value(void **state)
{
	json_t *answer = json_of(SPAWN("model", "carbon", "--intensity", "500", "--joules", "1832",
		"--runs-per-day", "1000", "--work", "steps=288", "--json"));

	(void)state;
	assert_near(number_at(answer, "runs.0.answer.amount.value"), 1832 / 3.6e6 * 500);
	assert_near(number_at(answer, "runs.0.answer.amount_per_unit.value"), 1832 / 3.6e6 * 500 / 288);
	assert_near(number_at(answer, "car_miles"), 1832 / 3.6e6 * 500 * 365000 / 400);
	json_decref(answer);
	assert_says(SPAWN("model", "carbon", "--place", "Thailand", "--joules", "1"), "mean of 2024");
	assert_says(SPAWN("model", "carbon", "--place", "gcp:us-west1", "--joules", "1"), "97.85 g CO2e");
	assert_narrow(SPAWN("model", "carbon", "--list"), "Thailand");
	assert_says(SPAWN("model", "carbon", "--intensity", "400", given("a.json", STAT("400", "5")),
			    given("b.json", STAT("3600", "5"))),
		"emitted more by a run: as much as 0.000889 miles");
	assert_fails(SPAWN("model", "carbon", "--joules", "1"), 2, "--place");
	assert_fails(SPAWN("model", "carbon", "--place", "Atlantis", "--joules", "1"), 2, "--intensity");
	assert_fails(SPAWN("model", "carbon", "--intensity", "-1", "--joules", "1"), 2, "--intensity");
	assert_fails(SPAWN("model", "carbon", "--place", "THA", "--joules", "-1"), 2, "--joules");
	assert_fails(SPAWN("model", "carbon", "--place", "THA", "--seconds", "-1"), 2, "--seconds");
	assert_fails(SPAWN("model", "carbon", "--place", "THA", "--joules", "1", "--pue", "0.5"), 2, "PUE");
	assert_fails(SPAWN("model", "carbon", "--place", "THA", "--joules", "1", "--runs-per-day", "-1"), 2,
		"--runs-per-day");
	assert_fails(SPAWN("model", "carbon", "--place", "THA", given("bad.json", STAT("-5", "5"))), 1,
		"cannot be negative");
}

static void of_a_report_it_says_what_no_meter_saw(void **state)
{
	const char *report = given("report.json",
		"{\"schema\":\"kwhy.report/1\",\"run\":{\"seconds\":2,\"energy_nj\":"
		"338400000000,\"low_nj\":338000000000,\"high_nj\":339000000000,"
		"\"unmetered_nj\":26600000000,\"modelled\":false}}");
	struct spawned spawned = SPAWN("model", "carbon", "--intensity", "500", report);

	(void)state;
	assert_null(strstr(spawned.out.data, "of what the meter saw"));
	assert_says(spawned, "26.6 J of the 338 J, estimated");
	assert_says(SPAWN("model", "cost", "--price", "0.2EUR", report), "unmetered of ");
	assert_says(SPAWN("model", "cost", "--price", "0.2EUR", given("a.json", STAT("400", "5"))),
		"of what the meter saw");
}

static void assert_tells_of_no_interval(struct spawned spawned)
{
	assert_int_equal(spawned.exit, 0);
	assert_null(strstr(spawned.out.data, "95 %"));
	spawned_done(&spawned);
}

/*
 * A report has 90 % intervals, models have 95 % intervals, as stat.json has. So each half of the report's
 * interval must be widened by 1.96 / 1.645.
 */
static void a_reports_interval_is_widened_to_that_of_models(void **state)
{
	const char *report = given("report.json",
		"{\"schema\":\"kwhy.report/1\",\"run\":{\"seconds\":2,\"energy_nj\":"
		"300000000000,\"low_nj\":298355000000,\"high_nj\":303290000000},"
		"\"work\":[{\"unit\":\"tokens\",\"count\":10}]}");
	json_t *answer = json_of(SPAWN("model", "cost", "--price", "3.6EUR", "--json", report));

	(void)state;
	assert_near(number_at(answer, "runs.0.energy_j.low"), 300 - 1.96);
	assert_near(number_at(answer, "runs.0.energy_j.high"), 300 + 3.92);
	assert_near(number_at(answer, "runs.0.answer.amount_per_unit.high"), (30 + 0.392) / 1e6);
	json_decref(answer);
	assert_says(SPAWN("model", "cost", "--price", "3.6EUR", report), "\nintervals are of 95 %\n");
	assert_says(SPAWN("model", "carbon", "--intensity", "5", report), "\nintervals are of 95 %\n");
	assert_says(SPAWN("model", "tokens", report), "\nintervals are of 95 %\n");
	assert_tells_of_no_interval(SPAWN("model", "tokens", "--tokens", "5", "--joules", "5"));
	assert_tells_of_no_interval(SPAWN("model", "cost", "--price", "3.6EUR", "--joules", "5"));
}

static void costs_and_emissions_of_a_year_fit_80_columns(void **state)
{
	const char *a = given("a.json", STAT("1000", "10")), *b = given("b.json", STAT("100400.5", "5555"));

	(void)state;
	assert_narrow(
		SPAWN("model", "cost", "--price", "0.36EUR", "--runs-per-day", "10", a, b), "per token");
	assert_narrow(SPAWN("model", "cost", "--price", "0.36", "--runs-per-day", "1e6", a, b), "a year");
	assert_narrow(SPAWN("model", "cost", "--price", "0.36", a), "per token");
	assert_narrow(
		SPAWN("model", "carbon", "--place", "Thailand", "--runs-per-day", "10", a, b), "saved ");
	assert_narrow(SPAWN("model", "carbon", "--place", "Thailand", "--runs-per-day", "10", a), "a year");
}

static void tokens_of_phases_and_of_a_run(void **state)
{
	const char *csv = given("in.csv",
		"phase,tokens,joules,joules_low,joules_high,seconds\n"
		"prefill,16384,120,118,122,0.4\ndecode,2048,480,470,490,2.2\n");
	json_t *answer = json_of(SPAWN("model", "tokens", "--json", csv));

	(void)state;
	assert_near(number_at(answer, "phases.1.joules_per_token.value"), 480.0 / 2048);
	assert_near(number_at(answer, "phases.2.tokens_per_joule.value"), 18432.0 / 600);
	json_decref(answer);
	assert_fails(SPAWN("model", "tokens", "--phase", "decode=5", given("a.json", STAT("1000", "10"))), 1,
		"no range 'decode'");
	assert_says(SPAWN("model", "tokens", csv), "16,384");
	assert_fails(SPAWN("model", "tokens"), 2, "--tokens and --joules");
	assert_fails(SPAWN("model", "tokens", "--joules", "5"), 2, "above 0");
	assert_fails(SPAWN("model", "tokens", given("in.csv", "phase,tokens,joules\na,x,1\n")), 1, "line 2");
}

static void assert_row_is_refused(const char *row, const char *says)
{
	struct kwhy_text csv = {0};

	kwhy_text_addf(&csv, "phase,tokens,joules,seconds\na,100,50,10\n%s\n", row);
	assert_fails(SPAWN("model", "tokens", given("in.csv", csv.data)), 1, says);
	kwhy_text_done(&csv);
}

static void what_no_phase_can_have_is_refused_with_its_line(void **state)
{
	(void)state;
	assert_row_is_refused("b,100,50,-9", "in.csv, line 3: 'b': seconds must be above 0; leave out");
	assert_row_is_refused("b,100,50,0", "in.csv, line 3: 'b': seconds must be above 0; leave out");
	assert_row_is_refused("b,100,-50,9", "in.csv, line 3: 'b': joules must be above 0; give");
	assert_row_is_refused("b,-100,50,9", "in.csv, line 3: 'b': tokens must be above 0; give");
	assert_row_is_refused("b,,50,9", "in.csv, line 3: 'b': tokens are not known; give");
	assert_row_is_refused("b,100,,9", "in.csv, line 3: 'b': joules are not known; give");
	assert_row_is_refused("b,100,50,nan", "is no number; leave empty");
	assert_row_is_refused("b,nan,50,9", "is no number; leave empty");
	assert_fails(
		SPAWN("model", "tokens", "--tokens", "5", "--joules", "5", "--seconds", "-1"), 2, "above 0");
	assert_fails(SPAWN("model", "tokens", "--tokens", "0", "--joules", "5"), 2, "above 0");
}

/*
 * Writes a report of a run of 10 s and 7 J with nine ranges. "overlaps" has the indices of the
 * ranges that run at the same time on the same device, "beside" those of the ranges that run at the
 * same time on other devices only. The range "untold" has null for them, which means unknown, as in
 * older reports and for ranges after the first 256.
 */
static const char *report_of_ranges(void)
{
	static const struct {
		const char *name;
		int count, host_s, joules;
		const char *overlaps;
		int union_s;
		const char *beside;
	} ranges[] = {{"outer", 1, 6, 4, "[1,3]", 6, "[]"}, {"inner", 1, 4, 3, "[0,3]", 4, "[]"},
		{"next", 1, 6, 4, "[]", 6, "[]"}, {"inside", 9, 1, 1, "[0,1]", 1, "[]"},
		{"between", 9, 1, 1, "[]", 1, "[]"}, {"itself", 9, 1, 1, "[5]", 1, "[]"},
		{"untold", 1, 1, 1, "null", 1, "null"}, {"ranks", 2, 8, 6, "[]", 4, "[7,8]"},
		{"other rank", 1, 2, 1, "[]", 2, "[7]"}};
	struct kwhy_text text = {0};
	const char *path;

	kwhy_text_add(&text, "{\"schema\":\"kwhy.report/1\",\"run\":{\"energy_nj\":7e9,\"seconds\":10},");
	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++)
		kwhy_text_addf(&text,
			"%s{\"name\":\"%s\",\"count\":%d,\"host_ns\":%de9,\"window_energy_nj\":%de9,"
			"\"overlaps\":%s,\"union_ns\":%de9,\"beside\":%s}",
			i ? "," : "\"ranges\":[", ranges[i].name, ranges[i].count, ranges[i].host_s,
			ranges[i].joules, ranges[i].overlaps, ranges[i].union_s, ranges[i].beside);
	kwhy_text_add(&text, "]}");
	path = given("a.json", text.data);
	kwhy_text_done(&text);
	return path;
}

static void assert_sum(const char *first, const char *second, const char *no_sum)
{
	const char *path = report_of_ranges();
	json_t *answer = json_of(
		SPAWN("model", "tokens", "--json", "--phase", first, "--phase", second, path));
	const char *why = json_string_value(json_object_get(answer, "no_sum"));

	if (json_array_size(json_object_get(answer, "phases")) != (no_sum ? 2 : 3) ||
		(why != NULL) != (no_sum != NULL) || (no_sum && !strstr(why, no_sum)))
		fail_msg("%s and %s: '%s' instead of '%s'", first, second, why, no_sum);
	json_decref(answer);
	assert_says(SPAWN("model", "tokens", "--phase", first, "--phase", second, path),
		no_sum ? no_sum : "all ");
}

static void ranges_that_overlap_are_not_summed(void **state)
{
	(void)state;
	assert_sum("outer=10", "inner=8", "'outer' and 'inner' overlap");
	assert_sum("inside=8", "outer=10", "'inside' and 'outer' overlap");
	assert_sum("inside=8", "next=10", NULL);
	assert_sum("inside=8", "between=10", NULL);
	assert_sum("outer=10", "next=8", NULL);
	assert_sum("outer=10", "untold=8", "does not show whether 'outer' and 'untold' overlap");
	assert_fails(SPAWN("model", "tokens", "--phase", "itself=8", place("a.json")), 1,
		"'itself' runs inside or concurrently with another of its name on the same devices");
	assert_fails(SPAWN("model", "tokens", "--phase", "outer=10", "--phase", "outer=8", place("a.json")),
		2, "'outer' is given twice");
}

static void a_range_of_which_no_overlaps_are_told_has_a_remark(void **state)
{
	const char *path = report_of_ranges();
	json_t *answer = json_of(
		SPAWN("model", "tokens", "--json", "--phase", "outer=10", "--phase", "untold=8", path));
	const json_t *remarks = json_object_get(answer, "remarks");

	(void)state;
	assert_int_equal(json_array_size(remarks), 1);
	assert_non_null(
		strstr(json_string_value(json_array_get(remarks, 0)), "whether 'untold' runs inside"));
	json_decref(answer);
	assert_says(
		SPAWN("model", "tokens", "--phase", "untold=8", path), "does not show whether 'untold' runs");
	assert_says(SPAWN("model", "tokens", "--phase", "untold=8", path), "lists only the 256");
	path = given("b.json",
		"{\"schema\":\"kwhy.report/1\",\"run\":{\"energy_nj\":7e9,\"seconds\":10},\"ranges\":["
		"{\"name\":\"old\",\"host_ns\":1e9,\"window_energy_nj\":1e9}]}");
	assert_says(SPAWN("model", "tokens", "--phase", "old=8", path), "write it again");
}

static void ranks_side_by_side_add_joules_but_no_times(void **state)
{
	const char *path = report_of_ranges();
	json_t *answer = json_of(SPAWN("model", "tokens", "--json", "--phase", "ranks=400", path));

	(void)state;
	assert_near(number_at(answer, "phases.0.joules_per_token.value"), 6.0 / 400);
	/* 400 tokens in 4 s: union_s, the time in which at least one of the two ranks is in the range */
	assert_near(number_at(answer, "phases.0.tokens_per_s"), 100);
	assert_near(number_at(answer, "phases.0.mean_w"), 1.5);
	assert_int_equal(json_array_size(json_object_get(answer, "remarks")), 0);
	json_decref(answer);
	assert_sum("ranks=400", "other rank=50", NULL);
	answer = json_of(
		SPAWN("model", "tokens", "--json", "--phase", "ranks=400", "--phase", "other rank=50", path));
	assert_near(number_at(answer, "phases.2.joules_per_token.value"), 7.0 / 450);
	assert_true(isnan(number_at(answer, "phases.2.tokens_per_s")));
	json_decref(answer);
	assert_says(SPAWN("model", "tokens", "--phase", "ranks=400", "--phase", "other rank=50", path),
		"run side by side on different devices");
}

static void scaling_inside_the_measured_range_alone(void **state)
{
	const char *csv = given("in.csv",
		"workers,throughput,power_w\n1,100,400\n2,190,800\n4,345,1600\n8,580,3200\n16,860,6400\n");

	(void)state;
	assert_says(SPAWN("model", "scale", csv), "holds from 1 to 16 workers");
	assert_says(SPAWN("model", "scale", "--at", "12", csv), "at 12 workers: 743 /s");
	assert_fails(SPAWN("model", "scale", "--at", "32", csv), 1, "outside what was measured");
	assert_fails(SPAWN("model", "scale"), 2, "takes one CSV");
	assert_fails(
		SPAWN("model", "scale", given("in.csv", "workers,throughput\n1,2\n")), 1, "three different");
	assert_fails(SPAWN("model", "scale", place("in.csv")), 1, "in.csv: ");
	assert_fails(
		SPAWN("model", "tokens",
			given("in.csv", "phase,tokens,joules,joules_low,joules_high\nread,10,50,60,40\n")),
		1, "in.csv, line 2: 'read': its joules are not between");
}

static void assert_scale(const char *rows, const char *says, bool is_said)
{
	struct spawned spawned = SPAWN("model", "scale", given("in.csv", rows));

	if (spawned.exit || (strstr(spawned.out.data, says) != NULL) != is_said)
		fail_msg("exit %d, stdout '%s', '%s' wanted: %d", spawned.exit, spawned.out.data, says,
			is_said);
	spawned_done(&spawned);
}

/*
 * `kwhy model scale` says "workers cost time" only if each run with some smaller number of workers had a
 * higher throughput than the best run with the largest number.
 */
static void workers_cost_time_only_where_fewer_did_more_than_every_run_of_the_most(void **state)
{
	(void)state;
	assert_scale("workers,throughput\n1,10\n2,18\n4,30\n4,31\n", "cost time", false);
	assert_scale("workers,throughput\n1,10\n4,31\n4,30\n2,18\n", "cost time", false);
	assert_scale("workers,throughput\n1,10\n2,18\n2,20\n4,15\n4,19.9\n", "cost time", false);
	assert_scale("workers,throughput\n1,10\n2,30\n2,29\n4,15\n4,16\n",
		"measured, 2 did more than 4: workers beyond it cost time", true);
}

#define OPS                                                                                                  \
	"{\"schema\":\"kwhy.profile/1\",\"operations\":{\"schema\":\"kwhy.ops/1\",\"operations\":["          \
	"{\"id\":\"fp32\",\"unit\":\"FLOP\",\"rate_per_s\":1e12,\"seconds\":1,\"gross_j\":70,\"net_j\":20,"  \
	"\"net_j_per_unit\":{\"value\":2e-11}},"                                                             \
	"{\"id\":\"memory-copy\",\"unit\":\"B\",\"rate_per_s\":1e11,\"seconds\":1,\"gross_j\":90,\"net_j\":" \
	"40,"                                                                                                \
	"\"net_j_per_unit\":{\"value\":4e-10}}]}}"

/* Returns the answer of `kwhy model roofline` with the machine profile `ops`. Valid until the next call. */
static const json_t *parse_ops(const char *csv, const char *ops)
{
	static json_t *answer;

	json_decref(answer);
	answer = json_of(SPAWN("model", "roofline", "--json", "--ops", given("b.json", ops), csv));
	assert_near(number_at(answer, "work.0.time_ratio"), 0.5);
	assert_near(number_at(answer, "work.0.energy_ratio"), 0.38);
	return answer;
}

static void the_share_of_a_roof(void **state)
{
	const char *csv = given("in.csv", "work,flop,bytes,seconds,joules\ngemm,1e12,4e11,8,1000\n");
	json_t *answer = json_of(SPAWN("model", "roofline", "--json", "--flop-per-s", "1e12", "--byte-per-s",
		"1e11", "--joules-per-flop", "2e-11", "--joules-per-byte", "4e-10", "--constant", "50", csv));

	(void)state;
	assert_near(number_at(answer, "work.0.time_ratio"), 0.5);
	assert_near(number_at(answer, "work.0.energy_ratio"), 0.38);
	assert_near(number_at(answer, "energy_balance_flop_per_byte"), 20);
	json_decref(answer);
	assert_near(number_at(parse_ops(csv, OPS), "energy_balance_flop_per_byte"), 20);
	assert_fails(SPAWN("model", "roofline", "--ops", place("b.json"), "--arithmetic", "fp64", csv), 1,
		"no operation 'fp64'");
	assert_fails(SPAWN("model", "roofline", "--ops", place("b.json"), "--memory", "fp32", csv), 1,
		"counts FLOP");
	assert_fails(SPAWN("model", "roofline", csv), 2, "--flop-per-s and --byte-per-s");
	assert_fails(SPAWN("model", "roofline", "--flop-per-s", "1e12", csv), 2, "--ops FILE");
	assert_fails(
		SPAWN("model", "roofline", "--ops", place("b.json"), "--flop-per-s", "0", csv), 2, "above 0");
	assert_fails(SPAWN("model", "roofline", "--ops", place("b.json"), "--constant", "-1", csv), 2,
		"cannot be negative");
	assert_fails(SPAWN("model", "roofline", "--flop-per-s", "1e14", "--byte-per-s", "1e10", csv), 1,
		"less than the");
}

static void a_power_limit_only_where_the_sweep_supports_one(void **state)
{
	struct kwhy_text csv = {0};
	json_t *answer;

	(void)state;
	kwhy_text_add(&csv, "cap_w,power_w,throughput\n");
	for (int cap_w = 150; cap_w <= 700; cap_w += 50)
		kwhy_text_addf(&csv, "%d,%d,%.9g\n", cap_w, cap_w, pow(cap_w - 100, 0.6));
	answer = json_of(SPAWN("model", "cap", "--json", given("in.csv", csv.data)));
	assert_true(fabs(number_at(answer, "advice.energy.power_w.value") - 250) < 1);
	assert_true(fabs(number_at(answer, "advice.energy.cap_w") - 250) < 1);
	json_decref(answer);
	assert_says(SPAWN("model", "cap", place("in.csv")), "recommended");
	kwhy_text_clear(&csv);
	kwhy_text_add(&csv, "cap_w,power_w,throughput\n");
	for (int cap_w = 250; cap_w <= 700; cap_w += 50)
		kwhy_text_addf(&csv, "%d,%d,%d\n", cap_w, 230 + cap_w / 100, 100);
	assert_fails(SPAWN("model", "cap", given("in.csv", csv.data)), 1, "do not bind");
	assert_fails(SPAWN("model", "cap", "--slower", "0", place("in.csv")), 2, "--slower");
	kwhy_text_done(&csv);
}

/*
 * The meter counted 368 J over the recording, 86 J of them before the first or after the last activity.
 * Report, model and comparison must all leave these 86 J out of the joules per token.
 */
static void a_report_a_model_and_a_comparison_agree_on_joules_a_token(void **state)
{
	static const char recording[] = KWHY_SOURCE_DIR "/examples/recordings/decode.kwhy";
	const char *report = place("a.json");
	json_t *of_report, *of_model, *of_comparison;
	double each_j, low_j;

	(void)state;
	assert_says(SPAWN("report", "--quiet", "-o", report, recording), "");
	of_report = json_load_file(report, 0, NULL);
	of_model = json_of(SPAWN("model", "tokens", "--json", report));
	of_comparison = json_of(SPAWN("compare", "--json", report, report));
	each_j = number_at(of_report, "work.0.energy_per_unit_nj") * 1e-9;
	assert_true(number_at(of_report, "run.energy_nj") <
		0.9 * number_at(of_report, "devices.0.energy.attributed_nj"));
	assert_near(number_at(of_model, "phases.0.joules_per_token.value"), each_j);
	/* each_j is the mean, low_j the lower end of its 90 % interval */
	low_j = number_at(of_report, "work.0.energy_per_unit_low_nj") * 1e-9;
	assert_near(number_at(of_model, "phases.0.joules_per_token.low"),
		each_j - 1.96 / 1.645 * (each_j - low_j));
	assert_near(number_at(of_model, "phases.0.tokens_per_s"),
		number_at(of_report, "work.0.units_per_second"));
	assert_near(number_at(of_comparison, "work.0.b_each_j"), each_j);
	assert_says(SPAWN("model", "cost", "--price", "1EUR", report),
		"of the run, from first start to last end");
	json_decref(of_report);
	json_decref(of_model);
	json_decref(of_comparison);
	assert_fails(
		SPAWN("model", "tokens", "--tokens", "1", given("b.json", "{\"schema\":\"kwhy.report/1\"}")),
		1, "an older kwhy wrote it");
	json_decref(json_with(SPAWN("compare", "--json", report, report, "--fail-if", "each:tokens>1mJ"), 3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_family_lists_its_members_and_names_the_nearest),
		cmocka_unit_test(costs_of_two_runs_and_what_is_saved),
		cmocka_unit_test(a_unit_of_work_takes_what_the_runs_that_tell_of_it_took),
		cmocka_unit_test(an_answer_is_written_into_a_folder_under_its_name),
		cmocka_unit_test(carbon_of_a_country_a_region_and_an_own_value),
		cmocka_unit_test(of_a_report_it_says_what_no_meter_saw),
		cmocka_unit_test(a_reports_interval_is_widened_to_that_of_models),
		cmocka_unit_test(costs_and_emissions_of_a_year_fit_80_columns),
		cmocka_unit_test(tokens_of_phases_and_of_a_run),
		cmocka_unit_test(what_no_phase_can_have_is_refused_with_its_line),
		cmocka_unit_test(ranges_that_overlap_are_not_summed),
		cmocka_unit_test(a_range_of_which_no_overlaps_are_told_has_a_remark),
		cmocka_unit_test(ranks_side_by_side_add_joules_but_no_times),
		cmocka_unit_test(a_report_a_model_and_a_comparison_agree_on_joules_a_token),
		cmocka_unit_test(scaling_inside_the_measured_range_alone),
		cmocka_unit_test(workers_cost_time_only_where_fewer_did_more_than_every_run_of_the_most),
		cmocka_unit_test(the_share_of_a_roof),
		cmocka_unit_test(a_power_limit_only_where_the_sweep_supports_one),
	};

	return kwhy_test_main(tests, begin, end);
}
