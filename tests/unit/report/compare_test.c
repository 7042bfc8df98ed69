/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "import/results/side.h"
#include "report/compare.h"
#include "report/projection_check.h"

#include <math.h>
#include <string.h>

static struct kwhy_error error;

static struct kwhy_side read_side(const char *json)
{
	struct kwhy_side side;

	assert_int_equal(kwhy_side_read(&side, "a.json", json, strlen(json), &error), KWHY_OK);
	return side;
}

/* Returns a figure of a side that has one run. */
static double figure_of(const struct kwhy_side *side, enum kwhy_figure figure)
{
	struct kwhy_comparison comparison;
	double value;

	assert_int_equal(kwhy_compare(&comparison, side, side, &error), KWHY_OK);
	value = kwhy_change_of_figure(&comparison, figure).a.mean;
	kwhy_comparison_done(&comparison);
	return value;
}

#define ACCOUNT(category, name, time, gross, low, high)                                       \
	"{\"category\":\"" category "\",\"name\":\"" name "\",\"count\":1,\"time_ns\":" #time \
	",\"gross_nj\":" #gross ",\"low_nj\":" #low ",\"high_nj\":" #high "}"
#define DEVICE(attributed, accounts)                                                                    \
	"{\"name\":\"G\",\"time\":{\"span_ns\":1000,\"busy_ns\":600,\"idle_ns\":400},"                  \
	"\"energy\":{\"start_ns\":0,\"end_ns\":1000,\"metered_ns\":1000,\"attributed_nj\":" #attributed \
	"},\"accounts\":[" accounts "]}"
#define REPORT(devices, findings) \
	"{\"schema\":\"kwhy.report/1\",\"devices\":[" devices "],\"findings\":[" findings "]}"

static void a_change_is_significant_beyond_its_interval(void **state)
{
	struct kwhy_side a = read_side(REPORT(DEVICE(300,
						      ACCOUNT("compute", "k", 10, 200, 170, 230) "," ACCOUNT(
							      "host", "idle", 20, 100, 60, 140)),
		""));
	struct kwhy_side b = read_side(REPORT(DEVICE(250,
						      ACCOUNT("compute", "k", 10, 140, 100, 180) "," ACCOUNT(
							      "host", "idle", 20, 110, 80, 140)),
		""));
	struct kwhy_comparison comparison;

	(void)state;
	assert_int_equal(kwhy_compare(&comparison, &a, &b, &error), KWHY_OK);
	assert_int_equal(comparison.pair_count, 2);
	assert_string_equal(comparison.pairs[0].a->name, "k");
	assert_int_equal(comparison.pairs[0].change_nj, -60);
	assert_int_equal(comparison.pairs[0].half_width_nj, 50); /* nJ; A +-30, B +-40 */
	assert_true(comparison.pairs[0].significant);
	assert_int_equal(comparison.pairs[1].half_width_nj, 50); /* nJ; A +-40, B +-30 */
	assert_false(comparison.pairs[1].significant);
	kwhy_comparison_done(&comparison);
	kwhy_side_done(&a);
	kwhy_side_done(&b);
}

/*
 * Only idle energy within the run counts (category host); that of before and after (category outside) does
 * not.
 */
static void idling_is_of_the_run(void **state)
{
	struct kwhy_side side = read_side(
		REPORT(DEVICE(300,
			       ACCOUNT("host", "idle", 20, 100, 60, 140) "," ACCOUNT(
				       "outside", "before and after", 30, 150, 140, 160)),
			""));

	(void)state;
	assert_int_equal(side.idle_nj, 100);
	kwhy_side_done(&side);
}

/*
 * A report's metered energy (312 J) and the energy of its run (338 J) are separate figures. A report without
 * "run" has no energy of the run.
 */
static void energy_of_the_run_stands_beside_what_was_metered(void **state)
{
	struct kwhy_side a = read_side(
		"{\"schema\":\"kwhy.report/1\",\"run\":{\"energy_nj\":338000000000},\"devices\":[" DEVICE(
			312000000000, "") "]}");
	struct kwhy_side b = read_side(REPORT(DEVICE(368, ""), ""));

	(void)state;
	assert_true(figure_of(&a, KWHY_FIGURE_RUN) == 338);
	assert_true(figure_of(&a, KWHY_FIGURE_ENERGY) == 312);
	assert_true(isnan(figure_of(&b, KWHY_FIGURE_RUN)));
	kwhy_side_done(&a);
	kwhy_side_done(&b);
}

