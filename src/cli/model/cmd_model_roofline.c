/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "cli/command.h"
#include "cli/model/csv.h"
#include "cli/model/page.h"
#include "fit/roofline.h"
#include "import/results/operations.h"

#include <math.h>
#include <stddef.h>

enum { FLOP, BYTES, SECONDS, JOULES, NUMBER_COUNT };

/*
 * A note is written if the least energy that the model predicts for a row is more than this multiple of the
 * measured energy, which is a contradiction. It is above 1 because joules per FLOP and per byte are known
 * only to a few percent.
 */
#define FRUGAL_RATIO 1.05

struct roofline_options {
	struct kwhy_model_options model;
	const char *ops, *arithmetic, *memory;
	double flop_per_s, byte_per_s, joules_per_flop, joules_per_byte, constant_w;
};

enum { FILE_MAX_BYTES = 1 << 26 };

static void set_defaults(void *options)
{
	struct roofline_options *roofline = options;

	roofline->arithmetic = "fp32";
	roofline->memory = "memory-copy";
	roofline->flop_per_s = roofline->byte_per_s = NAN;
	roofline->joules_per_flop = roofline->joules_per_byte = roofline->constant_w = NAN;
}

static void add_row(const char *name, const struct kwhy_roofline *roof, const struct kwhy_roofline_work *work,
	struct kwhy_table *table)
{
	kwhy_table_cell(table, name);
	kwhy_table_real(table, roof->flop_per_byte, "FLOP/B");
	kwhy_table_cell(table, roof->is_memory_bound ? "memory" : "arithmetic");
	kwhy_table_real(table, roof->least_s, "s");
	kwhy_table_real(table, work->seconds, "s");
	kwhy_table_percent(table, roof->time_ratio);
	kwhy_table_real(table, roof->least_j, "J");
	kwhy_table_percent(table, roof->energy_ratio);
}

static void add_json(const char *name, const struct kwhy_roofline *roof,
	const struct kwhy_roofline_work *work, struct kwhy_json *json)
{
	kwhy_json_object(json, NULL);
	kwhy_json_string(json, "name", name);
	kwhy_json_real(json, "flop", work->flop);
	kwhy_json_real(json, "bytes", work->bytes);
	kwhy_json_real(json, "flop_per_byte", roof->flop_per_byte);
	kwhy_json_string(json, "bound_by", roof->is_memory_bound ? "memory" : "arithmetic");
	kwhy_json_real(json, "least_s", roof->least_s);
	kwhy_json_real(json, "least_j", roof->least_j);
	kwhy_json_real(json, "roof_flop_per_s", roof->roof_flop_per_s);
	kwhy_json_real(json, "roof_flop_per_joule", roof->roof_flop_per_joule);
	kwhy_json_real(json, "time_ratio", roof->time_ratio);
	kwhy_json_real(json, "energy_ratio", roof->energy_ratio);
	kwhy_json_object_end(json);
}

static void write_machine(const struct kwhy_roofline *roof, struct kwhy_model_page *page)
{
	if (page->is_json) {
		kwhy_json_real(&page->json, "time_balance_flop_per_byte", roof->time_balance);
		kwhy_json_real(&page->json, "energy_balance_flop_per_byte", roof->energy_balance);
		return;
	}
	kwhy_text_context_linef(&page->context, "",
		"memory and arithmetic take equal time at %.4g FLOP per byte", roof->time_balance);
	if (isfinite(roof->energy_balance))
		kwhy_text_context_linef(
			&page->context, "", "and equal energy at %.4g FLOP per byte", roof->energy_balance);
}

/* Writes the rows in the order of the file. The caller ends the page. */
static enum kwhy_status write_rows(const struct kwhy_model_csv *csv, const char *path,
	const struct kwhy_roofline_machine *machine, struct kwhy_model_page *page, struct kwhy_error *error)
{
	static const struct kwhy_table_column columns[] = {{"work", KWHY_COLUMN_NAME},
		{"intensity", KWHY_COLUMN_RIGHT}, {"bound by", KWHY_COLUMN_LEFT},
		{"least", KWHY_COLUMN_RIGHT}, {"took", KWHY_COLUMN_RIGHT}, {"roof", KWHY_COLUMN_RIGHT},
		{"least", KWHY_COLUMN_RIGHT}, {"roof", KWHY_COLUMN_RIGHT}};
	struct kwhy_roofline roof = {0};
	const char *frugal = NULL;
	enum kwhy_status status = KWHY_OK;
	struct kwhy_table table;

	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	if (page->is_json)
		kwhy_json_array(&page->json, "work");
	for (size_t i = 0; !status && i < csv->row_count; i++) {
		const double *row = csv->numbers + i * csv->number_count;
		struct kwhy_roofline_work work = {row[FLOP], row[BYTES], row[SECONDS], row[JOULES]};

		status = kwhy_model_csv_row_of(
			csv, path, i, kwhy_roofline_of(machine, &work, &roof, error), error);
		if (!status && page->is_json)
			add_json(kwhy_model_csv_word(csv, i, 0), &roof, &work, &page->json);
		else if (!status)
			add_row(kwhy_model_csv_word(csv, i, 0), &roof, &work, &table);
		if (!status && roof.energy_ratio > FRUGAL_RATIO)
			frugal = kwhy_model_csv_word(csv, i, 0);
	}
	if (page->is_json)
		kwhy_json_array_end(&page->json);
	kwhy_table_write(&table, &page->style, &page->text);
	if (!status)
		write_machine(&roof, page);
	if (frugal && !page->is_json)
		kwhy_text_context_linef(&page->context, "",
			"'%s' took fewer joules than the least: counts, joules or the machine's are wrong, "
			"or its clocks were lower than when the machine's were measured",
			frugal);
	return status;
}

