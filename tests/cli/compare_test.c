/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "cmocka_all.h"
#include "spawned_checks.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Tests of `kwhy compare` and its conditions (--fail-if), on recordings that the tests write. */

static struct kwhy_error error;
static char folder[] = "/tmp/kwhy-compare-XXXXXX";

static const char *place(const char *name)
{
	return place_in(folder, name);
}

static void begin_csv(struct kwhy_text *csv)
{
	kwhy_text_add(csv,
		"# clock other hand-made\n# device 0 name=\"Example GPU\" sms=132\n"
		"kind,name,device,stream,start_ns,end_ns,bytes,blocks,threads_per_block\n");
}

static void end_csv(struct kwhy_text *csv, const char *name)
{
	assert_int_equal(kwhy_file_write(place(name), csv->data, csv->length, &error), KWHY_OK);
	kwhy_text_done(csv);
}

/*
 * Writes a recording of a window of 300 ms with `count` flash kernels of 4.2 ms at even distances, each
 * followed by a norm kernel.
 */
static void write_window(const char *name, int64_t count)
{
	struct kwhy_text csv = {0};

	begin_csv(&csv);
	for (int64_t i = 0; i < count; i++) {
		int64_t start_ns = i * (299900000 / count);

		kwhy_text_addf(&csv,
			"kernel,\"void flash_fwd_kernel<128>(Params)\",0,7,%" PRId64 ",%" PRId64
			",,132,128\n",
			start_ns, start_ns + 4200000);
		kwhy_text_addf(&csv, "kernel,norm_kernel,0,7,%" PRId64 ",%" PRId64 ",,132,128\n",
			start_ns + 4210000, start_ns + 4300000);
	}
	/* this memset ends at 300 ms in every recording, so all windows have the same length */
	kwhy_text_add(&csv, "memset,,0,7,299999000,300000000,64,,\n");
	end_csv(&csv, name);
}

/*
 * Writes a recording of `count` steps (ranges ProfilerStep#N) of `step_ns` each. In each step ten
 * gemm kernels of 20 ms begin 30 ms apart, and a copy of 2 ms ends 1 ms before the end of the step.
 */
static void write_steps(const char *name, int64_t count, int64_t step_ns)
{
	struct kwhy_text csv = {0};

	begin_csv(&csv);
	for (int64_t i = 0; i < count; i++) {
		int64_t start_ns = i * step_ns;

		kwhy_text_addf(&csv, "range,ProfilerStep#%" PRId64 ",,,%" PRId64 ",%" PRId64 ",,,\n", i,
			start_ns, start_ns + step_ns);
		for (int64_t k = 0; k < 10; k++)
			kwhy_text_addf(&csv, "kernel,gemm,0,7,%" PRId64 ",%" PRId64 ",,132,128\n",
				start_ns + k * 30000000, start_ns + k * 30000000 + 20000000);
		kwhy_text_addf(&csv, "copy_h2d,,0,7,%" PRId64 ",%" PRId64 ",1048576,,\n",
			start_ns + step_ns - 3000000, start_ns + step_ns - 1000000);
	}
	end_csv(&csv, name);
}

/*
 * Checks the exit status, that stdout contains `words`, and that each of its lines fits into 80 columns.
 * Frees `spawned`.
 */
static void assert_output(struct spawned spawned, int status, const char *words)
{
	if (spawned.exit != status || !strstr(spawned.out.data ? spawned.out.data : "", words))
		fail_msg("exit %d, no '%s' in\n%s%s", spawned.exit, words,
			spawned.out.data ? spawned.out.data : "", spawned.err.data ? spawned.err.data : "");
	for (char *line = strtok(spawned.out.data, "\n"); line; line = strtok(NULL, "\n"))
		assert_in_range(kwhy_text_columns(line), 1, 80);
	spawned_done(&spawned);
}

