/* SPDX-License-Identifier: Apache-2.0 */
#include "digest/tables.h"

#include "digest/digest.h"

#include <math.h>
#include <string.h>

#define COLUMN(row, kind, column) {#column, KWHY_DIGEST_##kind, offsetof(struct kwhy_digest_##row, column)},
#define X(name, list) static const struct kwhy_digest_column name##_columns[] = {list(COLUMN, name)};
KWHY_DIGEST_TABLES(X)
#undef X

const struct kwhy_digest_table kwhy_digest_tables[] = {
#define X(name, list)                                                                  \
	{#name, name##_columns, sizeof(name##_columns) / sizeof(name##_columns[0]),    \
		sizeof(struct kwhy_digest_##name), offsetof(struct kwhy_digest, name), \
		offsetof(struct kwhy_digest, name##_count)},
	KWHY_DIGEST_TABLES(X)
#undef X
};
const size_t kwhy_digest_table_count = sizeof(kwhy_digest_tables) / sizeof(kwhy_digest_tables[0]);

/* Sets all values of a row to unknown; see tables.h. */
static void row_clear(const struct kwhy_digest_table *table, void *row)
{
	for (size_t i = 0; i < table->column_count; i++) {
		void *value = (char *)row + table->columns[i].offset;

		switch (table->columns[i].kind) {
		case KWHY_DIGEST_INT:
			*(int64_t *)value = INT64_MIN;
			break;
		case KWHY_DIGEST_INDEX:
			*(uint32_t *)value = UINT32_MAX;
			break;
		case KWHY_DIGEST_REAL:
			*(double *)value = NAN;
			break;
		default:
			*(const char **)value = NULL;
		}
	}
}

void *kwhy_digest_add_row(
	const struct kwhy_digest_table *table, struct kwhy_digest *digest, struct kwhy_error *error)
{
	void **rows = (void **)((char *)digest + table->rows_offset);
	size_t *count = (size_t *)((char *)digest + table->count_offset);
	void *grown = kwhy_arena_grow(&digest->arena, *rows, *count, table->row_bytes), *row;

	if (!grown) {
		kwhy_error_set(error, KWHY_E_MEMORY,
			"out of memory for a digest; close other programs or use a larger machine");
		return NULL;
	}
	*rows = grown;
	row = (char *)grown + (*count)++ * table->row_bytes;
	row_clear(table, row);
	return row;
}

void kwhy_digest_done(struct kwhy_digest *digest)
{
	kwhy_arena_done(&digest->arena);
	memset(digest, 0, sizeof(*digest));
}
