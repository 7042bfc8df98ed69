/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "report/gauge_summary.h"
#include "report/table.h"
#include "report/text_context.h"

#include <stdio.h>
#include <string.h>

/* Section on clocks, temperatures and utilisation of the devices while the run was recorded. */

enum { TITLE_BYTES = 64 };

static const struct kwhy_table_column columns[] = {
	{"", KWHY_COLUMN_NAME},
	{"mean", KWHY_COLUMN_RIGHT},
	{"least", KWHY_COLUMN_RIGHT},
	{"most", KWHY_COLUMN_RIGHT},
};

/*
 * Units of gauges by the end of their names, and the factor that converts a reading to the unit. The first
 * match counts, so longer ends come first.
 */
static const struct unit {
	const char *end, *si; /* end of the gauge's name; symbol of the unit, "" for none, NULL for °C */
	double scale;
} units[] = {
	{"_bytes_per_s", "B/s", 1},
	{"_bytes", "B", 1},
	{"_hz", "Hz", 1},
	{"_mw", "W", 1e-3},
	{"_millidegree_c", NULL, 1e-3},
	{"_permille", "%", 1e-3},
	{"", "", 1},
};

static const struct unit *unit_of(const char *name)
{
	size_t length = strlen(name);

	for (const struct unit *unit = units;; unit++) {
		size_t end = strlen(unit->end);

		if (end <= length && strcmp(name + length - end, unit->end) == 0)
			return unit;
	}
}

/* Adds the name of a gauge as words: "sm clock" for "sm_clock_hz". */
static void add_title(struct kwhy_table *table, const char *label, const char *name)
{
	size_t length = strlen(name) - strlen(unit_of(name)->end);
	char title[TITLE_BYTES + KWHY_DEVICE_LABEL_BYTES];

	snprintf(title, sizeof(title), "%s%s%.*s", label, *label ? ": " : "", (int)length, name);
	for (char *at = title; *at; at++)
		if (*at == '_')
			*at = ' ';
	kwhy_table_cell(table, title);
}

static void add_value(struct kwhy_table *table, const struct unit *unit, double value)
{
	char text[KWHY_QUANTITY_BYTES];

	if (unit->si && strcmp(unit->si, "%") == 0) {
		kwhy_table_percent(table, value * unit->scale);
	} else if (unit->si && *unit->si) {
		kwhy_table_real(table, value * unit->scale, unit->si);
	} else {
		snprintf(text, sizeof(text), "%.0f%s", value * unit->scale, unit->si ? "" : " °C");
		kwhy_table_cell(table, text);
	}
}

/*
 * Adds the row of a gauge: mean, lowest and highest reading. With a single reading, only the mean is written.
 */
static void add_gauge(struct kwhy_table *table, const struct kwhy_text_context *context,
	const struct kwhy_gauge_series *series)
{
	const struct kwhy_recording *recording = context->report->recording;
	const char *name = kwhy_gauge_name((enum kwhy_gauge)series->gauge);
	char label[KWHY_DEVICE_LABEL_BYTES] = "";
	struct kwhy_gauge_summary summary;

	if (recording->device_count > 1 && series->device != KWHY_NONE)
		kwhy_device_label(label, &recording->devices[series->device]);
	kwhy_gauge_summarise(series, &summary);
	add_title(table, label, name);
	add_value(table, unit_of(name), summary.mean);
	if (summary.count < 2) {
		kwhy_table_cell(table, "");
		kwhy_table_cell(table, "");
		return;
	}
	add_value(table, unit_of(name), (double)summary.least);
	add_value(table, unit_of(name), (double)summary.most);
}

/*
 * Writes each throttle reason of a device with the share of readings in which it was set. Bit 0, idle, is
 * left out, since a device without work always lowers its clocks.
 */
static void tell_throttling(const struct kwhy_text_context *context, const struct kwhy_gauge_series *series)
{
	const struct kwhy_recording *recording = context->report->recording;
	char label[KWHY_DEVICE_LABEL_BYTES], share[KWHY_QUANTITY_BYTES], reason[TITLE_BYTES];

	for (unsigned bit = 1; bit < KWHY_THROTTLE_COUNT; bit++) {
		double ratio = kwhy_gauge_throttled_ratio(series, bit);

		if (!(ratio > 0) || series->device == KWHY_NONE)
			continue;
		snprintf(reason, sizeof(reason), "%s", kwhy_throttle_name(bit));
		for (char *at = reason; *at; at++)
			if (*at == '_')
				*at = ' ';
		kwhy_text_context_linef(context, "  ", "%s ran below its clocks in %s of the readings: %s",
			kwhy_device_label(label, &recording->devices[series->device]),
			kwhy_quantity_percent(share, ratio), reason);
	}
}

void kwhy_section_gauges(const struct kwhy_text_context *context)
{
	const struct kwhy_recording *recording = context->report->recording;
	struct kwhy_table table;

	if (!recording->gauge_count)
		return;
	kwhy_text_context_heading(
		context, "Clocks, temperatures and use", "during the run, as the driver reported them");
	kwhy_table_init(&table, columns, 4);
	for (size_t i = 0; i < recording->gauge_count; i++)
		if (recording->gauges[i].gauge != KWHY_GAUGE_THROTTLE_REASONS)
			add_gauge(&table, context, &recording->gauges[i]);
	kwhy_table_write(&table, context->style, context->out);
	for (size_t i = 0; i < recording->gauge_count; i++)
		if (recording->gauges[i].gauge == KWHY_GAUGE_THROTTLE_REASONS)
			tell_throttling(context, &recording->gauges[i]);
}