/* Both windows last 300 ms, so only the launches show that B did less work. */
static void equal_windows_are_compared_by_what_ran_in_them(void **state)
{
	const char *a, *b;

	(void)state;
	write_window("a68.csv", 68);
	write_window("b60.csv", 60);
	a = place("a68.csv");
	b = place("b60.csv");
	assert_output(
		SPAWN("compare", "-q", a, b), 0, "!  A ran 68 of flash_fwd_kernel<128>, B 60 (-11.8 %)\n");
	assert_output(SPAWN("compare", "-q", a, b), 0, "!  B did 11.8 % less work than A");
	assert_output(SPAWN("compare", "-q", a, b), 0, "  throughput, launches  227 /s  200 /s");
	assert_output(SPAWN("compare", "-q", a, b, "--fail-if", "time>+3%"), 0, "time>+3%: ");
	assert_output(SPAWN("compare", "-q", a, b, "--fail-if", "throughput<-2%"), 3, "EXCEEDED");
	assert_output(SPAWN("compare", "-q", b, a, "--fail-if", "throughput<-2%"), 0, "kept");
}

/*
 * A has five steps of 348 ms each, B four of 350 ms each. A takes longer in total, but its steps are
 * faster.
 */
static void runs_of_another_length_are_compared_by_step(void **state)
{
	const char *a, *b;

	(void)state;
	write_steps("a5.csv", 5, 348000000);
	write_steps("b4.csv", 4, 350000000);
	a = place("a5.csv");
	b = place("b4.csv");
	assert_output(SPAWN("compare", "-q", a, b), 0,
		"!  A has 5 steps, B 4: accounts are for a step (run over steps)\n");
	assert_output(SPAWN("compare", "-q", a, b), 0, "  time of a step       348 ms   350 ms");
	assert_output(SPAWN("compare", "-q", a, b, "--fail-if", "step>+3%"), 0,
		"step>+3%: +0.57 % (348.0 ms to 350.0 ms), kept\n");
	assert_output(SPAWN("compare", "-q", a, b, "--fail-if", "step>+0.5%"), 3, "EXCEEDED");
	assert_output(SPAWN("compare", "-q", a, b, "--fail-if", "throughput<-2%"), 0, "kept");
	assert_output(SPAWN("compare", "-q", a, b, "--fail-if", "account-time:gemm>+5ms"), 0,
		"account-time:gemm>+5ms: 0 s (200.0 ms to 200.0 ms), kept\n");
	assert_output(
		SPAWN("compare", "-q", a, b, "--fail-if", "idle_ratio>+0.5%", "--fail-if", "finding:new"), 3,
		"finding:new: 0 new kinds, kept\n");
}

/* A report.json takes the place of the trace that it was made from: the comparison prints the same. */
static void a_report_is_compared_as_its_trace_is(void **state)
{
	const char *a, *b, *more_a, *more_b;

	(void)state;
	write_steps("a5.csv", 5, 348000000);
	write_steps("b4.csv", 4, 350000000);
	write_steps("more-a5.csv", 5, 348000000);
	write_steps("more-b4.csv", 4, 350000000);
	a = place("a5.json");
	b = place("b4.csv");
	more_a = place("more-a5.csv");
	more_b = place("more-b4.csv");
	assert_output(SPAWN("report", "-q", "-o", a, place("a5.csv")), 0, "");
	assert_output(SPAWN("compare", "-q", a, b), 0, "  time of a step       348 ms   350 ms");
	assert_output(SPAWN("compare", "-q", "--fail-if", "step>+0.5%", a, more_a, "--", b, more_b), 3,
		"step>+0.5%: +0.57 % (348.0 ms to 350.0 ms), 95 %: +0.57 % to +0.57 %, EXCEEDED\n");
}

