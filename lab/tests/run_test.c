/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests lab/run.c with a workload whose rows only simulate outcomes: a row succeeds, lacks something, or is
 * wrong, as its variant states.
 */
#include "cmocka_all.h"
#include "lab/workload.h"
#include "launch/stop.h"

#include <math.h>
#include <signal.h>
#include <string.h>

static struct kwhy_error error;
static int opened_rows, closed_rows, done_benches;

/* --- A workload --- */

struct facts {
	double error;
	uint64_t copies;
	const char *by;
	struct kwhy_median step_s;
	struct kwhy_joules joules;
};

static const struct lab_column columns[] = {LAB_FACT("error", "error", ERROR, error),
	LAB_FACT("copies", "copies", COUNT, copies), LAB_FACT("by", "by", TEXT, by),
	LAB_FACT("step", "step_s", MEDIAN, step_s), LAB_FACT("joules", "joules", JOULES, joules)};

static const struct lab_table tables[] = {{"Facts", "facts", columns, sizeof(columns) / sizeof(columns[0])}};

static const char *const ids[] = {"good", "apart", "lacking", "wrong", "last"};

static enum kwhy_status plan(struct lab_bench *bench, struct kwhy_error *out_error)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < sizeof(ids) / sizeof(ids[0]); i++) {
		const struct lab_row like = {
			.id = ids[i], .title = "a row", .gpus = strcmp(ids[i], "apart") ? 1 : 2, .steps = 2};
		struct lab_row *row = NULL;

		status = lab_row_add(bench, &like, 10, &row, out_error);
		if (!status && !strcmp(ids[i], "good"))
			lab_phase_add(row, "served", 1)->once = true;
	}
	return status;
}

static void done(struct lab_bench *bench)
{
	(void)bench;
	done_benches++;
}

static enum kwhy_status open_row(
	struct lab_bench *bench, struct lab_row *row, void *opened, struct kwhy_error *out_error)
{
	(void)bench;
	if (!strcmp(row->id, "lacking"))
		return kwhy_fail(out_error, KWHY_E_UNSUPPORTED, "it lacks a unit");
	opened_rows++;
	*(struct lab_row **)opened = row;
	return KWHY_OK;
}

static enum kwhy_status run(void *opened, size_t phase, struct lab_run *out, struct kwhy_error *out_error)
{
	struct lab_row *row = *(struct lab_row **)opened;
	struct facts *facts = row->facts;

	if (!strcmp(row->id, "wrong"))
		return kwhy_fail(out_error, KWHY_E_INPUT, "step 1 has a wrong bit");
	facts->copies = 7;
	out->run_s = 2;
	out->busy_s = 0.5;
	out->items = phase ? 40 : 0;
	if (out->step_s)
		out->step_s[0] = out->step_s[1] = 1;
	return KWHY_OK;
}

static void close_row(void *opened)
{
	closed_rows += *(struct lab_row **)opened != NULL;
}

static void describe(const struct lab_bench *bench, struct kwhy_text *out)
{
	(void)bench;
	kwhy_text_add(out, "as told");
}

static void head(const struct lab_bench *bench, struct kwhy_json *json)
{
	(void)bench;
	kwhy_json_count(json, "size", 3);
}

static const struct lab_workload rows_of_all_kinds = {.command = {.name = "kinds", .run = lab_command_run},
	.item = "thing",
	.tables = tables,
	.table_count = 1,
	.facts_bytes = sizeof(struct facts),
	.opened_bytes = sizeof(struct lab_row *),
	.plan = plan,
	.done = done,
	.open = open_row,
	.run = run,
	.close = close_row,
	.describe = describe,
	.head = head};

const struct kwhy_program kwhy_program = {.name = "kinds", .purpose = "", .notes = ""};
const struct kwhy_command *const kwhy_commands[] = {&rows_of_all_kinds.command, NULL};

static struct lab_options options_of(const char *variants)
{
	struct lab_options options = LAB_OPTIONS_DEFAULT(&rows_of_all_kinds);

	options.backend = "host";
	options.variants = variants;
	options.runs.repeat = 3;
	return options;
}

/* --- Tests --- */

