/* SPDX-License-Identifier: Apache-2.0 */
#include "report/pairs/gauges.h"

#include "report/table.h"

#include <math.h>
#include <stdio.h>

enum { CELL_BYTES = 64 };

static const struct gauge {
	const char *title, *key, *unit;
	size_t offset;
	double scale; /* factor that converts the gauge's unit to the unit shown */
} gauges[] = {{"temperature", "temperature_c", "°C", offsetof(struct kwhy_pair_reading, temperature_c), 1},
	{"power", "power_w", "W", offsetof(struct kwhy_pair_reading, power_w), 1},
	{"clock", "clock_hz", "MHz", offsetof(struct kwhy_pair_reading, clock_hz), 1e-6}};

enum { GAUGES = sizeof(gauges) / sizeof(gauges[0]) };

/*
 * Count, mean, sum of squared deviations from the mean, and extremes of one gauge of one GPU, over the
 * readings in which the gauge is known.
 */
struct summary {
	size_t count;
	double mean, squares, least, most;
};

/*
 * Computes mean and standard deviation by Welford's method, which is accurate for many readings that differ
 * little.
 */
static void sum_up(
	const struct kwhy_pairs *pairs, uint32_t gpu, const struct gauge *gauge, struct summary *out)
{
	*out = (struct summary){.mean = 0};
	for (size_t i = 0; i < pairs->reading_count; i++) {
		const struct kwhy_pair_reading *reading = &pairs->readings[i];
		double value = *(const double *)(const void *)((const char *)reading + gauge->offset),
		       distance = value - out->mean;

		if (reading->gpu != gpu || !isfinite(value))
			continue;
		out->count++;
		out->mean += distance / (double)out->count;
		out->squares += distance * (value - out->mean);
		out->least = out->count == 1 ? value : fmin(out->least, value);
		out->most = out->count == 1 ? value : fmax(out->most, value);
	}
}

static double deviation_of(const struct summary *summary)
{
	return summary->count < 2 ? NAN : sqrt(summary->squares / (double)(summary->count - 1));
}

static void summary_cell(struct kwhy_table *table, const struct summary *summary, const struct gauge *gauge)
{
	char cell[CELL_BYTES];
	double deviation = deviation_of(summary);
	int length;

	if (!summary->count) {
		kwhy_table_cell(table, NULL);
		return;
	}
	length = snprintf(cell, sizeof(cell), "%.4g", summary->mean * gauge->scale);
	if (isfinite(deviation))
		length += snprintf(
			cell + length, sizeof(cell) - (size_t)length, " ± %.2g", deviation * gauge->scale);
	snprintf(cell + length, sizeof(cell) - (size_t)length, " (%.4g to %.4g) %s",
		summary->least * gauge->scale, summary->most * gauge->scale, gauge->unit);
	kwhy_table_cell(table, cell);
}

void kwhy_pairs_write_gauges(
	const struct kwhy_pairs *pairs, const struct kwhy_text_style *style, struct kwhy_text *out)
{
	struct kwhy_table_column columns[1 + GAUGES] = {{"GPU", KWHY_COLUMN_RIGHT}};
	struct kwhy_table table;
	struct summary summary;
	char cell[CELL_BYTES];

	if (!pairs->reading_count)
		return;
	for (size_t i = 0; i < GAUGES; i++)
		columns[1 + i] = (struct kwhy_table_column){gauges[i].title, KWHY_COLUMN_RIGHT};
	kwhy_text_add(out, "\nGauges once a second: mean ± standard deviation (range)\n");
	kwhy_table_init(&table, columns, 1 + GAUGES);
	for (uint32_t i = 0; i < pairs->gpu_count; i++) {
		snprintf(cell, sizeof(cell), "%u", i);
		kwhy_table_cell(&table, cell);
		for (size_t k = 0; k < GAUGES; k++) {
			sum_up(pairs, i, &gauges[k], &summary);
			summary_cell(&table, &summary, &gauges[k]);
		}
	}
	kwhy_table_write(&table, style, out);
}

void kwhy_pairs_gauges_json(const struct kwhy_pairs *pairs, uint32_t gpu, struct kwhy_json *json)
{
	struct summary summary;

	for (size_t i = 0; i < GAUGES; i++) {
		sum_up(pairs, gpu, &gauges[i], &summary);
		if (!summary.count) {
			kwhy_json_null(json, gauges[i].key);
			continue;
		}
		kwhy_json_object(json, gauges[i].key);
		kwhy_json_count(json, "readings", summary.count);
		kwhy_json_real(json, "mean", summary.mean);
		kwhy_json_real(json, "deviation", deviation_of(&summary));
		kwhy_json_real(json, "least", summary.least);
		kwhy_json_real(json, "most", summary.most);
		kwhy_json_object_end(json);
	}
}