static void choose(double *into, double otherwise)
{
	if (isnan(*into))
		*into = otherwise;
}

/*
 * Takes the peaks and energies of the machine from the options. Those that are not given come from the result
 * of kwhy bench ops that --ops names, if it is given; else they stay NAN.
 */
static enum kwhy_status read_machine(
	const struct roofline_options *options, struct kwhy_roofline_machine *out, struct kwhy_error *error)
{
	struct kwhy_read_ops ops;
	struct kwhy_text text = {0};
	enum kwhy_status status;

	*out = (struct kwhy_roofline_machine){options->flop_per_s, options->byte_per_s,
		options->joules_per_flop, options->joules_per_byte, options->constant_w};
	if (!options->ops)
		return KWHY_OK;
	status = kwhy_file_read(options->ops, FILE_MAX_BYTES, &text, error);
	if (!status)
		status = kwhy_read_ops_of(&ops, options->ops, text.data ? text.data : "", text.length,
			options->arithmetic, options->memory, error);
	kwhy_text_done(&text);
	if (status)
		return status;
	choose(&out->flop_per_s, ops.flop_per_s);
	choose(&out->byte_per_s, ops.byte_per_s);
	choose(&out->joules_per_flop, ops.joules_per_flop);
	choose(&out->joules_per_byte, ops.joules_per_byte);
	choose(&out->constant_w, ops.constant_w);
	return KWHY_OK;
}

static enum kwhy_status check_options(const struct roofline_options *options, struct kwhy_error *error)
{
	if (!options->ops && (isnan(options->flop_per_s) || isnan(options->byte_per_s)))
		return kwhy_fail(error, KWHY_E_USAGE,
			"model roofline needs the machine's --flop-per-s and --byte-per-s, or --ops FILE of "
			"kwhy bench ops");
	if (options->flop_per_s <= 0 || options->byte_per_s <= 0)
		return kwhy_fail(error, KWHY_E_USAGE, "--flop-per-s and --byte-per-s take values above 0");
	if (options->joules_per_flop < 0 || options->joules_per_byte < 0 || options->constant_w < 0)
		return kwhy_fail(error, KWHY_E_USAGE,
			"--joules-per-flop, --joules-per-byte and --constant cannot be negative");
	return KWHY_OK;
}

static enum kwhy_status run(const struct kwhy_invocation *invocation, struct kwhy_error *error)
{
	static const struct kwhy_csv_column columns[] = {
		{"flop", true}, {"bytes", true}, {"seconds", false}, {"joules", false}, {"work", true}};
	const struct roofline_options *options = invocation->options;
	struct kwhy_roofline_machine machine;
	struct kwhy_model_csv csv = {0};
	struct kwhy_model_page page;
	const char *path;
	enum kwhy_status status;

	if (invocation->operands.count != 1)
		return kwhy_fail(error, KWHY_E_USAGE, "model roofline takes one CSV of work");
	path = invocation->operands.items[0];
	status = check_options(options, error);
	if (!status)
		status = read_machine(options, &machine, error);
	if (!status)
		status = kwhy_model_csv_read(path, columns, NUMBER_COUNT, 1, &csv, error);
	if (!status) {
		status = kwhy_model_page_begin(&page, &options->model, "roofline", error);
		if (!status)
			status = kwhy_model_page_end(&page, &options->model,
				write_rows(&csv, path, &machine, &page, error), error);
	}
	kwhy_model_csv_done(&csv);
	return status;
}

static const struct kwhy_option options_table[] = {
	{"ops", 0, "FILE", "what bench ops measured, as JSON or in a machine profile", KWHY_OPTION_TEXT,
		offsetof(struct roofline_options, ops)},
	{"arithmetic", 0, "ID", "its operation for arithmetic; default fp32", KWHY_OPTION_TEXT,
		offsetof(struct roofline_options, arithmetic)},
	{"memory", 0, "ID", "its operation for memory; default memory-copy", KWHY_OPTION_TEXT,
		offsetof(struct roofline_options, memory)},
	{"flop-per-s", 0, "F", "the machine's peak", KWHY_OPTION_NUMBER,
		offsetof(struct roofline_options, flop_per_s)},
	{"byte-per-s", 0, "B", "its memory bandwidth", KWHY_OPTION_NUMBER,
		offsetof(struct roofline_options, byte_per_s)},
	{"joules-per-flop", 0, "J", "energy of a FLOP above the constant power", KWHY_OPTION_NUMBER,
		offsetof(struct roofline_options, joules_per_flop)},
	{"joules-per-byte", 0, "J", "energy of a byte above the constant power", KWHY_OPTION_NUMBER,
		offsetof(struct roofline_options, joules_per_byte)},
	{"constant", 0, "W", "power that is drawn whatever runs", KWHY_OPTION_NUMBER,
		offsetof(struct roofline_options, constant_w)},
	KWHY_OPTION_ROWS_MODEL(struct roofline_options, model),
	KWHY_OPTION_ROW_HELP,
	KWHY_OPTION_ROW_END,
};

const struct kwhy_command kwhy_command_model_roofline = {
	.name = "model roofline",
	.operands = "WORK.csv",
	.summary = "Least time and energy of work on a machine, and its share of that.",
	.details = "WORK.csv: columns work, flop, bytes and, where measured, seconds and joules.",
	.options = options_table,
	.options_bytes = sizeof(struct roofline_options),
	.defaults = set_defaults,
	.run = run,
};
