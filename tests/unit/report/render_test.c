/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "import/results/side.h"
#include "nouns.h"
#include "report/compare.h"
#include "report/shown_name.h"
#include "report/text_context.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static struct kwhy_error error;

/*
 * Names that a hostile trace may give to a kernel: control and bidirectional characters, characters with a
 * meaning in CSV, wide characters, printf formats, brackets, no character.
 */
static const char *const hostile[] = {
	"\xE2\x80\xAE"
	"evil \xE2\x81\xA6 bidi",
	"\xC2\x9B"
	"31m C1 control",
	"a b  c\"quoted\",comma,'=HYPERLINK'",
	"\xE6\xBC\xA2\xE5\xAD\x97\xE6\xBC\xA2\xE5\xAD\x97\xE6\xBC\xA2\xE5\xAD\x97\xE6\xBC\xA2\xE5\xAD\x97\xE6"
	"\xBC"
	"\xA2\xE5\xAD\x97\xE6\xBC\xA2\xE5\xAD\x97\xE6\xBC\xA2\xE5\xAD\x97\xE6\xBC\xA2\xE5\xAD\x97",
	"%s%n%d",
	"<<<<(((([[[[::::>>>>",
	"",
};

static void assert_lines_fit(char *text, size_t columns)
{
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		if (kwhy_shown_columns(line) > columns)
			fail_msg("%zu columns: %s", kwhy_shown_columns(line), line);
}

static size_t lines_of(const char *text)
{
	size_t lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

static void no_name_breaks_the_columns_or_reaches_the_terminal_unclean(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		struct nouns nouns;
		struct kwhy_text out;

		nouns_init(&nouns, hostile[i]);
		nouns_energy(&nouns);
		out = nouns_text(&nouns, 80, false);
		assert_in_range(lines_of(out.data), 5, 24);
		kwhy_text_done(&out);
		out = nouns_text(&nouns, 80, i % 2);
		assert_null(strstr(out.data, "\xE2\x80\xAE"));
		assert_null(strstr(out.data, "\xE2\x81\xA6"));
		assert_null(strstr(out.data, "\xC2\x9B"));
		assert_null(strchr(out.data, '\033'));
		assert_lines_fit(out.data, 80);
		kwhy_text_done(&out);
		nouns_done(&nouns);
	}
}

static void a_very_long_name_fits_too(void **state)
{
	struct nouns nouns;
	struct kwhy_text out;
	char *name = malloc(100001);

	(void)state;
	assert_non_null(name);
	memset(name, 'x', 100000);
	name[100000] = '\0';
	nouns_init(&nouns, name);
	out = nouns_text(&nouns, 80, false);
	assert_in_range(lines_of(out.data), 5, 24);
	assert_lines_fit(out.data, 80);
	kwhy_text_done(&out);
	out = nouns_text(&nouns, 80, true);
	assert_lines_fit(out.data, 80);
	kwhy_text_done(&out);
	nouns_done(&nouns);
	free(name);
}

/* A meter's row must show the name of its host only if there are meters of several hosts. */
static void hosts_are_named_where_meters_are_of_several(void **state)
{
	struct kwhy_host_energy hosts[] = {
		{.source = "rapl.package-0_uj", .host = "node1", .measured_nj = 6000},
		{.source = "rapl.package-0_uj", .measured_nj = 4500}};
	char name[200] = {0};
	struct kwhy_text text, json = {0};
	struct nouns nouns;

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	nouns_init(&nouns, "k");
	nouns.ledger.hosts = hosts;
	nouns.ledger.host_count = 2;
	text = nouns_text(&nouns, 80, true);
	assert_non_null(strstr(text.data, "  host   meter "));
	assert_non_null(strstr(text.data, "  node1  rapl.package-0_uj "));
	assert_non_null(strstr(text.data, "  n/a    rapl.package-0_uj "));
	kwhy_text_done(&text);
	assert_int_equal(kwhy_report_json(&nouns.report, &json, &error), KWHY_OK);
	assert_non_null(strstr(json.data, "\"host\": \"node1\""));
	kwhy_text_done(&json);
	hosts[0].host = name;
	text = nouns_text(&nouns, 80, true);
	assert_lines_fit(text.data, 80);
	kwhy_text_done(&text);
	hosts[0].host = NULL;
	text = nouns_text(&nouns, 80, true);
	assert_null(strstr(text.data, "  host   meter "));
	kwhy_text_done(&text);
	nouns_done(&nouns);
}

