/* SPDX-License-Identifier: Apache-2.0 */
#include "stat_run.h"

#include "base/file.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct kwhy_error error;

static void a_steady_load_uses_its_power_times_the_time(void **state)
{
	json_t *document, *domain;
	double joules, truth;

	(void)state;
	use_scenario("h200_constant_300w");
	document = STAT("--", "sleep", "1");
	domain = domain_of(document, "gpu 0");
	truth = 300 * real_at(json_object_get(document, "time"), "elapsed_s", "mean");
	joules = real_at(domain, "energy_j", "mean");
	assert_true(fabs(joules / truth - 1) < 0.01);
	assert_true(
		real_at(domain, "energy_j", "low") < truth && truth < real_at(domain, "energy_j", "high"));
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(domain, "energy_j"), "interval")), "meter");
	assert_true(fabs(real_at(domain, "mean_w", "mean") - 300) < 3);
	assert_true(json_is_null(json_object_get(json_object_get(domain, "net_j"), "mean")));
	json_decref(document);
}

static void runs_are_repeated_and_their_mean_has_the_interval_of_their_scatter(void **state)
{
	json_t *document, *energy;

	(void)state;
	use_scenario("h200_constant_300w");
	document = STAT("-r", "3", "--warmup", "1", "--", "sleep", "0.2");
	energy = json_object_get(domain_of(document, "gpu 0"), "energy_j");
	assert_int_equal(json_array_size(json_object_get(document, "runs")), 3);
	assert_int_equal(json_integer_value(json_object_get(energy, "count")), 3);
	assert_string_equal(json_string_value(json_object_get(energy, "interval")), "runs");
	assert_true(json_number_value(json_object_get(energy, "high")) >
		json_number_value(json_object_get(energy, "low")));
	json_decref(document);
}

static void the_total_is_the_sum_of_what_adds_up(void **state)
{
	json_t *document, *domain;
	double sum = 0;
	size_t i;

	(void)state;
	use_scenario("two_gpus");
	document = STAT("--", "sleep", "0.5");
	json_array_foreach(json_object_get(document, "domains"), i, domain)
	{
		if (json_is_true(json_object_get(domain, "in_total")))
			sum += real_at(domain, "energy_j", "mean");
	}
	assert_true(sum > 0);
	assert_true(fabs(real_at(domain_of(document, "total"), "energy_j", "mean") - sum) < 1e-6 * sum);
	json_decref(document);
	document = STAT("--device", "1", "--", "sleep", "0.5");
	assert_true(fabs(real_at(domain_of(document, "gpu 1"), "mean_w", "mean") - 78.5) < 2);
	json_decref(document);
}

static void gpus_that_the_command_cannot_see_are_left_out_with_a_note(void **state)
{
	const char *const words[] = {"stat", "--", "true", NULL};
	const char *const all[] = {"stat", "--device", "0,1", "--", "true", NULL};
	struct spawned spawned;

	(void)state;
	use_scenario("two_gpus");
	spawned = spawn_run(&(struct spawn){.words = words, .environment = "CUDA_VISIBLE_DEVICES=1"});
	assert_null(strstr(spawned.err.data, "  gpu 0 "));
	assert_non_null(strstr(spawned.err.data, "  gpu 1 "));
	assert_ends(spawned, 0, "note: GPU 0 left out");
	spawned = spawn_run(&(struct spawn){.words = all, .environment = "CUDA_VISIBLE_DEVICES=1"});
	assert_null(strstr(spawned.err.data, "left out"));
	assert_ends(spawned, 0, "  gpu 0 ");
}

static void energy_above_measured_idle_is_told_with_who_held_the_device(void **state)
{
	json_t *document, *domain;

	(void)state;
	use_scenario("h200_constant_300w");
	document = STAT("--idle-baseline", "0.5", "--", "sleep", "0.5");
	domain = domain_of(document, "gpu 0");
	assert_true(fabs(real_at(domain, "idle", "watts") - 300) < 3);
	assert_int_equal((int)real_at(domain, "idle", "process_count"), 1);
	assert_true(fabs(real_at(domain, "net_j", "mean")) < 0.05 * real_at(domain, "energy_j", "mean"));
	json_decref(document);
}

