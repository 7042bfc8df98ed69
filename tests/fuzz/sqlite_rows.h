/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_SQLITE_ROWS_H
#define KWHY_TESTS_SQLITE_ROWS_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Fills SQLite tables from the bytes of a fuzzer's input: values of any type, in any number of rows below
 * ROWS_MAX.
 */

struct taker {
	const uint8_t *data;
	size_t length, at;
};

enum { ROWS_MAX = 200 };

static inline uint8_t take(struct taker *taker)
{
	return taker->at < taker->length ? taker->data[taker->at++] : 0;
}

static inline int64_t take_wide(struct taker *taker)
{
	uint64_t value = 0;

	for (int i = 0; i < 8; i++)
		value = value << 8 | take(taker);
	return (int64_t)value;
}

static inline void append(char *sql, size_t size, const char *text)
{
	strncat(sql, text, size - strlen(sql) - 1);
}

/* Binds a value to parameter number `place`: its type and its bytes are the next bytes of the input. */
static inline void bind_value(sqlite3_stmt *statement, int place, struct taker *taker)
{
	uint8_t form = take(taker);

	switch (form % 8) {
	case 0:
	case 1:
	case 2:
		sqlite3_bind_int64(statement, place, take(taker));
		break;
	case 3:
		sqlite3_bind_int64(statement, place, take_wide(taker) >> form / 8 * 2);
		break;
	case 4:
		sqlite3_bind_double(statement, place, (double)take_wide(taker) / (form < 128 ? 1 : 1e15));
		break;
	case 5:
	case 6: {
		size_t left = taker->length - taker->at, size = take(taker) % 40;

		size = size < left ? size : left ? left - 1 : 0;
		if (form % 8 == 5)
			sqlite3_bind_text(statement, place, (const char *)taker->data + taker->at, (int)size,
				SQLITE_TRANSIENT);
		else
			sqlite3_bind_blob(
				statement, place, taker->data + taker->at, (int)size, SQLITE_TRANSIENT);
		taker->at += size;
		break;
	}
	default:
		break; /* not bound: the value is NULL */
	}
}

/*
 * Inserts rows into the table, which has `columns` columns. Their number and values are the next bytes of the
 * input.
 */
static inline void insert_rows(sqlite3 *database, const char *table, size_t columns, struct taker *taker)
{
	size_t rows = take(taker) % ROWS_MAX;
	sqlite3_stmt *statement;
	char sql[512] = "";

	append(sql, sizeof(sql), "INSERT OR IGNORE INTO \"");
	append(sql, sizeof(sql), table);
	append(sql, sizeof(sql), "\" VALUES(?");
	for (size_t i = 1; i < columns; i++)
		append(sql, sizeof(sql), ",?");
	append(sql, sizeof(sql), ")");
	if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL))
		return;
	for (size_t row = 0; row < rows && taker->at < taker->length; row++) {
		for (size_t i = 0; i < columns; i++)
			bind_value(statement, (int)i + 1, taker);
		sqlite3_step(statement);
		sqlite3_reset(statement);
		sqlite3_clear_bindings(statement);
	}
	sqlite3_finalize(statement);
}

#endif