static struct kwhy_text text_of(const struct kwhy_comparison *comparison)
{
	struct kwhy_text_style style = {.columns = 80};
	struct kwhy_conditions conditions = {0};
	struct kwhy_text out = {0};

	assert_int_equal(kwhy_compare_text(comparison, &conditions, &style, &out, &error), KWHY_OK);
	return out;
}

/*
 * The intervals of both sides overlap, but the change is significant: it is 35 nJ, and the half-width of its
 * interval is 28 nJ (20 nJ from each side, added in quadrature).
 */
static void the_text_says_beyond_which_interval_a_change_is(void **state)
{
	struct kwhy_side a = read_side(REPORT(DEVICE(100, ACCOUNT("compute", "k", 10, 100, 80, 120)), ""));
	struct kwhy_side b = read_side(REPORT(DEVICE(135, ACCOUNT("compute", "k", 10, 135, 115, 155)), ""));
	struct kwhy_comparison comparison;
	struct kwhy_text out;

	(void)state;
	assert_int_equal(kwhy_compare(&comparison, &a, &b, &error), KWHY_OK);
	out = text_of(&comparison);
	assert_non_null(strstr(out.data, "* beyond the 90 % interval of the change\n"));
	assert_non_null(strstr(out.data, "* +35.0 %\n"));
	kwhy_text_done(&out);
	kwhy_comparison_done(&comparison);
	kwhy_side_done(&a);
	kwhy_side_done(&b);
}

#define MODELLED_REPORT                                                                           \
	"{\"schema\":\"kwhy.report/1\",\"devices\":[{\"name\":\"G\",\"time\":{\"span_ns\":1000}," \
	"\"energy\":{\"attributed_nj\":300,\"modelled\":true},\"accounts\":[" ACCOUNT(            \
		"compute", "k", 1000, 300, 290, 310) "]}],\"findings\":[]}"

static void assert_says(
	const struct kwhy_side *a, const struct kwhy_side *b, const char *row, const char *words)
{
	struct kwhy_comparison comparison;
	struct kwhy_text out;

	assert_int_equal(kwhy_compare(&comparison, a, b, &error), KWHY_OK);
	out = text_of(&comparison);
	if (!strstr(out.data, row) || !strstr(out.data, words))
		fail_msg("not '%s' and '%s' in %s", row, words, out.data);
	kwhy_text_done(&out);
	kwhy_comparison_done(&comparison);
}

static void joules_of_assumed_powers_are_not_said_to_be_metered(void **state)
{
	struct kwhy_side metered = read_side(
		REPORT(DEVICE(100, ACCOUNT("compute", "k", 10, 100, 80, 120)), ""));
	struct kwhy_side modelled = read_side(MODELLED_REPORT);

	(void)state;
	assert_says(&metered, &metered, "energy, metered ", "Totals are metered; ");
	assert_says(
		&metered, &modelled, "energy, B modelled ", "Totals of A are metered, those of B modelled");
	assert_says(&modelled, &metered, "energy, A modelled ", "Totals of A are modelled from assumed");
	assert_says(&modelled, &modelled, "energy, modelled ", "Totals are modelled from assumed powers.");
	kwhy_side_done(&metered);
	kwhy_side_done(&modelled);
}

#define METERED_BESIDE(end, more)                                                      \
	"{\"name\":\"G\",\"time\":{\"first_ns\":0,\"last_ns\":1000,\"span_ns\":1000}," \
	"\"energy\":{\"start_ns\":0,\"end_ns\":" #end ",\"metered_ns\":" #end more     \
	",\"edge_nj\":5,\"attributed_nj\":300},\"accounts\":[" ACCOUNT(                \
		"compute", "k", 1000, 300, 290, 310) "]}"
#define METERED(end) METERED_BESIDE(end, "")
#define RUN_REPORT(devices)                                                                                  \
	"{\"schema\":\"kwhy.report/1\",\"run\":{\"energy_nj\":305},\"devices\":[" devices "],\"findings\":[" \
	"]}"
