/* SPDX-License-Identifier: Apache-2.0 */
#include "report/table.h"
#include "report/text_context.h"

#include <stdio.h>
#include <string.h>

/* Section on the ranges that the host was in while a device was idle. */

enum { DEVICE_ROWS = 8, WAIT_ROWS = 12, PLACE_COLUMNS = 24 };

static const struct kwhy_table_column columns[] = {
	{"host in", KWHY_COLUMN_NAME},
	{"time", KWHY_COLUMN_RIGHT},
	{"of idle", KWHY_COLUMN_RIGHT},
	{"gaps", KWHY_COLUMN_RIGHT},
	{"longest", KWHY_COLUMN_RIGHT},
};

/* Columns of a table in which some row has a source position, which takes the place of the longest gap. */
static const struct kwhy_table_column place_columns[] = {
	{"host in", KWHY_COLUMN_NAME},
	{"time", KWHY_COLUMN_RIGHT},
	{"of idle", KWHY_COLUMN_RIGHT},
	{"gaps", KWHY_COLUMN_RIGHT},
	{"at", KWHY_COLUMN_LEFT},
};

static const char *const reasons[KWHY_HOST_WAIT_REASON_COUNT] = {
	[KWHY_HOST_WAIT_OUTSIDE] = "no range",
	[KWHY_HOST_WAIT_LAUNCHED] = "nothing: launched, not begun",
	[KWHY_HOST_WAIT_UNLINKED] = "unknown: no API call is linked",
};

static const char *words_of(const struct kwhy_recording *recording, const struct kwhy_host_sum *sum)
{
	if (sum->what != KWHY_HOST_WAIT_RANGE)
		return reasons[sum->what];
	return sum->name ? kwhy_names_get(&recording->names, sum->name) : "a step, in none of its ranges";
}

/*
 * Adds a source position, "train.py:42". Of a path longer than PLACE_COLUMNS bytes, only the end is written,
 * from the start of a directory or file name if possible.
 */
static void add_place(
	struct kwhy_table *table, const struct kwhy_recording *recording, const struct kwhy_host_sum *sum)
{
	const char *path = kwhy_names_get(&recording->names, sum->file);
	size_t length = strlen(path);
	char place[PLACE_COLUMNS + 24] = "";

	if (length > PLACE_COLUMNS) {
		const char *slash = strchr(path + length - PLACE_COLUMNS, '/');

		path = slash ? slash + 1 : path + length - PLACE_COLUMNS;
	}
	if (sum->file && sum->line)
		snprintf(place, sizeof(place), "%s:%u", path, (unsigned)sum->line);
	else if (sum->file)
		snprintf(place, sizeof(place), "%s", path);
	kwhy_table_cell(table, place);
}

static bool has_places(const struct kwhy_device_ledger *device_ledger)
{
	for (size_t i = 0; i < device_ledger->host_sum_count; i++)
		if (device_ledger->host_sums[i].file)
			return true;
	return false;
}

static void write_waits(
	const struct kwhy_text_context *context, const struct kwhy_device_ledger *device_ledger)
{
	const struct kwhy_recording *recording = context->report->recording;
	size_t shown = kwhy_text_context_shown(context, device_ledger->host_sum_count, WAIT_ROWS);
	bool places = has_places(device_ledger);
	struct kwhy_table table;

	kwhy_table_init(&table, places ? place_columns : columns, 5);
	for (size_t i = 0; i < shown; i++) {
		const struct kwhy_host_sum *sum = &device_ledger->host_sums[i];

		kwhy_table_cell(&table, words_of(recording, sum));
		kwhy_table_time(&table, sum->time_ns);
		kwhy_table_percent(&table, (double)sum->time_ns / (double)device_ledger->time.idle_ns);
		kwhy_table_count(&table, sum->gaps);
		if (places)
			add_place(&table, recording, sum);
		else
			kwhy_table_time(&table, sum->longest_ns);
	}
	kwhy_table_write(&table, context->style, context->out);
	kwhy_text_context_more(context, device_ledger->host_sum_count, shown);
}

/*
 * Whether some of the device's idle time lies in host ranges. Otherwise the section would only repeat the
 * categories of idle time.
 */
static bool has_ranges(const struct kwhy_device_ledger *device_ledger)
{
	for (size_t i = 0; i < device_ledger->host_sum_count; i++)
		if (device_ledger->host_sums[i].what == KWHY_HOST_WAIT_RANGE)
			return true;
	return false;
}

void kwhy_section_waits(const struct kwhy_text_context *context)
{
	const struct kwhy_ledger *ledger = context->report->ledger;
	size_t shown = kwhy_text_context_shown(context, ledger->device_count, DEVICE_ROWS);
	bool any = false;

	for (size_t d = 0; d < shown; d++) {
		char label[KWHY_DEVICE_LABEL_BYTES], title[KWHY_DEVICE_LABEL_BYTES + 16];

		if (!has_ranges(&ledger->devices[d]))
			continue;
		any = true;
		snprintf(title, sizeof(title), "Idle time, %s",
			kwhy_device_label(label, &context->report->recording->devices[d]));
		kwhy_text_context_heading(
			context, title, "the device waited while the host was in ...; rows add up");
		write_waits(context, &ledger->devices[d]);
	}
	if (any)
		kwhy_text_context_more(context, ledger->device_count, shown);
}
