/* SPDX-License-Identifier: Apache-2.0 */
#include "sensor/power_line.h"

#include "base/span.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const column_names[KWHY_POWER_COLUMN_COUNT] = {"time_ns", "device", "source", "value"};

enum { FIELDS_MOST = 32, SHOWN_BYTES = 40 };

/* Of a Unix time in nanoseconds: 2001 to 2096. Others are of another unit or another clock. */
#define TIME_LEAST_NS INT64_C(1000000000000000000)
#define TIME_MOST_NS INT64_C(4000000000000000000)

/* As kwhy_import_power() takes them: a power in mW, a counter in its unit. */
#define POWER_MOST INT64_C(1000000000)
#define COUNTER_MOST INT64_C(1000000000000000000)

/* Cuts a line at its commas; gives how many fields there are, at most FIELDS_MOST + 1. */
static size_t split(struct kwhy_span line, struct kwhy_span fields[FIELDS_MOST])
{
	size_t count = 0, at = 0;

	while (count < FIELDS_MOST) {
		const char *comma = memchr(line.bytes + at, ',', line.length - at);
		size_t end = comma ? (size_t)(comma - line.bytes) : line.length;

		fields[count++] = kwhy_span_trim((struct kwhy_span){line.bytes + at, end - at});
		if (!comma)
			return count;
		at = end + 1;
	}
	return FIELDS_MOST + 1;
}

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

	for (size_t field = 0; field < count; field++)
		for (size_t column = 0; column < KWHY_POWER_COLUMN_COUNT; column++)
			if (kwhy_span_is(fields[field], column_names[column]))
				places[column] = field + 1;
	for (size_t column = 0; column < KWHY_POWER_COLUMN_COUNT; column++)
		if (places[column] == 0 && column != KWHY_POWER_COLUMN_DEVICE)
			return line_wrong(lines, line,
				"must name the columns time_ns, source and value; begin the file with "
				"time_ns,device,source,value",
				error);
	memcpy(lines->places, places, sizeof(places));
	lines->columns = count;
	return KWHY_OK;
}

/* Decimal digits alone, from `low` to `high`. */
static bool parse(struct kwhy_span text, int64_t low, int64_t high, int64_t *out)
{
	int64_t value = 0;

	if (text.length == 0)
		return false;
	for (size_t i = 0; i < text.length; i++) {
		if (text.bytes[i] < '0' || text.bytes[i] > '9')
			return false;
		if (__builtin_mul_overflow(value, 10, &value) ||
			__builtin_add_overflow(value, text.bytes[i] - '0', &value))
			return false;
	}
	if (value < low || value > high)
		return false;
	*out = value;
	return true;
}

static struct kwhy_span field_of(
	const struct kwhy_power_lines *lines, const struct kwhy_span *fields, enum kwhy_power_column column)
{
	size_t place = lines->places[column];

	return place ? fields[place - 1] : (struct kwhy_span){"", 0};
}

static enum kwhy_status read_row(const struct kwhy_power_lines *lines, const struct kwhy_span *fields,
	struct kwhy_power_row *out, struct kwhy_error *error)
{
	struct kwhy_span source = field_of(lines, fields, KWHY_POWER_COLUMN_SOURCE);
	struct kwhy_span time = field_of(lines, fields, KWHY_POWER_COLUMN_TIME);
	struct kwhy_span value = field_of(lines, fields, KWHY_POWER_COLUMN_VALUE);
	struct kwhy_span device = field_of(lines, fields, KWHY_POWER_COLUMN_DEVICE);
	struct kwhy_power_row row = {0};
	int64_t index = -1;

	if (!kwhy_meter_find(source.bytes, source.length, &row.meter, &row.domain))
		return line_wrong(lines, source, "is no source; a wall meter is written meter_mw", error);
	if (!parse(time, TIME_LEAST_NS, TIME_MOST_NS, &row.time_unix_ns))
		return line_wrong(lines, time, "is no Unix time in whole nanoseconds", error);
	if (!parse(value, 0, kwhy_meter_is_counter(row.meter) ? COUNTER_MOST : POWER_MOST, &row.value))
		return line_wrong(lines, value, "is no whole number in the unit of its source", error);
	if (device.length > 0 && !parse(device, 0, KWHY_POWER_DEVICE_MOST, &index))
		return line_wrong(lines, device, "is no number of a device", error);
	if (index < 0 && !kwhy_meter_is_of_host(row.meter) && row.meter != KWHY_METER_WALL)
		return line_wrong(lines, source, "needs the number of its device", error);
	row.device = kwhy_meter_is_of_host(row.meter) ? -1 : (int32_t)index;
	*out = row;
	return KWHY_OK;
}

static struct kwhy_span without_mark(const struct kwhy_power_lines *lines, struct kwhy_span line)
{
	if (lines->number == 1 && line.length >= 3 && !memcmp(line.bytes, "\xEF\xBB\xBF", 3))
		return (struct kwhy_span){line.bytes + 3, line.length - 3};
	return line;
}

enum kwhy_status kwhy_power_line_take(struct kwhy_power_lines *lines, const char *line, size_t length,
	enum kwhy_power_item *out_item, struct kwhy_power_row *out, struct kwhy_error *error)
{
	struct kwhy_span fields[FIELDS_MOST], text;
	size_t count;

	lines->number++;
	*out_item = KWHY_POWER_NOTHING;
	text = kwhy_span_trim(without_mark(lines, (struct kwhy_span){line, length}));
	if (text.length == 0 || text.bytes[0] == '#')
		return KWHY_OK;
	count = split(text, fields);
	if (count > FIELDS_MOST)
		return line_wrong(lines, text, "has more than 32 columns; is this power CSV?", error);
	if (lines->columns == 0)
		return read_names(lines, fields, count, text, error);
	if (count != lines->columns)
		return line_wrong(lines, text, "has not as many fields as there are columns", error);
	if (field_of(lines, fields, KWHY_POWER_COLUMN_VALUE).length == 0)
		return KWHY_OK;
	if (read_row(lines, fields, out, error))
		return error->status;
	*out_item = KWHY_POWER_ROW;
	return KWHY_OK;
}
