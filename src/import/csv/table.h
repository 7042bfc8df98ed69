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
 * Rows of a comma-separated file, front to back, in memory that does not grow with the file. The first line
 * that is neither empty nor a comment ('#') names the columns, in any order. base/csv_line.h describes how a
 * line is split. Lines end in LF or CR LF. One thread at a time.
 */
struct kwhy_csv;

#define KWHY_CSV_COLUMNS_MAX KWHY_CSV_LINE_FIELDS /* columns of a file */

struct kwhy_csv_column {
	const char *name;
	bool required;
};

struct kwhy_csv_options {
	const char *path; /* valid until the end */
	const struct kwhy_csv_column *columns;
	size_t column_count; /* at most KWHY_CSV_COLUMNS_MAX */
	bool partial;	     /* skip malformed rows, and take a damaged file to end at the damage */
};

enum kwhy_csv_item { KWHY_CSV_END, KWHY_CSV_COMMENT, KWHY_CSV_ROW };

KWHY_MUST_USE enum kwhy_status kwhy_csv_open(
	const struct kwhy_csv_options *options, struct kwhy_csv **out, struct kwhy_error *error);
void kwhy_csv_close(struct kwhy_csv *csv);

/* Called for each item. Fields that it gets from the file are valid until it returns. */
typedef enum kwhy_status kwhy_csv_read(void *context, enum kwhy_csv_item item, struct kwhy_error *error);

/* Calls `read` for each comment and each row of the file. After an error the file can only be closed. */
KWHY_MUST_USE enum kwhy_status kwhy_csv_each(
	struct kwhy_csv *csv, kwhy_csv_read *read, void *context, struct kwhy_error *error);
struct kwhy_span kwhy_csv_comment(const struct kwhy_csv *csv); /* text after the '#', trimmed */

/* The row's field of column `column` of the options, trimmed; empty where the file lacks the column. */
struct kwhy_span kwhy_csv_field(const struct kwhy_csv *csv, size_t column);

/*
 * Reads a field as a whole number from `low` to `high`; decimals are accepted when they are zeros. An empty
 * field gives *out_known = false. Any other text is KWHY_E_INPUT with file, line, column and remedy.
 */
struct kwhy_csv_range {
	int64_t low, high;
};
KWHY_MUST_USE enum kwhy_status kwhy_csv_integer(const struct kwhy_csv *csv, size_t column,
	struct kwhy_csv_range range, bool *out_known, int64_t *out, struct kwhy_error *error);

/* As kwhy_csv_integer(), for a text that is no field, such as part of a comment. */
KWHY_MUST_USE enum kwhy_status kwhy_csv_parse_integer(const struct kwhy_csv *csv, const char *what,
	struct kwhy_span text, struct kwhy_csv_range range, int64_t *out, struct kwhy_error *error);

/*
 * Gives KWHY_E_INPUT with the message "FILE, line N, column C: "TEXT" WORDS". With `column`
 * KWHY_CSV_COLUMNS_MAX it names the line alone.
 */
KWHY_MUST_USE enum kwhy_status kwhy_csv_fail(
	const struct kwhy_csv *csv, size_t column, struct kwhy_error *error, const char *words);

uint64_t kwhy_csv_line(const struct kwhy_csv *csv);    /* number of the row's line, from 1 */
uint64_t kwhy_csv_skipped(const struct kwhy_csv *csv); /* number of rows that `partial` skipped */
bool kwhy_csv_ended_early(const struct kwhy_csv *csv);

/* Whether the header line, the first line that is neither empty nor a comment, has a column of that name. */
bool kwhy_csv_head_names(const unsigned char *head, size_t length, const char *name);

#endif
