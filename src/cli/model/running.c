/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/model/running.h"

#include "base/quantity.h"
#include "import/own_result.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FILE_MAX_BYTES = 1 << 30, AMOUNT_BYTES = 80 };

void kwhy_running_options_init(struct kwhy_running_options *options)
{
	*options = (struct kwhy_running_options){
		.joules = NAN, .seconds = NAN, .runs_per_day = NAN, .pue = 1};
}

static enum kwhy_status read_file(struct kwhy_read_run *run, const char *path, struct kwhy_error *error)
{
	struct kwhy_text text = {0};
	enum kwhy_status status = kwhy_own_result_read(path, FILE_MAX_BYTES, &text, error);

	if (!status)
		status = kwhy_read_run_of(run, path, text.data ? text.data : "", text.length, error);
	kwhy_text_done(&text);
	return status;
}

static struct kwhy_running_question question_of(const struct kwhy_running_options *options,
	const struct kwhy_read_run *run, const struct kwhy_read_work *work)
{
	return (struct kwhy_running_question){.energy_j = {run->joules, run->low_j, run->high_j},
		.seconds = run->seconds,
		.unit_j = {work->each_j, work->each_low_j, work->each_high_j},
		.unit_s = work->each_s,
		.runs_per_day = options->runs_per_day,
		.pue = options->pue,
		.per_kwh = NAN,
		.per_hour = NAN};
}

/*
 * Chooses the unit of work by which all answers are divided: the unit that the option names or, without the
 * option, the first unit in a file.
 */
static enum kwhy_status choose_unit(
	struct kwhy_runs *runs, const char *spec, double *out_stated, struct kwhy_error *error)
{
	*out_stated = NAN;
	if (spec)
		return kwhy_value_work(spec, runs->unit, out_stated, error);
	for (size_t i = 0; i < runs->count && !*runs->unit; i++)
		if (runs->runs[i].work_count)
			snprintf(runs->unit, sizeof(runs->unit), "%s", runs->runs[i].work[0].unit);
	return KWHY_OK;
}

static enum kwhy_status check_options(const struct kwhy_running_options *options, struct kwhy_error *error)
{
	if (options->joules < 0 || options->seconds < 0 || options->runs_per_day < 0)
		return kwhy_fail(
			error, KWHY_E_USAGE, "--joules, --seconds and --runs-per-day cannot be negative");
	if (options->pue < 1)
		return kwhy_fail(error, KWHY_E_USAGE,
			"--pue takes a PUE of at least 1: it is the building's power over that of its "
			"machines");
	return KWHY_OK;
}

enum kwhy_status kwhy_runs_read(struct kwhy_runs *runs, const struct kwhy_running_options *options,
	const struct kwhy_operands *operands, struct kwhy_error *error)
{
	bool is_stated = isfinite(options->joules) || isfinite(options->seconds);
	enum kwhy_status status = check_options(options, error);
	double stated;

	*runs = (struct kwhy_runs){0};
	if (status)
		return status;
	if (operands->count > KWHY_RUNS_MAX)
		return kwhy_fail(error, KWHY_E_USAGE, "one run, or two to compare: not %zu", operands->count);
	if (operands->count > 0 && is_stated)
		return kwhy_fail(error, KWHY_E_USAGE, "a run is a file or --joules and --seconds, not both");
	if (!operands->count && !is_stated)
		return kwhy_fail(error, KWHY_E_USAGE,
			"give a stat.json or a report.json, or the run's --joules and --seconds");
	for (size_t i = 0; !status && i < operands->count; i++) {
		status = read_file(&runs->runs[i], operands->items[i], error);
		runs->count += !status;
	}
	if (!operands->count)
		runs->runs[runs->count++] = (struct kwhy_read_run){.label = "this run",
			.joules = options->joules,
			.low_j = NAN,
			.high_j = NAN,
			.seconds = options->seconds};
	if (!status)
		status = choose_unit(runs, options->work, &stated, error);
	for (size_t i = 0; !status && i < runs->count; i++) {
		runs->work[i] = kwhy_read_work_of(&runs->runs[i], runs->unit, stated);
		runs->questions[i] = question_of(options, &runs->runs[i], &runs->work[i]);
	}
	return status;
}

void kwhy_runs_done(struct kwhy_runs *runs)
{
	for (size_t i = 0; i < KWHY_RUNS_MAX; i++)
		kwhy_read_run_done(&runs->runs[i]);
}

