/* SPDX-License-Identifier: Apache-2.0 */
#include "report/pairs/clocks.h"

#include "report/table.h"

#include <stdio.h>

enum { CELL_BYTES = 64 };

void kwhy_pairs_write_clocks(
	const struct kwhy_pairs *pairs, const struct kwhy_text_style *style, struct kwhy_text *out)
{
	static const struct kwhy_table_column columns[] = {{"clock", KWHY_COLUMN_LEFT},
		{"against", KWHY_COLUMN_LEFT}, {"drift", KWHY_COLUMN_RIGHT}, {"", KWHY_COLUMN_LEFT}};
	struct kwhy_pair_compared_clock clocks[KWHY_PAIR_CLOCKS_MAX];
	size_t count = kwhy_pairs_list_clocks(pairs, clocks);
	struct kwhy_table table;
	char cell[CELL_BYTES];

	if (!count)
		return;
	kwhy_text_addf(out,
		"\nClocks: excellent below %d ppm, good below %d; unknown: the interval spans two\n",
		KWHY_PAIR_DRIFT_WARN_PPM, KWHY_PAIR_DRIFT_MAX_PPM);
	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < count; i++) {
		const struct kwhy_pair_drift *drift = clocks[i].drift;

		snprintf(cell, sizeof(cell), "%s %u", clocks[i].what, clocks[i].number);
		kwhy_table_cell(&table, cell);
		kwhy_table_cell(&table, clocks[i].is_host ? "host of rank 0" : "its host");
		snprintf(cell, sizeof(cell), "%.3g ± %.2g ppm", drift->ppm, drift->half_width_ppm);
		kwhy_table_cell(&table, cell);
		kwhy_table_cell(&table, kwhy_pair_clock_grade_name(kwhy_pair_drift_grade(drift)));
	}
	kwhy_table_write(&table, style, out);
}
