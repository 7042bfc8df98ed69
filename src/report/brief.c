/* SPDX-License-Identifier: Apache-2.0 */
#include "report/brief.h"

#include "report/account_columns.h"
#include "report/json/writer.h"
#include "report/shown_name.h"
#include "report/text/first_screen.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The report in at most BYTES_MAX bytes of JSON, schema "kwhy.brief/1": what the run cost, where energy and
 * time went, what to do, and what is not known. Until the document fits, rows, findings and sentences are
 * left out and names are shortened; as the last step, sentences are cut to 100 columns. If that is not
 * enough, the document is longer than BYTES_MAX.
 */

enum { BYTES_MAX = 4096 };

/*
 * Limits by which the document is shortened: the largest number of accounts (where), of findings (advice) and
 * of sentences about what is not known (unknown).
 */
struct limits {
	size_t where, advice, unknown;
	size_t columns;	 /* columns of the longest name or path */
	size_t sentence; /* columns of the longest sentence */
	int digits;	 /* significant digits of a number */
};

/* Limits in the order in which they are tried, from the longest document to the shortest. */
static const struct limits limits[] = {
	{8, 5, 4, 400, 1000, 4},
	{6, 4, 4, 240, 1000, 4},
	{6, 3, 3, 240, 1000, 4},
	{5, 3, 2, 160, 1000, 4},
	{4, 3, 1, 100, 1000, 4},
	{3, 3, 1, 60, 1000, 4},
	{3, 2, 1, 60, 1000, 4},
	{2, 1, 0, 40, 1000, 4},
	{2, 1, 0, 40, 100, 4},
};

static const struct limits page_limits = {8, 8, 24, 1000, 1000, 9};

struct brief {
	struct kwhy_json json;
	const struct kwhy_text_context *context;
	const struct limits *limits;
	struct kwhy_arena arena;
	size_t unknown_count;
};

/* Writes a text, shortened to `columns`; NULL is written as null. */
static void write_within_columns(struct brief *brief, const char *key, const char *text, size_t columns)
{
	char *clean = text ? kwhy_shown_clean(&brief->arena, text) : NULL;
	char *shown = clean ? kwhy_shown_cut(&brief->arena, clean, columns) : NULL;

	brief->json.out->failed |= text && !shown;
	kwhy_json_string(&brief->json, key, shown);
}

static void write_text(struct brief *brief, const char *key, const char *text)
{
	write_within_columns(brief, key, text, brief->limits->columns);
}

static void write_sentence(struct brief *brief, const char *key, const char *sentence)
{
	write_within_columns(brief, key, sentence, brief->limits->sentence);
}

/*
 * Writes a path. A path longer than `columns` bytes is cut at the first "/" within its last `columns` bytes,
 * so that the last directories and the name of the file remain. A path without a "/" there is cut as any
 * other text.
 */
static void write_path(struct brief *brief, const char *key, const char *path)
{
	const size_t length = path ? strlen(path) : 0;
	const char *slash = length > brief->limits->columns
		? strchr(path + length - brief->limits->columns, '/')
		: NULL;

	write_text(brief, key, slash ? slash + 1 : path);
}

/* Writes a number, rounded to limits->digits significant digits; null if it is not finite. */
static void write_real(struct brief *brief, const char *key, double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.*g", brief->limits->digits, value);
	kwhy_json_real(&brief->json, key, isfinite(value) ? strtod(text, NULL) : NAN);
}

static void write_joules(struct brief *brief, const char *key, int64_t energy_nj)
{
	write_real(brief, key, energy_nj == KWHY_UNKNOWN_NJ ? NAN : (double)energy_nj * 1e-9);
}

static void write_source(struct brief *brief)
{
	const struct kwhy_recording *recording = brief->context->report->recording;

	kwhy_json_string(&brief->json, "schema", "kwhy.brief/1");
	write_path(brief, "source", recording->source_count ? recording->sources[0].path : NULL);
	kwhy_json_count(&brief->json, "sources", recording->source_count);
	write_text(brief, "device", recording->device_count ? recording->devices[0].name : NULL);
	kwhy_json_count(&brief->json, "devices", brief->context->totals->active_count);
}