#define IDLE_DEVICE                                                                                          \
	"{\"name\":\"G\",\"time\":{\"first_ns\":0,\"last_ns\":0,\"span_ns\":0},"                             \
	"\"energy\":{\"start_ns\":0,\"end_ns\":100,\"metered_ns\":100,\"attributed_nj\":70},\"accounts\":[]" \
	"}"
#define UNMETERED_DEVICE "{\"name\":\"G\",\"time\":{\"span_ns\":0},\"energy\":null,\"accounts\":[]}"

/*
 * The metered energy of a side includes devices that had no work, as does the first line of a report. A
 * device without work and without readings does not make it unknown.
 */
static void what_a_device_without_work_drew_is_metered_too(void **state)
{
	struct kwhy_side side = read_side(REPORT(METERED(900) "," IDLE_DEVICE "," UNMETERED_DEVICE, ""));

	(void)state;
	assert_int_equal(side.energy_nj, 370);
	assert_float_equal(side.power_w, 300.0 / 900 + 70.0 / 100, 1e-9);
	kwhy_side_done(&side);
}

/* If no device had work and none was metered, the energy must be unknown, not 0. */
static void without_any_meter_nothing_is_known_of_what_was_drawn(void **state)
{
	struct kwhy_side side = read_side(REPORT(UNMETERED_DEVICE, ""));

	(void)state;
	assert_int_equal(side.energy_nj, KWHY_UNKNOWN_NJ);
	assert_int_equal(side.idle_nj, KWHY_UNKNOWN_NJ);
	assert_true(isnan(side.power_w));
	kwhy_side_done(&side);
}

/*
 * A device that never idled and whose idle level is unknown has an energy of the run, but no energy above
 * idle. If readings cover less than half of the run, 400 or 1000 - 600 of 1000 ns, both are unknown.
 */
static void energy_of_the_work_needs_no_idle_level_but_a_meter_that_saw_it(void **state)
{
	struct kwhy_side busy = read_side(RUN_REPORT(METERED(900)));
	struct kwhy_side unseen = read_side(RUN_REPORT(METERED(400)));
	struct kwhy_side hole = read_side(RUN_REPORT(METERED_BESIDE(1000, ",\"edge_ns\":600")));

	(void)state;
	assert_int_equal(busy.seen_run_nj, 305); /* from the report's "run" */
	assert_int_equal(busy.net_nj, KWHY_UNKNOWN_NJ);
	assert_int_equal(unseen.seen_run_nj, KWHY_UNKNOWN_NJ);
	assert_int_equal(unseen.net_nj, KWHY_UNKNOWN_NJ);
	assert_int_equal(hole.seen_run_nj, KWHY_UNKNOWN_NJ);
	kwhy_side_done(&busy);
	kwhy_side_done(&unseen);
	kwhy_side_done(&hole);
}

/* An idle level of 1e300 W in a file gives an energy beyond int64_t, which must be read as unknown. */
static void an_energy_too_large_for_an_integer_is_unknown(void **state)
{
	struct kwhy_side busy = read_side(RUN_REPORT(METERED_BESIDE(900, ",\"context_idle_w\":1e300")));

	(void)state;
	assert_int_equal(busy.net_nj, KWHY_UNKNOWN_NJ);
	assert_int_equal(busy.net_low_nj, KWHY_UNKNOWN_NJ);
	assert_int_equal(busy.net_high_nj, KWHY_UNKNOWN_NJ);
	kwhy_side_done(&busy);
}

/*
 * The mean power is that of the whole run, as in the first line of a report: 305 nJ in 1000 ns. Older reports
 * state only the metered part, 300 nJ in 900 ns.
 */
static void the_mean_power_is_that_of_the_run(void **state)
{
	struct kwhy_side busy = read_side(RUN_REPORT(METERED(900))),
			 older = read_side(REPORT(METERED(900), ""));

	(void)state;
	assert_true(fabs(figure_of(&busy, KWHY_FIGURE_POWER) - 0.305) < 1e-9);
	assert_true(fabs(figure_of(&older, KWHY_FIGURE_POWER) - 300. / 900) < 1e-9);
	kwhy_side_done(&busy);
	kwhy_side_done(&older);
}

