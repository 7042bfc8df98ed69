/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "cli/command.h"
#include "cli/model/csv.h"
#include "cli/model/page.h"
#include "cli/values.h"
#include "fit/tokens.h"
#include "import/own_result.h"
#include "import/results/run.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { PHASES_MAX = 256, FILE_MAX_BYTES = 1 << 30 };

struct tokens_options {
	struct kwhy_model_options model;
	struct kwhy_strings phases;
	double tokens, joules, seconds;
};

/*
 * The phases (such as prefill and decode) whose joules per token are asked for, with what they are computed
 * from.
 */
struct asking {
	const struct tokens_options *options;
	struct kwhy_tokens_phase phases[PHASES_MAX + 1]; /* the phases, and after them their sum */
	const struct kwhy_read_phase *ranges[PHASES_MAX];
	size_t count;
	char no_sum[240];     /* why the phases have no sum; "": they have one */
	char no_seconds[240]; /* why the sum has no duration; "": it has one */
	struct kwhy_model_csv csv;
	struct kwhy_read_run run;
};

static void set_defaults(void *options)
{
	struct tokens_options *tokens = options;

	tokens->tokens = tokens->joules = tokens->seconds = NAN;
}

static enum kwhy_status check(const struct kwhy_tokens_phase *phase, struct kwhy_error *error)
{
	const struct {
		const char *name;
		double value;
		const char *cure; /* NULL: the figure is not needed */
	} figures[] = {
		{"tokens", phase->tokens, "give them, those of a recording by --work tokens=N"},
		{"joules", phase->joules.value, "give them"},
		{"seconds", phase->seconds, NULL},
	};

	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
		if (isnan(figures[i].value) && figures[i].cure)
			return kwhy_fail(error, KWHY_E_INPUT, "'%.60s': %s are not known; %s", phase->name,
				figures[i].name, figures[i].cure);
		if (figures[i].value <= 0)
			return kwhy_fail(error, KWHY_E_INPUT, "'%.60s': %s must be above 0; %s", phase->name,
				figures[i].name,
				figures[i].cure ? "give what was measured" : "leave out what is not known");
	}
	return KWHY_OK;
}

static enum kwhy_status add(struct asking *asking, struct kwhy_tokens_phase phase, struct kwhy_error *error)
{
	enum kwhy_status status = check(&phase, error);

	if (status)
		return status;
	if (asking->count == PHASES_MAX)
		return kwhy_fail(error, KWHY_E_INPUT, "at most %d phases", (int)PHASES_MAX);
	asking->phases[asking->count++] = phase;
	return KWHY_OK;
}

static enum kwhy_status read_csv(struct asking *asking, const char *path, struct kwhy_error *error)
{
	static const struct kwhy_csv_column columns[] = {{"tokens", true}, {"joules", true},
		{"joules_low", false}, {"joules_high", false}, {"seconds", false}, {"phase", true}};
	enum kwhy_status status = kwhy_model_csv_read(path, columns, 5, 1, &asking->csv, error);

	for (size_t i = 0; !status && i < asking->csv.row_count; i++) {
		const double *row = asking->csv.numbers + i * asking->csv.number_count;
		const char *name = kwhy_model_csv_word(&asking->csv, i, 0);

		if (row[2] > row[1] || row[3] < row[1])
			status = kwhy_fail(error, KWHY_E_INPUT,
				"'%.60s': its joules are not between its joules_low and joules_high; give "
				"each column its own",
				name);
		else
			status = add(asking,
				(struct kwhy_tokens_phase){name, row[0], {row[1], row[2], row[3]}, row[4]},
				error);
		status = kwhy_model_csv_row_of(&asking->csv, path, i, status, error);
	}
	return status;
}

static const struct kwhy_read_phase *range_named(const struct kwhy_read_run *run, const char *name)
{
	for (size_t i = 0; i < run->phase_count; i++)
		if (strcmp(run->phases[i].name, name) == 0)
			return &run->phases[i];
	return NULL;
}

/*
 * Adds a range of the report as a phase. `spec`, the argument of --phase, has the range's name and number of
 * tokens: "decode=2048".
 */