static void evidence_shortens_kernels_in_text_and_keeps_them_whole_in_json(void **state)
{
	static const char kernel[] =
		"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
		"std::array<char *, 3> >(int, at::native::CUDAFunctor_add<float>, std::array<char *, 3>)";
	static const char what[] =
		"h2d copy 8 B, then "
		"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
		"std::array<char *, 3> >(int, at::native::CUDAFunctor_add<float>, std::array<char *, 3>)"
		", by cudaLaunchKernel 4 us";
	struct nouns nouns;
	struct kwhy_text text, json = {0};

	(void)state;
	nouns_init(&nouns, "k");
	nouns.evidence = (struct kwhy_evidence){500, 1000, what, {NULL, kernel}};
	text = nouns_text(&nouns, 160, true);
	assert_non_null(strstr(text.data, "h2d copy 8 B, then vectorized_"));
	assert_non_null(strstr(text.data, ", by cudaLaunchKernel 4 us"));
	assert_null(strstr(text.data, "at::native"));
	assert_int_equal(kwhy_report_json(&nouns.report, &json, &error), KWHY_OK);
	assert_non_null(strstr(json.data, what));
	kwhy_text_done(&text);
	kwhy_text_done(&json);
	nouns_done(&nouns);
}

static void any_name_gives_json_that_parses(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		struct nouns nouns;
		struct kwhy_text out = {0};
		json_error_t where;
		json_t *root;

		nouns_init(&nouns, hostile[i]);
		assert_int_equal(kwhy_report_json(&nouns.report, &out, &error), KWHY_OK);
		root = json_loadb(out.data, out.length, 0, &where);
		if (!root)
			fail_msg("line %d: %s", where.line, where.text);
		json_decref(root);
		kwhy_text_done(&out);
		nouns_done(&nouns);
	}
}

static void without_readings_no_energy_is_printed_and_the_cure_is_named(void **state)
{
	struct nouns nouns;
	struct kwhy_text out;

	(void)state;
	nouns_init(&nouns, "k");
	out = nouns_text(&nouns, 80, true);
	assert_non_null(
		strstr(out.data, "time only: no power readings; give --power FILE or --assume-power"));
	assert_null(strstr(out.data, " J"));
	assert_null(strstr(out.data, " W"));
	kwhy_text_done(&out);
	nouns_done(&nouns);
}

/*
 * Checks that the first screen contains `says` if the only readings are two of this meter, one second apart,
 * which give no energy of the run. device: KWHY_NONE: a meter of the host.
 */
static void assert_no_energy(enum kwhy_meter meter, uint32_t device, const char *says)
{
	struct nouns nouns;
	struct kwhy_text out;

	nouns_init(&nouns, "k");
	for (int64_t i = 0; i < 2; i++)
		assert_int_equal(kwhy_recording_add_reading(
					 nouns.recording, meter, device, 0, i * 1000000000, 1000 * i, &error),
			KWHY_OK);
	out = nouns_text(&nouns, 80, false);
	assert_non_null(strstr(out.data, says));
	kwhy_text_done(&out);
	nouns_done(&nouns);
}

