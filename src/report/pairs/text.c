/* SPDX-License-Identifier: Apache-2.0 */
#include "report/pairs.h"

#include "base/quantity.h"
#include "report/pairs/clocks.h"
#include "report/pairs/columns.h"
#include "report/pairs/gauges.h"
#include "report/pairs/ranks.h"
#include "report/table.h"
#include "report/text_context.h"
#include "report/transfers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { HEADING_BYTES = 120, CELL_BYTES = 48 };

static void write_head(
	const struct kwhy_pairs *pairs, const struct kwhy_text_style *style, struct kwhy_text *out)
{
	const struct kwhy_text_context context = {.style = style, .out = out};
	size_t samples = 0, measured = 0;
	char seconds[HEADING_BYTES] = "";

	for (size_t i = 0; i < pairs->config_count; i++) {
		samples += pairs->configs[i].sample_count;
		measured += pairs->configs[i].sample_count > 0;
	}
	kwhy_text_addf(out, "%u GPUs, %s", pairs->gpu_count,
		pairs->gpus[0].name ? pairs->gpus[0].name : "of unknown name");
	if (pairs->backend && strcmp(pairs->backend, "host") == 0)
		kwhy_text_add(out, " (host: its threads stand for GPUs)");
	if (pairs->driver)
		kwhy_text_addf(out, ", driver %s", pairs->driver);
	kwhy_text_add(out, "\n");
	if (isfinite(pairs->time_pass_s))
		snprintf(seconds, sizeof(seconds),
			", %.1f s; in addition %.1f s to warm up, %.1f s to compare clocks",
			pairs->time_pass_s, pairs->warm_s, pairs->clocks_s);
	kwhy_text_context_linef(
		&context, "", "%zu configurations, %zu samples%s", measured, samples, seconds);
	if (pairs->ended_early)
		kwhy_text_context_linef(&context, "", "Ended early: %s", pairs->ended_early);
	if (pairs->folder)
		kwhy_text_addf(out, "Kept in %s\n", pairs->folder);
	for (size_t i = 0; i < pairs->note_count; i++)
		kwhy_text_context_linef(&context, "", "Note: %s", pairs->notes[i]);
}

static uint64_t most_bytes(const struct kwhy_pairs *pairs, enum kwhy_pair_engine engine)
{
	uint64_t most = 0;

	for (size_t i = 0; i < pairs->config_count; i++)
		if (pairs->configs[i].sample_count && pairs->configs[i].engine == engine &&
			pairs->configs[i].load == KWHY_PAIR_ALONE && pairs->configs[i].bytes > most)
			most = pairs->configs[i].bytes;
	return most;
}

static uint64_t least_bytes(const struct kwhy_pairs *pairs, enum kwhy_pair_engine engine)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < pairs->config_count; i++)
		if (pairs->configs[i].sample_count && pairs->configs[i].engine == engine &&
			pairs->configs[i].load == KWHY_PAIR_ALONE && pairs->configs[i].bytes < least)
			least = pairs->configs[i].bytes;
	return least;
}

/*
 * The first way of timing, in the order of enum kwhy_pair_clock, by which the engine's transfers without
 * other load were measured. The matrices use it for all pairs.
 */
static enum kwhy_pair_clock clock_of(const struct kwhy_pairs *pairs, enum kwhy_pair_engine engine)
{
	int first = KWHY_PAIR_CLOCK_COUNT - 1;

	for (size_t i = 0; i < pairs->config_count; i++)
		if (pairs->configs[i].sample_count && pairs->configs[i].engine == engine &&
			pairs->configs[i].load == KWHY_PAIR_ALONE && (int)pairs->configs[i].clock < first)
			first = pairs->configs[i].clock;
	return (enum kwhy_pair_clock)first;
}

