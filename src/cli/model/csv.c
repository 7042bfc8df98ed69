/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/model/csv.h"

#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_BYTES = 64, ROWS_MAX = 1 << 24 };

static enum kwhy_status number_of(
	const struct kwhy_csv *csv, size_t column, double *out, struct kwhy_error *error)
{
	struct kwhy_span field = kwhy_csv_field(csv, column);
	char text[NUMBER_BYTES], *end;

	*out = NAN;
	if (!field.length)
		return KWHY_OK;
	if (field.length >= sizeof(text))
		return kwhy_csv_fail(csv, column, error, "is no number");
	memcpy(text, field.bytes, field.length);
	text[field.length] = '\0';
	*out = strtod(text, &end);
	if (*end || !isfinite(*out))
		return kwhy_csv_fail(csv, column, error, "is no number; leave empty what is not known");
	return KWHY_OK;
}

static enum kwhy_status reserve(struct kwhy_model_csv *table, struct kwhy_error *error)
{
	size_t capacity = table->capacity ? 2 * table->capacity : 64;
	double *numbers;
	const char **words;
	uint64_t *lines;

	if (table->row_count < table->capacity)
		return KWHY_OK;
	if (capacity > ROWS_MAX)
		return kwhy_fail(error, KWHY_E_INPUT, "a table has at most %d rows", (int)ROWS_MAX);
	numbers = realloc(table->numbers, capacity * (table->number_count + 1) * sizeof(*numbers));
	if (numbers)
		table->numbers = numbers;
	words = realloc(table->words, capacity * (table->word_count + 1) * sizeof(*words));
	if (words)
		table->words = words;
	lines = realloc(table->lines, capacity * sizeof(*lines));
	if (lines)
		table->lines = lines;
	if (!numbers || !words || !lines)
		return kwhy_fail_memory(error, "a table");
	table->capacity = capacity;
	return KWHY_OK;
}

/* Copies a word of the file into the table and makes it safe for a terminal. */
static const char *keep(struct kwhy_model_csv *table, struct kwhy_span span)
{
	char *word = kwhy_arena_alloc(&table->arena, 3 * span.length + 1, 1);

	if (word)
		word[kwhy_text_sanitize(word, span.bytes, span.length)] = '\0';
	return word;
}

/* Context of the callback for each row of a CSV file that is read into a table. */
struct reading {
	struct kwhy_model_csv *table;
	const struct kwhy_csv *csv;
};

static enum kwhy_status read_item(void *context, enum kwhy_csv_item item, struct kwhy_error *error)
{
	const struct reading *reading = context;
	struct kwhy_model_csv *table = reading->table;
	const struct kwhy_csv *csv = reading->csv;
	enum kwhy_status status;

	if (item != KWHY_CSV_ROW)
		return KWHY_OK;
	status = reserve(table, error);

	for (size_t i = 0; !status && i < table->number_count; i++)
		status = number_of(
			csv, i, &table->numbers[table->row_count * table->number_count + i], error);
	for (size_t i = 0; !status && i < table->word_count; i++) {
		const char *word = keep(table, kwhy_csv_field(csv, table->number_count + i));

		table->words[table->row_count * table->word_count + i] = word;
		if (!word)
			status = kwhy_fail_memory(error, "a table");
	}
	if (!status)
		table->lines[table->row_count++] = kwhy_csv_line(csv);
	return status;
}

enum kwhy_status kwhy_model_csv_read(const char *path, const struct kwhy_csv_column *columns,
	size_t number_count, size_t word_count, struct kwhy_model_csv *out, struct kwhy_error *error)
{
	const struct kwhy_csv_options options = {path, columns, number_count + word_count, false};
	struct kwhy_csv *csv = NULL;
	enum kwhy_status status = kwhy_csv_open(&options, &csv, error);

	*out = (struct kwhy_model_csv){.number_count = number_count, .word_count = word_count};
	if (!status)
		status = kwhy_csv_each(csv, read_item, &(struct reading){out, csv}, error);
	kwhy_csv_close(csv);
	if (!status && !out->row_count)
		status = kwhy_fail(error, KWHY_E_INPUT, "%.300s has no rows below its header", path);
	return status;
}

void kwhy_model_csv_done(struct kwhy_model_csv *table)
{
	free(table->numbers);
	free(table->words);
	free(table->lines);
	kwhy_arena_done(&table->arena);
}

double kwhy_model_csv_number(const struct kwhy_model_csv *table, size_t row, size_t column)
{
	return table->numbers[row * table->number_count + column];
}

const char *kwhy_model_csv_word(const struct kwhy_model_csv *table, size_t row, size_t column)
{
	return table->words[row * table->word_count + column];
}

enum kwhy_status kwhy_model_csv_of(const char *path, enum kwhy_status status, struct kwhy_error *error)
{
	char words[sizeof(error->text)];

	if (!status)
		return KWHY_OK;
	memcpy(words, error->text, sizeof(words));
	return kwhy_fail(error, status, "%.200s: %.500s", path, words);
}

enum kwhy_status kwhy_model_csv_row_of(const struct kwhy_model_csv *table, const char *path, size_t row,
	enum kwhy_status status, struct kwhy_error *error)
{
	char words[sizeof(error->text)];

	if (!status)
		return KWHY_OK;
	memcpy(words, error->text, sizeof(words));
	return kwhy_fail(error, status, "%.180s, line %" PRIu64 ": %.500s", path, table->lines[row], words);
}