/* Runs without energy: the table of categories has columns of times in place of those of energies. */
static void runs_without_energy_have_a_table_of_their_own(void **state)
{
	struct spawned spawned;

	(void)state;
	write_steps("a5.csv", 5, 348000000);
	write_steps("b4.csv", 4, 350000000);
	spawned = SPAWN("compare", "-q", place("a5.csv"), place("b4.csv"));
	assert_int_equal(spawned.exit, 0);
	assert_non_null(strstr(
		spawned.out.data, "\nTime by category  for a step (run over steps); no energy is known\n"));
	assert_null(strstr(spawned.out.data, "n/a"));
	assert_null(strstr(spawned.out.data, " energy\n"));
	spawned_done(&spawned);
	assert_output(SPAWN("compare", "-q", "--assume-power", "300", place("a5.csv"), place("b4.csv")), 0,
		"  energy of a step           104 J    105 J      +600 mJ   +0.6 %\n");
}

static void a_gate_that_is_none_or_cannot_be_decided_is_no_pass(void **state)
{
	const char *a, *b;

	(void)state;
	write_window("a68.csv", 68);
	write_window("b60.csv", 60);
	a = place("a68.csv");
	b = place("b60.csv");
	assert_fails(SPAWN("compare", "-q", a, b, "--fail-if", "steps>+3%"), 2,
		"there is no figure 'steps'; there are energy, run, time, ");
	assert_fails(SPAWN("compare", "-q", a, b, "--fail-if", "step>+3%"), 1, "it has no steps");
	assert_fails(SPAWN("compare", "-q", a, b, "--fail-if", "energy>+3%"), 1, "cannot be decided");
	assert_fails(SPAWN("compare", "-q", a, b, "--fail-if", "account-time:none>+1%"), 2,
		"no account has that name");
	assert_fails(SPAWN("compare", "-q", a, b, "--fail-if", "throughput:tokens<-2%"), 2, "--work");
}

/*
 * Three groups of three runs. Steps of the second group take 2 % longer than those of the first. Steps of
 * the third differ from those of the first by no more than the runs of the first differ among themselves.
 */
static void several_runs_show_what_is_more_than_chance(void **state)
{
	static const int64_t steps_ms[3][3] = {{348, 350, 352}, {356, 358, 360}, {349, 350, 354}};
	char paths[3][3][256];
	struct spawned spawned;
	json_t *root;

	(void)state;
	for (size_t side = 0; side < 3; side++)
		for (size_t run = 0; run < 3; run++) {
			char name[16];

			snprintf(name, sizeof(name), "%c%zu.csv", (int)('a' + side), run);
			write_steps(name, 4, steps_ms[side][run] * 1000000);
			snprintf(paths[side][run], sizeof(paths[0][0]), "%s", place(name));
		}
	assert_output(SPAWN("compare", "-q", "--fail-if", "step>+1%", paths[0][0], paths[0][1], paths[0][2],
			      "--", paths[1][0], paths[1][1], paths[1][2]),
		3, "  time of a step       350 ms   358 ms       +2.3 %  +1.0 to +3.6  yes\n");
	assert_output(SPAWN("compare", "-q", "--fail-if", "step>+0.1%", paths[0][0], paths[0][1], paths[0][2],
			      "--", paths[2][0], paths[2][1], paths[2][2]),
		0, "step>+0.1%: +0.29 % (350.0 ms to 351.0 ms), 95 %: ");
	spawned = SPAWN("compare", "-q", "--json", paths[0][0], paths[0][1], paths[0][2], "--", paths[1][0]);
	assert_int_equal(spawned.exit, 0);
	root = json_loadb(spawned.out.data, spawned.out.length, 0, NULL);
	assert_string_equal(json_string_value(json_object_get(root, "schema")), "kwhy.compare/1");
	assert_int_equal(json_integer_value(json_object_get(json_object_get(root, "a"), "runs")), 3);
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(root, "unit"), "kind")), "step");
	json_decref(root);
	spawned_done(&spawned);
	assert_fails(SPAWN("compare", "-q", paths[0][0], paths[0][1], paths[0][2]), 2, "A1 A2 -- B1 B2");
	assert_fails(SPAWN("compare", "-q", paths[0][0], "--", paths[0][1], "--json"), 2, "options before");
	assert_fails(
		SPAWN("compare", "-q", "--power-a", "p.csv", paths[0][0], paths[0][1], "--", paths[1][0]), 2,
		"are for one run of A");
}

