/* SPDX-License-Identifier: Apache-2.0 */
#include "model/power_row.h"

#include <stdio.h>

static const struct {
	const char *name;
	bool required;
} columns[KWHY_POWER_COLUMN_COUNT] = {
	[KWHY_POWER_COLUMN_TIME] = {"time_ns", true},
	[KWHY_POWER_COLUMN_DEVICE] = {"device", false},
	[KWHY_POWER_COLUMN_SOURCE] = {"source", true},
	[KWHY_POWER_COLUMN_VALUE] = {"value", true},
};

/*
 * Highest values that are accepted. 10^18 mJ or uJ are more than any machine counts in years, and no machine
 * with a GPU draws more than 10^9 mW.
 */
#define COUNTER_MAX INT64_C(1000000000000000000)
#define POWER_MAX INT64_C(1000000000)
/*
 * Earliest time that is accepted, in nanoseconds: 2 s above INT64_MIN, so that up to 2 s can be subtracted
 * from any time without overflow.
 */
#define TIME_MIN (INT64_MIN + INT64_C(2000000000))

const char *kwhy_power_column_name(enum kwhy_power_column column)
{
	return columns[column].name;
}

bool kwhy_power_column_is_required(enum kwhy_power_column column)
{
	return columns[column].required;
}

static bool fail(struct kwhy_power_wrong *out, enum kwhy_power_column column, const char *words)
{
	out->column = column;
	snprintf(out->words, sizeof(out->words), "%s", words);
	return false;
}

static bool read_number(const struct kwhy_span *fields, enum kwhy_power_column column, int64_t low,
	int64_t high, int64_t *out, struct kwhy_power_wrong *wrong)
{
	char words[KWHY_DECIMAL_WORDS];

	if (kwhy_decimal_within(fields[column], low, high, out))
		return true;
	kwhy_decimal_wrong(words, fields[column], low, high);
	return fail(wrong, column, words);
}

static bool read_time(
	const struct kwhy_span *fields, struct kwhy_power_row *row, struct kwhy_power_wrong *wrong)
{
	if (fields[KWHY_POWER_COLUMN_TIME].length == 0)
		return fail(
			wrong, KWHY_POWER_COLUMN_TIME, "is not a time; a row without its times is of no use");
	return read_number(fields, KWHY_POWER_COLUMN_TIME, TIME_MIN, INT64_MAX, &row->time_ns, wrong);
}

static bool read_value(
	const struct kwhy_span *fields, struct kwhy_power_row *row, struct kwhy_power_wrong *wrong)
{
	row->has_value = fields[KWHY_POWER_COLUMN_VALUE].length > 0;
	return !row->has_value ||
		read_number(fields, KWHY_POWER_COLUMN_VALUE, 0,
			kwhy_meter_is_counter(row->meter) ? COUNTER_MAX : POWER_MAX, &row->value, wrong);
}

/*
 * Reads the device column. It may be empty for meters of the host, for which a number is checked but not
 * used, and for a meter that the user supplies. In both cases row->device is -1.
 */
static bool read_device(
	const struct kwhy_span *fields, struct kwhy_power_row *row, struct kwhy_power_wrong *wrong)
{
	bool is_of_host = kwhy_meter_is_of_host(row->meter);
	int64_t index = -1;

	if (fields[KWHY_POWER_COLUMN_DEVICE].length > 0 &&
		!read_number(fields, KWHY_POWER_COLUMN_DEVICE, 0, KWHY_POWER_DEVICES_MAX - 1, &index, wrong))
		return false;
	if (index < 0 && !is_of_host && kwhy_meter_row(row->meter)->owner != KWHY_METER_OWNER_USER)
		return fail(wrong, KWHY_POWER_COLUMN_DEVICE,
			"is no device; only the host's meters and meter_mw may leave it empty");
	row->device = is_of_host ? -1 : (int32_t)index;
	return true;
}

static bool no_source(struct kwhy_power_wrong *out)
{
	const enum kwhy_meter last = KWHY_METER_COUNT - 1;
	int length = snprintf(out->words, sizeof(out->words), "is no source; write ");

	for (enum kwhy_meter meter = 0; meter < last; meter++)
		length += snprintf(out->words + length, sizeof(out->words) - (size_t)length, "%s%s",
			kwhy_meter_name(meter), meter + 1 < last ? ", " : " or ");
	snprintf(out->words + length, sizeof(out->words) - (size_t)length, "%s", kwhy_meter_name(last));
	out->column = KWHY_POWER_COLUMN_SOURCE;
	return false;
}

bool kwhy_power_row_read(const struct kwhy_span fields[KWHY_POWER_COLUMN_COUNT], struct kwhy_power_row *out,
	struct kwhy_power_wrong *out_wrong)
{
	struct kwhy_span source = fields[KWHY_POWER_COLUMN_SOURCE];
	struct kwhy_power_row row = {0};

	if (!kwhy_meter_find(source.bytes, source.length, &row.meter, &row.domain))
		return no_source(out_wrong);
	if (!read_time(fields, &row, out_wrong) || !read_value(fields, &row, out_wrong) ||
		!read_device(fields, &row, out_wrong))
		return false;
	*out = row;
	return true;
}
