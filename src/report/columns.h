/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_COLUMNS_H
#define KWHY_REPORT_COLUMNS_H

#include "base/statistics.h"
#include "base/text.h"
#include "model/pairs.h"
#include "report/json/writer.h"
#include "report/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Columns as data. Key, title, unit and value of a column stand in one row of a table, which text, JSON, CSV
 * and comparisons share. The rows that the columns are of are structs of any type.
 */

/* Basis of an interval: the scatter of the runs, or the meter's uncertainty where there is one run. */
enum kwhy_stat_interval_basis { KWHY_STAT_BY_NONE, KWHY_STAT_BY_RUNS, KWHY_STAT_BY_METER };

const char *kwhy_stat_interval_basis_name(
	enum kwhy_stat_interval_basis basis); /* "runs"; NULL: no interval */

struct kwhy_stat_figure {
	struct kwhy_estimate estimate; /* 95 %; NAN: unknown */
	enum kwhy_stat_interval_basis basis;
};

enum kwhy_value_kind {
	KWHY_VALUE_UNKNOWN, /* "n/a" in text, null in JSON, empty in CSV */
	KWHY_VALUE_TEXT,
	KWHY_VALUE_FLAG,
	KWHY_VALUE_COUNT,
	KWHY_VALUE_INTEGER,
	KWHY_VALUE_REAL,
	KWHY_VALUE_FIGURE,   /* text shows its mean */
	KWHY_VALUE_INTERVAL, /* value, low and high end, a list in JSON; NAN: unknown */
};

struct kwhy_value {
	enum kwhy_value_kind kind;
	union {
		const char *text;
		bool flag;
		uint64_t count;
		int64_t integer;
		double real;
		struct kwhy_stat_figure figure;
		struct kwhy_pair_figure interval;
	};
};

/* The unit of the stored values. Text shows it with the SI prefix that fits: nanojoules as "1.23 mJ". */
enum kwhy_column_unit {
	KWHY_UNIT_WORDS, /* words and flags, aligned left; other columns are aligned right */
	KWHY_UNIT_NAME,	 /* a name that takes the remaining width; one a table */
	KWHY_UNIT_ONE,	 /* counts and numbers without a unit */
	KWHY_UNIT_RATIO, /* text shows percent */
	KWHY_UNIT_S,
	KWHY_UNIT_NS,
	KWHY_UNIT_J,
	KWHY_UNIT_NJ,
	KWHY_UNIT_W,
	KWHY_UNIT_MW,
	KWHY_UNIT_B,
	KWHY_UNIT_SIZE, /* bytes that text shows in KiB and MiB */
	KWHY_UNIT_B_PER_S,
	KWHY_UNIT_HZ,
	KWHY_UNIT_C,
	KWHY_UNIT_COUNT
};

const char *kwhy_column_unit_name(enum kwhy_column_unit unit);	 /* "nJ"; "": no unit */
const char *kwhy_column_unit_symbol(enum kwhy_column_unit unit); /* as text shows it: "J" of nanojoules */

/* Type of the field that holds a column's value. */
enum kwhy_field {
	KWHY_FIELD_NONE, /* a function computes it */
	KWHY_FIELD_TEXT, /* NULL: unknown */
	KWHY_FIELD_BOOL,
	KWHY_FIELD_INT,
	KWHY_FIELD_U32,	 /* KWHY_NONE: unknown */
	KWHY_FIELD_U64,	 /* KWHY_UNKNOWN_BYTES: unknown */
	KWHY_FIELD_I64,	 /* KWHY_UNKNOWN_NJ, KWHY_UNKNOWN_NS: unknown */
	KWHY_FIELD_REAL, /* not finite: unknown */
	KWHY_FIELD_FIGURE,
	KWHY_FIELD_INTERVAL,
};

/* The outputs that a column stands in. */
enum { KWHY_IN_TEXT = 1, KWHY_IN_JSON = 2, KWHY_IN_CSV = 4 };

enum { KWHY_SHOWN_BYTES = 96 };

