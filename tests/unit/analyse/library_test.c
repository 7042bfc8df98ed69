/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "german_locale.h"
#include "golden/schema_check.h"
#include "kwhy/analyse.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Tests libkwhy-analyse.so through its public header, with the recordings in examples/. */

#define DECODE KWHY_SOURCE_DIR "/examples/recordings/decode.kwhy"
#define TRAIN KWHY_SOURCE_DIR "/examples/recordings/train.kwhy"

static char message[KWHY_ANALYSE_MESSAGE_BYTES];

static struct kwhy_analysis_options defaults(void)
{
	struct kwhy_analysis_options options;

	kwhy_analysis_options_init(&options, sizeof(options));
	return options;
}

static struct kwhy_analysis *open_with(const char *path, const struct kwhy_analysis_options *options)
{
	struct kwhy_analysis *analysis = NULL;

	if (kwhy_analysis_open(&path, 1, options, &analysis, message, sizeof(message)))
		fail_msg("%s", message);
	return analysis;
}

static json_t *document_of(char *text)
{
	json_error_t wrong;
	json_t *document = json_loads(text, 0, &wrong);

	if (!document)
		fail_msg("%s", wrong.text);
	kwhy_analysis_text_free(text);
	return document;
}

static json_t *report_of(const struct kwhy_analysis *analysis)
{
	char *text = NULL;

	assert_int_equal(kwhy_analysis_json(analysis, &text, message, sizeof(message)), 0);
	return document_of(text);
}

static int64_t int_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_integer(value) ? json_integer_value(value) : KWHY_ANALYSE_UNKNOWN;
}

static void the_accounts_of_a_device_add_up_to_its_metered_energy(void **state)
{
	struct kwhy_analysis *analysis = open_with(DECODE, NULL);
	struct kwhy_device_info device = {.size = sizeof(device)};
	int64_t sum_nj = 0;

	(void)state;
	assert_int_equal(kwhy_analysis_device_count(analysis), 1);
	assert_int_equal(kwhy_analysis_device(analysis, 0, &device), 0);
	assert_non_null(strstr(device.name, "H200"));
	assert_int_equal(device.span_ns, device.busy_ns + device.idle_ns);
	for (size_t i = 0; i < kwhy_analysis_account_count(analysis, 0); i++) {
		struct kwhy_account_info account = {.size = sizeof(account)};

		assert_int_equal(kwhy_analysis_account(analysis, 0, i, &account), 0);
		if (account.gross_nj != KWHY_ANALYSE_UNKNOWN)
			sum_nj += account.gross_nj;
	}
	assert_int_equal(sum_nj, device.metered_nj);
	kwhy_analysis_close(analysis);
}

static void figures_are_those_of_the_document_which_keeps_to_its_schema(void **state)
{
	struct kwhy_analysis *analysis = open_with(TRAIN, NULL);
	struct kwhy_run_info run = {.size = sizeof(run)};
	json_t *document = report_of(analysis), *findings = json_object_get(document, "findings");
	const json_t *stated = json_object_get(document, "run");

	(void)state;
	assert_keeps_to_schema("report", document);
	assert_int_equal(kwhy_analysis_run(analysis, &run), 0);
	assert_int_equal(run.energy_nj, int_of(stated, "energy_nj"));
	assert_int_equal(run.low_nj, int_of(stated, "low_nj"));
	assert_int_equal(run.high_nj, int_of(stated, "high_nj"));
	assert_true(json_array_size(findings) > 2);
	assert_int_equal(json_array_size(findings), kwhy_analysis_finding_count(analysis));
	for (size_t i = 0; i < kwhy_analysis_finding_count(analysis); i++) {
		const json_t *item = json_array_get(findings, i),
			     *saving = json_object_get(item, "projection");
		struct kwhy_finding_info finding = {.size = sizeof(finding)};

		assert_int_equal(kwhy_analysis_finding(analysis, i, &finding), 0);
		assert_string_equal(finding.id, json_string_value(json_object_get(item, "id")));
		assert_int_equal(finding.time_ns, int_of(item, "time_ns"));
		assert_int_equal(finding.saved_nj, int_of(saving, "energy_nj"));
		assert_int_equal(finding.saved_low_nj, int_of(saving, "low_nj"));
		assert_int_equal(finding.bound == KWHY_ANALYSE_EXPECTED,
			json_is_true(json_object_get(saving, "is_projected")));
		assert_int_equal(finding.evidence_count, json_array_size(json_object_get(item, "evidence")));
	}
	json_decref(document);
	kwhy_analysis_close(analysis);
}