static json_t *comparison_of(struct spawned spawned)
{
	json_t *root = json_loadb(spawned.out.data, spawned.out.length, 0, NULL);

	assert_int_equal(spawned.exit, 0);
	assert_non_null(root);
	spawned_done(&spawned);
	return root;
}

static double value_at(json_t *comparison, const char *array, size_t index, const char *key)
{
	return json_number_value(
		json_object_get(json_array_get(json_object_get(comparison, array), index), key));
}

static const char *name_at(json_t *comparison, const char *array, size_t index)
{
	return json_string_value(
		json_object_get(json_array_get(json_object_get(comparison, array), index), "name"));
}

/*
 * Returns the figure `key` of an account on side A: its seconds per step ("unit_time_s") or joules per step
 * ("unit_energy_j").
 */
static double for_step(json_t *comparison, const char *name, const char *key)
{
	json_t *accounts = json_object_get(comparison, "accounts");

	for (size_t i = 0; i < json_array_size(accounts); i++)
		if (!strcmp(name_at(comparison, "accounts", i), name))
			return json_number_value(
				json_object_get(json_object_get(json_array_get(accounts, i), key), "a"));
	fail_msg("no account %s", name);
	return 0;
}

static void assert_figure(const char *name, double value, double wanted)
{
	/* `kwhy compare` writes numbers with nine significant digits */
	if (!(fabs(value - wanted) <= 1e-8 * fabs(wanted)))
		fail_msg("%s: %.12g, not %.12g", name, value, wanted);
}

/*
 * The two runs of A have 2 and 20 steps of different length. A's figure must be the mean of the figures of
 * its two runs; total time divided by total steps would nearly equal the figure of the second run alone.
 */
static void each_figure_of_several_runs_is_the_mean_of_their_own(void **state)
{
	char run[2][256], after[256];
	json_t *own[2], *all;
	double sum = 0;

	(void)state;
	write_steps("short.csv", 2, 700000000);
	write_steps("long.csv", 20, 350000000);
	write_steps("after.csv", 4, 350000000);
	snprintf(run[0], sizeof(run[0]), "%s", place("short.csv"));
	snprintf(run[1], sizeof(run[1]), "%s", place("long.csv"));
	snprintf(after, sizeof(after), "%s", place("after.csv"));
	for (size_t i = 0; i < 2; i++)
		own[i] = comparison_of(SPAWN("compare", "-q", "--json", "--assume-power",
			"compute=300,copy=200,idle=90", run[i], after));
	all = comparison_of(SPAWN("compare", "-q", "--json", "--assume-power", "compute=300,copy=200,idle=90",
		run[0], run[1], "--", after));
	for (size_t i = 0; i < json_array_size(json_object_get(all, "figures")); i++) {
		const char *name = name_at(all, "figures", i);
		double value = value_at(all, "figures", i, "a");

		assert_figure(name, value,
			(value_at(own[0], "figures", i, "a") + value_at(own[1], "figures", i, "a")) / 2);
		if (strstr(name, "_ratio"))
			sum += value;
	}
	assert_figure("busy and idle", sum, 1);
	for (size_t i = 0; i < 2; i++) {
		const char *key = i ? "unit_energy_j" : "unit_time_s";

		assert_figure(key, for_step(all, "gemm", key),
			(for_step(own[0], "gemm", key) + for_step(own[1], "gemm", key)) / 2);
	}
	json_decref(own[0]);
	json_decref(own[1]);
	json_decref(all);
	assert_output(SPAWN("compare", "-q", run[0], run[1], "--", after), 0, " points");
}

/*
 * A run that is given twice on one side, under one path or two, is refused: as a duplicate adds no variation,
 * every change would look significant. The same run on both sides is allowed.
 */
