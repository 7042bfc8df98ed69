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
 * Columns of tables as data. A struct kwhy_column describes one column by its key, title, unit and value;
 * text, JSON, CSV and comparisons are written from it. A row of values may be a struct of any type.
 */

/*
 * What an interval is computed from: the scatter of the runs or, with a single run, the meter's
 * uncertainty.
 */
enum kwhy_stat_interval_basis { KWHY_STAT_BY_NONE, KWHY_STAT_BY_RUNS, KWHY_STAT_BY_METER };

const char *kwhy_stat_interval_basis_name(
	enum kwhy_stat_interval_basis basis); /* "runs" or "meter"; NULL for KWHY_STAT_BY_NONE */

struct kwhy_stat_figure {
	struct kwhy_estimate estimate; /* mean with its 95 % interval; NAN: unknown */
	enum kwhy_stat_interval_basis basis;
};

enum kwhy_value_kind {
	KWHY_VALUE_UNKNOWN, /* unknown; shown as "n/a" in text, null in JSON and an empty cell in CSV */
	KWHY_VALUE_TEXT,
	KWHY_VALUE_FLAG,
	KWHY_VALUE_COUNT,
	KWHY_VALUE_INTEGER,
	KWHY_VALUE_REAL,
	KWHY_VALUE_FIGURE, /* a figure with an interval; the text output shows only its mean */
	/*
	 * an estimate with the lower and upper end of its interval, in JSON a list of these three numbers.
	 * Each of the three is NAN, and null in JSON, if it is unknown
	 */
	KWHY_VALUE_INTERVAL,
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

/*
 * Units in which values are stored. Text shows a value with the SI prefix that fits: 1.23e6 nJ as "1.23 mJ".
 */
enum kwhy_column_unit {
	/*
	 * words and flags. Columns of this unit and of KWHY_UNIT_NAME are aligned left in tables, those of
	 * all other units right.
	 */
	KWHY_UNIT_WORDS,
	KWHY_UNIT_NAME,	 /* a name; its column takes the remaining width, so a table has at most one */
	KWHY_UNIT_ONE,	 /* counts and numbers without a unit */
	KWHY_UNIT_RATIO, /* a ratio, which text shows as percent */
	KWHY_UNIT_S,
	KWHY_UNIT_NS,
	KWHY_UNIT_J,
	KWHY_UNIT_NJ,
	KWHY_UNIT_W,
	KWHY_UNIT_MW,
	KWHY_UNIT_B,
	KWHY_UNIT_SIZE, /* a number of bytes, which text shows in KiB and MiB */
	KWHY_UNIT_B_PER_S,
	KWHY_UNIT_HZ,
	KWHY_UNIT_C,
	KWHY_UNIT_COUNT
};

/* name of the unit in JSON: "nJ"; "": no unit */
const char *kwhy_column_unit_name(enum kwhy_column_unit unit);
/* symbol of the unit in text: "J" for nanojoules */
const char *kwhy_column_unit_symbol(enum kwhy_column_unit unit);

/* Type of the struct member that has a column's value. */
enum kwhy_field {
	KWHY_FIELD_NONE, /* no field: a function computes the value */
	KWHY_FIELD_TEXT, /* const char *; NULL: unknown */
	KWHY_FIELD_BOOL,
	KWHY_FIELD_INT,
	KWHY_FIELD_U32,	 /* uint32_t; KWHY_NONE: unknown */
	KWHY_FIELD_U64,	 /* uint64_t; KWHY_UNKNOWN_BYTES: unknown, also for values that are not bytes */
	KWHY_FIELD_I64,	 /* KWHY_UNKNOWN_NJ or KWHY_UNKNOWN_NS: unknown */
	KWHY_FIELD_REAL, /* double; not finite: unknown */
	KWHY_FIELD_FIGURE,
	KWHY_FIELD_INTERVAL,
};

/* The outputs in which a column appears, as bits. */
enum { KWHY_IN_TEXT = 1, KWHY_IN_JSON = 2, KWHY_IN_CSV = 4 };

enum { KWHY_SHOWN_BYTES = 96 };

struct kwhy_column {
	const char *key;   /* name of the column in JSON and CSV; NULL: it appears in text only */
	const char *title; /* heading of the column in text and page; NULL: no heading */
	enum kwhy_column_unit unit;
	unsigned outputs;
	enum kwhy_field field; /* type of the field at `offset`; KWHY_AT() sets both */
	size_t offset;
	/* returns the word for an enum's value, for a field that holds an enum; NULL: the field holds none */
	const char *(*name)(unsigned value);
	/* computes the value, for KWHY_FIELD_NONE; otherwise NULL, and the value is read from the field */
	struct kwhy_value (*value)(const struct kwhy_column *column, const void *row);
	const void *of; /* parameters for the function `value`, which knows their type */
	/*
	 * Formats the value for text output; NULL: the format follows from the value's kind and unit. The
	 * result is in `out` or in the row, or is a constant.
	 */
	const char *(*show)(char out[KWHY_SHOWN_BYTES], const struct kwhy_value *value, const void *row);
	/* whether the text shows the column, judged by the first row; NULL: it always does */
	bool (*is_shown)(const void *row);
	/* name of the column in a comparison of two results; NULL: it is not compared */
	const char *change;
};

/*
 * Initialises `field` and `offset` for a member of the row's struct: {"peak_w", "peak", KWHY_UNIT_W,
 * KWHY_IN_JSON, KWHY_AT(...)}.
 */
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
	int digits; /* significant digits of numbers in text; 0: 3 digits */
	/* whether the name in a row is that of a kernel; NULL: no name is that of a kernel */
	bool (*is_kernel)(const void *row);
};
#define KWHY_COLUMNS(array) .items = (array), .count = sizeof(array) / sizeof(*(array))

