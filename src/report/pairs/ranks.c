/* SPDX-License-Identifier: Apache-2.0 */
#include "report/pairs/ranks.h"

#include "base/quantity.h"
#include "report/table.h"
#include "report/transfers.h"

#include <math.h>
#include <stdio.h>

enum { CELL_BYTES = 64, SIZE_STEP = 16 };

/*
 * Whether the table shows the size of a configuration. Without --verbose it shows the smallest measured size,
 * 16 and 256 times that size and so on, and the largest.
 */
static bool is_shown(const struct kwhy_pairs *pairs, const struct kwhy_pair_config *config, bool verbose)
{
	uint64_t least = UINT64_MAX, most = 0;

	if (verbose)
		return true;
	for (size_t i = 0; i < pairs->config_count; i++)
		if (pairs->configs[i].engine == config->engine && pairs->configs[i].sample_count) {
			if (pairs->configs[i].bytes < least)
				least = pairs->configs[i].bytes;
			if (pairs->configs[i].bytes > most)
				most = pairs->configs[i].bytes;
		}
	while (least && least < config->bytes)
		least *= SIZE_STEP;
	return least == config->bytes || most == config->bytes;
}

void kwhy_pairs_write_collectives(
	const struct kwhy_pairs *pairs, const struct kwhy_text_style *style, struct kwhy_text *out)
{
	static const struct kwhy_table_column columns[] = {{"collective", KWHY_COLUMN_LEFT},
		{"clock", KWHY_COLUMN_LEFT}, {"size", KWHY_COLUMN_RIGHT}, {"time", KWHY_COLUMN_RIGHT},
		{"of each", KWHY_COLUMN_RIGHT}, {"of each link", KWHY_COLUMN_RIGHT}};
	char size[KWHY_TRANSFER_SIZE_BYTES];
	struct kwhy_table table;
	size_t rows = 0;

	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < pairs->config_count; i++) {
		const struct kwhy_pair_config *config = &pairs->configs[i];
		double rate = kwhy_pair_rate(config);

		if (!config->sample_count || !kwhy_pair_is_collective(config->engine) ||
			!is_shown(pairs, config, style->verbose))
			continue;
		kwhy_table_cell(&table, kwhy_pair_engine_name(config->engine));
		kwhy_table_cell(&table, kwhy_pair_clock_name(config->clock));
		kwhy_table_cell(&table, kwhy_transfer_size_text(size, config->bytes));
		kwhy_table_real(&table, config->summary.median_s, "s");
		kwhy_table_real(&table, rate, "B/s");
		kwhy_table_real(&table, rate * kwhy_pair_bus_share(config->engine, pairs->gpu_count), "B/s");
		rows++;
	}
	if (rows)
		kwhy_text_addf(out,
			"\nCollectives of %u GPUs: nccl-tests' algorithm and bus bandwidth of the median\n",
			pairs->gpu_count);
	kwhy_table_write(&table, style, out);
}

void kwhy_pairs_write_ranks(
	const struct kwhy_pairs *pairs, const struct kwhy_text_style *style, struct kwhy_text *out)
{
	static const struct kwhy_table_column columns[] = {{"rank", KWHY_COLUMN_RIGHT},
		{"host", KWHY_COLUMN_LEFT}, {"process", KWHY_COLUMN_RIGHT},
		{"clock against rank 0", KWHY_COLUMN_RIGHT}};
	char cell[CELL_BYTES];
	struct kwhy_table table;

	if (!pairs->rank_count)
		return;
	kwhy_text_add(out, "\nRanks, one process a GPU\n");
	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (uint32_t i = 0; i < pairs->rank_count; i++) {
		const struct kwhy_pair_rank *rank = &pairs->ranks[i];

		snprintf(cell, sizeof(cell), "%u", i);
		kwhy_table_cell(&table, cell);
		kwhy_table_cell(&table, rank->host);
		snprintf(cell, sizeof(cell), "%lld", (long long)rank->process);
		kwhy_table_cell(&table, cell);
		snprintf(cell, sizeof(cell), "%.3g ± %.2g µs", rank->offset_ns * 1e-3,
			rank->offset_half_width_ns * 1e-3);
		kwhy_table_cell(&table, i && isfinite(rank->offset_ns) ? cell : NULL);
	}
	kwhy_table_write(&table, style, out);
}

void kwhy_pairs_rank_json(const struct kwhy_pairs *pairs, uint32_t rank, struct kwhy_json *json)
{
	const struct kwhy_pair_rank *row = &pairs->ranks[rank];

	kwhy_json_string(json, "host", row->host);
	kwhy_json_int(json, "process", row->process);
	kwhy_json_real(json, "clock_offset_ns", row->offset_ns);
	kwhy_json_real(json, "clock_offset_half_width_ns", row->offset_half_width_ns);
	kwhy_json_real(json, "host_clock_drift_ppm", row->drift.ppm);
	kwhy_json_real(json, "host_clock_drift_half_width_ppm", row->drift.half_width_ppm);
	kwhy_json_string(json, "host_clock_drift_grade",
		kwhy_pair_clock_grade_name(kwhy_pair_drift_grade(&row->drift)));
}