#define LOOP_REPORT(steps, loop, work)                                                               \
	"{\"schema\":\"kwhy.report/1\",\"run\":{\"energy_nj\":300},\"loop\":{\"step_count\":" #steps \
	",\"time_ns\":" #loop ",\"energy_nj\":" #loop "},\"work\":[" work                            \
	"],\"devices\":[" DEVICE(300, ACCOUNT("compute", "k", 800, 200, 190, 210)) "]}"

/*
 * Checks the name of the comparison's unit and the sum of units of each side's runs, a and b. Also
 * checks the time and energy per unit of account k, which has 800 ns and 200 nJ in a run of side A.
 */
static void assert_units(const struct kwhy_side_runs runs[2], const char *name, double a, double b)
{
	struct kwhy_comparison comparison;
	double own = kwhy_side_work_of(&runs[0].items[0], name) ? 100 : *name == 's' ? 4 : 1;

	assert_int_equal(kwhy_compare_runs(&comparison, runs, &error), KWHY_OK);
	assert_string_equal(comparison.unit_name, name);
	assert_true(comparison.unit_counts[0] == a);
	assert_true(comparison.unit_counts[1] == b);
	assert_true(fabs(comparison.pairs[0].time.a.mean - 800e-9 / own) < 1e-15);
	assert_true(fabs(comparison.pairs[0].energy.a.mean - 200e-9 / own) < 1e-15);
	assert_true(comparison.pairs[0].counts[0] == 1 / own);
	kwhy_comparison_done(&comparison);
}

/*
 * Per unit, an account has its time and energy of the whole run divided by the number of units. The time of a
 * step is that of the loop alone, divided by its steps: 400 ns / 4.
 */
static void accounts_are_the_runs_over_its_units(void **state)
{
	struct kwhy_side steps[2] = {read_side(LOOP_REPORT(4, 400, "")), read_side(LOOP_REPORT(4, 400, ""))};
	struct kwhy_side work[2] = {read_side(LOOP_REPORT(0, 0, "{\"unit\":\"tokens\",\"count\":100}")),
		read_side(LOOP_REPORT(9, 900, "{\"unit\":\"tokens\",\"count\":300}"))};

	(void)state;
	assert_units((const struct kwhy_side_runs[]){{steps, 2}, {&work[1], 1}}, "step", 8, 9);
	assert_units((const struct kwhy_side_runs[]){{work, 1}, {&work[1], 1}}, "tokens", 100, 300);
	assert_units((const struct kwhy_side_runs[]){{work, 1}, {steps, 2}}, "run", 1, 2);
	assert_true(fabs(figure_of(&steps[0], KWHY_FIGURE_STEP) - 100e-9) < 1e-15);
	assert_says(&steps[0], &work[1], "A has 4 steps, B 9: accounts are for a step (run over steps)\n",
		"\nAccounts  for a step (run over steps); * beyond the 90 % interval of the change\n");
	for (size_t i = 0; i < 2; i++) {
		kwhy_side_done(&steps[i]);
		kwhy_side_done(&work[i]);
	}
}

/*
 * The device did not idle in the recording; its report only states an idle level of 0.1 W, of unknown
 * uncertainty. So the energy above idle has a value, but no interval.
 */
static void above_a_level_that_was_not_seen_is_an_energy_without_an_interval(void **state)
{
	struct kwhy_side busy = read_side(RUN_REPORT(METERED_BESIDE(900, ",\"context_idle_w\":0.1")));

	(void)state;
	assert_int_equal(busy.net_nj, 205);
	assert_int_equal(busy.net_low_nj, KWHY_UNKNOWN_NJ);
	assert_int_equal(busy.net_high_nj, KWHY_UNKNOWN_NJ);
	kwhy_side_done(&busy);
}

/*
 * The run's energy, 300 nJ, is known within 40 nJ, its idle energy of 200 nJ within 2 %, 4 nJ. If both errors
 * add up, energy above idle is known within 44 nJ.
 */