static void readings_that_tell_no_energy_are_called_what_they_are(void **state)
{
	(void)state;
	assert_no_energy(KWHY_METER_WALL, KWHY_NONE, "  time only: all power readings are of the host;");
	assert_no_energy(
		KWHY_METER_RAPL_PACKAGE, KWHY_NONE, "  time only: all power readings are of the host;");
	assert_no_energy(KWHY_METER_NVML_MEMORY_AVERAGE, 0,
		"  time only: nvml.memory_average_mw is of a device's memory alone;");
	assert_no_energy(KWHY_METER_NVML_SAMPLE, 0,
		"  time only: too few power readings of a device lie inside what was recorded");
	assert_no_energy(KWHY_METER_WALL, 0,
		"  time only: too few power readings of a device lie inside what was recorded");
}

static void assumed_powers_are_called_modelled_and_never_measured(void **state)
{
	struct nouns nouns;
	struct kwhy_text text, json = {0};

	(void)state;
	nouns_init(&nouns, "k");
	nouns_energy(&nouns);
	nouns.device.energy.modelled = true;
	nouns.device.energy.source = "modelled";
	for (size_t i = 0; i < 4; i++)
		nouns.accounts[i].basis = KWHY_BASIS_MODELLED;
	text = nouns_text(&nouns, 80, false);
	assert_non_null(strstr(text.data, "modelled, not metered"));
	assert_null(strstr(text.data, "measured ("));
	assert_int_equal(kwhy_report_json(&nouns.report, &json, &error), KWHY_OK);
	assert_non_null(strstr(json.data, "\"measured_nj\": null"));
	assert_non_null(strstr(json.data, "\"attributed_nj\": 220000"));
	kwhy_text_done(&text);
	kwhy_text_done(&json);
	nouns_done(&nouns);
}

/*
 * Checks that the side of a comparison that is made from a report has the same figures as `read`, which was
 * read from its report.json.
 */
static void assert_same_side(const struct kwhy_side *read, const struct kwhy_report *report)
{
	struct kwhy_comparison comparison;
	struct kwhy_side side;

	assert_int_equal(kwhy_side_of_report(&side, read->label, report, &error), KWHY_OK);
	assert_string_equal(side.device, read->device);
	assert_int_equal(side.account_count, read->account_count);
	for (size_t i = 0; i < side.account_count; i++) {
		assert_string_equal(side.accounts[i].name, read->accounts[i].name);
		assert_int_equal(side.accounts[i].gross_nj, read->accounts[i].gross_nj);
		assert_int_equal(side.accounts[i].high_nj, read->accounts[i].high_nj);
	}
	assert_int_equal(side.finding_count, read->finding_count);
	for (size_t i = 0; i < side.finding_count; i++)
		assert_int_equal(side.findings[i].energy_nj, read->findings[i].energy_nj);
	assert_int_equal(side.work_count, read->work_count);
	assert_int_equal(side.step_count, read->step_count);
	assert_int_equal(kwhy_compare(&comparison, &side, read, &error), KWHY_OK);
	for (int i = 0; i < KWHY_FIGURE_COUNT; i++) {
		const struct kwhy_change change = kwhy_change_of_figure(&comparison, (enum kwhy_figure)i);

		assert_true(change.a.mean == change.b.mean || (isnan(change.a.mean) && isnan(change.b.mean)));
	}
	kwhy_comparison_done(&comparison);
	assert_int_equal(side.seen_run_nj, read->seen_run_nj);
	assert_int_equal(side.net_nj, read->net_nj);
	assert_int_equal(side.first_ns, read->first_ns);
	kwhy_side_done(&side);
}

/*
 * The d2h copy's account ran outside the time of the readings. All outputs must show its energy as unknown
 * (basis none), not as 0.
 */