enum kwhy_status kwhy_runs_answer(
	struct kwhy_runs *runs, double per_kwh, double per_hour, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < runs->count; i++) {
		runs->questions[i].per_kwh = per_kwh;
		runs->questions[i].per_hour = per_hour;
		status = kwhy_running_of(&runs->questions[i], &runs->answers[i], error);
	}
	return status;
}

static void amount_cell(struct kwhy_table *table, struct kwhy_interval amount, const char *currency)
{
	char text[AMOUNT_BYTES], sd[KWHY_QUANTITY_BYTES];

	if (!currency) {
		kwhy_interval_cell(table, amount, "g");
	} else if (!isfinite(amount.value)) {
		kwhy_table_cell(table, NULL);
	} else {
		kwhy_quantity_interval(sd, amount.value, amount.low, amount.high);
		snprintf(text, sizeof(text), "%.4g%s%s%s%s", amount.value, *currency ? " " : "", currency,
			*sd ? " " : "", sd);
		kwhy_table_cell(table, text);
	}
}

static void add_run(struct kwhy_table *table, const struct kwhy_runs *runs, size_t i, const char *currency)
{
	const struct kwhy_running_question *question = &runs->questions[i];

	kwhy_table_cell(table, runs->runs[i].label);
	kwhy_interval_cell(table, question->energy_j, "J");
	kwhy_table_real(table, question->seconds, "s");
	amount_cell(table, runs->answers[i].per_run, currency);
}

static void add_saving(struct kwhy_table *table, const struct kwhy_runs *runs, const char *currency)
{
	const struct kwhy_running_question *a = &runs->questions[0], *b = &runs->questions[1];

	kwhy_table_rule(table);
	kwhy_table_cell(table, "saved");
	kwhy_interval_cell(table, kwhy_interval_difference(a->energy_j, b->energy_j), "J");
	kwhy_table_real(table, a->seconds - b->seconds, "s");
	amount_cell(table, kwhy_interval_difference(runs->answers[0].per_run, runs->answers[1].per_run),
		currency);
}

static void write_each(const struct kwhy_runs *runs, const char *currency, struct kwhy_model_page *page)
{
	static const struct kwhy_table_column columns[] = {{"", KWHY_COLUMN_NAME},
		{"energy", KWHY_COLUMN_RIGHT}, {"time", KWHY_COLUMN_RIGHT}, {"a run", KWHY_COLUMN_RIGHT}};
	struct kwhy_table table;

	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < runs->count; i++)
		add_run(&table, runs, i, currency);
	if (runs->count == 2)
		add_saving(&table, runs, currency);
	kwhy_table_write(&table, &page->style, &page->text);
}

static void share_cells(struct kwhy_table *table, const struct kwhy_runs *runs,
	const struct kwhy_running *answer, const char *currency)
{
	if (*runs->unit)
		amount_cell(table, answer->per_unit, currency);
	if (isfinite(runs->questions[0].runs_per_day))
		amount_cell(table, answer->per_year, currency);
}

static bool ends_in_s(const char *word)
{
	size_t length = strlen(word);

	return length > 1 && word[length - 1] == 's';
}

/*
 * Writes a second table with the amounts per unit of work, if the work is known, and per year, if the runs
 * per day are given. A single table with these and the other columns would be wider than 80 columns.
 */
static void write_shares(const struct kwhy_runs *runs, const char *currency, struct kwhy_model_page *page)
{
	char per_unit[KWHY_COUNT_NAME_BYTES + 8];
	struct kwhy_table_column columns[3] = {{"", KWHY_COLUMN_NAME}};
	struct kwhy_running saved = {
		.per_unit = kwhy_interval_difference(runs->answers[0].per_unit, runs->answers[1].per_unit),
		.per_year = kwhy_interval_difference(runs->answers[0].per_year, runs->answers[1].per_year)};
	struct kwhy_table table;
	size_t count = 1;

	snprintf(per_unit, sizeof(per_unit), "per %.*s",
		(int)strlen(runs->unit) - (ends_in_s(runs->unit) ? 1 : 0), runs->unit);
	if (*runs->unit)
		columns[count++] = (struct kwhy_table_column){per_unit, KWHY_COLUMN_RIGHT};
	if (isfinite(runs->questions[0].runs_per_day))
		columns[count++] = (struct kwhy_table_column){"a year", KWHY_COLUMN_RIGHT};
	if (count == 1)
		return;
	kwhy_text_add(&page->text, "\n");
	kwhy_table_init(&table, columns, count);
	for (size_t i = 0; i < runs->count; i++) {
		kwhy_table_cell(&table, runs->runs[i].label);
		share_cells(&table, runs, &runs->answers[i], currency);
	}
	if (runs->count == 2) {
		kwhy_table_rule(&table);
		kwhy_table_cell(&table, "saved");
		share_cells(&table, runs, &saved, currency);
	}
	kwhy_table_write(&table, &page->style, &page->text);
}