struct kwhy_column {
	const char *key;   /* name in JSON and CSV; NULL: only in text */
	const char *title; /* heading in text and page; NULL: it has none */
	enum kwhy_column_unit unit;
	unsigned outputs;
	enum kwhy_field field; /* with `offset`: see KWHY_AT() */
	size_t offset;
	const char *(*name)(unsigned value); /* the words for the field, an enum; NULL: it is none */
	struct kwhy_value (*value)(const struct kwhy_column *column, const void *row); /* NULL: the field */
	const void *of; /* what `value` has to know of the column */
	/* Writes the value for the text, where unit and value do not suffice; borrows `out` or the row. */
	const char *(*show)(char out[KWHY_SHOWN_BYTES], const struct kwhy_value *value, const void *row);
	bool (*is_shown)(const void *row); /* whether the text has the column; NULL: always */
	const char *change;		   /* name in a comparison of two results; NULL: not compared */
};

/* Field and offset of a member of the rows: {"peak_w", "peak", KWHY_UNIT_W, KWHY_IN_JSON, KWHY_AT(...)}. */
#define KWHY_AT(type, member) .field = KWHY_FIELD_OF(((type *)0)->member), .offset = offsetof(type, member)
#define KWHY_FIELD_OF(member) \
	_Generic((member),                   \
		char *: KWHY_FIELD_TEXT,     \
		const char *: KWHY_FIELD_TEXT, \
		bool: KWHY_FIELD_BOOL,       \
		int: KWHY_FIELD_INT,         \
		uint32_t: KWHY_FIELD_U32,    \
		uint64_t: KWHY_FIELD_U64,    \
		int64_t: KWHY_FIELD_I64,     \
		double: KWHY_FIELD_REAL,     \
		struct kwhy_stat_figure: KWHY_FIELD_FIGURE, \
		struct kwhy_pair_figure: KWHY_FIELD_INTERVAL)

struct kwhy_columns {
	const struct kwhy_column *items;
	size_t count;
	int digits;			    /* significant digits of the text; 0: 3 */
	bool (*is_kernel)(const void *row); /* whether the row's name is a kernel's; NULL: none is */
};
#define KWHY_COLUMNS(array) .items = (array), .count = sizeof(array) / sizeof(*(array))

struct kwhy_value kwhy_value_text(const char *text);   /* NULL: unknown */
struct kwhy_value kwhy_value_real(double real);	       /* not finite: unknown */
struct kwhy_value kwhy_value_count(uint64_t count);    /* KWHY_UNKNOWN_BYTES: unknown */
struct kwhy_value kwhy_value_integer(int64_t integer); /* KWHY_UNKNOWN_NJ, KWHY_UNKNOWN_NS: unknown */
struct kwhy_value kwhy_value_figure(const struct kwhy_stat_figure *figure);
double kwhy_value_number(const struct kwhy_value *value); /* a figure's mean; NAN: unknown, or no number */

struct kwhy_value kwhy_column_value(const struct kwhy_column *column, const void *row);
/* The value as the text shows it; borrowed from `out` or the row. NULL: unknown. */
const char *kwhy_column_show(const struct kwhy_columns *columns, const struct kwhy_column *column,
	char out[KWHY_SHOWN_BYTES], const void *row);

/* Shows nothing, and not "n/a", where a text is unknown. */
const char *kwhy_show_known(char out[KWHY_SHOWN_BYTES], const struct kwhy_value *value, const void *row);

/* Writes the columns as members of the open object. */
void kwhy_columns_json(const struct kwhy_columns *columns, struct kwhy_json *json, const void *row);

/* Writes an object on one line. */
void kwhy_columns_json_row(const struct kwhy_columns *columns, struct kwhy_json *json, const void *row);

/* Writes an array of such objects; `rows` is an array of structs. */
void kwhy_columns_json_array(const struct kwhy_columns *columns, struct kwhy_json *json, const char *key,
	const void *rows, size_t count, size_t row_bytes);
#define KWHY_COLUMNS_JSON_ARRAY(json, key, columns, rows, count) \
	kwhy_columns_json_array(columns, json, key, rows, count, sizeof(*(rows)))

/* CSV of RFC 4180, with the keys in the first line; a cell of an unknown value is empty. */
void kwhy_columns_csv_head(const struct kwhy_columns *columns, struct kwhy_text *out);
void kwhy_columns_csv(const struct kwhy_columns *columns, struct kwhy_text *out, const void *row);

/*
 * A table of the text. Zero-initialise but for `parts`, whose columns stand side by side; the first row
 * decides which of them are shown.
 */
struct kwhy_text_table {
	const struct kwhy_columns *parts[2]; /* NULL: no second part */
	struct kwhy_table table;
	struct kwhy_table_column columns[16];
};
void kwhy_text_table_add(struct kwhy_text_table *table, const void *row);

#endif