static void work_is_counted_from_both_outputs_or_stated(void **state)
{
	json_t *document, *work;

	(void)state;
	use_scenario("h200_constant_300w");
	document = STAT("--work", "tokens=made ([0-9]+)", "--work", "steps=^step", "--work", "flop=1e12",
		"--", "sh", "-c", "echo step made 30; printf 'step ma' >&2; sleep 0.2; printf 'de 12' >&2");
	work = json_object_get(document, "work");
	assert_true(real_at(named(work, "unit", "tokens"), "count", "mean") == 42);
	assert_true(real_at(named(work, "unit", "steps"), "count", "mean") == 2);
	assert_true(real_at(named(work, "unit", "flop"), "count", "mean") == 1e12);
	work = named(json_object_get(named(work, "unit", "tokens"), "domains"), "name", "gpu 0");
	assert_true(fabs(real_at(work, "joules_per_unit", "mean") * 42 -
			    real_at(domain_of(document, "gpu 0"), "energy_j", "mean")) < 1e-4);
	json_decref(document);
}

static void a_command_reports_its_work_itself(void **state)
{
	json_t *document, *work;

	(void)state;
	use_scenario("h200_constant_300w");
	document = STAT("-r", "2", "--warmup", "1", "--work", "tokens", "--work", "steps", "--", "sh", "-c",
		"printf 'tokens 40\\nother 7\\ntokens 2.5\\ntokens many\\n' >>\"$KWHY_WORK_FILE\"");
	work = json_object_get(document, "work");
	assert_true(real_at(named(work, "unit", "tokens"), "count", "mean") == 42.5);
	assert_int_equal(json_integer_value(json_object_get(named(work, "unit", "tokens"), "unreadable")), 2);
	assert_true(json_is_null(
		json_object_get(json_object_get(named(work, "unit", "steps"), "count"), "mean")));
	json_decref(document);
}

static void work_that_nothing_told_of_is_unknown_and_a_zero_that_was_told_is_zero(void **state)
{
	static const char *const unknown[] = {"count", "per_s"};
	json_t *document, *work, *energy;

	(void)state;
	use_scenario("h200_constant_300w");
	document = STAT("--work", "tokens=made ([0-9]+)", "--work", "steps=did ([0-9]+)", "--work", "images",
		"--", "sh", "-c", "echo did 0; echo images 0 >>\"$KWHY_WORK_FILE\"; sleep 0.2");
	work = named(json_object_get(document, "work"), "unit", "tokens");
	for (size_t i = 0; i < 2; i++)
		assert_true(json_is_null(json_object_get(json_object_get(work, unknown[i]), "mean")));
	energy = named(json_object_get(work, "domains"), "name", "gpu 0");
	assert_true(json_is_null(json_object_get(json_object_get(energy, "units_per_joule"), "mean")));
	for (size_t i = 1; i < 3; i++) {
		work = json_array_get(json_object_get(document, "work"), i);
		assert_true(json_is_number(json_object_get(json_object_get(work, "count"), "mean")));
		assert_true(real_at(work, "count", "mean") == 0 && real_at(work, "per_s", "mean") == 0);
	}
	json_decref(document);
	assert_ends(SPAWN("stat", "--work", "tokens=made", "--", "true"), 0,
		"--work tokens: nothing in the output matched");
}

static void a_metric_is_followed_over_time_and_joules(void **state)
{
	json_t *document, *points, *point;
	double joules = 0, time_s = 0;
	size_t i;

	(void)state;
	use_scenario("h200_constant_300w");
	document = STAT("--metric", "loss=loss ([0-9.]+)", "--", "sh", "-c",
		"for i in 5 4 3; do echo loss $i; sleep 0.2; done");
	points = json_object_get(named(json_object_get(document, "metrics"), "name", "loss"), "points");
	assert_int_equal(json_array_size(points), 3);
	json_array_foreach(points, i, point)
	{
		assert_true(json_number_value(json_object_get(point, "value")) == 5 - (double)i);
		assert_true(json_number_value(json_object_get(point, "time_s")) > time_s);
		assert_true(json_number_value(json_object_get(point, "joules")) > joules);
		time_s = json_number_value(json_object_get(point, "time_s"));
		joules = json_number_value(json_object_get(point, "joules"));
	}
	json_decref(document);
}