static enum kwhy_status add_range(struct asking *asking, const char *spec, struct kwhy_error *error)
{
	char name[KWHY_COUNT_NAME_BYTES];
	const struct kwhy_read_phase *range;
	double tokens;
	enum kwhy_status status = kwhy_value_name_count("phase", spec, name, &tokens, error);

	if (status)
		return status;
	range = range_named(&asking->run, name);
	if (!range)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%.300s has no range '%.60s'; name a range of the report, as --phase decode=2048",
			asking->run.label, name);
	for (size_t i = 0; i < asking->count; i++)
		if (asking->ranges[i] == range)
			return kwhy_fail(error, KWHY_E_USAGE,
				"--phase: '%.60s' is given twice; give a range once, with all of its tokens",
				name);
	if (kwhy_read_phase_overlaps(range, (size_t)(range - asking->run.phases)))
		return kwhy_fail(error, KWHY_E_INPUT,
			"%.300s: the range '%.60s' runs inside or concurrently with another of its name on "
			"the same devices, so its joules count some intervals twice; name a range that runs "
			"once at a time",
			asking->run.label, name);
	asking->ranges[asking->count % PHASES_MAX] = range;
	return add(asking,
		(struct kwhy_tokens_phase){
			range->name, tokens, {range->joules, range->low_j, range->high_j}, range->seconds},
		error);
}

/*
 * The reason why a report does not state with which other ranges a range overlaps. A report states it only
 * for the 256 longest ranges; a report that states it for no range was written by an older version of kwhy.
 */
static const char *why_unknown(const struct kwhy_read_run *run)
{
	for (size_t i = 0; i < run->phase_count; i++)
		if (run->phases[i].is_distinct)
			return "it lists only the 256 longest ranges";
	return "write it again with kwhy report --json";
}

/*
 * Sets asking->no_sum if two ranges overlap on the same devices, because a sum would count energy twice, or
 * if the report does not state whether they do. Sets asking->no_seconds if they run at the same time on
 * different devices, because only their times cannot be added. Returns whether there is a reason in no_sum.
 */
static bool tell_overlap(
	struct asking *asking, const struct kwhy_read_phase *a, const struct kwhy_read_phase *b)
{
	size_t place = (size_t)(b - asking->run.phases);

	if (!a->is_distinct || !b->is_distinct)
		snprintf(asking->no_sum, sizeof(asking->no_sum),
			"the report does not show whether '%.40s' and '%.40s' overlap; %s", a->name, b->name,
			why_unknown(&asking->run));
	else if (kwhy_read_phase_overlaps(a, place))
		snprintf(asking->no_sum, sizeof(asking->no_sum),
			"'%.40s' and '%.40s' overlap; what both hold would count twice", a->name, b->name);
	else if (kwhy_read_phase_beside(a, place))
		snprintf(asking->no_seconds, sizeof(asking->no_seconds),
			"'%.40s' and '%.40s' run side by side on different devices: their joules add up, "
			"their times do not, so the sum has no tokens per second and no mean power",
			a->name, b->name);
	return asking->no_sum[0];
}

static void tell_overlaps(struct asking *asking)
{
	for (size_t i = 1; i < asking->count; i++)
		for (size_t j = 0; j < i; j++)
			if (tell_overlap(asking, asking->ranges[j], asking->ranges[i]))
				return;
}

/*
 * A phase named `name` with the joules and seconds of the whole run, for tokens that are stated for the run.
 */
static struct kwhy_tokens_phase run_of(const struct asking *asking, const char *name)
{
	struct kwhy_read_work work = kwhy_read_work_of(&asking->run, "tokens", asking->options->tokens);
	struct kwhy_interval each_j = {work.each_j, work.each_low_j, work.each_high_j};

	return (struct kwhy_tokens_phase){
		name, work.count, kwhy_interval_scaled(each_j, work.count), work.each_s * work.count};
}

static enum kwhy_status read_json(struct asking *asking, const char *path, struct kwhy_error *error)
{
	const struct kwhy_strings *ranges = &asking->options->phases;
	struct kwhy_text text = {0};
	enum kwhy_status status = kwhy_own_result_read(path, FILE_MAX_BYTES, &text, error);