/* Writes a matrix of pairs of GPUs, whose rows are sources and whose columns are targets. */
static void write_matrix(const struct kwhy_pairs *pairs, enum kwhy_pair_engine engine, uint64_t bytes,
	bool is_rate, const struct kwhy_text_style *style, struct kwhy_text *out)
{
	struct kwhy_table_column columns[KWHY_PAIR_GPUS_MAX + 1] = {{"from \\ to", KWHY_COLUMN_LEFT}};
	char titles[KWHY_PAIR_GPUS_MAX][8], cell[CELL_BYTES], size[KWHY_TRANSFER_SIZE_BYTES];
	enum kwhy_pair_clock clock = clock_of(pairs, engine);
	struct kwhy_table table;

	for (uint32_t i = 0; i < pairs->gpu_count; i++) {
		snprintf(titles[i], sizeof(titles[i]), "%u", (unsigned)(uint8_t)i);
		columns[i + 1] = (struct kwhy_table_column){titles[i], KWHY_COLUMN_RIGHT};
	}
	kwhy_text_addf(out, "\n%s (%s), %s, %s\n", kwhy_pair_engine_name(engine),
		kwhy_pair_engine_title(engine), kwhy_transfer_size_text(size, bytes),
		is_rate ? "GB/s" : "time");
	kwhy_table_init(&table, columns, pairs->gpu_count + 1);
	for (uint32_t i = 0; i < pairs->gpu_count; i++) {
		kwhy_table_cell(&table, titles[i]);
		for (uint32_t k = 0; k < pairs->gpu_count; k++) {
			const struct kwhy_pair_config key = {
				.engine = engine, .clock = clock, .source = i, .target = k, .bytes = bytes};
			const struct kwhy_pair_config *config = kwhy_pairs_find(pairs, &key);

			if (i == k)
				kwhy_table_cell(&table, "-");
			else if (!config)
				kwhy_table_cell(&table, NULL);
			else if (!is_rate)
				kwhy_table_real(&table, config->summary.median_s, "s");
			else {
				snprintf(cell, sizeof(cell), "%.4g", kwhy_pair_rate(config) * 1e-9);
				kwhy_table_cell(&table, cell);
			}
		}
	}
	kwhy_table_write(&table, style, out);
}

static void write_matrices(
	const struct kwhy_pairs *pairs, const struct kwhy_text_style *style, struct kwhy_text *out)
{
	for (int engine = 0; engine < KWHY_PAIR_ENGINE_COUNT; engine++) {
		enum kwhy_pair_engine which = (enum kwhy_pair_engine)engine;
		uint64_t most = most_bytes(pairs, which);

		if (!most || kwhy_pair_is_collective(which))
			continue;
		if (which != KWHY_PAIR_PUT)
			write_matrix(pairs, which, most, true, style, out);
		if (!kwhy_pair_is_exchange(which) && least_bytes(pairs, which) < most)
			write_matrix(pairs, which, least_bytes(pairs, which), false, style, out);
	}
}

static void reached_cells(
	struct kwhy_table *table, const struct kwhy_pairs *pairs, const struct kwhy_pair_config *config)
{
	kwhy_table_real(table, config ? kwhy_pair_rate(config) : NAN, "B/s");
	kwhy_table_percent(table, kwhy_pairs_of_limit(pairs, config));
}

static void write_limit_sources(const struct kwhy_pairs *pairs, const struct kwhy_text_context *context)
{
	if (pairs->route_missing)
		kwhy_text_context_linef(context, "  ", "limits not available: %s", pairs->route_missing);
	for (int i = 0; i < KWHY_PAIR_LINK_KIND_COUNT; i++) {
		const char *source = kwhy_pair_limit_source((enum kwhy_pair_link_kind)i);

		if (source && kwhy_pairs_have_link_kind(pairs, (enum kwhy_pair_link_kind)i))
			kwhy_text_context_linef(context, "  limit: ", "%s", source);
	}
}

/*
 * Writes for each ordered pair of GPUs the link, its limit, and the rate of the fastest engine in one
 * direction and in both, as shares of that limit.
 */