static void an_account_that_no_reading_saw_has_no_energy_in_any_form(void **state)
{
	struct kwhy_text json = {0}, csv = {0}, text;
	struct nouns nouns;
	struct kwhy_side side;

	(void)state;
	nouns_init(&nouns, "gemm");
	nouns_energy(&nouns);
	nouns.accounts[0].gross_nj += nouns.accounts[2].gross_nj;
	nouns.accounts[2].gross_nj = nouns.accounts[2].idle_nj = nouns.accounts[2].net_nj = 0;
	nouns.accounts[2].low_nj = nouns.accounts[2].high_nj = 0;
	nouns.accounts[2].mean_power_mw = -1;
	assert_int_equal(kwhy_report_json(&nouns.report, &json, &error), KWHY_OK);
	assert_int_equal(kwhy_report_accounts_csv(&nouns.report, &csv, &error), KWHY_OK);
	assert_non_null(strstr(csv.data, "d2h,1,0,100,,,,,,,none,"));
	text = nouns_text(&nouns, 80, true);
	assert_non_null(strstr(text.data, "n/a  none"));
	kwhy_text_done(&text);
	assert_non_null(strstr(json.data, "\"basis\": \"none\""));
	assert_int_equal(kwhy_side_read(&side, "a.json", json.data, json.length, &error), KWHY_OK);
	assert_same_side(&side, &nouns.report);
	assert_int_equal(side.energy_nj, 220000);
	for (size_t i = 0; i < side.account_count; i++)
		if (strcmp(side.accounts[i].name, "d2h") == 0)
			assert_true(side.accounts[i].gross_nj == KWHY_UNKNOWN_NJ);
	kwhy_side_done(&side);
	kwhy_text_done(&json);
	kwhy_text_done(&csv);
	nouns_done(&nouns);
}

/*
 * The readings end 200 ns before the run does, and 30 uJ are estimated for that time. Shares of savings must
 * refer to the run's whole 250 uJ, not to the metered 220 uJ.
 */
static void shares_of_findings_are_of_the_run_with_what_no_meter_saw(void **state)
{
	struct nouns nouns;
	struct kwhy_text out;

	(void)state;
	nouns_init(&nouns, "k");
	nouns_energy(&nouns);
	nouns.finding.saving.energy_nj = 100000;
	out = nouns_text(&nouns, 80, false);
	assert_non_null(strstr(out.data, "  220 \xC2\xB5J in 1.10 \xC2\xB5s, 200 W on average"));
	assert_non_null(strstr(out.data, "up to 100 \xC2\xB5J (45.5 %)"));
	assert_null(strstr(out.data, "of the run"));
	kwhy_text_done(&out);
	nouns.device.energy.end_ns = 1000;
	nouns.device.energy.metered_ns = 900;
	nouns.device.energy.edge_nj = 30000;
	nouns.device.energy.edge_ns = 200;
	nouns.device.energy.context_idle_w = 100;
	nouns.device.energy.highest_sample_w = 300;
	out = nouns_text(&nouns, 80, false);
	assert_non_null(strstr(
		out.data, "  250 \xC2\xB5J (242 to 278 \xC2\xB5J) in 1.10 \xC2\xB5s, 227 W on average"));
	assert_non_null(strstr(out.data, "30.0 \xC2\xB5J in 200 ns of the energy are estimated"));
	assert_non_null(strstr(
		out.data, "drew 40.0 \xC2\xB5J while idle, 18.2 % of\n  the 220 \xC2\xB5J metered.\n"));
	assert_non_null(strstr(out.data, "share of the 220 \xC2\xB5J metered\n"));
	assert_non_null(strstr(out.data, "What to do\n"));
	assert_non_null(strstr(out.data, "up to 100 \xC2\xB5J (40.0 %)"));
	kwhy_text_done(&out);
	nouns_done(&nouns);
}

/*
 * The finding's time has 50 ns of copies and 150 ns of waits (sync). Its saving of 22 uJ, 10 % of the 220 uJ,
 * must be marked in the rows of both categories.
 */