	if (!status)
		status = kwhy_read_run_of(&asking->run, path, text.data ? text.data : "", text.length, error);
	kwhy_text_done(&text);
	for (size_t i = 0; !status && i < ranges->count; i++)
		status = add_range(asking, ranges->items[i], error);
	if (!status)
		tell_overlaps(asking);
	if (!status && !ranges->count)
		status = add(asking, run_of(asking, path), error);
	return status;
}

static bool is_json(const char *path)
{
	size_t length = strlen(path);

	return length > 5 && strcmp(path + length - 5, ".json") == 0;
}

static void write_text(
	const struct kwhy_tokens_phase *phases, size_t count, bool with_sum, struct kwhy_model_page *page)
{
	static const struct kwhy_table_column columns[] = {{"phase", KWHY_COLUMN_NAME},
		{"tokens", KWHY_COLUMN_RIGHT}, {"energy", KWHY_COLUMN_RIGHT}, {"J/token", KWHY_COLUMN_RIGHT},
		{"tokens/J", KWHY_COLUMN_RIGHT}, {"tokens/s", KWHY_COLUMN_RIGHT},
		{"mean", KWHY_COLUMN_RIGHT}};
	struct kwhy_tokens answer;
	char amount[KWHY_QUANTITY_BYTES];
	struct kwhy_table table;
	bool has_interval = false;

	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < count; i++) {
		kwhy_tokens_of(&phases[i], &answer);
		if (with_sum && i + 1 == count)
			kwhy_table_rule(&table);
		kwhy_table_cell(&table, phases[i].name);
		kwhy_table_cell(&table, kwhy_quantity_amount(amount, phases[i].tokens));
		kwhy_table_real(&table, phases[i].joules.value, "J");
		kwhy_interval_cell(&table, answer.joules_per_token, "J");
		kwhy_table_cell(&table, kwhy_quantity_plain(amount, answer.tokens_per_joule.value));
		kwhy_table_real(&table, answer.tokens_per_s, "");
		kwhy_table_real(&table, answer.mean_w, "W");
		has_interval |= isfinite(answer.joules_per_token.low);
	}
	kwhy_table_write(&table, &page->style, &page->text);
	kwhy_interval_level(page, has_interval);
	kwhy_text_context_linef(&page->context, "", "tokens/J is also tokens per second and watt");
}