static void every_row_has_its_figures_or_says_why_not(void **state)
{
	struct lab_options options = options_of(NULL);
	struct lab_bench *bench;
	const struct lab_row *row;

	(void)state;
	opened_rows = closed_rows = done_benches = 0;
	options.device = "0";
	assert_int_equal(lab_bench_run(&options, NULL, NULL, &bench, &error), KWHY_OK);
	assert_int_equal(bench->row_count, 5);
	row = &bench->rows[0];
	assert_int_equal(row->phases[0].run_count, 3);
	assert_true(row->phases[0].items_per_s == 5);
	assert_int_equal(row->phases[1].run_count, 1);
	assert_true(row->phases[1].items_per_s == 20);
	assert_true(row->step_s.median == 1 && row->busy_ratio == 0.25);
	assert_true(isnan(row->phases[0].gross.value));
	assert_string_equal(bench->rows[1].missing, "it needs 2 GPUs, and --device names 1");
	assert_string_equal(bench->rows[2].missing, "it lacks a unit");
	assert_string_equal(bench->rows[3].wrong, "step 1 has a wrong bit");
	assert_false(lab_row_has_run(&bench->rows[3]));
	assert_true(lab_row_has_run(&bench->rows[4]));
	lab_bench_free(bench);
	assert_int_equal(opened_rows, 3);
	assert_int_equal(closed_rows, 3);
	assert_int_equal(done_benches, 1);
}

static void what_no_run_set_is_null_in_json_and_not_on_the_page(void **state)
{
	struct lab_options options = options_of("good,lacking");
	struct kwhy_text_style style = {.columns = 80};
	struct kwhy_text json = {0}, text = {0}, csv = {0};
	struct lab_bench *bench;

	(void)state;
	assert_int_equal(lab_bench_run(&options, NULL, NULL, &bench, &error), KWHY_OK);
	lab_show_json(bench, &json);
	assert_non_null(strstr(json.data, "\"schema\": \"kwhy.kinds/1\""));
	assert_non_null(strstr(json.data, "\"error\": null"));
	assert_non_null(strstr(json.data, "\"copies\": 7"));
	assert_non_null(strstr(json.data, "\"copies\": null"));
	lab_show_text(bench, &style, &text);
	assert_non_null(strstr(text.data, "lacking is not available: it lacks a unit"));
	assert_non_null(strstr(text.data, "copies"));
	assert_null(strstr(text.data, "error"));
	assert_null(strstr(text.data, "n/a"));
	lab_show_csv(bench, &csv);
	assert_non_null(strstr(csv.data, "good,2,1,1.000000000\n"));
	kwhy_text_done(&json);
	kwhy_text_done(&text);
	kwhy_text_done(&csv);
	lab_bench_free(bench);
}

static void a_variant_that_is_not_known_is_a_usage_error(void **state)
{
	struct lab_options options = options_of("good,bad");
	struct lab_bench *bench;

	(void)state;
	assert_int_equal(lab_bench_run(&options, NULL, NULL, &bench, &error), KWHY_E_USAGE);
	assert_string_equal(
		error.text, "kinds has no variant 'bad'; there are good, apart, lacking, wrong and last");
}

/* Interrupts the benchmark when the row `context` begins. */
static void press(void *context, const char *what)
{
	if (!strcmp(what, context))
		raise(SIGINT);
}

static void an_interrupt_ends_a_benchmark_with_the_rows_before(void **state)
{
	struct lab_options options = options_of("good,lacking,last");
	char at[] = "last";
	struct lab_bench *bench;

	(void)state;
	kwhy_stop_watch(true);
	assert_int_equal(lab_bench_run(&options, press, at, &bench, &error), KWHY_OK);
	assert_int_equal(bench->row_count, 2);
	assert_string_equal(bench->ended, "it was interrupted");
	lab_bench_free(bench);
}

static void an_interrupt_before_the_first_row_is_the_end(void **state)
{
	struct lab_options options = options_of("good,last");
	char at[] = "good";
	struct lab_bench *bench;

	(void)state;
	kwhy_stop_watch(true);
	assert_int_equal(lab_bench_run(&options, press, at, &bench, &error), KWHY_E_LOST);
	assert_string_equal(error.text, "it was interrupted");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_has_its_figures_or_says_why_not),
		cmocka_unit_test(what_no_run_set_is_null_in_json_and_not_on_the_page),
		cmocka_unit_test(a_variant_that_is_not_known_is_a_usage_error),
		cmocka_unit_test(an_interrupt_ends_a_benchmark_with_the_rows_before),
		cmocka_unit_test(an_interrupt_before_the_first_row_is_the_end),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