static void a_run_is_given_once_a_side(void **state)
{
	char a[256], b[256], link[256];

	(void)state;
	write_steps("a5.csv", 5, 348000000);
	write_steps("b4.csv", 4, 350000000);
	snprintf(a, sizeof(a), "%s", place("a5.csv"));
	snprintf(b, sizeof(b), "%s", place("b4.csv"));
	snprintf(link, sizeof(link), "%s", place("link.csv"));
	assert_int_equal(symlink(a, link), 0);
	assert_fails(
		SPAWN("compare", "-q", a, a, "--", b), 2, "is given twice; give each run of a side once");
	assert_fails(SPAWN("compare", "-q", b, "--", a, link), 2, "link.csv is given twice");
	assert_output(SPAWN("compare", "-q", a, b, "--", link, b), 0, "Summary");
	assert_output(SPAWN("compare", "-q", a, a), 0, "Summary");
}

/* Both sides have two runs, of which one has steps and one has none: the comparison must not show the time of
 * a step, and must say why. Then each side has one run, and only that of side A has steps. */
static void figures_that_a_run_of_a_side_lacks_are_not_shown(void **state)
{
	char steps[256], window[256];
	struct spawned spawned;

	(void)state;
	write_steps("a5.csv", 5, 348000000);
	write_window("a68.csv", 68);
	snprintf(steps, sizeof(steps), "%s", place("a5.csv"));
	snprintf(window, sizeof(window), "%s", place("a68.csv"));
	spawned = SPAWN("compare", "-q", steps, window, "--", window, steps);
	assert_int_equal(spawned.exit, 0);
	assert_non_null(strstr(spawned.out.data, "Not every run has steps. "));
	assert_null(strstr(spawned.out.data, "time of a step"));
	spawned_done(&spawned);
	assert_output(SPAWN("compare", "-q", steps, window), 0, "Only one side has steps. ");
}

/* Characters of names that Markdown would read as markup must be escaped. */
static void a_summary_is_written_for_a_pull_request(void **state)
{
	struct kwhy_text summary = {0};
	const char *path = place("summary.md");

	(void)state;
	write_window("a68.csv", 68);
	write_window("b60.csv", 60);
	assert_output(SPAWN("compare", "-q", "--summary", path, "--fail-if", "throughput<-2%",
			      place("a68.csv"), place("b60.csv")),
		3, "EXCEEDED");
	assert_int_equal(kwhy_file_read(place("summary.md"), 1000000, &summary, &error), KWHY_OK);
	assert_memory_equal(summary.data, "## kwhy compare: a condition is exceeded\n", 41);
	assert_non_null(strstr(summary.data, "\n- throughput\\<-2%: -11.7"));
	assert_non_null(strstr(summary.data, "A ran 68 of flash\\_fwd\\_kernel\\<128\\>, B 60"));
	assert_non_null(strstr(summary.data, "\n| throughput, launches | 227 /s | 200 /s |"));
	kwhy_text_done(&summary);
	assert_fails(SPAWN("compare", "-q", "--summary", place("none/summary.md"), place("a68.csv"),
			     place("b60.csv")),
		1, "none");
}

/*
 * Side B recorded host calls only. The comparison must not show that as a saving of all of A's time (-100 %).
 */
static void a_side_without_work_of_a_device_is_not_compared(void **state)
{
	struct kwhy_text csv = {0};
	struct spawned spawned;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		begin_csv(&csv);
		kwhy_text_add(&csv, "call,cudaMalloc,0,1,0,100000,,,\n");
		end_csv(&csv, i ? "host2.csv" : "host1.csv");
	}
	write_steps("a5.csv", 5, 348000000);
	spawned = SPAWN("compare", "-q", place("a5.csv"), place("host1.csv"));
	assert_int_equal(spawned.exit, 0);
	assert_non_null(strstr(
		spawned.out.data, "!  B recorded no activity of a device: there is nothing to compare.\n"));
	assert_null(strstr(spawned.out.data, "-100.0 %"));
	assert_null(strstr(spawned.out.data, "B none"));
	assert_non_null(strstr(spawned.out.data, "\nSummary"));
	spawned_done(&spawned);
	spawned = SPAWN("compare", "-q", "--json", place("a5.csv"), place("host1.csv"));
	assert_int_equal(spawned.exit, 0);
	assert_null(strstr(spawned.out.data, "\"change_percent\": -100"));
	spawned_done(&spawned);
	spawned = SPAWN("compare", "-q", place("host1.csv"), place("host2.csv"));
	assert_int_equal(spawned.exit, 0);
	assert_null(strstr(spawned.out.data, "Summary"));
	spawned_done(&spawned);
}

