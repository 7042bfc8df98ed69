/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "cli/command.h"
#include "cli/model/csv.h"
#include "cli/model/page.h"
#include "fit/scale.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORKERS, THROUGHPUT, POWER, COLUMN_COUNT };

struct scale_options {
	struct kwhy_model_options model;
	double at;
};

static void set_defaults(void *options)
{
	((struct scale_options *)options)->at = NAN;
}

/* The measured points, and the results of the fits. */
struct answer {
	struct kwhy_model_csv csv;
	struct kwhy_scale_point *points;
	struct kwhy_scale scale;
	double at, throughput_at;
};

static double joules_per_unit(const struct answer *answer, size_t row)
{
	return kwhy_model_csv_number(&answer->csv, row, POWER) / answer->points[row].throughput;
}

static void plain_cell(struct kwhy_table *table, double value)
{
	char text[KWHY_QUANTITY_BYTES];

	kwhy_table_cell(table, kwhy_quantity_plain(text, value));
}

/* Rate of one worker: the measured mean or, if no run had one worker, the rate of the fit. */
static double rate_of_one(const struct answer *answer)
{
	double sum = 0;
	size_t count = 0;

	for (size_t i = 0; i < answer->csv.row_count; i++)
		if (answer->points[i].workers == 1) {
			sum += answer->points[i].throughput;
			count++;
		}
	return count ? sum / (double)count : answer->scale.fits[answer->scale.chosen].rate.value;
}

static void write_points(const struct answer *answer, struct kwhy_model_page *page)
{
	static const struct kwhy_table_column columns[] = {{"workers", KWHY_COLUMN_RIGHT},
		{"throughput", KWHY_COLUMN_RIGHT}, {"fitted", KWHY_COLUMN_RIGHT},
		{"speed-up", KWHY_COLUMN_RIGHT}, {"efficiency", KWHY_COLUMN_RIGHT},
		{"J per unit", KWHY_COLUMN_RIGHT}};
	double rate = rate_of_one(answer);
	struct kwhy_error ignored;
	char amount[KWHY_QUANTITY_BYTES];
	struct kwhy_table table;

	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < answer->csv.row_count; i++) {
		const struct kwhy_scale_point *point = &answer->points[i];
		double fitted = NAN;

		if (kwhy_scale_at(&answer->scale, point->workers, &fitted, &ignored))
			fitted = NAN;
		kwhy_table_cell(&table, kwhy_quantity_amount(amount, point->workers));
		kwhy_table_real(&table, point->throughput, "/s");
		kwhy_table_real(&table, fitted, "/s");
		plain_cell(&table, point->throughput / rate);
		kwhy_table_percent(&table, point->throughput / rate / point->workers);
		kwhy_table_real(&table, joules_per_unit(answer, i), "J");
	}
	kwhy_table_write(&table, &page->style, &page->text);
}

static void write_fits(const struct answer *answer, struct kwhy_model_page *page)
{
	static const struct kwhy_table_column columns[] = {{"form", KWHY_COLUMN_LEFT},
		{"serial", KWHY_COLUMN_RIGHT}, {"95 %", KWHY_COLUMN_LEFT}, {"agreeing", KWHY_COLUMN_RIGHT},
		{"error", KWHY_COLUMN_RIGHT}, {"held out", KWHY_COLUMN_RIGHT}, {"", KWHY_COLUMN_LEFT}};
	struct kwhy_table table;
	char range[64];

	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (int form = 0; form < KWHY_SCALE_FORM_COUNT; form++) {
		const struct kwhy_scale_fit *fit = &answer->scale.fits[form];
		struct kwhy_interval serial = fit->serial_ratio;

		/* the interval of the fit may reach above 100 %, which a serial share cannot */
		snprintf(range, sizeof(range), "%.1f to %.1f %%", 100 * serial.low,
			100 * fmin(serial.high, 1));
		kwhy_table_cell(&table, kwhy_scale_form_name((enum kwhy_scale_form)form));
		kwhy_table_percent(&table, serial.value);
		kwhy_table_cell(&table, isfinite(serial.low) ? range : "n/a");
		plain_cell(&table, form == KWHY_SCALE_USL ? fit->agree_ratio.value : NAN);
		kwhy_table_percent(&table, fit->rms_ratio);
		kwhy_table_percent(&table, fit->held_out_ratio);
		kwhy_table_cell(&table, form == (int)answer->scale.chosen ? "chosen" : "");
	}
	kwhy_table_write(&table, &page->style, &page->text);
}

/* The measured point with the highest rate of those with at least `least_workers` workers. */
static struct kwhy_scale_point best_from(const struct answer *answer, double least_workers)
{
	struct kwhy_scale_point best = {0};

	for (size_t i = 0; i < answer->csv.row_count; i++)
		if (answer->points[i].workers >= least_workers &&
			answer->points[i].throughput > best.throughput)
			best = answer->points[i];
	return best;
}

/*
 * Writes a note if the best measured rate was not at the largest measured number of workers, and is above the
 * rate at that number by more than the error of the fit; and a note if the fitted serial share is 100 % or
 * more.
 */
