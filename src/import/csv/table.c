/* SPDX-License-Identifier: Apache-2.0 */
#include "import/csv/table.h"

#include "base/decimal.h"
#include "base/text.h"
#include "import/lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_BYTES = 40, NO_FIELD = KWHY_CSV_COLUMNS_MAX };

struct kwhy_csv {
	struct kwhy_csv_options options;
	struct kwhy_lines *lines;
	struct kwhy_line line;
	bool header_read, ended_early;
	uint64_t skipped;
	struct kwhy_span comment;
	size_t field_count, header_count;
	struct kwhy_span fields[KWHY_CSV_COLUMNS_MAX];
	size_t field_of[KWHY_CSV_COLUMNS_MAX]; /* for each column of the options: its field in a row;
						  NO_FIELD: the file lacks the column */
};

enum kwhy_status kwhy_csv_open(
	const struct kwhy_csv_options *options, struct kwhy_csv **out, struct kwhy_error *error)
{
	struct kwhy_csv *csv = calloc(1, sizeof(*csv));
	enum kwhy_status status;

	if (!csv)
		return kwhy_fail_memory(error, "reading CSV");
	csv->options = *options;
	status = kwhy_lines_open(options->path, options->partial, &csv->lines, error);
	if (status) {
		kwhy_csv_close(csv);
		return status;
	}
	*out = csv;
	return KWHY_OK;
}

void kwhy_csv_close(struct kwhy_csv *csv)
{
	if (!csv)
		return;
	kwhy_lines_close(csv->lines);
	free(csv);
}

struct kwhy_span kwhy_csv_comment(const struct kwhy_csv *csv)
{
	return csv->comment;
}

struct kwhy_span kwhy_csv_field(const struct kwhy_csv *csv, size_t column)
{
	size_t field = csv->field_of[column];

	return field == NO_FIELD ? (struct kwhy_span){"", 0} : csv->fields[field];
}

uint64_t kwhy_csv_line(const struct kwhy_csv *csv)
{
	return csv->line.number;
}

uint64_t kwhy_csv_skipped(const struct kwhy_csv *csv)
{
	return csv->skipped;
}

bool kwhy_csv_ended_early(const struct kwhy_csv *csv)
{
	return csv->ended_early || kwhy_lines_ended_early(csv->lines);
}

static enum kwhy_status line_wrong(const struct kwhy_csv *csv, const char *words, struct kwhy_error *error)
{
	return kwhy_fail(
		error, KWHY_E_INPUT, "%s, line %" PRIu64 ": %s", csv->options.path, csv->line.number, words);
}

static const char *split(struct kwhy_csv *csv)
{
	return kwhy_csv_line_split(csv->line.bytes, csv->line.length, csv->fields, &csv->field_count);
}

static struct kwhy_span unquoted(struct kwhy_span span)
{
	span = kwhy_span_trim(span);
	if (span.length >= 2 && span.bytes[0] == '"' && span.bytes[span.length - 1] == '"')
		span = (struct kwhy_span){span.bytes + 1, span.length - 2};
	return span;
}

static enum kwhy_status find_column(struct kwhy_csv *csv, size_t column, struct kwhy_error *error)
{
	const struct kwhy_csv_column *wanted = &csv->options.columns[column];
	size_t found = 0, count = kwhy_csv_line_find(csv->fields, csv->field_count, wanted->name, &found);

	if (count > 1)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s, line %" PRIu64 ": two columns are named \"%s\"; remove one", csv->options.path,
			csv->line.number, wanted->name);
	if (count == 0 && wanted->required)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s, line %" PRIu64
			": no column is named \"%s\"; the first line must name the columns",
			csv->options.path, csv->line.number, wanted->name);
	csv->field_of[column] = count ? found : NO_FIELD;
	return KWHY_OK;
}

static enum kwhy_status read_header(struct kwhy_csv *csv, struct kwhy_error *error)
{
	const char *words = split(csv);
	enum kwhy_status status = words ? line_wrong(csv, words, error) : KWHY_OK;

	for (size_t column = 0; !status && column < csv->options.column_count; column++)
		status = find_column(csv, column, error);
	csv->header_count = csv->field_count;
	csv->header_read = true;
	return status;
}

/*
 * Splits a row and checks the number of its fields. A malformed row is an error, or with `partial` it is
 * skipped and *out_taken is false.
 */
static enum kwhy_status read_row(struct kwhy_csv *csv, bool *out_taken, struct kwhy_error *error)
{
	const char *words = split(csv);
	char counts[128];

	*out_taken = true;
	if (!words && csv->field_count != csv->header_count) {
		snprintf(counts, sizeof(counts), "%zu fields under %zu columns; %s", csv->field_count,
			csv->header_count,
			csv->line.ended ? "quote names with commas" : "the file ends inside this line");
		words = counts;
	}
	if (!words)
		return KWHY_OK;
	if (!csv->options.partial)
		return line_wrong(csv, words, error);
	csv->skipped++;
	csv->ended_early |= !csv->line.ended;
	*out_taken = false;
	return KWHY_OK;
}

static enum kwhy_status no_header(const struct kwhy_csv *csv, struct kwhy_error *error)
{
	return kwhy_fail(error, KWHY_E_INPUT, "%s has no row that names its columns; begin it with one",
		csv->options.path);
}