static void above_idle_is_known_as_well_as_the_run_and_its_idle_level(void **state)
{
	struct kwhy_side side = read_side(
		"{\"schema\":\"kwhy.report/1\",\"run\":{\"energy_nj\":300,\"low_nj\":260,\"high_nj\":340},"
		"\"devices\":[{\"name\":\"G\",\"time\":{\"first_ns\":0,\"last_ns\":1000,\"span_ns\":1000},"
		"\"energy\":{\"start_ns\":0,\"end_ns\":1000,\"metered_ns\":1000,\"attributed_nj\":300},"
		"\"accounts\":["
		"{\"category\":\"host\",\"name\":\"idle\",\"count\":1,\"time_ns\":500,\"gross_nj\":100,"
		"\"low_nj\":98,\"high_nj\":102,\"mean_power_mw\":200}]}]}");

	(void)state;
	assert_int_equal(side.net_nj, 100);
	assert_int_equal(side.net_low_nj, 56);
	assert_int_equal(side.net_high_nj, 144);
	kwhy_side_done(&side);
}

#define PROJECTION                                                                                 \
	"{\"schema\":\"kwhy.whatif/1\",\"before\":{\"time_ns\":1000},\"after\":{\"time_ns\":1000," \
	"\"energy_nj\":300,\"net_nj\":100},\"changes\":[]}"
/*
 * JSON of a report. Its idle level is the stated 0.1 W or, if `idle` is the account IDLE_SEEN, 0.2 W. run,
 * energy: further members of these objects.
 */
#define NET_SIDE(run, energy, idle)                                                                       \
	"{\"schema\":\"kwhy.report/1\",\"run\":{\"energy_nj\":300" run                                    \
	"},\"devices\":[{\"name\":\"G\",\"time\":{\"first_ns\":0,\"last_ns\":1000,\"span_ns\":1000},"     \
	"\"energy\":{\"start_ns\":0,\"end_ns\":1000,\"metered_ns\":1000,\"attributed_nj\":300,\"context_" \
	"idle_w\":0.1" energy "},\"accounts\":[" idle "]}]}"
#define IDLE_SEEN                                                                                \
	"{\"category\":\"host\",\"name\":\"idle\",\"count\":1,\"time_ns\":500,\"gross_nj\":100," \
	"\"low_nj\":98,\"high_nj\":102,\"mean_power_mw\":200}"

/* Compares the report with PROJECTION and checks that the text contains `words`. */
static void assert_net_words(const char *report, const char *words)
{
	struct kwhy_side b = read_side(report);
	struct kwhy_projection_check check;
	struct kwhy_comparison comparison;
	struct kwhy_text out;

	assert_int_equal(kwhy_projection_check_read(&check, "f.json", PROJECTION, strlen(PROJECTION), &error),
		KWHY_OK);
	assert_int_equal(kwhy_compare(&comparison, &b, &b, &error), KWHY_OK);
	comparison.check = &check;
	out = text_of(&comparison);
	if (!strstr(out.data, words))
		fail_msg("not '%s' in %s", words, out.data);
	kwhy_text_done(&out);
	kwhy_comparison_done(&comparison);
	kwhy_projection_check_done(&check);
	kwhy_side_done(&b);
}

static void why_it_is_not_known_how_sure_energy_above_idle_is_is_said(void **state)
{
	(void)state;
	assert_net_words(
		NET_SIDE(",\"low_nj\":290,\"high_nj\":310", "", ""), "  B idled too little to show its");
	assert_net_words(NET_SIDE("", "", IDLE_SEEN), "  How sure the energy of B's run is, is not known");
	assert_net_words(NET_SIDE("", ",\"modelled\":true", IDLE_SEEN), "  B's powers are assumed: how sure");
	assert_net_words(NET_SIDE(",\"low_nj\":280,\"high_nj\":320", "", IDLE_SEEN),
		"  What B measured above idle is 76.0 nJ to 124 nJ");
}

/*
 * Only power was recorded, no activities. The device may have worked all the time, so idle time and run are
 * unknown.
 */
static void without_work_nothing_is_said_of_idling(void **state)
{
	struct kwhy_side side = read_side(REPORT(IDLE_DEVICE, ""));

	(void)state;
	assert_int_equal(side.energy_nj, 70);
	assert_true(isnan(figure_of(&side, KWHY_FIGURE_IDLE)));
	assert_true(isnan(figure_of(&side, KWHY_FIGURE_TIME)));
	kwhy_side_done(&side);
}