static void write_bounds(const struct answer *answer, struct kwhy_model_page *page)
{
	struct kwhy_scale_point best = best_from(answer, answer->scale.least_workers);
	struct kwhy_scale_point most = best_from(answer, answer->scale.most_workers);
	double error_ratio = answer->scale.fits[answer->scale.chosen].rms_ratio;

	if (best.workers < most.workers && best.throughput > most.throughput * (1 + error_ratio))
		kwhy_text_context_linef(&page->context, "",
			"measured, %g did more than %g: workers beyond it cost time", best.workers,
			most.workers);
	if (answer->scale.fits[answer->scale.chosen].serial_ratio.value >= 1)
		kwhy_text_context_linef(&page->context, "", "the fit takes all of the work to be serial");
}

static void write_text(const struct answer *answer, struct kwhy_model_page *page)
{
	const struct kwhy_scale *scale = &answer->scale;
	char amount[KWHY_QUANTITY_BYTES];

	write_points(answer, page);
	kwhy_text_add(&page->text, "\n");
	write_fits(answer, page);
	kwhy_text_add(&page->text, "\n");
	if (isfinite(answer->at))
		kwhy_text_context_linef(&page->context, "", "at %g workers: %s", answer->at,
			kwhy_quantity_si(amount, answer->throughput_at, "/s", 3));
	write_bounds(answer, page);
	if (isfinite(scale->peak_workers))
		kwhy_text_context_linef(
			&page->context, "", "throughput is highest near %.3g workers", scale->peak_workers);
	kwhy_text_context_linef(&page->context, "", "holds from %g to %g workers, where it was measured",
		scale->least_workers, scale->most_workers);
}

static void write_json(const struct answer *answer, struct kwhy_json *json)
{
	kwhy_json_string(json, "chosen", kwhy_scale_form_name(answer->scale.chosen));
	kwhy_json_real(json, "least_workers", answer->scale.least_workers);
	kwhy_json_real(json, "most_workers", answer->scale.most_workers);
	kwhy_json_real(json, "peak_workers", answer->scale.peak_workers);
	kwhy_json_real(json, "at_workers", answer->at);
	kwhy_json_real(json, "throughput_at", answer->throughput_at);
	kwhy_json_array(json, "fits");
	for (int form = 0; form < KWHY_SCALE_FORM_COUNT; form++) {
		const struct kwhy_scale_fit *fit = &answer->scale.fits[form];

		kwhy_json_object(json, NULL);
		kwhy_json_string(json, "form", kwhy_scale_form_name((enum kwhy_scale_form)form));
		kwhy_interval_json(json, "rate", fit->rate);
		kwhy_interval_json(json, "serial_ratio", fit->serial_ratio);
		kwhy_interval_json(json, "agree_ratio", fit->agree_ratio);
		kwhy_json_real(json, "rms_ratio", fit->rms_ratio);
		kwhy_json_real(json, "held_out_ratio", fit->held_out_ratio);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
}

static enum kwhy_status read_points(struct answer *answer, const char *path, struct kwhy_error *error)
{
	static const struct kwhy_csv_column columns[COLUMN_COUNT] = {[WORKERS] = {"workers", true},
		[THROUGHPUT] = {"throughput", true},
		[POWER] = {"power_w", false}};
	enum kwhy_status status = kwhy_model_csv_read(path, columns, COLUMN_COUNT, 0, &answer->csv, error);

	if (status)
		return status;
	answer->points = calloc(answer->csv.row_count, sizeof(*answer->points));
	if (!answer->points)
		return kwhy_fail_memory(error, "a table");
	for (size_t i = 0; i < answer->csv.row_count; i++)
		answer->points[i] = (struct kwhy_scale_point){kwhy_model_csv_number(&answer->csv, i, WORKERS),
			kwhy_model_csv_number(&answer->csv, i, THROUGHPUT)};
	return kwhy_model_csv_of(
		path, kwhy_scale_of(answer->points, answer->csv.row_count, &answer->scale, error), error);
}

static void fill(const void *answer, struct kwhy_model_page *page)
{
	if (page->is_json)
		write_json(answer, &page->json);
	else
		write_text(answer, page);
}

static enum kwhy_status run(const struct kwhy_invocation *invocation, struct kwhy_error *error)
{
	const struct scale_options *options = invocation->options;
	struct answer answer = {.at = options->at, .throughput_at = NAN};
	enum kwhy_status status;

	if (invocation->operands.count != 1)
		return kwhy_fail(error, KWHY_E_USAGE, "model scale takes one CSV of workers and throughput");
	status = read_points(&answer, invocation->operands.items[0], error);
	if (!status && isfinite(options->at))
		status = kwhy_scale_at(&answer.scale, options->at, &answer.throughput_at, error);
	if (!status)
		status = kwhy_model_page_write(&options->model, "scale", fill, &answer, error);
	free(answer.points);
	kwhy_model_csv_done(&answer.csv);
	return status;
}

static const struct kwhy_option options_table[] = {
	{"at", 0, "N", "throughput of N workers, inside the measured range", KWHY_OPTION_NUMBER,
		offsetof(struct scale_options, at)},
	KWHY_OPTION_ROWS_MODEL(struct scale_options, model),
	KWHY_OPTION_ROW_HELP,
	KWHY_OPTION_ROW_END,
};

const struct kwhy_command kwhy_command_model_scale = {
	.name = "model scale",
	.operands = "POINTS.csv",
	.summary = "How throughput grows with workers: Amdahl and the scalability law.",
	.details = "POINTS.csv: columns workers and throughput (units per second), power_w where known.",
	.options = options_table,
	.options_bytes = sizeof(struct scale_options),
	.defaults = set_defaults,
	.run = run,
};
