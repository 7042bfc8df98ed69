/* SPDX-License-Identifier: Apache-2.0 */
#include "sensor/power_line.h"

#include "base/csv_line.h"
#include "base/text.h"

#include <inttypes.h>
#include <string.h>

enum { SHOWN_BYTES = 40 };

/*
 * Range of Unix times in nanoseconds that are accepted: from 2001 to 2096. A time outside this range is not
 * in nanoseconds or comes from another clock, and is refused.
 */
#define TIME_MIN_NS INT64_C(1000000000000000000)
#define TIME_MAX_NS INT64_C(4000000000000000000)

static enum kwhy_status line_wrong(const struct kwhy_power_lines *lines, struct kwhy_span text,
	const char *words, struct kwhy_error *error)
{
	char shown[3 * SHOWN_BYTES + 1];

	kwhy_text_sanitize(shown, text.bytes, text.length < SHOWN_BYTES ? text.length : SHOWN_BYTES);
	return kwhy_fail(error, KWHY_E_INPUT, "%s, line %" PRIu64 ": \"%s\" %s", lines->path, lines->number,
		shown, words);
}

static enum kwhy_status read_names(struct kwhy_power_lines *lines, const struct kwhy_span *fields,
	size_t count, struct kwhy_span line, struct kwhy_error *error)
{
	size_t places[KWHY_POWER_COLUMN_COUNT] = {0};

	for (size_t column = 0; column < KWHY_POWER_COLUMN_COUNT; column++) {
		size_t field,
			found = kwhy_csv_line_find(fields, count, kwhy_power_column_name(column), &field);

		if (found > 1 || (found == 0 && kwhy_power_column_is_required(column)))
			return line_wrong(lines, line,
				"must name the columns time_ns, source and value once; begin the file with "
				"time_ns,device,source,value",
				error);
		places[column] = found ? field + 1 : 0;
	}
	memcpy(lines->places, places, sizeof(places));
	lines->columns = count;
	return KWHY_OK;
}

static enum kwhy_status read_row(const struct kwhy_power_lines *lines, const struct kwhy_span *all,
	enum kwhy_power_item *out_item, struct kwhy_power_row *out, struct kwhy_error *error)
{
	struct kwhy_span fields[KWHY_POWER_COLUMN_COUNT];
	struct kwhy_power_wrong wrong;
	struct kwhy_power_row row;

	for (size_t column = 0; column < KWHY_POWER_COLUMN_COUNT; column++)
		fields[column] = lines->places[column] ? all[lines->places[column] - 1]
						       : (struct kwhy_span){"", 0};
	if (!kwhy_power_row_read(fields, &row, &wrong))
		return line_wrong(lines, fields[wrong.column], wrong.words, error);
	if (row.time_ns < TIME_MIN_NS || row.time_ns > TIME_MAX_NS)
		return line_wrong(
			lines, fields[KWHY_POWER_COLUMN_TIME], "is no Unix time in whole nanoseconds", error);
	if (!row.has_value)
		return KWHY_OK;
	*out = row;
	*out_item = KWHY_POWER_ROW;
	return KWHY_OK;
}

enum kwhy_status kwhy_power_line_take(struct kwhy_power_lines *lines, char *line, size_t length,
	enum kwhy_power_item *out_item, struct kwhy_power_row *out, struct kwhy_error *error)
{
	struct kwhy_span fields[KWHY_CSV_LINE_FIELDS], text = {line, length};
	const char *words;
	size_t count;

	*out_item = KWHY_POWER_NOTHING;
	if (++lines->number == 1)
		text = kwhy_csv_line_unmarked(text);
	text = kwhy_span_trim(text);
	if (text.length == 0 || text.bytes[0] == '#')
		return KWHY_OK;
	words = kwhy_csv_line_split(line + (text.bytes - line), text.length, fields, &count);
	if (words)
		return line_wrong(lines, text, words, error);
	if (lines->columns == 0)
		return read_names(lines, fields, count, text, error);
	if (count != lines->columns)
		return line_wrong(lines, text, "has not as many fields as there are columns", error);
	return read_row(lines, fields, out_item, out, error);
}