static void an_account_that_one_side_lacks_drew_nothing_there(void **state)
{
	struct kwhy_side a = read_side(REPORT(DEVICE(200, ACCOUNT("copy", "c", 5, 200, 190, 210)), ""));
	struct kwhy_side b = read_side(REPORT(DEVICE(0, ""), ""));
	struct kwhy_comparison comparison;

	(void)state;
	assert_int_equal(kwhy_compare(&comparison, &a, &b, &error), KWHY_OK);
	assert_int_equal(comparison.pair_count, 1);
	assert_null(comparison.pairs[0].b);
	assert_int_equal(comparison.pairs[0].change_nj, -200);
	assert_true(comparison.pairs[0].significant);
	kwhy_comparison_done(&comparison);
	kwhy_side_done(&a);
	kwhy_side_done(&b);
}

static void without_energy_on_one_side_no_change_is_claimed(void **state)
{
	struct kwhy_side a = read_side(REPORT(DEVICE(200, ACCOUNT("copy", "c", 5, 200, 190, 210)), ""));
	struct kwhy_side b = read_side(REPORT(DEVICE(null, ACCOUNT("copy", "c", 7, null, null, null)), ""));
	struct kwhy_comparison comparison;

	(void)state;
	assert_int_equal(b.energy_nj, KWHY_UNKNOWN_NJ);
	assert_true(isnan(figure_of(&b, KWHY_FIGURE_ENERGY)));
	assert_true(isnan(figure_of(&b, KWHY_FIGURE_POWER)));
	assert_int_equal(kwhy_compare(&comparison, &a, &b, &error), KWHY_OK);
	assert_int_equal(comparison.pairs[0].change_nj, KWHY_UNKNOWN_NJ);
	assert_int_equal(comparison.pairs[0].change_ns, 2);
	assert_false(comparison.pairs[0].significant);
	kwhy_comparison_done(&comparison);
	kwhy_side_done(&a);
	kwhy_side_done(&b);
}

static void accounts_of_several_devices_are_one_with_widths_in_squares(void **state)
{
	struct kwhy_side side = read_side(
		REPORT(DEVICE(100, ACCOUNT("compute", "k", 10, 100, 70, 130)) "," DEVICE(
			       200, ACCOUNT("compute", "k", 30, 200, 160, 240)),
			""));

	(void)state;
	assert_int_equal(side.account_count, 1);
	assert_int_equal(side.accounts[0].gross_nj, 300);
	assert_int_equal(side.accounts[0].high_nj - side.accounts[0].low_nj, 100);
	assert_int_equal(side.energy_nj, 300);
	assert_int_equal(side.span_ns, 1000);
	assert_true(fabs(side.busy_ratio - 0.6) < 1e-12);
	assert_true(fabs(side.power_w - 0.3) < 1e-12);
	kwhy_side_done(&side);
}

static void what_is_no_report_is_refused_with_its_name(void **state)
{
	static const char *const cases[] = {"", "[]", "{}", "{\"schema\":\"kwhy.report/2\",\"devices\":[]}",
		"{\"schema\":\"kwhy.report/1\"}", "{\"schema\":\"kwhy.report/1\",\"devices\":[", "\xFF\xFE",
		"nul"};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kwhy_side side = {.label = "untouched"};

		assert_int_equal(
			kwhy_side_read(&side, "b.json", cases[i], strlen(cases[i]), &error), KWHY_E_INPUT);
		assert_non_null(strstr(error.text, "b.json"));
		assert_string_equal(side.label, "untouched");
	}
}

static void fields_of_a_wrong_type_are_unknown(void **state)
{
	struct kwhy_side side = read_side(
		"{\"schema\":\"kwhy.report/1\",\"findings\":7,\"work\":{},\"devices\":["
		"{\"time\":[],\"energy\":\"x\",\"accounts\":[null,4,{\"name\":[]}]},3]}");

	(void)state;
	assert_int_equal(side.energy_nj, KWHY_UNKNOWN_NJ);
	assert_int_equal(side.account_count, 1);
	assert_true(isnan(side.busy_ratio));
	kwhy_side_done(&side);
}