static void a_finding_saves_what_a_plan_of_its_change_saves(void **state)
{
	struct kwhy_analysis *analysis = open_with(TRAIN, NULL);
	size_t checked = 0;

	(void)state;
	for (size_t i = 0; i < kwhy_analysis_finding_count(analysis); i++) {
		struct kwhy_finding_info finding = {.size = sizeof(finding)};
		struct kwhy_plan_change_info change = {.size = sizeof(change)};
		struct kwhy_plan *plan = NULL;

		kwhy_analysis_finding(analysis, i, &finding);
		if (!finding.change)
			continue;
		assert_int_equal(
			kwhy_analysis_project(analysis, &(struct kwhy_analysis_change){finding.change, 0}, 1,
				&plan, message, sizeof(message)),
			0);
		if (kwhy_plan_change(plan, 0, &change) == KWHY_ANALYSE_OK) {
			assert_int_equal(finding.saved_ns, change.saved_ns > 0 ? change.saved_ns : 0);
			assert_int_equal(finding.bound, change.bound);
			checked++;
		}
		kwhy_analysis_plan_free(plan);
	}
	assert_true(checked > 0);
	kwhy_analysis_close(analysis);
}

static void a_plan_outlives_its_analysis(void **state)
{
	struct kwhy_analysis *analysis = open_with(TRAIN, NULL);
	struct kwhy_plan_info info = {.size = sizeof(info)};
	struct kwhy_plan_refusal_info refusal = {.size = sizeof(refusal)};
	struct kwhy_plan *plan = NULL;
	char *text = NULL;
	json_t *document;

	(void)state;
	assert_int_equal(kwhy_analysis_plan(analysis, 0, &plan, message, sizeof(message)), 0);
	assert_int_equal(kwhy_analysis_plan_json(analysis, plan, &text, message, sizeof(message)), 0);
	kwhy_analysis_close(analysis);
	document = document_of(text);
	assert_keeps_to_schema("whatif", document);
	json_decref(document);
	assert_int_equal(kwhy_plan_info(plan, &info), 0);
	assert_true(info.change_count > 0 && info.refused_count > 0);
	assert_true(info.after_ns < info.before_ns);
	assert_true(isfinite(info.busy_before_ratio) && isfinite(info.busy_after_ratio));
	assert_int_equal(kwhy_plan_refusal(plan, info.refused_count - 1, &refusal), 0);
	assert_true(strlen(refusal.reason) > 0);
	assert_int_equal(kwhy_plan_refusal(plan, info.refused_count, &refusal), KWHY_ANALYSE_E_USAGE);
	kwhy_analysis_plan_free(plan);
}

static void steps_are_told_as_they_begin(void *context, const char *step, const char *path)
{
	size_t *count = context;

	assert_true(strlen(step) > 0);
	*count += path && strcmp(path, DECODE) == 0;
}

static void options_are_taken(void **state)
{
	const struct kwhy_analysis_work work = {"tokens", 4096};
	struct kwhy_analysis_options options = defaults();
	struct kwhy_analysis *analysis;
	size_t count = 0;
	json_t *document;

	(void)state;
	options.work = &work;
	options.work_count = 1;
	options.price_per_kwh = 0.3;
	options.currency = "EUR";
	options.command = "a test";
	options.min_gain_percent = 100;
	options.progress = steps_are_told_as_they_begin;
	options.progress_context = &count;
	analysis = open_with(DECODE, &options);
	assert_int_equal(count, 1);
	assert_int_equal(kwhy_analysis_finding_count(analysis), 0);
	document = report_of(analysis);
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(document, "source"), "command")), "a test");
	assert_int_equal(json_integer_value(json_object_get(
				 json_array_get(json_object_get(document, "work"), 0), "count")),
		4096);
	json_decref(document);
	kwhy_analysis_close(analysis);
}

static void assert_refused(const struct kwhy_analysis_options *options, int code, const char *words)
{
	const char *path = DECODE;
	struct kwhy_analysis *analysis = NULL;

	*message = '\0';
	assert_int_equal(kwhy_analysis_open(&path, 1, options, &analysis, message, sizeof(message)), code);
	assert_null(analysis);
	if (!strstr(message, words))
		fail_msg("'%s' lacks '%s'", message, words);
}