static enum kwhy_status next(struct kwhy_csv *csv, enum kwhy_csv_item *out_item, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	bool end, taken = false;

	while (!status) {
		status = kwhy_lines_next(csv->lines, &csv->line, &end, error);
		if (status)
			break;
		if (end) {
			*out_item = KWHY_CSV_END;
			return csv->header_read ? KWHY_OK : no_header(csv, error);
		}
		csv->comment = kwhy_span_trim((struct kwhy_span){csv->line.bytes, csv->line.length});
		if (csv->comment.length == 0)
			continue;
		if (csv->comment.bytes[0] == '#') {
			csv->comment = kwhy_span_trim(
				(struct kwhy_span){csv->comment.bytes + 1, csv->comment.length - 1});
			*out_item = KWHY_CSV_COMMENT;
			return KWHY_OK;
		}
		status = csv->header_read ? read_row(csv, &taken, error) : read_header(csv, error);
		if (!status && taken) {
			*out_item = KWHY_CSV_ROW;
			return KWHY_OK;
		}
	}
	return status;
}

enum kwhy_status kwhy_csv_each(
	struct kwhy_csv *csv, kwhy_csv_read *read, void *context, struct kwhy_error *error)
{
	enum kwhy_csv_item item = KWHY_CSV_COMMENT;
	enum kwhy_status status;

	do {
		status = next(csv, &item, error);
		if (!status && item != KWHY_CSV_END)
			status = read(context, item, error);
	} while (!status && item != KWHY_CSV_END);
	return status;
}

/* The line of `text` that starts at *at; *at becomes the start of the next line. */
static struct kwhy_span next_line(const char *text, size_t length, size_t *at)
{
	struct kwhy_span line = {text + *at, length - *at};
	const char *newline = memchr(line.bytes, '\n', line.length);

	if (newline)
		line.length = (size_t)(newline - line.bytes);
	*at += line.length + (newline != NULL);
	return kwhy_span_trim(line);
}

bool kwhy_csv_head_names(const unsigned char *head, size_t length, const char *name)
{
	const char *text = (const char *)head;
	size_t at = length - kwhy_csv_line_unmarked((struct kwhy_span){text, length}).length;
	struct kwhy_span line = {text, 0};

	while (at < length && (line.length == 0 || *line.bytes == '#'))
		line = next_line(text, length, &at);
	for (size_t start = 0, end; start < line.length; start = end + 1) {
		const char *comma = memchr(line.bytes + start, ',', line.length - start);

		end = comma ? (size_t)(comma - line.bytes) : line.length;
		if (kwhy_span_is(unquoted((struct kwhy_span){line.bytes + start, end - start}), name))
			return true;
	}
	return false;
}

/* Copies the start of a text for a message, without characters that control a terminal. */
static void show(char out[3 * SHOWN_BYTES + 4], struct kwhy_span text)
{
	bool cut = text.length > SHOWN_BYTES;
	size_t length = kwhy_text_sanitize(out, text.bytes, cut ? SHOWN_BYTES : text.length);

	if (cut)
		memcpy(out + length, "...", 4);
}

/* Fails with a message that states why a text is not a number in the required range. */
static enum kwhy_status number_wrong(const struct kwhy_csv *csv, const char *what, struct kwhy_span text,
	struct kwhy_csv_range range, struct kwhy_error *error)
{
	char shown[3 * SHOWN_BYTES + 4], words[KWHY_DECIMAL_WORDS];

	show(shown, text);
	kwhy_decimal_wrong(words, text, range.low, range.high);
	return kwhy_fail(error, KWHY_E_INPUT, "%s, line %" PRIu64 ", %s: \"%s\" %s", csv->options.path,
		csv->line.number, what, shown, words);
}

enum kwhy_status kwhy_csv_parse_integer(const struct kwhy_csv *csv, const char *what, struct kwhy_span text,
	struct kwhy_csv_range range, int64_t *out, struct kwhy_error *error)
{
	return kwhy_decimal_within(text, range.low, range.high, out)
		? KWHY_OK
		: number_wrong(csv, what, text, range, error);
}

enum kwhy_status kwhy_csv_integer(const struct kwhy_csv *csv, size_t column, struct kwhy_csv_range range,
	bool *out_known, int64_t *out, struct kwhy_error *error)
{
	struct kwhy_span text = kwhy_csv_field(csv, column);
	char what[64];

	*out_known = text.length > 0;
	if (text.length == 0 || kwhy_decimal_within(text, range.low, range.high, out))
		return KWHY_OK;
	snprintf(what, sizeof(what), "column %s", csv->options.columns[column].name);
	return number_wrong(csv, what, text, range, error);
}

enum kwhy_status kwhy_csv_fail(
	const struct kwhy_csv *csv, size_t column, struct kwhy_error *error, const char *words)
{
	char shown[3 * SHOWN_BYTES + 4];

	if (column == KWHY_CSV_COLUMNS_MAX)
		return line_wrong(csv, words, error);
	show(shown, kwhy_csv_field(csv, column));
	return kwhy_fail(error, KWHY_E_INPUT, "%s, line %" PRIu64 ", column %s: \"%s\" %s", csv->options.path,
		csv->line.number, csv->options.columns[column].name, shown, words);
}