static void write_text(const struct kwhy_runs *runs, const char *currency, struct kwhy_model_page *page)
{
	bool has_interval = false;

	write_each(runs, currency, page);
	write_shares(runs, currency, page);
	for (size_t i = 0; i < runs->count; i++)
		has_interval |= isfinite(runs->questions[i].energy_j.low);
	kwhy_interval_level(page, has_interval);
	for (size_t i = 0; i < runs->count; i++)
		if (runs->runs[i].is_modelled)
			kwhy_text_context_linef(&page->context, "", "%s: energy is modelled, not measured",
				runs->runs[i].label);
}

static void write_answer(struct kwhy_json *json, const char *key, const struct kwhy_running *answer)
{
	kwhy_json_object(json, key);
	kwhy_interval_json(json, "kwh", answer->kwh);
	kwhy_interval_json(json, "amount", answer->per_run);
	kwhy_interval_json(json, "amount_per_unit", answer->per_unit);
	kwhy_interval_json(json, "kwh_per_year", answer->kwh_per_year);
	kwhy_interval_json(json, "amount_per_year", answer->per_year);
	kwhy_json_object_end(json);
}

static void write_json(
	const struct kwhy_runs *runs, const char *currency, const char *amount, struct kwhy_json *json)
{
	kwhy_json_string(json, "amount", amount);
	kwhy_json_string(json, "amount_unit", currency ? currency : "g CO2e");
	kwhy_json_string(json, "work_unit", *runs->unit ? runs->unit : NULL);
	kwhy_json_real(json, "runs_per_day", runs->questions[0].runs_per_day);
	kwhy_json_real(json, "pue", runs->questions[0].pue);
	kwhy_json_array(json, "runs");
	for (size_t i = 0; i < runs->count; i++) {
		kwhy_json_object(json, NULL);
		kwhy_json_string(json, "name", runs->runs[i].label);
		kwhy_json_bool(json, "modelled", runs->runs[i].is_modelled);
		kwhy_interval_json(json, "energy_j", runs->questions[i].energy_j);
		kwhy_json_real(json, "unmetered_j", runs->runs[i].unmetered_j);
		kwhy_json_real(json, "seconds", runs->questions[i].seconds);
		kwhy_json_real(json, "work", runs->work[i].count);
		write_answer(json, "answer", &runs->answers[i]);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
}

void kwhy_runs_write(
	const struct kwhy_runs *runs, const char *currency, const char *amount, struct kwhy_model_page *page)
{
	if (page->is_json)
		write_json(runs, currency, amount, &page->json);
	else
		write_text(runs, currency, page);
}

/*
 * Writes how much of a run's energy is unmetered: "unmetered of a.json: 26.6 J of the 338 J, estimated".
 */
static void write_unmetered(const struct kwhy_read_run *run, struct kwhy_model_page *page)
{
	char unmetered[KWHY_QUANTITY_BYTES], all[KWHY_QUANTITY_BYTES];

	if (run->unmetered_j > 0)
		kwhy_text_context_linef(&page->context, "", "unmetered of %s: %s of the %s, estimated",
			run->label, kwhy_quantity_si(unmetered, run->unmetered_j, "J", 3),
			kwhy_quantity_si(all, run->joules, "J", 3));
}

void kwhy_runs_write_source(const struct kwhy_runs *runs, const struct kwhy_running_options *options,
	struct kwhy_model_page *page)
{
	bool is_given = isfinite(options->joules), is_metered = !is_given, is_of_run = true;
	const char *of;

	for (size_t i = 0; !is_given && i < runs->count; i++) {
		write_unmetered(&runs->runs[i], page);
		is_metered &= !runs->runs[i].is_modelled && !(runs->runs[i].unmetered_j > 0);
		is_of_run &= runs->runs[i].is_report;
	}
	of = is_of_run ? "of the run, from first start to last end; " : "of what the meter saw; ";
	if (options->pue != 1)
		kwhy_text_context_linef(
			&page->context, "", "amounts are of the energy times a PUE of %.4g", options->pue);
	else
		kwhy_text_context_linef(
			&page->context, "", "%sthe building's share needs --pue", is_metered ? of : "");
}