static void intervals_add_up_to_the_run(void **state)
{
	json_t *document, *interval;
	double sum = 0;
	size_t i;

	(void)state;
	use_scenario("h200_square_50_50");
	document = STAT("--interval", "100", "--device", "0", "--", "sleep", "0.55");
	assert_true(json_array_size(json_object_get(document, "intervals")) >= 6);
	json_array_foreach(json_object_get(document, "intervals"), i, interval)
		sum += json_number_value(json_array_get(json_object_get(interval, "joules"), 0));
	assert_true(fabs(sum / real_at(domain_of(document, "gpu 0"), "energy_j", "mean") - 1) < 1e-3);
	json_decref(document);
}

static void the_commands_status_is_ours(void **state)
{
	(void)state;
	use_scenario("h200_idle");
	assert_ends(SPAWN("stat", "--", "sh", "-c", "exit 7"), 7, "ended with status 7");
	assert_ends(SPAWN("stat", "--", "sh", "-c", "kill -KILL $$"), 137, "killed by signal 9");
	assert_ends(SPAWN("stat", "--", "kwhy-no-such-command"), 127, "no command 'kwhy-no-such-command'");
	/* kwhy must find this error before it runs the command: "ran" would follow the message */
	assert_ends(SPAWN("stat", "--json", "-o", "kwhy/no/such.json", "--", "sh", "-c", "echo ran >&2"), 1,
		"whose folder is not there; make it first");
	assert_ends(SPAWN("stat", "--", "./kwhy/no/such"), 127, "cannot run './kwhy/no/such'");
	assert_ends(SPAWN("stat", "--", "/"), 126, "cannot run '/'");
	assert_ends(SPAWN("stat", "--warmup", "2", "--", "sh", "-c", "exit 4"), 4, "warm-up");
}

static void a_starter_that_ignores_the_ends_of_children_changes_nothing(void **state)
{
	(void)state;
	use_scenario("h200_idle");
	assert_ends(spawn_run(&(struct spawn){
			    .words = (const char *const[]){"stat", "--", "sh", "-c", "exit 7", NULL},
			    .ignores_children = true}),
		7, "ended with status 7");
}

static void the_first_failing_run_is_the_last(void **state)
{
	(void)state;
	use_scenario("h200_idle");
	assert_ends(SPAWN("stat", "-r", "5", "--", "sh", "-c", "exit 9"), 9, "1 of 5 runs were made");
}

static void an_interrupted_series_tells_what_ran(void **state)
{
	(void)state;
	use_scenario("h200_constant_300w");
	assert_ends(SPAWN("stat", "-r", "4", "--", "sh", "-c", "kill -INT $PPID; sleep 5"), 130,
		"killed by signal 2");
	assert_ends(
		SPAWN("stat", "-r", "4", "--", "sh", "-c", "trap 'exit 0' TERM; kill -TERM $PPID; sleep 5"),
		143, "interrupted by signal 15");
}

static void a_request_to_end_before_the_command_starts_starts_none(void **state)
{
	const char *const words[] = {"stat", "--", "sh", "-c", "echo ran >&2", NULL};
	struct spawned spawned = spawn_run(&(struct spawn){.words = words, .pending = SIGTERM});

	(void)state;
	assert_string_equal(spawned.err.data, "kwhy: interrupted by signal 15 (Terminated)\n");
	assert_ends(spawned, 143, "");
}

/*
 * The command limits the file sizes of its parent process, `kwhy stat`, which then cannot write more
 * readings.
 */