/*
 * A recording whose writer was killed lacks the end of the run, and so do all figures computed from it. The
 * warning must therefore precede the figures.
 */
static void a_recording_that_ends_early_is_compared_with_a_warning_first(void **state)
{
	struct kwhy_text bytes = {0};
	struct spawned spawned;
	const char *whole = KWHY_SOURCE_DIR "/examples/recordings/mix.kwhy";

	(void)state;
	assert_int_equal(kwhy_file_read(whole, 100000000, &bytes, &error), KWHY_OK);
	assert_int_equal(
		kwhy_file_write(place("cut.kwhy"), bytes.data, bytes.length * 9 / 10, &error), KWHY_OK);
	kwhy_text_done(&bytes);
	spawned = SPAWN("compare", "-q", whole, place("cut.kwhy"));
	assert_int_equal(spawned.exit, 0);
	assert_true(strstr(spawned.out.data, "!  B ends early: ") < strstr(spawned.out.data, "\nSummary"));
	assert_non_null(strstr(spawned.out.data, "!  B ends early: "));
	assert_null(strstr(spawned.out.data, "!  A ends early: "));
	spawned_done(&spawned);
	assert_output(SPAWN("report", "-q", "-o", place("cut.json"), place("cut.kwhy")), 0, "");
	assert_output(SPAWN("compare", "-q", place("cut.json"), whole), 0, "!  A ends early: ");
	spawned = SPAWN("report", "-q", place("cut.kwhy"));
	assert_int_equal(spawned.exit, 0);
	assert_non_null(strstr(spawned.out.data, "ends early"));
	assert_true(strstr(spawned.out.data, "ends early") < strstr(spawned.out.data, " busy "));
	spawned_done(&spawned);
}

/*
 * An energy metered from before a run's start to after its end must be called "metered in and around the
 * run", not "metered".
 */
static void what_was_metered_around_the_run_is_not_said_to_be_of_it(void **state)
{
	(void)state;
	assert_output(SPAWN("compare", "-q", KWHY_SOURCE_DIR "/examples/recordings/mix.kwhy",
			      KWHY_SOURCE_DIR "/examples/recordings/decode.kwhy"),
		0, "  metered in and around the run");
}

/*
 * Where steps are ranges of the recording, their throughput is their number divided by the time of
 * the loop of steps. Where --work states the number of steps, it is divided by the time of the run.
 */
static void each_throughput_of_steps_has_its_name(void **state)
{
	const char *a, *b;

	(void)state;
	write_steps("a5.csv", 5, 348000000);
	write_steps("b4.csv", 4, 350000000);
	a = place("a5.csv");
	b = place("b4.csv");
	assert_output(SPAWN("compare", "-q", a, b), 0, "  throughput, steps   2.87 /s");
	assert_output(SPAWN("compare", "-q", "--work", "steps=10", a, b), 0,
		"  throughput, steps over the run  5.75 /s");
}