static void what_a_finding_saves_is_found_in_the_categories_of_its_time(void **state)
{
	struct nouns nouns;
	struct kwhy_text out;
	const char *copy, *sync;

	(void)state;
	nouns_init(&nouns, "k");
	nouns_energy(&nouns);
	nouns.finding.saving.energy_nj = 22000;
	nouns.finding.category_ns[KWHY_CATEGORY_COPY] = 50;
	nouns.finding.category_ns[KWHY_CATEGORY_SYNC] = 150;
	out = nouns_text(&nouns, 80, true);
	copy = strstr(strstr(out.data, "Energy by category"), "  copy ");
	sync = strstr(copy, "  sync ");
	assert_true(strstr(copy, " low\n") < sync);
	assert_true(strstr(sync, " medium\n") < strstr(sync, "  sum "));
	kwhy_text_done(&out);
	nouns_done(&nouns);
}

static void cost_and_carbon_are_the_energy_times_their_price(void **state)
{
	struct nouns nouns;
	struct kwhy_text out = {0};
	json_error_t where;
	json_t *root;
	double kwh = 220000 / 3.6e15;

	(void)state;
	nouns_init(&nouns, "k");
	nouns_energy(&nouns);
	nouns.report.price_per_kwh = 0.3;
	nouns.report.currency = "EUR";
	nouns.report.intensity_g_per_kwh = 400;
	assert_int_equal(kwhy_report_json(&nouns.report, &out, &error), KWHY_OK);
	root = json_loadb(out.data, out.length, 0, &where);
	assert_float_equal(
		json_number_value(json_object_get(json_object_get(root, "cost"), "amount")) / (kwh * 0.3), 1,
		1e-6);
	assert_float_equal(
		json_number_value(json_object_get(json_object_get(root, "carbon"), "g_co2e")) / (kwh * 400),
		1, 1e-6);
	json_decref(root);
	kwhy_text_done(&out);
	nouns_done(&nouns);
}

static void cost_is_of_the_run_and_says_how_much_of_it_no_meter_saw(void **state)
{
	struct nouns nouns;
	struct kwhy_text out, json = {0};

	(void)state;
	nouns_init(&nouns, "k");
	nouns_energy(&nouns);
	nouns.device.energy.edge_nj = 30000;
	nouns.report.price_per_kwh = 3.6e6; /* 1 EUR per joule */
	nouns.report.currency = "EUR";
	out = nouns_text(&nouns, 80, true);
	assert_non_null(strstr(out.data, ": less than 0.001 EUR (3.6e+06 EUR per kWh)"));
	assert_non_null(strstr(out.data, "30.0 \xC2\xB5J of the energy are estimated"));
	assert_int_equal(kwhy_report_json(&nouns.report, &json, &error), KWHY_OK);
	assert_non_null(strstr(json.data, "\"amount\": 0.00025"));
	kwhy_text_done(&out);
	kwhy_text_done(&json);
	nouns_done(&nouns);
}

static void colour_changes_no_letter(void **state)
{
	struct nouns nouns;
	struct kwhy_text plain, painted = {0};
	struct kwhy_text_style style = {.columns = 80, .color = true};
	char *write;

	(void)state;
	nouns_init(&nouns, "k");
	nouns_energy(&nouns);
	plain = nouns_text(&nouns, 80, false);
	assert_int_equal(kwhy_report_text(&nouns.report, &style, &painted, &error), KWHY_OK);
	write = painted.data;
	for (const char *read = painted.data; *read; read++)
		if (*read == '\033')
			read = strchr(read, 'm');
		else
			*write++ = *read;
	*write = '\0';
	assert_string_equal(plain.data, painted.data);
	kwhy_text_done(&plain);
	kwhy_text_done(&painted);
	nouns_done(&nouns);
}

static void csv_quotes_names_and_leaves_the_unknown_empty(void **state)
{
	struct nouns nouns;
	struct kwhy_text out = {0};

	(void)state;
	nouns_init(&nouns, "=a,\"b\"");
	assert_int_equal(kwhy_report_accounts_csv(&nouns.report, &out, &error), KWHY_OK);
	assert_non_null(strstr(out.data, "\n0,,compute,\"'=a,\"\"b\"\"\",1,0,500,,,,,,,none,,,,,\n"));
	kwhy_text_clear(&out);
	assert_int_equal(kwhy_report_findings_csv(&nouns.report, &out, &error), KWHY_OK);
	assert_non_null(strstr(out.data, "\nsmall-copies,0,,\"'=a,\"\"b\"\"\",2,200,,,,"));
	kwhy_text_done(&out);
	nouns_done(&nouns);
}