static void readings_that_cannot_be_kept_leave_the_result_and_the_status(void **state)
{
	struct spawned spawned;

	(void)state;
	use_scenario("h200_constant_300w");
	spawned = SPAWN("stat", "--save-power", place("power.csv"), "-r", "2", "--", "sh", "-c",
		"prlimit --pid $PPID --fsize=64 && sleep 1.3; exit 7");
	assert_non_null(strstr(spawned.err.data, "gpu 0"));
	assert_non_null(strstr(spawned.err.data, "' ended with status 7\n"));
	assert_ends(spawned, 1, "power.csv': File too large; ");
}

static void the_commands_output_passes_untouched(void **state)
{
	char *bytes = malloc(300000);
	struct spawned spawned;
	FILE *file = fopen(place("bytes"), "wb");

	(void)state;
	use_scenario("h200_idle");
	for (size_t i = 0; i < 300000; i++)
		bytes[i] = (char)(i < 100000 ? i * 7 + i / 251 : 'x');
	assert_int_equal(fwrite(bytes, 1, 300000, file), 300000);
	fclose(file);
	spawned = SPAWN("stat", "--work", "x=x+y?", "-o", "/dev/null", "--json", "--", "cat", place("bytes"));
	assert_int_equal(spawned.exit, 0);
	assert_int_equal(spawned.err.length, 0);
	assert_int_equal(spawned.out.length, 300000);
	assert_memory_equal(spawned.out.data, bytes, 300000);
	spawned_done(&spawned);
	free(bytes);
}

static void options_behind_the_command_are_its_own(void **state)
{
	struct spawned spawned;

	(void)state;
	use_scenario("h200_idle");
	spawned = SPAWN("stat", "echo", "-r", "5", "--json", "--bogus");
	assert_int_equal(spawned.exit, 0);
	assert_string_equal(spawned.out.data, "-r 5 --json --bogus\n");
	assert_non_null(strstr(spawned.err.data, "kwhy stat: echo -r 5"));
	spawned_done(&spawned);
}

static void wrong_usage_is_told_before_anything_runs(void **state)
{
	static const char *const wrong[][4] = {{NULL}, {"-r", "0"}, {"--metric", "tokens"}, {"--work", "=a"},
		{"--work", "a=("}, {"--work", "a=-3"}, {"--metric", "a=loss"}, {"--metric", "a=(b)(c)"},
		{"--interval", "1"}, {"--idle-baseline", "0"}, {"--json", "--csv"}, {"--device", "x"},
		{"-o", "x.png"}};

	(void)state;
	use_scenario("h200_idle");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		const char *words[6] = {"stat", wrong[i][0], wrong[i][1], wrong[i][0] ? "echo" : NULL, "ran"};
		struct spawned spawned = spawn_run(&(struct spawn){.words = words});

		if (spawned.exit != 2 || spawned.out.length)
			fail_msg("%s %s: exit %d, '%s'", words[1], words[2], spawned.exit, spawned.err.data);
		spawned_done(&spawned);
	}
}

/*
 * The command copies a bundled recording of `kwhy probe` to the folder KWHY_RECORD_DIR, if kwhy has
 * set that variable because it records the command's activities.
 */
