/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_MODEL_CSV_H
#define KWHY_CLI_MODEL_CSV_H

#include "base/arena.h"
#include "base/status.h"
#include "import/csv/table.h"

/*
 * Rows of a CSV file as numbers and words. An empty or missing number is NAN, an empty or missing word "".
 */
struct kwhy_model_csv {
	struct kwhy_arena arena;
	size_t number_count, word_count, row_count, capacity;
	double *numbers;    /* [row_count][number_count] numbers */
	const char **words; /* [row_count][word_count] words */
	uint64_t *lines;    /* [row_count] number, from 1, of the file's line with the row */
};

/*
 * Reads a CSV file. The first `number_count` columns are numbers, all others words. KWHY_E_INPUT names file,
 * line and column of what is wrong.
 */
KWHY_MUST_USE enum kwhy_status kwhy_model_csv_read(const char *path, const struct kwhy_csv_column *columns,
	size_t number_count, size_t word_count, struct kwhy_model_csv *out, struct kwhy_error *error);
void kwhy_model_csv_done(struct kwhy_model_csv *table);

/*
 * If `status` is a failure, kwhy_model_csv_of() puts the file's name in front of the message in `error`, and
 * kwhy_model_csv_row_of() the file's name and the line of the row. Both return `status`.
 */
KWHY_MUST_USE enum kwhy_status kwhy_model_csv_of(
	const char *path, enum kwhy_status status, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_model_csv_row_of(const struct kwhy_model_csv *table, const char *path,
	size_t row, enum kwhy_status status, struct kwhy_error *error);

double kwhy_model_csv_number(const struct kwhy_model_csv *table, size_t row, size_t column);
const char *kwhy_model_csv_word(const struct kwhy_model_csv *table, size_t row, size_t column);

#endif