static void write_routes(
	const struct kwhy_pairs *pairs, const struct kwhy_text_style *style, struct kwhy_text *out)
{
	static const struct kwhy_table_column columns[] = {{"pair", KWHY_COLUMN_LEFT},
		{"over", KWHY_COLUMN_LEFT}, {"limit", KWHY_COLUMN_RIGHT}, {"one-way", KWHY_COLUMN_RIGHT},
		{"of it", KWHY_COLUMN_RIGHT}, {"two-way", KWHY_COLUMN_RIGHT}, {"of it", KWHY_COLUMN_RIGHT}};
	const struct kwhy_text_context context = {.style = style, .out = out};
	char cell[KWHY_PAIR_ROUTE_BYTES];
	struct kwhy_table table;

	kwhy_text_add(out, "\nLinks, their limits in one direction, and what the fastest engines reach\n");
	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (uint32_t i = 0; i < pairs->gpu_count; i++)
		for (uint32_t k = 0; k < pairs->gpu_count; k++) {
			const struct kwhy_pair_route *route = &pairs->routes[i][k];

			if (i == k)
				continue;
			snprintf(cell, sizeof(cell), "%u > %u", i, k);
			kwhy_table_cell(&table, cell);
			kwhy_table_cell(&table, kwhy_pair_route_text(cell, route));
			kwhy_table_real(&table, route->limit_bytes_per_s, "B/s");
			reached_cells(&table, pairs, kwhy_pairs_fastest(pairs, i, k, false));
			reached_cells(&table, pairs, kwhy_pairs_fastest(pairs, i, k, true));
		}
	kwhy_table_write(&table, style, out);
	write_limit_sources(pairs, &context);
}

static void write_loggp(
	const struct kwhy_pairs *pairs, const struct kwhy_text_style *style, struct kwhy_text *out)
{
	struct kwhy_text_table table = {.parts = {&kwhy_pair_loggp_columns}};

	if (!pairs->loggp_count)
		return;
	kwhy_text_add(out, "\nLogGP, 95 % intervals (o_recv: not available, targets of copies do nothing)\n");
	for (size_t i = 0; i < pairs->loggp_count; i++)
		kwhy_text_table_add(&table, &pairs->loggps[i]);
	kwhy_table_write(&table.table, style, out);
}

/*
 * Writes the regimes, ranges of sizes with a fit time = alpha + bytes / rate of their own: with --verbose of
 * all curves, otherwise only of KWHY_PAIR_WRITE without other load, timed back to back.
 */
static void write_regimes(
	const struct kwhy_pairs *pairs, const struct kwhy_text_style *style, struct kwhy_text *out)
{
	static const struct kwhy_table_column columns[] = {{"curve", KWHY_COLUMN_NAME},
		{"pair", KWHY_COLUMN_LEFT}, {"from", KWHY_COLUMN_RIGHT}, {"alpha", KWHY_COLUMN_RIGHT},
		{"rate", KWHY_COLUMN_RIGHT}, {"held out", KWHY_COLUMN_RIGHT}};
	struct kwhy_table table;
	char cell[HEADING_BYTES];

	if (!pairs->curve_count)
		return;
	kwhy_text_add(out, "\nRegimes: time = alpha + bytes / rate; median error at sizes left out\n");
	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < pairs->curve_count; i++) {
		const struct kwhy_pair_curve *curve = &pairs->curves[i];

		if (!style->verbose &&
			(curve->engine != KWHY_PAIR_WRITE || curve->load != KWHY_PAIR_ALONE ||
				curve->clock != KWHY_PAIR_BACK_TO_BACK))
			continue;
		for (size_t k = 0; k < curve->segment_count; k++) {
			const struct kwhy_transfer_segment *segment = &curve->segments[k];

			snprintf(cell, sizeof(cell), "%s, %s, %s", kwhy_pair_engine_name(curve->engine),
				kwhy_pair_load_name(curve->load), kwhy_pair_clock_name(curve->clock));
			kwhy_table_cell(&table, k ? "" : cell);
			snprintf(cell, sizeof(cell), "%u > %u", curve->source, curve->target);
			kwhy_table_cell(&table, k ? "" : cell);
			kwhy_table_bytes(&table, (uint64_t)segment->from_bytes);
			kwhy_table_real(&table, segment->alpha_s, "s");
			kwhy_table_real(&table, 1 / segment->beta_s_per_byte, "B/s");
			if (k)
				kwhy_table_cell(&table, "");
			else
				kwhy_table_percent(&table, curve->held_out_median_ratio);
		}
	}
	kwhy_table_write(&table, style, out);
}

/*
 * Writes the rate of transfers while other transfers load the links, and that rate as a share of the one
 * without them.
 */