static int begin(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

/* Writes a result file of `kwhy llm` that has one load: a set of requests sent at one rate, 4 per second. */
static void write_llm(const char *name, double tokens_per_s, double first_s)
{
	FILE *file = fopen(place(name), "w");

	assert_non_null(file);
	fprintf(file,
		"{\"schema\": \"kwhy.llm/1\", \"url\": \"http://a\", \"model\": \"m\", \"loads\": "
		"[{\"name\": null, "
		"\"loop\": \"open\", \"rate_per_s\": 4, \"tokens_per_s\": %g, \"first_s\": {\"p50\": %g, "
		"\"p99\": null}}]}",
		tokens_per_s, first_s);
	assert_int_equal(fclose(file), 0);
}

static void results_of_kwhy_llm_are_compared_load_by_load(void **state)
{
	static const double first_s[2][3] = {{0.20, 0.21, 0.19}, {0.30, 0.31, 0.29}};
	char paths[2][3][256], summary[256];
	struct spawned spawned;
	json_t *root, *figure;

	(void)state;
	for (size_t side = 0; side < 2; side++)
		for (size_t run = 0; run < 3; run++) {
			char name[16];

			snprintf(name, sizeof(name), "llm-%c%zu.json", (int)('a' + side), run);
			write_llm(name, 100, first_s[side][run]);
			snprintf(paths[side][run], sizeof(paths[0][0]), "%s", place(name));
		}
	snprintf(summary, sizeof(summary), "%s", place("llm.md"));
	assert_output(SPAWN("compare", "--fail-if", "throughput<-2%", paths[0][0], paths[1][0]), 0,
		"  throughput    100 /s    100 /s   +0.0 %");
	assert_output(SPAWN("compare", "--fail-if", "ttft.p50:4 /s>+10%", "--summary", summary, paths[0][0],
			      paths[0][1], paths[0][2], "--", paths[1][0], paths[1][1], paths[1][2]),
		3, "ttft.p50:4 /s>+10%: +50.00 % at 4 /s (200.0 ms to 300.0 ms), 95 %: ");
	assert_int_equal(access(summary, R_OK), 0);
	spawned = SPAWN("compare", "--json", paths[0][0], paths[1][0]);
	assert_int_equal(spawned.exit, 0);
	root = json_loadb(spawned.out.data, spawned.out.length, 0, NULL);
	assert_string_equal(json_string_value(json_object_get(root, "schema")), "kwhy.compare-llm/1");
	figure = json_array_get(json_object_get(root, "figures"), 0);
	assert_string_equal(json_string_value(json_object_get(figure, "of")), "4 /s");
	json_decref(root);
	spawned_done(&spawned);
	assert_fails(SPAWN("compare", "--fail-if", "ttft.p99>+10%", paths[0][0], paths[1][0]), 1,
		"ttft.p99 of '4 /s' is not known in ");
	assert_fails(SPAWN("compare", "--fail-if", "step>+10%", paths[0][0], paths[1][0]), 2,
		"there is no figure 'step'; there are throughput, ");
	assert_fails(
		SPAWN("compare", "-o", place("llm.html"), paths[0][0], paths[1][0]), 1, "no page of results");
	assert_fails(SPAWN("compare", paths[0][0], place("a68.csv")), 1, "llm");
	assert_fails(SPAWN("compare", "--projected", paths[0][0], paths[0][0], paths[1][0]), 2,
		"not what kwhy llm wrote");
}

static int end(void **state)
{
	char command[300];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_windows_are_compared_by_what_ran_in_them),
		cmocka_unit_test(runs_of_another_length_are_compared_by_step),
		cmocka_unit_test(a_report_is_compared_as_its_trace_is),
		cmocka_unit_test(runs_without_energy_have_a_table_of_their_own),
		cmocka_unit_test(a_gate_that_is_none_or_cannot_be_decided_is_no_pass),
		cmocka_unit_test(several_runs_show_what_is_more_than_chance),
		cmocka_unit_test(each_figure_of_several_runs_is_the_mean_of_their_own),
		cmocka_unit_test(a_run_is_given_once_a_side),
		cmocka_unit_test(figures_that_a_run_of_a_side_lacks_are_not_shown),
		cmocka_unit_test(a_summary_is_written_for_a_pull_request),
		cmocka_unit_test(each_throughput_of_steps_has_its_name),
		cmocka_unit_test(a_side_without_work_of_a_device_is_not_compared),
		cmocka_unit_test(a_recording_that_ends_early_is_compared_with_a_warning_first),
		cmocka_unit_test(what_was_metered_around_the_run_is_not_said_to_be_of_it),
		cmocka_unit_test(results_of_kwhy_llm_are_compared_load_by_load),
	};

	return kwhy_test_main(tests, begin, end);
}