static void write_json(const struct kwhy_tokens_phase *phases, size_t count, struct kwhy_json *json)
{
	struct kwhy_tokens answer;

	kwhy_json_array(json, "phases");
	for (size_t i = 0; i < count; i++) {
		kwhy_tokens_of(&phases[i], &answer);
		kwhy_json_object(json, NULL);
		kwhy_json_string(json, "name", phases[i].name);
		kwhy_json_real(json, "tokens", phases[i].tokens);
		kwhy_json_real(json, "seconds", phases[i].seconds);
		kwhy_interval_json(json, "joules", phases[i].joules);
		kwhy_interval_json(json, "joules_per_token", answer.joules_per_token);
		kwhy_interval_json(json, "tokens_per_joule", answer.tokens_per_joule);
		kwhy_json_real(json, "tokens_per_s", answer.tokens_per_s);
		kwhy_json_real(json, "mean_w", answer.mean_w);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
}

static bool has_sum(const struct asking *asking)
{
	return asking->count > 1 && !asking->no_sum[0];
}

static void add_sum(struct asking *asking)
{
	struct kwhy_tokens_phase *sum = &asking->phases[asking->count];

	*sum = kwhy_tokens_sum(asking->phases, asking->count);
	if (asking->no_seconds[0])
		sum->seconds = NAN;
}

static void add_remark(struct kwhy_model_page *page, const char *words)
{
	if (page->is_json)
		kwhy_json_string(&page->json, NULL, words);
	else
		kwhy_text_context_linef(&page->context, "", "%s", words);
}

/*
 * Adds remarks: for which ranges the report does not state whether they overlap others of their name, and why
 * the sum has no duration.
 */
static void add_remarks(const struct asking *asking, struct kwhy_model_page *page)
{
	char words[280];

	for (size_t i = 0; i < asking->count; i++) {
		if (!asking->ranges[i] || asking->ranges[i]->is_distinct)
			continue;
		snprintf(words, sizeof(words),
			"the report does not show whether '%.40s' runs inside or concurrently with another "
			"of its name, whose joules and seconds would count twice; %s",
			asking->ranges[i]->name, why_unknown(&asking->run));
		add_remark(page, words);
	}
	if (has_sum(asking) && asking->no_seconds[0])
		add_remark(page, asking->no_seconds);
}

/* Writes the phases and then the sum. */
static void fill(const void *given, struct kwhy_model_page *page)
{
	const struct asking *asking = given;
	bool with_sum = has_sum(asking);

	if (page->is_json) {
		write_json(asking->phases, asking->count + with_sum, &page->json);
		kwhy_json_string(&page->json, "no_sum", asking->no_sum[0] ? asking->no_sum : NULL);
		kwhy_json_array(&page->json, "remarks");
		add_remarks(asking, page);
		kwhy_json_array_end(&page->json);
		return;
	}
	write_text(asking->phases, asking->count + with_sum, with_sum, page);
	if (asking->no_sum[0])
		kwhy_text_context_linef(&page->context, "", "no sum: %s", asking->no_sum);
	add_remarks(asking, page);
}

static enum kwhy_status run(const struct kwhy_invocation *invocation, struct kwhy_error *error)
{
	static struct asking asking;
	const struct tokens_options *options = invocation->options;
	const struct kwhy_operands *operands = &invocation->operands;
	enum kwhy_status status;

	asking = (struct asking){.options = options};
	if (operands->count > 1)
		return kwhy_fail(error, KWHY_E_USAGE, "model tokens takes one file");
	if (!operands->count && isnan(options->joules))
		return kwhy_fail(error, KWHY_E_USAGE,
			"give a file, or --tokens and --joules of one measured interval");
	if (!operands->count && (!(options->tokens > 0) || options->joules <= 0 || options->seconds <= 0))
		return kwhy_fail(error, KWHY_E_USAGE,
			"--tokens, --joules and --seconds take what was measured, above 0; --seconds may be "
			"left out");
	if (!operands->count)
		status = add(&asking,
			(struct kwhy_tokens_phase){"this run", options->tokens,
				kwhy_interval_exact(options->joules), options->seconds},
			error);
	else if (is_json(operands->items[0]))
		status = read_json(&asking, operands->items[0], error);
	else
		status = read_csv(&asking, operands->items[0], error);
	if (!status && has_sum(&asking))
		add_sum(&asking);
	if (!status)
		status = kwhy_model_page_write(&options->model, "tokens", fill, &asking, error);
	kwhy_model_csv_done(&asking.csv);
	kwhy_read_run_done(&asking.run);
	return status;
}

static const struct kwhy_option options_table[] = {
	{"tokens", 0, "N", "tokens of the run; default: its work in tokens", KWHY_OPTION_NUMBER,
		offsetof(struct tokens_options, tokens)},
	{"phase", 0, "RANGE=N", "tokens of a range of a report.json; may be given again", KWHY_OPTION_LIST,
		offsetof(struct tokens_options, phases)},
	{"joules", 0, "J", "energy of the run, instead of a file", KWHY_OPTION_NUMBER,
		offsetof(struct tokens_options, joules)},
	{"seconds", 0, "S", "duration of the run, instead of a file", KWHY_OPTION_NUMBER,
		offsetof(struct tokens_options, seconds)},
	KWHY_OPTION_ROWS_MODEL(struct tokens_options, model),
	KWHY_OPTION_ROW_HELP,
	KWHY_OPTION_ROW_END,
};

const struct kwhy_command kwhy_command_model_tokens = {
	.name = "model tokens",
	.operands = "[RUN.json|PHASES.csv]",
	.summary = "Joules per token and tokens per joule, by phase, with intervals.",
	.details = "RUN.json: of kwhy stat --json or kwhy report --json. PHASES.csv: columns phase, tokens, "
		   "joules and, where known, joules_low, joules_high, seconds.",
	.options = options_table,
	.options_bytes = sizeof(struct tokens_options),
	.defaults = set_defaults,
	.run = run,
};
