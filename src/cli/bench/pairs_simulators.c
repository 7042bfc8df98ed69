/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/bench/pairs_simulators.h"

#include "base/file.h"
#include "base/output.h"
#include "pairs/analysis.h"
#include "report/simulators/simulators.h"
#include "report/table.h"
#include "report/transfers.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 4096 };

static enum kwhy_status write_file(
	const char *folder, const char *name, const struct kwhy_text *text, struct kwhy_error *error)
{
	char path[PATH_BYTES];

	if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= PATH_BYTES)
		return kwhy_fail(error, KWHY_E_USAGE, "the folder's name is too long; name another one");
	return kwhy_file_write(path, text->data, text->length, error);
}

static void add_errors(const struct kwhy_simulator *simulator, const char *text,
	const struct kwhy_pair_series *series, struct kwhy_text *out)
{
	const struct kwhy_pairs *pairs = series->pairs;

	for (size_t i = 0; i < pairs->config_count; i++) {
		const struct kwhy_pair_config *config = &pairs->configs[i];
		double time_s;

		if (!kwhy_simulator_takes(series, config))
			continue;
		time_s = simulator->predict_s(text, config);
		kwhy_text_addf(out, "%s,%s,%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%.9g,", simulator->name,
			kwhy_pair_engine_name(series->engine), config->source, config->target, config->bytes,
			config->summary.median_s * 1e9);
		if (isfinite(time_s))
			kwhy_text_addf(out, "%.9g,%.6g", time_s * 1e9, time_s / config->summary.median_s - 1);
		else
			kwhy_text_add(out, ",");
		kwhy_text_add(out, "\n");
	}
}

static void add_row(struct kwhy_table *table, const struct kwhy_simulator *simulator,
	const struct kwhy_simulator_error *far)
{
	char size[KWHY_TRANSFER_SIZE_BYTES];

	kwhy_table_cell(table, simulator->name);
	kwhy_table_percent(table, far->mean_ratio);
	kwhy_table_percent(table, far->count ? far->worst_ratio : NAN);
	kwhy_table_cell(table, far->count ? kwhy_transfer_size_text(size, far->worst_bytes) : NULL);
	kwhy_table_percent(table, far->large_mean_ratio);
	kwhy_table_percent(table, far->large_worst_ratio);
}

static enum kwhy_status simulate(const struct kwhy_simulator *simulator,
	const struct kwhy_pair_series *series, const char *folder, struct kwhy_text *errors,
	struct kwhy_table *table, struct kwhy_error *error)
{
	struct kwhy_simulator_error far;
	struct kwhy_text text = {0};
	enum kwhy_status status;

	simulator->write(series, &text);
	status = kwhy_text_check(&text, error);
	if (!status)
		status = write_file(folder, simulator->file, &text, error);
	if (!status) {
		kwhy_simulator_compare(simulator, text.data, series, &far);
		add_row(table, simulator, &far);
		add_errors(simulator, text.data, series, errors);
	}
	kwhy_text_done(&text);
	return status;
}

/*
 * Gets what simulator inputs are made from: the transfers measured with `engine`, by the one clock that
 * kwhy_pairs_clock_of() chooses, and the models fitted to their times. False: too few such transfers were
 * measured.
 */
static bool find_series(
	const struct kwhy_pairs *pairs, enum kwhy_pair_engine engine, struct kwhy_pair_series *out)
{
	enum kwhy_pair_clock clock;

	if (!kwhy_pairs_clock_of(pairs, engine, &clock))
		return false;
	kwhy_pairs_series_fit(pairs, engine, clock, out);
	return kwhy_pair_is_collective(engine) || kwhy_simulators_can_write(out);
}

/*
 * Writes the inputs of all simulators for one engine to that engine's subfolder of `folder`. Adds the
 * relative error of each time that a simulator predicts from its input as a CSV row to `errors`, and a table
 * with the mean and the largest error of each simulator to `out`.
 */
static enum kwhy_status simulate_series(const struct kwhy_pair_series *series, const char *folder,
	struct kwhy_text *errors, struct kwhy_text *out, struct kwhy_error *error)
{
	static const struct kwhy_table_column columns[] = {{"simulator", KWHY_COLUMN_LEFT},
		{"mean", KWHY_COLUMN_RIGHT}, {"worst", KWHY_COLUMN_RIGHT}, {"at", KWHY_COLUMN_RIGHT},
		{"mean >=64 KiB", KWHY_COLUMN_RIGHT}, {"worst", KWHY_COLUMN_RIGHT}};
	const struct kwhy_text_style style = {.columns = 80};
	const char *engine = kwhy_pair_engine_name(series->engine);
	const bool is_collective = kwhy_pair_is_collective(series->engine);
	char path[PATH_BYTES];
	struct kwhy_table table;
	enum kwhy_status status;

	if (snprintf(path, sizeof(path), "%s/%s", folder, engine) >= PATH_BYTES)
		return kwhy_fail(error, KWHY_E_USAGE, "the folder's name is too long; name another one");
	status = kwhy_output_folder(path, error);
	if (status)
		return status;
	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; !status && kwhy_simulator_at(i); i++)
		if (!is_collective || kwhy_simulator_at(i)->takes_collectives)
			status = simulate(kwhy_simulator_at(i), series, path, errors, &table, error);
	kwhy_text_addf(out, "\n%s, %s, in %s:\n", engine, kwhy_pair_clock_name(series->clock), path);
	kwhy_table_write(&table, &style, out);
	return status;
}

enum kwhy_status kwhy_pairs_simulate(
	const struct kwhy_pairs *pairs, const char *folder, struct kwhy_text *out, struct kwhy_error *error)
{
	struct kwhy_text errors = {0};
	struct kwhy_pair_series series;
	enum kwhy_status status = KWHY_OK;
	size_t written = 0;

	kwhy_text_add(&errors, "simulator,engine,src,dst,size,measured_ns,predicted_ns,error_ratio\n");
	kwhy_text_add(out, "\nSimulators' inputs, read back by their rules: error against the measurement\n");
	for (unsigned engine = 0; !status && engine < KWHY_PAIR_ENGINE_COUNT; engine++) {
		if (!find_series(pairs, (enum kwhy_pair_engine)engine, &series))
			continue;
		status = written++ ? KWHY_OK : kwhy_output_folder(folder, error);
		if (!status)
			status = simulate_series(&series, folder, &errors, out, error);
	}
	if (!status && !written)
		status = kwhy_fail(error, KWHY_E_INPUT,
			"simulators need transfers of one engine of at least three sizes from 64 KiB up, or "
			"collectives; measure those, too");
	if (!status)
		status = kwhy_text_check(&errors, error);
	if (!status)
		status = write_file(folder, "errors.csv", &errors, error);
	kwhy_text_done(&errors);
	return status;
}