static void write_run(struct brief *brief)
{
	const struct kwhy_totals *totals = brief->context->totals;

	kwhy_json_row(&brief->json, "what");
	write_real(brief, "seconds", totals->run_s);
	write_real(brief, "energy_j", totals->run_nj * 1e-9);
	write_real(brief, "energy_low_j", kwhy_totals_run_low_nj(totals) * 1e-9);
	write_real(brief, "energy_high_j", (totals->run_nj + totals->run_above_nj) * 1e-9);
	kwhy_json_bool(&brief->json, "modelled", totals->modelled);
	write_real(brief, "busy_ratio",
		totals->span_ns > 0 ? (double)totals->busy_ns / (double)totals->span_ns : NAN);
	write_joules(brief, "metered_j", totals->run_metered_nj);
	write_joules(brief, "idle_j", totals->run_idle_nj);
	kwhy_json_object_end(&brief->json);
}

static void write_work(struct brief *brief)
{
	const struct kwhy_recording *recording = brief->context->report->recording;
	const struct kwhy_totals *totals = brief->context->totals;

	kwhy_json_list(&brief->json, "work");
	for (size_t i = 0; i < recording->work_count && i < 2; i++) {
		const struct kwhy_work *work = &recording->work[i];

		kwhy_json_row(&brief->json, NULL);
		write_text(brief, "unit", work->unit);
		kwhy_json_real(&brief->json, "count", work->count);
		write_real(brief, "energy_j_each", totals->run_nj * 1e-9 / work->count);
		write_real(brief, "seconds_each", totals->run_s / work->count);
		kwhy_json_object_end(&brief->json);
	}
	kwhy_json_array_end(&brief->json);
}

static void write_where(struct brief *brief)
{
	const struct kwhy_where where = kwhy_where_of(brief->context->totals);
	size_t written = 0;

	kwhy_json_array(&brief->json, "where");
	for (size_t i = 0; i < where.totals.row_count && written < brief->limits->where; i++) {
		const struct kwhy_total *row = &where.totals.rows[i];
		char *kernel = kwhy_category_is_kernels(row->category)
			? kwhy_shown_kernel(&brief->arena, row->name)
			: NULL;

		written++;
		kwhy_json_row(&brief->json, NULL);
		kwhy_json_string(
			&brief->json, "category", kwhy_category_name((enum kwhy_category)row->category));
		write_text(brief, "name", kernel ? kernel : kwhy_where_words(row));
		write_real(brief, "share", kwhy_where_share(&where, row));
		write_joules(brief, "energy_j", row->gross_nj);
		if (brief->limits == &page_limits) {
			write_joules(brief, "energy_low_j", row->low_nj);
			write_joules(brief, "energy_high_j", row->high_nj);
		}
		write_real(brief, "seconds", (double)row->time_ns * 1e-9);
		kwhy_json_count(&brief->json, "count", row->count);
		kwhy_json_object_end(&brief->json);
	}
	kwhy_json_array_end(&brief->json);
	kwhy_json_count(&brief->json, "where_left_out", where.totals.row_count - written);
	write_real(brief, "where_j", where.sum_nj * 1e-9);
}

static void write_kind(struct brief *brief, const struct kwhy_finding_kind *kind)
{
	const struct kwhy_text_context *context = brief->context;
	const struct kwhy_finding *worst = kind->worst;
	struct kwhy_text words = {0};

	kwhy_finding_kind_words(kind, context->report->recording, context->totals->active_count, &words);
	brief->json.out->failed |= words.failed;
	kwhy_json_object(&brief->json, NULL);
	kwhy_json_string(&brief->json, "id", worst->id);
	write_sentence(brief, "what", words.data);
	kwhy_json_count(&brief->json, "devices", kind->device_count);
	write_real(brief, "seconds", (double)kind->most_ns * 1e-9);
	write_text(brief, "in", worst->place.words);
	write_path(brief, "file", worst->place.file);
	if (worst->place.line)
		kwhy_json_count(&brief->json, "line", worst->place.line);
	else
		kwhy_json_null(&brief->json, "line");
	write_sentence(brief, "cure", worst->cure);
	kwhy_json_row(&brief->json, "saves");
	write_joules(brief, "energy_j", kind->saved_nj);
	write_real(brief, "share",
		kind->saved_nj != KWHY_UNKNOWN_NJ && context->totals->recorded_nj > 0
			? (double)kind->saved_nj / context->totals->recorded_nj
			: NAN);
	write_real(brief, "seconds", (double)kind->saved_ns * 1e-9);
	kwhy_json_bool(&brief->json, "is_projected", worst->saving.bound == KWHY_BOUND_EXPECTED);
	kwhy_json_bool(&brief->json, "frees_device", worst->saving.frees_device);
	kwhy_json_object_end(&brief->json);
	kwhy_json_object_end(&brief->json);
	kwhy_text_done(&words);
}