struct kwhy_value kwhy_value_text(const char *text);   /* NULL: unknown */
struct kwhy_value kwhy_value_real(double real);	       /* not finite: unknown */
struct kwhy_value kwhy_value_count(uint64_t count);    /* KWHY_UNKNOWN_BYTES: unknown */
struct kwhy_value kwhy_value_integer(int64_t integer); /* KWHY_UNKNOWN_NJ, KWHY_UNKNOWN_NS: unknown */
struct kwhy_value kwhy_value_figure(const struct kwhy_stat_figure *figure);
/*
 * value as a number, of a figure its mean, of an interval its estimate; NAN: it is unknown, a text or a flag
 */
double kwhy_value_number(const struct kwhy_value *value);

struct kwhy_value kwhy_column_value(const struct kwhy_column *column, const void *row);
/*
 * The value as text output shows it. The text lies in `out` or in the row, or is a constant. NULL: the value
 * is unknown and the column has no function `show`.
 */
const char *kwhy_column_show(const struct kwhy_columns *columns, const struct kwhy_column *column,
	char out[KWHY_SHOWN_BYTES], const void *row);

/* A `show` function for texts: an unknown text is an empty cell instead of "n/a". */
const char *kwhy_show_known(char out[KWHY_SHOWN_BYTES], const struct kwhy_value *value, const void *row);

/* Writes the columns of a row as members of the open JSON object. */
void kwhy_columns_json(const struct kwhy_columns *columns, struct kwhy_json *json, const void *row);

/* Writes a row as a JSON object on one line. */
void kwhy_columns_json_row(const struct kwhy_columns *columns, struct kwhy_json *json, const void *row);

/*
 * Writes a JSON array with an object on one line for each row. `rows` is an array of structs of row_bytes
 * each.
 */
void kwhy_columns_json_array(const struct kwhy_columns *columns, struct kwhy_json *json, const char *key,
	const void *rows, size_t count, size_t row_bytes);
#define KWHY_COLUMNS_JSON_ARRAY(json, key, columns, rows, count) \
	kwhy_columns_json_array(columns, json, key, rows, count, sizeof(*(rows)))

/*
 * kwhy_columns_csv_head() writes the line of keys, kwhy_columns_csv() the line of one row, as CSV of RFC
 * 4180. The cell of an unknown value is empty.
 */
void kwhy_columns_csv_head(const struct kwhy_columns *columns, struct kwhy_text *out);
void kwhy_columns_csv(const struct kwhy_columns *columns, struct kwhy_text *out, const void *row);

/*
 * A table in text output whose rows are described by columns. It shows the columns of parts[0] and then those
 * of parts[1], in all at most 16; the functions `is_shown` of the columns are asked about the first row only.
 * Initialise everything but `parts` with zeros.
 */
struct kwhy_text_table {
	const struct kwhy_columns *parts[2]; /* the second part may be NULL: the table has one part */
	struct kwhy_table table;
	struct kwhy_table_column columns[16];
};
void kwhy_text_table_add(struct kwhy_text_table *table, const void *row);

#endif
