/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_CSV_TABLE_H
#define KWHY_IMPORT_CSV_TABLE_H

#include "base/csv_line.h"
#include "base/span.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Reads a comma-separated file row by row, in memory that does not grow with the file. The first line that is
 * neither empty nor a comment ('#') names the columns, in any order. Lines end in LF or CR LF;
 * base/csv_line.h describes how a line is split into fields. Only one thread at a time may use a reader.
 */
struct kwhy_csv;

#define KWHY_CSV_COLUMNS_MAX KWHY_CSV_LINE_FIELDS /* largest number of columns of a file */

struct kwhy_csv_column {
	const char *name;
	bool required;
};

struct kwhy_csv_options {
	const char *path; /* borrowed until kwhy_csv_close() */
	const struct kwhy_csv_column *columns;
	size_t column_count; /* at most KWHY_CSV_COLUMNS_MAX */
	bool partial; /* skip malformed rows, and read a damaged file up to the damage, instead of failing */
};

enum kwhy_csv_item { KWHY_CSV_END, KWHY_CSV_COMMENT, KWHY_CSV_ROW };

KWHY_MUST_USE enum kwhy_status kwhy_csv_open(
	const struct kwhy_csv_options *options, struct kwhy_csv **out, struct kwhy_error *error);
void kwhy_csv_close(struct kwhy_csv *csv);

/*
 * Called for each comment and row; never with KWHY_CSV_END. The texts of kwhy_csv_comment() and
 * kwhy_csv_field() are valid until it returns.
 */
typedef enum kwhy_status kwhy_csv_read(void *context, enum kwhy_csv_item item, struct kwhy_error *error);

/*
 * Calls `read` for each comment and each row of the file, until `read` fails. After an error only
 * kwhy_csv_close() may be called.
 */
KWHY_MUST_USE enum kwhy_status kwhy_csv_each(
	struct kwhy_csv *csv, kwhy_csv_read *read, void *context, struct kwhy_error *error);
struct kwhy_span kwhy_csv_comment(
	const struct kwhy_csv *csv); /* text of the comment after the '#', without white space around it */

/*
 * The current row's field in the column options.columns[column], without white space around it. Empty if the
 * file lacks the column.
 */
struct kwhy_span kwhy_csv_field(const struct kwhy_csv *csv, size_t column);

/*
 * Reads a field as a whole number from `low` to `high`. A fractional part is accepted if it is zero, as in
 * 12.00. For an empty field *out_known is false and *out is unchanged. Any other text, and a number out of
 * the range, is KWHY_E_INPUT, with file, line, column and cure in the message.
 */
struct kwhy_csv_range {
	int64_t low, high;
};
KWHY_MUST_USE enum kwhy_status kwhy_csv_integer(const struct kwhy_csv *csv, size_t column,
	struct kwhy_csv_range range, bool *out_known, int64_t *out, struct kwhy_error *error);

/*
 * Does what kwhy_csv_integer() does, but for a text that is not a field, such as part of a comment. `what`
 * names the number in messages.
 */
KWHY_MUST_USE enum kwhy_status kwhy_csv_parse_integer(const struct kwhy_csv *csv, const char *what,
	struct kwhy_span text, struct kwhy_csv_range range, int64_t *out, struct kwhy_error *error);

/*
 * Gives KWHY_E_INPUT with the message "FILE, line N, column NAME: "TEXT" WORDS", where TEXT is the current
 * row's field in `column`. If `column` is KWHY_CSV_COLUMNS_MAX, the message is "FILE, line N: WORDS".
 */
KWHY_MUST_USE enum kwhy_status kwhy_csv_fail(
	const struct kwhy_csv *csv, size_t column, struct kwhy_error *error, const char *words);

uint64_t kwhy_csv_line(const struct kwhy_csv *csv); /* line number of the current row, from 1 */
uint64_t kwhy_csv_skipped(
	const struct kwhy_csv *csv); /* number of rows that were skipped because of `partial` */
bool kwhy_csv_ended_early(const struct kwhy_csv *csv);

/*
 * Whether a CSV file that begins with head[0, length) has a column of that name. The first line that is
 * neither empty nor a comment names the columns.
 */
bool kwhy_csv_head_names(const unsigned char *head, size_t length, const char *name);

#endif
