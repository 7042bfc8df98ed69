/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that all commands show the same energy of the run for the same recording. */
#include "base/quantity.h"
#include "spawned_checks.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <unistd.h>

#define EXAMPLES KWHY_SOURCE_DIR "/examples/"

static char folder[] = "kwhy-energies-XXXXXX";
static struct kwhy_error error;

enum { WORDS_MAX = 8 };

/* Runs kwhy with the words of a command (`before`), followed by those that name a recording (`words`). */
static struct spawned run(const char *const *before, const char *const *words)
{
	const char *all[2 * WORDS_MAX + 1] = {0};
	size_t count = 0;

	for (; *before; before++)
		all[count++] = *before;
	for (; *words; words++)
		all[count++] = *words;
	return spawn_run(&(struct spawn){.words = all});
}

#define RUN(words, ...) run((const char *const[]){__VA_ARGS__, NULL}, words)

static const char *place(const char *name)
{
	return place_in(folder, name);
}

static int begin(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	unlink(place("report.json"));
	unlink(place("trace.csv"));
	unlink(place("power.csv"));
	return rmdir(folder);
}

static void assert_energy(const char *of, double nj, double wanted_nj)
{
	if (!(fabs(nj - wanted_nj) <= 1e-8 * fabs(wanted_nj)))
		fail_msg("%s: %.0f nJ, and %.0f nJ in the report", of, nj, wanted_nj);
}

/*
 * Checks that the output has the energy `nj`, formatted as in text reports, between the texts `before` and
 * `after`.
 */
static void assert_shows(struct spawned spawned, const char *before, double nj, const char *after)
{
	char energy[KWHY_QUANTITY_BYTES], says[256];

	snprintf(says, sizeof(says), "%s%s%s", before, kwhy_quantity_energy(energy, (int64_t)nj), after);
	unwrap(spawned.out.data);
	if (!strstr(spawned.out.data, says))
		fail_msg("no '%s' in %s%s", says, spawned.out.data, spawned.err.data);
	spawned_done(&spawned);
}

static double metered_of(const json_t *report)
{
	double sum_nj = 0;
	size_t i;
	json_t *device;

	json_array_foreach(json_object_get(report, "devices"), i, device)
		sum_nj += number_in(device, "energy", "attributed_nj");
	return sum_nj;
}

static json_t *report_of(const char *const *recording)
{
	const char *path = place("report.json");
	json_t *report;

	assert_says(RUN(recording, "report", "-q", "-o", path), "");
	report = json_load_file(path, 0, NULL);
	assert_non_null(report);
	return report;
}

/*
 * Checks that the energy of the run in the report is also that of `kwhy whatif --plan`, computed from the
 * recording, and of `kwhy model cost` and `kwhy compare`, computed from report.json.
 */
static void assert_one_energy(const char *const *recording)
{
	json_t *report = report_of(recording), *plan, *cost, *comparison;
	const char *path = place("report.json");
	double run_nj = number_at(report, "run.energy_nj");

	plan = json_of(RUN(recording, "whatif", "--plan", "--json", "-q"));
	cost = json_of(SPAWN("model", "cost", "--price", "3.6e6EUR", "--json", path));
	comparison = json_of(SPAWN("compare", "--json", path, path));
	assert_true(run_nj > 0);
	assert_energy("recorded", number_at(report, "run.recorded_nj"), run_nj);
	assert_energy("whatif", number_at(plan, "before.energy_nj"), run_nj);
	assert_energy("model cost", number_at(cost, "runs.0.energy_j.value") * 1e9, run_nj);
	assert_energy("amount", number_at(cost, "runs.0.answer.amount.value") * 1e9, run_nj);
	assert_energy("compare", number_at(comparison, "b.run_nj"), run_nj);
	assert_energy("compare, metered", number_at(comparison, "b.energy_nj"), metered_of(report));
	assert_shows(RUN(recording, "whatif", "--plan", "-q"), " and ", run_nj, " as recorded");
	assert_shows(SPAWN("compare", "-q", path, path), "energy of the run ", run_nj, " ");
	json_decref(report);
	json_decref(plan);
	json_decref(cost);
	json_decref(comparison);
}

/*
 * Checks that the text report shows the same energy of the run as report.json. Checks also the cost: at 3.6e6
 * EUR/kWh, which is 1 EUR/J, it equals the energy in joules.
 */
static void assert_priced_alike(const char *const *recording)
{
	json_t *report = report_of(recording);
	double run_nj = number_at(report, "run.energy_nj");
	json_t *priced = json_of(RUN(recording, "report", "--price", "3.6e6EUR", "--json", "-q"));

	assert_energy("cost", number_at(priced, "cost.amount") * 1e9, run_nj);
	assert_shows(RUN(recording, "report", "-q"), " on NVIDIA H200 ", run_nj, " ");
	json_decref(priced);
	json_decref(report);
}