static void what_is_refused_is_said_in_a_sentence(void **state)
{
	const struct kwhy_analysis_work nothing = {"tokens", 0};
	static const char *const thresholds[] = {"no-such-finding.x=1"}, *const power[] = {"no-such.csv"};
	struct kwhy_analysis_options options = defaults();
	struct kwhy_analysis *analysis = NULL;

	(void)state;
	options.work = &nothing;
	options.work_count = 1;
	assert_refused(&options, KWHY_ANALYSE_E_USAGE, "--work");
	options = defaults();
	options.thresholds = thresholds;
	options.threshold_count = 1;
	assert_refused(&options, KWHY_ANALYSE_E_USAGE, "no-such-finding");
	options = defaults();
	options.power_paths = power;
	options.power_path_count = 1;
	assert_refused(&options, KWHY_ANALYSE_E_INPUT, "no-such.csv");
	options = defaults();
	options.size += 8;
	assert_refused(&options, KWHY_ANALYSE_E_USAGE, "kwhy_analysis_options_init()");
	options = defaults();
	options.price_per_kwh = -1;
	assert_refused(&options, KWHY_ANALYSE_E_USAGE, "--price");
	assert_int_equal(
		kwhy_analysis_open(NULL, 0, NULL, &analysis, message, sizeof(message)), KWHY_ANALYSE_E_USAGE);
}

static void a_change_that_does_not_exist_is_refused_with_those_that_do(void **state)
{
	struct kwhy_analysis *analysis = open_with(DECODE, NULL);
	struct kwhy_plan *plan = NULL;

	(void)state;
	assert_int_equal(kwhy_analysis_project(analysis, &(struct kwhy_analysis_change){"pined", 0}, 1, &plan,
				 message, sizeof(message)),
		KWHY_ANALYSE_E_USAGE);
	assert_non_null(strstr(message, "pinned"));
	assert_int_equal(kwhy_analysis_project(analysis,
				 &(struct kwhy_analysis_change){"thin-collectives", 1}, 1, &plan, NULL, 0),
		KWHY_ANALYSE_E_USAGE);
	assert_null(plan);
	kwhy_analysis_close(analysis);
}

static void structs_of_older_callers_are_filled_as_far_as_they_go(void **state)
{
	struct kwhy_analysis *analysis = open_with(DECODE, NULL);
	struct kwhy_analysis_options options;
	struct kwhy_run_info run;

	(void)state;
	memset(&run, 0x5a, sizeof(run));
	run.size = offsetof(struct kwhy_run_info, energy_nj);
	assert_int_equal(kwhy_analysis_run(analysis, &run), 0);
	assert_true(run.time_ns > 0);
	assert_int_equal(run.energy_nj, INT64_C(0x5a5a5a5a5a5a5a5a));
	run.size = 1;
	assert_int_equal(kwhy_analysis_run(analysis, &run), KWHY_ANALYSE_E_USAGE);
	kwhy_analysis_close(analysis);
	kwhy_analysis_options_init(&options, offsetof(struct kwhy_analysis_options, power_zone));
	analysis = open_with(DECODE, &options);
	kwhy_analysis_close(analysis);
}

static void *analyse(void *path)
{
	struct kwhy_analysis *analysis = open_with(path, NULL);
	char *text = NULL;

	assert_int_equal(kwhy_analysis_json(analysis, &text, NULL, 0), 0);
	kwhy_analysis_close(analysis);
	return text;
}

/* Compares two JSON documents except for "own_seconds", the run time of kwhy itself. */
static void assert_equal_documents(char *a, char *b)
{
	json_t *x = document_of(a), *y = document_of(b);

	json_object_del(json_object_get(x, "source"), "own_seconds");
	json_object_del(json_object_get(y, "source"), "own_seconds");
	assert_true(json_equal(x, y));
	json_decref(x);
	json_decref(y);
}

static void different_analyses_may_be_made_at_once(void **state)
{
	static const char *const paths[] = {DECODE, TRAIN};
	pthread_t threads[2];

	(void)state;
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, analyse, (void *)paths[i]), 0);
	for (int i = 0; i < 2; i++) {
		void *text = NULL;

		pthread_join(threads[i], &text);
		assert_equal_documents(text, analyse((void *)paths[i]));
	}
}

/*
 * In a locale with a decimal comma the JSON must be the same, also the numbers within sentences of findings
 * and notes.
 */
