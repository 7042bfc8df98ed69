/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_VENDOR_DUCKDB_ABI_H
#define KWHY_VENDOR_DUCKDB_ABI_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The functions of DuckDB's C library that kwhy calls, declared by hand from its public documentation
 * (duckdb.org/docs/stable/clients/c/api). They are the same from version 1.0 on.
 */

enum kwhy_duckdb_state { KWHY_DUCKDB_SUCCESS = 0, KWHY_DUCKDB_ERROR = 1 };

enum { KWHY_DUCKDB_TYPE_BIGINT = 5, KWHY_DUCKDB_TYPE_DOUBLE = 11, KWHY_DUCKDB_TYPE_VARCHAR = 17 };

typedef struct _duckdb_database *kwhy_duckdb_database;
typedef struct _duckdb_connection *kwhy_duckdb_connection;
typedef struct _duckdb_appender *kwhy_duckdb_appender;
typedef struct _duckdb_data_chunk *kwhy_duckdb_chunk;
typedef struct _duckdb_vector *kwhy_duckdb_vector;

struct kwhy_duckdb_result {
	uint64_t deprecated_counts[3];
	void *deprecated_columns;
	char *deprecated_error;
	void *internal;
};

/* A value of type VARCHAR in a vector; a text of up to 12 bytes is stored in the struct itself. */
union kwhy_duckdb_string {
	struct {
		uint32_t length;
		char bytes[12];
	} inlined;
	struct {
		uint32_t length;
		char prefix[4];
		const char *bytes;
	} pointer;
};
_Static_assert(sizeof(union kwhy_duckdb_string) == 16, "as in a vector");

enum kwhy_duckdb_state duckdb_open(const char *path, kwhy_duckdb_database *out);
void duckdb_close(kwhy_duckdb_database *database);
enum kwhy_duckdb_state duckdb_connect(kwhy_duckdb_database database, kwhy_duckdb_connection *out);
void duckdb_disconnect(kwhy_duckdb_connection *connection);
enum kwhy_duckdb_state duckdb_query(
	kwhy_duckdb_connection connection, const char *sql, struct kwhy_duckdb_result *out);
const char *duckdb_result_error(struct kwhy_duckdb_result *result);
void duckdb_destroy_result(struct kwhy_duckdb_result *result);

uint64_t duckdb_column_count(struct kwhy_duckdb_result *result);
const char *duckdb_column_name(struct kwhy_duckdb_result *result, uint64_t column);
int duckdb_column_type(struct kwhy_duckdb_result *result, uint64_t column);
/* Returns the next rows; NULL: there are no further rows. */
kwhy_duckdb_chunk duckdb_fetch_chunk(struct kwhy_duckdb_result result);
void duckdb_destroy_data_chunk(kwhy_duckdb_chunk *chunk);
uint64_t duckdb_data_chunk_get_size(kwhy_duckdb_chunk chunk);
kwhy_duckdb_vector duckdb_data_chunk_get_vector(kwhy_duckdb_chunk chunk, uint64_t column);
void *duckdb_vector_get_data(kwhy_duckdb_vector vector);
/*
 * Returns a bit mask with a bit for each row, which is 1 if the row has a value and 0 if it is NULL. If there
 * is no mask (NULL), all rows have values.
 */
uint64_t *duckdb_vector_get_validity(kwhy_duckdb_vector vector);

enum kwhy_duckdb_state duckdb_appender_create(
	kwhy_duckdb_connection connection, const char *schema, const char *table, kwhy_duckdb_appender *out);
enum kwhy_duckdb_state duckdb_appender_end_row(kwhy_duckdb_appender appender);
enum kwhy_duckdb_state duckdb_appender_close(kwhy_duckdb_appender appender);
enum kwhy_duckdb_state duckdb_appender_destroy(kwhy_duckdb_appender *appender);
enum kwhy_duckdb_state duckdb_append_int64(kwhy_duckdb_appender appender, int64_t value);
enum kwhy_duckdb_state duckdb_append_double(kwhy_duckdb_appender appender, double value);
enum kwhy_duckdb_state duckdb_append_varchar(kwhy_duckdb_appender appender, const char *value);
enum kwhy_duckdb_state duckdb_append_null(kwhy_duckdb_appender appender);

#endif