static void csv_has_what_held_the_host(void **state)
{
	struct kwhy_host_sum sums[] = {{.what = KWHY_HOST_WAIT_RANGE,
					       .kind = KWHY_HOST_PYTHON,
					       .line = 42,
					       .gaps = 3,
					       .time_ns = 200,
					       .longest_ns = 100},
		{.what = KWHY_HOST_WAIT_LAUNCHED, .gaps = 1, .time_ns = 50, .longest_ns = 50}};
	struct nouns nouns;
	struct kwhy_text out = {0};

	(void)state;
	nouns_init(&nouns, "=a");
	assert_int_equal(kwhy_names_intern(&nouns.recording->names, "=a", 2, &sums[0].name, &error), KWHY_OK);
	sums[0].file = sums[0].name;
	nouns.ledger.devices[0].host_sums = sums;
	nouns.ledger.devices[0].host_sum_count = 2;
	assert_int_equal(kwhy_report_waits_csv(&nouns.report, &out, &error), KWHY_OK);
	assert_non_null(strstr(
		out.data, "\n0,,range,python,\"'=a\",\"'=a\",42,200,3,100\n0,,launched,,,,,50,1,50\n"));
	kwhy_text_done(&out);
	nouns_done(&nouns);
}

/* Lines must be broken between words, but not between a number and its unit. */
static void a_number_and_its_unit_stay_on_one_line(void **state)
{
	const struct kwhy_text_style style = {.columns = 20};
	struct kwhy_text out = {0};
	struct kwhy_text_context context = {.style = &style, .out = &out};

	(void)state;
	kwhy_text_context_paragraph(
		&context, "", "waste of nearly 5.4 % is 12 of 3,000 kJ. after 16.8 \u00b5s");
	assert_string_equal(out.data, "waste of nearly\n5.4 % is 12 of\n3,000 kJ. after\n16.8 \u00b5s\n");
	kwhy_text_clear(&out);
	kwhy_text_context_paragraph(&context, "", "work of the next 16 steps and 16 more steps");
	assert_string_equal(out.data, "work of the next 16\nsteps and 16 more\nsteps\n");
	kwhy_text_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_number_and_its_unit_stay_on_one_line),
		cmocka_unit_test(no_name_breaks_the_columns_or_reaches_the_terminal_unclean),
		cmocka_unit_test(a_very_long_name_fits_too),
		cmocka_unit_test(hosts_are_named_where_meters_are_of_several),
		cmocka_unit_test(evidence_shortens_kernels_in_text_and_keeps_them_whole_in_json),
		cmocka_unit_test(any_name_gives_json_that_parses),
		cmocka_unit_test(without_readings_no_energy_is_printed_and_the_cure_is_named),
		cmocka_unit_test(readings_that_tell_no_energy_are_called_what_they_are),
		cmocka_unit_test(assumed_powers_are_called_modelled_and_never_measured),
		cmocka_unit_test(an_account_that_no_reading_saw_has_no_energy_in_any_form),
		cmocka_unit_test(shares_of_findings_are_of_the_run_with_what_no_meter_saw),
		cmocka_unit_test(what_a_finding_saves_is_found_in_the_categories_of_its_time),
		cmocka_unit_test(cost_and_carbon_are_the_energy_times_their_price),
		cmocka_unit_test(cost_is_of_the_run_and_says_how_much_of_it_no_meter_saw),
		cmocka_unit_test(colour_changes_no_letter),
		cmocka_unit_test(csv_quotes_names_and_leaves_the_unknown_empty),
		cmocka_unit_test(csv_has_what_held_the_host),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