static void report_plan_model_and_comparison_of_a_recording_have_one_energy(void **state)
{
	static const char *const recordings[][4] = {
		{EXAMPLES "recordings/decode.kwhy"},
		{EXAMPLES "recordings/train.kwhy"},
		{EXAMPLES "recordings/transfer.kwhy"},
		{EXAMPLES "h200-decode/trace.json.zst", "--power", EXAMPLES "h200-decode/power.csv"},
		{EXAMPLES "h200-decode/trace.json.zst", "--assume-power", "200"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(recordings) / sizeof(*recordings); i++)
		assert_one_energy(recordings[i]);
}

static void the_first_screen_and_the_cost_are_of_the_same_energy(void **state)
{
	static const char *const recordings[][4] = {
		{EXAMPLES "recordings/decode.kwhy"},
		{EXAMPLES "h200-decode/trace.json.zst", "--power", EXAMPLES "h200-decode/power.csv"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(recordings) / sizeof(*recordings); i++)
		assert_priced_alike(recordings[i]);
}

/*
 * GPU 0 runs kernels for 2 s at 300 W. GPU 1 runs nothing and draws 120 W, which is metered but no part of
 * the energy of the run.
 */
static void what_a_gpu_drew_that_did_nothing_is_metered_and_of_no_run(void **state)
{
	const char *const recording[] = {place("trace.csv"), "--power", place("power.csv"), NULL};
	struct kwhy_text trace = {0}, power = {0};

	(void)state;
	kwhy_text_add(&trace,
		"# device 0 name=X sms=132 context_idle_w=100\n"
		"# device 1 name=X sms=132 context_idle_w=100\n"
		"kind,name,device,stream,start_ns,end_ns,bytes,blocks,threads_per_block\n");
	kwhy_text_add(&power, "time_ns,device,source,value\n");
	for (int i = 0; i < 200; i++)
		kwhy_text_addf(&trace, "kernel,gemm,0,7,170%09d0000000,170%09d6000000,,132,256\n", i, i);
	for (int i = 0; i <= 100; i++)
		for (int d = 0; d < 2; d++)
			kwhy_text_addf(&power, "170%09d0000000,%d,nvml.energy_mj,%d\n", 2 * i, d,
				i * 20 * (d ? 120 : 300));
	assert_int_equal(kwhy_file_write(recording[0], trace.data, trace.length, &error), KWHY_OK);
	assert_int_equal(kwhy_file_write(recording[2], power.data, power.length, &error), KWHY_OK);
	assert_one_energy(recording);
	kwhy_text_done(&trace);
	kwhy_text_done(&power);
}

/*
 * Returns the report of tests/golden/windows.csv, whose run lasts 8.974 s, with readings of 250 W during the
 * run and of 119 W around it, from `start_cs` (hundredths of a second) to 11 s.
 */
static json_t *report_of_windows(int start_cs)
{
	const char *const recording[] = {
		KWHY_SOURCE_DIR "/tests/golden/windows.csv", "--power", place("power.csv"), NULL};
	struct kwhy_text power = {0};

	kwhy_text_add(&power, "time_ns,device,source,value\n");
	for (int at_cs = start_cs; at_cs < 1100; at_cs += 2)
		kwhy_text_addf(&power, "%lld,0,nvml.sample_mw,%d\n",
			1795245124000000000LL + at_cs * 10000000LL,
			at_cs > 20 && at_cs < 920 ? 250000 : 119000);
	assert_int_equal(kwhy_file_write(recording[2], power.data, power.length, &error), KWHY_OK);
	kwhy_text_done(&power);
	return report_of(recording);
}

/*
 * Readings begin 1.2 s before the run and end 1.8 s after it; in these 3 s the device draws 119 W. The energy
 * of the run is 250 W times 8.974 s, 2243.5 J, and must include none of that.
 */
static void unrecorded_time_around_the_run_is_not_of_the_run(void **state)
{
	json_t *report = report_of_windows(-100);
	double half_nj = number_at(report, "run.high_nj") - number_at(report, "run.energy_nj");

	(void)state;
	if (!(fabs(number_at(report, "run.energy_nj") - 2243.5e9) <= fmax(half_nj, 5e9)))
		fail_msg("%g J \xc2\xb1%g J", number_at(report, "run.energy_nj") * 1e-9, half_nj * 1e-9);
	json_decref(report);
}

/* Readings begin at 5 s, in the middle of the run; 4.8 s of the run are unmetered. */
static void unrecorded_time_that_no_meter_saw_is_worked_out_and_said(void **state)
{
	json_t *report = report_of_windows(500);
	double half_nj = number_at(report, "run.high_nj") - number_at(report, "run.energy_nj");

	(void)state;
	if (!(fabs(number_at(report, "run.energy_nj") - 2243.5e9) <= half_nj))
		fail_msg("%g J \xc2\xb1%g J", number_at(report, "run.energy_nj") * 1e-9, half_nj * 1e-9);
	if (!(fabs(number_at(report, "run.unmetered_nj") - 4.8 * 250e9) <= half_nj))
		fail_msg("%g J unmetered", number_at(report, "run.unmetered_nj") * 1e-9);
	json_decref(report);
}

/*
 * Of the run of 8.974 s, the trace records 1.044 s. Assumed powers give the energy of these only, so the
 * report must show neither energy nor cost of the run.
 */
static void assumed_powers_are_of_what_was_recorded(void **state)
{
	const char *const recording[] = {
		KWHY_SOURCE_DIR "/tests/golden/windows.csv", "--assume-power", "150", NULL};
	json_t *report = json_of(RUN(recording, "report", "--price", "0.3EUR", "--json", "-q")), *comparison;
	const char *path = place("report.json");

	(void)state;
	assert_energy("recorded", number_at(report, "run.recorded_nj"), 156.6e9);
	assert_true(json_is_null(json_object_get(json_object_get(report, "run"), "energy_nj")));
	assert_true(json_is_null(json_object_get(report, "cost")));
	json_decref(report);
	assert_shows(RUN(recording, "report", "-q"), "", 156.6e9, " in 1.04 s, 150 W on average (modelled");
	assert_says(RUN(recording, "report", "-v", "-q"), "modelled over 1.04 s");
	json_decref(report_of(recording));
	comparison = json_of(SPAWN("compare", "--json", path, path));
	assert_energy("average power", number_at(comparison, "figures.3.a"), 150);
	json_decref(comparison);
}

/*
 * Writes a trace in which each device runs one kernel for `days` days, and readings of an energy
 * counter that rises by 700 J a second. Returns the arguments that name both files.
 */
static const char *const *drawn_for_days(size_t devices, int days)
{
	static char trace[PATH_MAX], power[PATH_MAX];
	static const char *const words[] = {trace, "--power", power, NULL};
	const int64_t start_ns = INT64_C(1795245124478730000), day_ns = INT64_C(86400000000000);
	struct kwhy_text kernels = {0}, readings = {0};

	snprintf(trace, sizeof(trace), "%s", place("trace.csv"));
	snprintf(power, sizeof(power), "%s", place("power.csv"));
	kwhy_text_add(&kernels, "kind,name,device,stream,start_ns,end_ns\n");
	kwhy_text_add(&readings, "time_ns,device,source,value\n");
	for (size_t d = 0; d < devices; d++) {
		kwhy_text_addf(&kernels, "kernel,gemm,%zu,7,%" PRId64 ",%" PRId64 "\n", d, start_ns,
			start_ns + days * day_ns);
		for (int day = 0; day <= days; day++)
			kwhy_text_addf(&readings, "%" PRId64 ",%zu,nvml.energy_mj,%" PRId64 "\n",
				start_ns + day * day_ns, d, 1 + INT64_C(60480000000) * day);
	}
	assert_int_equal(kwhy_file_write(trace, kernels.data, kernels.length, &error), KWHY_OK);
	assert_int_equal(kwhy_file_write(power, readings.data, readings.length, &error), KWHY_OK);
	kwhy_text_done(&kernels);
	kwhy_text_done(&readings);
	return words;
}

/*
 * 700 W for 150 days are 9.07 GJ, which an int64_t of nanojoules can hold. 160 days on one device, or 80
 * days on two, are 9.68 GJ, which it cannot hold. The message must not blame a reading.
 */
static void more_energy_than_can_be_counted_is_refused_for_what_it_is(void **state)
{
	struct spawned spawned = RUN(drawn_for_days(1, 150), "report", "-q");

	(void)state;
	assert_null(strstr(spawned.out.data, "±-")); /* the half-width of an interval is never negative */
	assert_says(spawned, "9.07 GJ (9.07 to 9.07 GJ) in 13.0 Ms");
	assert_fails(RUN(drawn_for_days(1, 160), "report", "-q"), 1,
		"readings of one device come to more than 9.22 GJ (2,562 kWh)");
	assert_fails(RUN(drawn_for_days(2, 80), "report", "-q"), 1,
		"the devices together come to more than 9.22 GJ (2,562 kWh)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(report_plan_model_and_comparison_of_a_recording_have_one_energy),
		cmocka_unit_test(the_first_screen_and_the_cost_are_of_the_same_energy),
		cmocka_unit_test(what_a_gpu_drew_that_did_nothing_is_metered_and_of_no_run),
		cmocka_unit_test(unrecorded_time_around_the_run_is_not_of_the_run),
		cmocka_unit_test(assumed_powers_are_of_what_was_recorded),
		cmocka_unit_test(unrecorded_time_that_no_meter_saw_is_worked_out_and_said),
		cmocka_unit_test(more_energy_than_can_be_counted_is_refused_for_what_it_is),
	};

	return kwhy_test_main(tests, begin, end);
}