static void write_advice(struct brief *brief)
{
	const struct kwhy_finding_kinds *kinds = brief->context->kinds;
	const size_t most = brief->limits->advice,
		     count = kinds->worth_count < most ? kinds->worth_count : most;

	kwhy_json_array(&brief->json, "do");
	for (size_t i = 0; i < count; i++)
		write_kind(brief, &kinds->items[i]);
	kwhy_json_array_end(&brief->json);
	kwhy_json_count(&brief->json, "do_left_out", kinds->worth_count - count);
}

static void add_sentence(void *target, const char *sentence)
{
	struct brief *brief = target;

	if (brief->unknown_count++ < brief->limits->unknown)
		write_sentence(brief, NULL, sentence);
}

static void write_unknown(struct brief *brief)
{
	const struct kwhy_text_context *context = brief->context;

	brief->unknown_count = 0;
	kwhy_json_array(&brief->json, "unknown");
	if (context->totals->energy_nj == KWHY_UNKNOWN_NJ) {
		struct kwhy_text text = {0};

		kwhy_text_addf(&text, "time only: %s", kwhy_totals_no_energy(context->report->recording));
		add_sentence(brief, text.failed ? "time only" : text.data);
		kwhy_text_done(&text);
	}
	kwhy_unknown_each(context, add_sentence, brief);
	kwhy_json_array_end(&brief->json);
	kwhy_json_count(&brief->json, "unknown_left_out",
		brief->unknown_count > brief->limits->unknown ? brief->unknown_count - brief->limits->unknown
							      : 0);
}

static void write_brief(
	const struct kwhy_text_context *context, const struct limits *within, struct kwhy_text *out)
{
	struct brief brief = {.context = context, .limits = within};

	kwhy_text_clear(out);
	kwhy_json_init(&brief.json, out);
	kwhy_json_object(&brief.json, NULL);
	write_source(&brief);
	write_run(&brief);
	write_work(&brief);
	write_where(&brief);
	write_advice(&brief);
	write_unknown(&brief);
	kwhy_json_object_end(&brief.json);
	kwhy_text_add(out, "\n");
	kwhy_arena_done(&brief.arena);
}

/*
 * Writes the document with the first of `count` limits that makes it at most BYTES_MAX bytes long or, if none
 * does, with the last.
 */
static enum kwhy_status write_within(const struct kwhy_report *report, const struct limits *within,
	size_t count, struct kwhy_text *out, struct kwhy_error *error)
{
	struct kwhy_totals totals;
	struct kwhy_finding_kinds kinds;
	struct kwhy_text_context context = {.report = report, .totals = &totals, .kinds = &kinds, .out = out};
	enum kwhy_status status = kwhy_totals_init(&totals, report->ledger, error);

	if (status)
		return status;
	status = kwhy_finding_kinds_init(&kinds, report->findings, error);
	if (!status) {
		for (size_t i = 0; i < count; i++) {
			write_brief(&context, &within[i], out);
			if (out->failed || out->length <= BYTES_MAX)
				break;
		}
		status = kwhy_text_check(out, error);
		kwhy_finding_kinds_done(&kinds);
	}
	kwhy_totals_done(&totals);
	return status;
}

enum kwhy_status kwhy_report_brief(
	const struct kwhy_report *report, struct kwhy_text *out, struct kwhy_error *error)
{
	return write_within(report, limits, sizeof(limits) / sizeof(limits[0]), out, error);
}

enum kwhy_status kwhy_report_brief_page(
	const struct kwhy_report *report, struct kwhy_text *out, struct kwhy_error *error)
{
	return write_within(report, &page_limits, 1, out, error);
}