static void write_loads(
	const struct kwhy_pairs *pairs, const struct kwhy_text_style *style, struct kwhy_text *out)
{
	static const struct kwhy_table_column columns[] = {{"meanwhile", KWHY_COLUMN_NAME},
		{"pair", KWHY_COLUMN_LEFT}, {"size", KWHY_COLUMN_RIGHT}, {"rate", KWHY_COLUMN_RIGHT},
		{"of alone", KWHY_COLUMN_RIGHT}};
	struct kwhy_table table;
	char cell[CELL_BYTES], size[KWHY_TRANSFER_SIZE_BYTES];
	size_t rows = 0;

	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < pairs->config_count; i++) {
		const struct kwhy_pair_config *config = &pairs->configs[i], *alone;
		struct kwhy_pair_config key = *config;

		if (!config->sample_count || config->load == KWHY_PAIR_ALONE ||
			config->load == KWHY_PAIR_REFERENCE)
			continue;
		key.load = KWHY_PAIR_ALONE;
		alone = kwhy_pairs_find(pairs, &key);
		kwhy_table_cell(&table, kwhy_pair_load_name(config->load));
		snprintf(cell, sizeof(cell), "%u > %u", config->source, config->target);
		kwhy_table_cell(&table, cell);
		kwhy_table_cell(&table, kwhy_transfer_size_text(size, config->bytes));
		kwhy_table_real(&table, kwhy_pair_rate(config), "B/s");
		kwhy_table_percent(&table, alone ? alone->summary.median_s / config->summary.median_s : NAN);
		rows++;
	}
	if (rows)
		kwhy_text_add(out, "\nContention: copies while others go on\n");
	kwhy_table_write(&table, style, out);
}

/* Writes joules per byte at the source, at the target and at both together. */
static void write_energies(
	const struct kwhy_pairs *pairs, const struct kwhy_text_style *style, struct kwhy_text *out)
{
	const struct kwhy_text_context context = {.style = style, .out = out};
	struct kwhy_text_table table = {.parts = {&kwhy_pair_energy_columns}};

	for (size_t i = 0; i < pairs->energy_count; i++) {
		const struct kwhy_pair_energy_row row = kwhy_pair_energy_row_of(&pairs->energies[i]);

		kwhy_text_table_add(&table, &row);
	}
	if (table.table.cell_count)
		kwhy_text_add(out,
			"\nEnergy of a byte, both GPUs; above idle GPUs with contexts: both, source, "
			"target\n");
	kwhy_table_write(&table.table, style, out);
	if (pairs->energy_missing) {
		kwhy_text_add(out, "\n");
		kwhy_text_context_linef(
			&context, "", "The GPUs' energy is not available: %s", pairs->energy_missing);
	}
}

/* Writes how well the fits predict samples that were left out of them. */
static void write_held_outs(
	const struct kwhy_pairs *pairs, const struct kwhy_text_style *style, struct kwhy_text *out)
{
	struct kwhy_text_table table = {.parts = {&kwhy_pair_held_out_columns}};

	for (size_t i = 0; i < pairs->held_out_count; i++)
		kwhy_text_table_add(&table, &pairs->held_outs[i]);
	if (table.table.cell_count)
		kwhy_text_add(out, "\nHeld out of the fits: predicted over measured, less 1\n");
	kwhy_table_write(&table.table, style, out);
}

/* Writes how the times of transfers depend on the NUMA node to which the host's thread is bound. */
static void write_pinnings(
	const struct kwhy_pairs *pairs, const struct kwhy_text_style *style, struct kwhy_text *out)
{
	const struct kwhy_text_context context = {.style = style, .out = out};
	struct kwhy_text_table table = {.parts = {&kwhy_pair_pinning_columns}};

	for (size_t i = 0; i < pairs->pinning_count; i++) {
		const struct kwhy_pair_pinning_row row = kwhy_pair_pinning_row_of(&pairs->pinnings[i]);

		kwhy_text_table_add(&table, &row);
	}
	if (table.table.cell_count)
		kwhy_text_add(out,
			"\nBy the NUMA node of the host's thread; what the medians' 95 % intervals leave "
			"open\n");
	kwhy_table_write(&table.table, style, out);
	if (pairs->pinning_missing) {
		kwhy_text_add(out, "\n");
		kwhy_text_context_linef(
			&context, "", "NUMA nodes are not compared: %s", pairs->pinning_missing);
	}
}