static void documents_do_not_depend_on_the_programs_locale(void **state)
{
	struct german_locale german;
	char *there, *here;

	(void)state;
	german_locale_begin(&german);
	there = analyse((void *)DECODE);
	assert_string_equal(localeconv()->decimal_point, ",");
	german_locale_end(&german);
	here = analyse((void *)DECODE);
	assert_equal_documents(there, here);
}

static size_t column_of(
	struct kwhy_analysis *analysis, int table, const char *name, struct kwhy_column_info *out)
{
	size_t column = 0;

	*out = (struct kwhy_column_info){.size = sizeof(*out)};
	while (!kwhy_analysis_column(analysis, table, column, out)) {
		if (strcmp(out->name, name) == 0)
			return column;
		column++;
	}
	fail_msg("there is no column %s", name);
	return column;
}

static void columns_are_the_recordings_own_memory(void **state)
{
	struct kwhy_analysis *analysis = open_with(DECODE, NULL);
	struct kwhy_column_info starts, ends, kinds, bytes, again;
	size_t kind, unknown = 0;

	(void)state;
	column_of(analysis, KWHY_ANALYSE_ACTIVITIES, "start_ns", &starts);
	column_of(analysis, KWHY_ANALYSE_ACTIVITIES, "end_ns", &ends);
	column_of(analysis, KWHY_ANALYSE_ACTIVITIES, "bytes", &bytes);
	column_of(analysis, KWHY_ANALYSE_ACTIVITIES, "bytes", &again);
	kind = column_of(analysis, KWHY_ANALYSE_ACTIVITIES, "kind", &kinds);
	assert_int_equal(starts.type, KWHY_ANALYSE_I64);
	assert_true(starts.count > 100000);
	assert_null(starts.known);
	assert_ptr_equal(bytes.known, again.known);
	for (size_t i = 0; i < starts.count; i++) {
		const char *word = kwhy_analysis_word(
			analysis, KWHY_ANALYSE_ACTIVITIES, kind, ((const uint8_t *)kinds.values)[i]);
		const bool is_known = bytes.known[i / 8] >> i % 8 & 1;

		assert_true(((const int64_t *)ends.values)[i] >= ((const int64_t *)starts.values)[i]);
		assert_non_null(word);
		assert_true(!is_known || strcmp(word, "kernel") != 0);
		unknown += !is_known;
	}
	assert_int_equal(bytes.unknown_count, unknown);
	assert_null(kwhy_analysis_word(analysis, KWHY_ANALYSE_ACTIVITIES, kind, kinds.word_count));
	kwhy_analysis_close(analysis);
}

static void columns_that_there_are_not_are_refused(void **state)
{
	struct kwhy_analysis *analysis = open_with(DECODE, NULL);
	struct kwhy_column_info column = {.size = sizeof(column)};

	(void)state;
	assert_int_equal(kwhy_analysis_column(analysis, -1, 0, &column), KWHY_ANALYSE_E_USAGE);
	assert_int_equal(kwhy_analysis_column(analysis, 2, 0, &column), KWHY_ANALYSE_E_USAGE);
	assert_int_equal(
		kwhy_analysis_column(analysis, KWHY_ANALYSE_CALLS, 5, &column), KWHY_ANALYSE_E_USAGE);
	assert_null(column.name);
	assert_null(kwhy_analysis_word(analysis, KWHY_ANALYSE_CALLS, 0, 0));
	assert_null(kwhy_analysis_word(analysis, 7, 0, 0));
	kwhy_analysis_close(analysis);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_accounts_of_a_device_add_up_to_its_metered_energy),
		cmocka_unit_test(figures_are_those_of_the_document_which_keeps_to_its_schema),
		cmocka_unit_test(a_finding_saves_what_a_plan_of_its_change_saves),
		cmocka_unit_test(a_plan_outlives_its_analysis),
		cmocka_unit_test(options_are_taken),
		cmocka_unit_test(what_is_refused_is_said_in_a_sentence),
		cmocka_unit_test(a_change_that_does_not_exist_is_refused_with_those_that_do),
		cmocka_unit_test(structs_of_older_callers_are_filled_as_far_as_they_go),
		cmocka_unit_test(columns_are_the_recordings_own_memory),
		cmocka_unit_test(columns_that_there_are_not_are_refused),
		cmocka_unit_test(documents_do_not_depend_on_the_programs_locale),
		cmocka_unit_test(different_analyses_may_be_made_at_once),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
