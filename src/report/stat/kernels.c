/* SPDX-License-Identifier: Apache-2.0 */
#include "report/stat/kernels.h"

#include "base/quantity.h"
#include "report/table.h"

#include <math.h>
#include <stdio.h>

enum { KERNELS_SHOWN = 10 };

/*
 * Half the width of a value's 90 % interval in percent of the value: "±1.2 %"; NULL: unknown, or the value is
 * not above 0.
 */
static const char *half_of(char out[KWHY_QUANTITY_BYTES], double value, double low, double high)
{
	if (!isfinite(high) || !(value > 0))
		return NULL;
	snprintf(out, KWHY_QUANTITY_BYTES, "\xc2\xb1%.3g %%", 50 * (high - low) / value);
	return out;
}

static void add_kernel(struct kwhy_table *table, const struct kwhy_stat_kernel *kernel)
{
	char half[KWHY_QUANTITY_BYTES];

	kwhy_table_kernel(table, kernel->name);
	kwhy_table_count(table, kernel->count);
	kwhy_table_real(table, kernel->seconds, "s");
	kwhy_table_real(table, kernel->joules, "J");
	kwhy_table_cell(table, half_of(half, kernel->joules, kernel->low_j, kernel->high_j));
	kwhy_table_cell(table, kernel->basis);
}

void kwhy_stat_kernels_text(const struct kwhy_stat *stat, const struct kwhy_text_context *context)
{
	static const struct kwhy_table_column columns[] = {{"", KWHY_COLUMN_NAME},
		{"launches", KWHY_COLUMN_RIGHT}, {"time", KWHY_COLUMN_RIGHT}, {"energy", KWHY_COLUMN_RIGHT},
		{"90 %", KWHY_COLUMN_RIGHT}, {"basis", KWHY_COLUMN_LEFT}};
	const struct kwhy_stat_recorded *recorded = &stat->recorded;
	const size_t shown = kwhy_text_context_shown(context, recorded->kernel_count, KERNELS_SHOWN);
	char remark[160], joules[KWHY_QUANTITY_BYTES], seconds[KWHY_QUANTITY_BYTES],
		half[KWHY_QUANTITY_BYTES];
	const char *spread = half_of(half, recorded->joules, recorded->low_j, recorded->high_j);
	struct kwhy_table table;

	if (!recorded->is_made)
		return;
	snprintf(remark, sizeof(remark), "of one more run, which was recorded: %s%s%s in %s",
		isfinite(recorded->joules) ? kwhy_quantity_si(joules, recorded->joules, "J", 4)
					   : "energy not available",
		spread ? " " : "", spread ? spread : "",
		isfinite(recorded->seconds) ? kwhy_quantity_si(seconds, recorded->seconds, "s", 4) : "n/a");
	kwhy_text_context_heading(context, "Kernels", remark);
	if (!recorded->kernel_count)
		kwhy_text_context_paragraph(context, "  ", "the run launched nothing on a GPU");
	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i < shown; i++)
		add_kernel(&table, &recorded->kernels[i]);
	kwhy_table_write(&table, context->style, context->out);
	kwhy_text_context_more(context, recorded->kernel_count, shown);
}

void kwhy_stat_kernels_json(const struct kwhy_stat *stat, struct kwhy_json *json)
{
	const struct kwhy_stat_recorded *recorded = &stat->recorded;

	if (!recorded->is_made)
		return;
	kwhy_json_object(json, "recorded");
	kwhy_json_real(json, "elapsed_s", recorded->seconds);
	kwhy_json_real(json, "energy_j", recorded->joules);
	kwhy_json_real(json, "low_j", recorded->low_j);
	kwhy_json_real(json, "high_j", recorded->high_j);
	kwhy_json_array(json, "kernels");
	for (size_t i = 0; i < recorded->kernel_count; i++) {
		const struct kwhy_stat_kernel *kernel = &recorded->kernels[i];

		kwhy_json_row(json, NULL);
		kwhy_json_string(json, "name", kernel->name);
		kwhy_json_string(json, "category", kernel->category);
		kwhy_json_count(json, "count", kernel->count);
		kwhy_json_real(json, "time_s", kernel->seconds);
		kwhy_json_real(json, "energy_j", kernel->joules);
		kwhy_json_real(json, "low_j", kernel->low_j);
		kwhy_json_real(json, "high_j", kernel->high_j);
		kwhy_json_string(json, "basis", kernel->basis);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
	kwhy_json_object_end(json);
}