static void powers_of_another_run_price_the_kernels_of_one_more(void **state)
{
	static const char copy[] = "[ -z \"$KWHY_RECORD_DIR\" ] || cp " KWHY_SOURCE_DIR
				   "/examples/recordings/mix-probed.kwhy $KWHY_RECORD_DIR/mix.blocks";
	const char *const other = KWHY_SOURCE_DIR "/examples/recordings/mix.kwhy";
	json_t *document, *recorded, *kernels, *kernel;
	struct spawned spawned;
	double sum_j = 0;
	size_t i, learnt = 0;

	(void)state;
	use_scenario("h200_constant_300w");
	document = STAT("-r", "2", "--powers", other, "--", "sh", "-c", copy);
	recorded = json_object_get(document, "recorded");
	kernels = json_object_get(recorded, "kernels");
	assert_int_equal(json_array_size(json_object_get(document, "runs")), 2);
	assert_true(json_array_size(kernels) > 3);
	json_array_foreach(kernels, i, kernel)
	{
		sum_j += json_number_value(json_object_get(kernel, "energy_j"));
		learnt += !strcmp(json_string_value(json_object_get(kernel, "basis")), "learnt");
	}
	assert_true(learnt > 0);
	assert_true(sum_j > 0 && sum_j < json_number_value(json_object_get(recorded, "energy_j")));
	assert_true(json_number_value(json_object_get(recorded, "low_j")) <
		json_number_value(json_object_get(recorded, "energy_j")));
	assert_true(json_number_value(json_object_get(recorded, "high_j")) >
		json_number_value(json_object_get(recorded, "energy_j")));
	json_decref(document);
	spawned = SPAWN("stat", "--powers", other, "--", "sh", "-c", copy);
	assert_non_null(strstr(spawned.err.data, "Kernels  of one more run, which was recorded: "));
	assert_ends(spawned, 0, "learnt");
	spawned = SPAWN("stat", "--csv", "--powers", other, "--", "sh", "-c", copy);
	assert_ends(spawned, 0, "\nkernel_j,");
	document = STAT("--", "true");
	assert_null(json_object_get(document, "recorded"));
	json_decref(document);
}

static void powers_that_cannot_be_used_are_refused(void **state)
{
	(void)state;
	use_scenario("h200_constant_300w");
	assert_ends(SPAWN("stat", "--powers", "/nowhere/x.powers.json", "--", "true"), 1,
		"--powers /nowhere/x.powers.json cannot be read: No such file");
	/*
	 * a file that has no powers is found wrong after the measurement only; the measured energies must
	 * still be printed
	 */
	assert_ends(SPAWN("stat", "--powers", KWHY_SOURCE_DIR "/README.md", "--", "true"), 1, "gpu 0");
}

/* The process that the command leaves running sleeps longer than any test lasts; the test ends it. */
static void processes_left_after_are_noted(void **state)
{
	struct kwhy_text pid = {0};
	struct spawned spawned;
	char command[400];

	(void)state;
	use_scenario("h200_idle");
	snprintf(command, sizeof(command), "exec >/dev/null 2>&1; sleep 99999 & echo $! >%s", place("pid"));
	spawned = SPAWN("stat", "--", "sh", "-c", command);
	assert_int_equal(kwhy_file_read(place("pid"), 100, &pid, &error), KWHY_OK);
	assert_int_equal(kill(atoi(pid.data), SIGKILL), 0);
	kwhy_text_done(&pid);
	assert_ends(spawned, 0, "lived on after its end");
}

static void the_text_fits_80_columns_and_csv_has_its_columns(void **state)
{
	struct spawned spawned;
	struct kwhy_text csv = {0};

	(void)state;
	use_scenario("two_gpus");
	spawned = SPAWN("stat", "--idle-baseline", "0.5", "-I", "100", "--work", "tokens=12345678901",
		"--metric", "loss=([0-9.]+)", "--", "sh", "-c", "sleep 0.2; echo 1.5");
	for (char *line = strtok(spawned.err.data, "\n"); line; line = strtok(NULL, "\n"))
		assert_in_range(kwhy_text_columns(line), 1, 80);
	spawned_done(&spawned);
	spawned = SPAWN("stat", "-o", place("out.csv"), "--", "true");
	assert_int_equal(spawned.exit, 0);
	assert_int_equal(kwhy_file_read(place("out.csv"), 1000000, &csv, &error), KWHY_OK);
	assert_memory_equal(csv.data, "figure,of,run,start_s,end_s,count,mean,low,high,interval,", 57);
	assert_non_null(strstr(csv.data, "\nenergy_j,gpu 0,"));
	kwhy_text_done(&csv);
	spawned_done(&spawned);
}