static void findings_gone_and_new_are_told_and_shared_ones_not(void **state)
{
	struct kwhy_side a = read_side(REPORT(DEVICE(1, ""),
		"{\"id\":\"old\",\"title\":\"Old\"},{\"id\":\"both\","
		"\"title\":\"Both\"}"));
	struct kwhy_side b = read_side(REPORT(DEVICE(1, ""),
		"{\"id\":\"new\",\"title\":\"New\"},{\"id\":\"both\","
		"\"title\":\"Both, other numbers\"}"));
	struct kwhy_comparison comparison;
	struct kwhy_text out;

	(void)state;
	assert_int_equal(kwhy_compare(&comparison, &a, &b, &error), KWHY_OK);
	out = text_of(&comparison);
	assert_non_null(strstr(out.data, "Findings gone\n  - Old [old]\n"));
	assert_non_null(strstr(out.data, "Findings new\n  - New [new]\n"));
	assert_null(strstr(out.data, "Both"));
	kwhy_text_done(&out);
	kwhy_comparison_done(&comparison);
	kwhy_side_done(&a);
	kwhy_side_done(&b);
}

/* A name of 70 columns must be shown in full where the terminal is wide enough. */
static void a_name_is_cut_only_where_the_line_is_full(void **state)
{
	static const char name[] = "a_kernel_of_seventy_columns_as_templates_of_cutlass_have_and_more_of_th";
	struct kwhy_side a = read_side(REPORT(
		DEVICE(1,
			ACCOUNT("compute",
				"a_kernel_of_seventy_columns_as_templates_of_cutlass_have_and_more_of_th",
				600, 1, 1, 1)),
		""));
	struct kwhy_side b = read_side(REPORT(DEVICE(1, ""), ""));
	struct kwhy_conditions conditions = {0};
	struct kwhy_comparison comparison;

	(void)state;
	assert_int_equal(kwhy_compare(&comparison, &a, &b, &error), KWHY_OK);
	for (size_t columns = 80; columns <= 120; columns += 40) {
		struct kwhy_text_style style = {.columns = columns};
		struct kwhy_text out = {0};

		assert_int_equal(kwhy_compare_text(&comparison, &conditions, &style, &out, &error), KWHY_OK);
		assert_non_null(strstr(out.data, "!  A ran 1 of a_kernel_of_"));
		assert_int_equal(strstr(out.data, name) != NULL, columns == 120);
		kwhy_text_done(&out);
	}
	kwhy_comparison_done(&comparison);
	kwhy_side_done(&a);
	kwhy_side_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_is_cut_only_where_the_line_is_full),
		cmocka_unit_test(idling_is_of_the_run),
		cmocka_unit_test(energy_of_the_run_stands_beside_what_was_metered),
		cmocka_unit_test(a_change_is_significant_beyond_its_interval),
		cmocka_unit_test(the_text_says_beyond_which_interval_a_change_is),
		cmocka_unit_test(joules_of_assumed_powers_are_not_said_to_be_metered),
		cmocka_unit_test(an_energy_too_large_for_an_integer_is_unknown),
		cmocka_unit_test(the_mean_power_is_that_of_the_run),
		cmocka_unit_test(accounts_are_the_runs_over_its_units),
		cmocka_unit_test(above_a_level_that_was_not_seen_is_an_energy_without_an_interval),
		cmocka_unit_test(above_idle_is_known_as_well_as_the_run_and_its_idle_level),
		cmocka_unit_test(why_it_is_not_known_how_sure_energy_above_idle_is_is_said),
		cmocka_unit_test(without_work_nothing_is_said_of_idling),
		cmocka_unit_test(an_account_that_one_side_lacks_drew_nothing_there),
		cmocka_unit_test(what_a_device_without_work_drew_is_metered_too),
		cmocka_unit_test(without_any_meter_nothing_is_known_of_what_was_drawn),
		cmocka_unit_test(energy_of_the_work_needs_no_idle_level_but_a_meter_that_saw_it),
		cmocka_unit_test(without_energy_on_one_side_no_change_is_claimed),
		cmocka_unit_test(accounts_of_several_devices_are_one_with_widths_in_squares),
		cmocka_unit_test(what_is_no_report_is_refused_with_its_name),
		cmocka_unit_test(fields_of_a_wrong_type_are_unknown),
		cmocka_unit_test(findings_gone_and_new_are_told_and_shared_ones_not),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