static void write_relation(const struct kwhy_pair_relation *relation, const struct kwhy_text_context *context)
{
	bool is_clock = relation->gauge == KWHY_PAIR_CLOCK;
	double unit = is_clock ? 100e6 : 1;
	char lead[CELL_BYTES];

	snprintf(lead, sizeof(lead), "  GPU %u, %s: ", relation->gpu, kwhy_pair_gauge_name(relation->gauge));
	if (relation->missing) {
		kwhy_text_context_linef(context, lead, "not available: %s", relation->missing);
		return;
	}
	kwhy_text_context_linef(context, lead, "r = %+.2f (%+.2f to %+.2f), %+.2g %% %s, %zu readings",
		relation->r.value, relation->r.low, relation->r.high,
		100 * unit * relation->slope_ratio_per_unit, is_clock ? "a 100 MHz" : "a degree",
		relation->count);
}

/*
 * Writes the correlation of transfers' times with the temperature and the clock of the source GPU, and the
 * relative change of the time per degree and per 100 MHz.
 */
static void write_relations(
	const struct kwhy_pairs *pairs, const struct kwhy_text_style *style, struct kwhy_text *out)
{
	const struct kwhy_text_context context = {.style = style, .out = out};

	if (pairs->relation_count)
		kwhy_text_add(out, "\nTimes against temperature and clock of the source, 95 % intervals\n");
	for (size_t i = 0; i < pairs->relation_count; i++)
		write_relation(&pairs->relations[i], &context);
}

static void write_verdicts(
	const struct kwhy_pairs *pairs, const struct kwhy_text_style *style, struct kwhy_text *out)
{
	const struct kwhy_text_context context = {.style = style, .out = out};

	if (pairs->flag_count)
		kwhy_text_add(out, "\nWorth a look\n");
	for (size_t i = 0; i < pairs->flag_count; i++) {
		const struct kwhy_pair_flag *flag = &pairs->flags[i];

		kwhy_text_context_linef(&context, "  ", "%u > %u: %s%s%s", flag->source, flag->target,
			flag->what, flag->likely_cause ? "; likely: " : "",
			flag->likely_cause ? flag->likely_cause : "");
	}
	kwhy_text_add(out, "\nCriteria\n");
	for (size_t i = 0; i < pairs->criterion_count; i++) {
		const struct kwhy_pair_criterion *row = &pairs->criteria[i];
		char lead[CELL_BYTES];

		snprintf(lead, sizeof(lead), "  %-7s  ", kwhy_pair_verdict_name(row->verdict));
		kwhy_text_context_linef(&context, lead, "%s: %s", row->name, row->why);
	}
	if (pairs->absence_count)
		kwhy_text_add(out, "\nNot measured\n");
	for (size_t i = 0; i < pairs->absence_count; i++)
		kwhy_text_context_linef(
			&context, "  ", "%s: %s", pairs->absences[i].strategy, pairs->absences[i].reason);
}

enum kwhy_status kwhy_report_pairs_text(const struct kwhy_pairs *pairs, const struct kwhy_text_style *style,
	struct kwhy_text *out, struct kwhy_error *error)
{
	write_head(pairs, style, out);
	write_matrices(pairs, style, out);
	kwhy_pairs_write_collectives(pairs, style, out);
	kwhy_pairs_write_ranks(pairs, style, out);
	kwhy_pairs_write_clocks(pairs, style, out);
	write_routes(pairs, style, out);
	write_loggp(pairs, style, out);
	write_regimes(pairs, style, out);
	write_held_outs(pairs, style, out);
	write_energies(pairs, style, out);
	write_pinnings(pairs, style, out);
	if (style->verbose)
		write_loads(pairs, style, out);
	kwhy_pairs_write_gauges(pairs, style, out);
	write_relations(pairs, style, out);
	write_verdicts(pairs, style, out);
	return kwhy_text_check(out, error);
}