/* b sleeps 0.3 s, a sleeps 1.8 s: b takes less time and energy even if a busy machine delays both. */
static void two_results_are_compared(void **state)
{
	struct spawned spawned;
	char a[256], b[256];
	json_t *document, *levels;

	(void)state;
	use_scenario("h200_constant_300w");
	snprintf(a, sizeof(a), "%s", place("a.json"));
	snprintf(b, sizeof(b), "%s", place("b.json"));
	assert_ends(SPAWN("stat", "-r", "3", "--work", "epochs=3", "--metric", "loss=loss ([0-9.]+)", "-o", a,
			    "--", "sh", "-c", "for i in 9 6 3; do echo loss $i; sleep 0.6; done"),
		0, "");
	assert_ends(SPAWN("stat", "-r", "3", "--work", "epochs=3", "--metric", "loss=loss ([0-9.]+)", "-o", b,
			    "--", "sh", "-c", "for i in 9 6 3; do echo loss $i; sleep 0.1; done"),
		0, "");
	spawned = SPAWN("compare", a, b, "--json", "--fail-if", "energy<-30%");
	assert_int_equal(spawned.exit, 3);
	document = parse(&spawned.out);
	assert_true(json_is_true(json_object_get(
		named(json_object_get(document, "figures"), "name", "energy"), "significant")));
	levels = json_object_get(json_array_get(json_object_get(document, "metrics"), 0), "reached");
	assert_int_equal(json_array_size(levels), 5);
	levels = json_array_get(levels, 4);
	assert_true(json_number_value(json_object_get(levels, "value")) == 3);
	assert_true(json_number_value(json_object_get(levels, "b_joules")) <
		0.75 * json_number_value(json_object_get(levels, "a_joules")));
	json_decref(document);
	spawned_done(&spawned);
	assert_ends(SPAWN("compare", a, b, "--fail-if", "each:epochs<-30%"), 3, "");
	assert_ends(SPAWN("compare", a, KWHY_SOURCE_DIR "/tests/golden/tiny.csv"), 1, "kwhy stat --json");
	assert_ends(SPAWN("compare", a, b, "--fail-if", "busy_ratio<1"), 1, "cannot be decided");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_steady_load_uses_its_power_times_the_time),
		cmocka_unit_test(runs_are_repeated_and_their_mean_has_the_interval_of_their_scatter),
		cmocka_unit_test(the_total_is_the_sum_of_what_adds_up),
		cmocka_unit_test(gpus_that_the_command_cannot_see_are_left_out_with_a_note),
		cmocka_unit_test(energy_above_measured_idle_is_told_with_who_held_the_device),
		cmocka_unit_test(work_is_counted_from_both_outputs_or_stated),
		cmocka_unit_test(a_command_reports_its_work_itself),
		cmocka_unit_test(work_that_nothing_told_of_is_unknown_and_a_zero_that_was_told_is_zero),
		cmocka_unit_test(a_metric_is_followed_over_time_and_joules),
		cmocka_unit_test(intervals_add_up_to_the_run),
		cmocka_unit_test(the_commands_status_is_ours),
		cmocka_unit_test(a_starter_that_ignores_the_ends_of_children_changes_nothing),
		cmocka_unit_test(the_first_failing_run_is_the_last),
		cmocka_unit_test(an_interrupted_series_tells_what_ran),
		cmocka_unit_test(a_request_to_end_before_the_command_starts_starts_none),
		cmocka_unit_test(readings_that_cannot_be_kept_leave_the_result_and_the_status),
		cmocka_unit_test(the_commands_output_passes_untouched),
		cmocka_unit_test(options_behind_the_command_are_its_own),
		cmocka_unit_test(wrong_usage_is_told_before_anything_runs),
		cmocka_unit_test(powers_of_another_run_price_the_kernels_of_one_more),
		cmocka_unit_test(powers_that_cannot_be_used_are_refused),
		cmocka_unit_test(processes_left_after_are_noted),
		cmocka_unit_test(the_text_fits_80_columns_and_csv_has_its_columns),
		cmocka_unit_test(two_results_are_compared),
	};

	return kwhy_test_main(tests, stat_begin, stat_end);
}
