/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/bench/pairs_simulators.h"

#include "base/file.h"
#include "base/output.h"
#include "report/simulators/simulators.h"
#include "report/table.h"
#include "report/transfers.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 4096, FILE_MAX_BYTES = 64 << 20, NAME_BYTES = 96 };

static enum kwhy_status write_file(
	const char *folder, const char *name, const struct kwhy_text *text, struct kwhy_error *error)
{
	char path[PATH_BYTES];

	if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= PATH_BYTES)
		return kwhy_fail(error, KWHY_E_USAGE, "the folder's name is too long; name another one");
	return kwhy_file_write(path, text->data, text->length, error);
}

static void add_errors(const struct kwhy_simulator *simulator, const char *text,
	const struct kwhy_pairs *pairs, struct kwhy_text *out)
{
	for (size_t i = 0; i < pairs->config_count; i++) {
		const struct kwhy_pair_config *config = &pairs->configs[i];
		double time_s;

		if (!kwhy_simulator_takes(config))
			continue;
		time_s = simulator->predict_s(text, config);
		kwhy_text_addf(out, "%s,%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%.9g,", simulator->name,
			config->source, config->target, config->bytes, config->summary.median_s * 1e9);
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
	kwhy_table_cell(table, simulator->file);
	kwhy_table_percent(table, far->mean_ratio);
	kwhy_table_percent(table, far->count ? far->worst_ratio : NAN);
	kwhy_table_cell(table, far->count ? kwhy_transfer_size_text(size, far->worst_bytes) : NULL);
	kwhy_table_percent(table, far->large_mean_ratio);
	kwhy_table_percent(table, far->large_worst_ratio);
}

static enum kwhy_status simulate(const struct kwhy_simulator *simulator, const struct kwhy_pairs *pairs,
	const char *folder, struct kwhy_text *errors, struct kwhy_table *table, struct kwhy_error *error)
{
	struct kwhy_simulator_error far;
	struct kwhy_text text = {0};
	enum kwhy_status status;

	simulator->write(pairs, &text);
	status = kwhy_text_check(&text, error);
	if (!status)
		status = write_file(folder, simulator->file, &text, error);
	if (!status) {
		kwhy_simulator_compare(simulator, text.data, pairs, &far);
		add_row(table, simulator, &far);
		add_errors(simulator, text.data, pairs, errors);
	}
	kwhy_text_done(&text);
	return status;
}

enum kwhy_status kwhy_pairs_simulate(
	const struct kwhy_pairs *pairs, const char *folder, struct kwhy_text *out, struct kwhy_error *error)
{
	static const struct kwhy_table_column columns[] = {{"simulator", KWHY_COLUMN_LEFT},
		{"input", KWHY_COLUMN_NAME}, {"mean", KWHY_COLUMN_RIGHT}, {"worst", KWHY_COLUMN_RIGHT},
		{"at", KWHY_COLUMN_RIGHT}, {"mean >=64 KiB", KWHY_COLUMN_RIGHT},
		{"worst", KWHY_COLUMN_RIGHT}};
	const struct kwhy_text_style style = {.columns = 80};
	struct kwhy_text errors = {0};
	struct kwhy_table table;
	enum kwhy_status status = KWHY_OK;

	if (!kwhy_simulators_can_write(pairs))
		return kwhy_fail(error, KWHY_E_INPUT,
			"simulators need copies (engine write, clock back-to-back) of at least three sizes "
			"from 64 KiB up; measure those, too");
	status = kwhy_output_folder(folder, error);
	if (status)
		return status;
	kwhy_text_add(&errors, "simulator,src,dst,size,measured_ns,predicted_ns,error_ratio\n");
	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; !status && kwhy_simulator_at(i); i++)
		status = simulate(kwhy_simulator_at(i), pairs, folder, &errors, &table, error);
	kwhy_text_add(out, "\nSimulators' inputs, read back by their rules: error against the measurement\n");
	kwhy_table_write(&table, &style, out);
	if (!status)
		status = kwhy_text_check(&errors, error);
	if (!status)
		status = write_file(folder, "errors.csv", &errors, error);
	kwhy_text_done(&errors);
	return status;
}

/* --- Predictions in a file --- */

/* Sums over the errors of predictions of one kind. */
struct sum {
	size_t count;
	double ratios, worst;
};

struct held {
	struct sum regimes[3], pairs[KWHY_PAIR_GPUS_MAX][KWHY_PAIR_GPUS_MAX];
	size_t unknown; /* number of predictions of transfers that were not measured */
};

static void add_to(struct sum *sum, double ratio)
{
	sum->count++;
	sum->ratios += ratio;
	sum->worst = fmax(sum->worst, ratio);
}

static size_t regime_of(uint64_t bytes)
{
	return bytes < 4096 ? 0 : bytes < 1 << 20 ? 1 : 2;
}

static void take(
	const struct kwhy_pairs *pairs, const struct kwhy_pair_config *key, double time_s, struct held *held)
{
	const struct kwhy_pair_config *config = kwhy_pairs_find(pairs, key);
	double ratio;

	if (!config) {
		held->unknown++;
		return;
	}
	ratio = fabs(time_s / config->summary.median_s - 1);
	add_to(&held->regimes[regime_of(key->bytes)], ratio);
	add_to(&held->pairs[key->source][key->target], ratio);
}

static bool parse(const char *line, uint32_t gpus, struct kwhy_pair_config *out, double *out_s)
{
	unsigned long long numbers[3];
	const char *place = line;

	for (size_t i = 0; i < 3; i++) {
		char *end;

		numbers[i] = strtoull(place, &end, 10);
		if (*place < '0' || *place > '9' || *end != ',')
			return false;
		place = end + 1;
	}
	*out = (struct kwhy_pair_config){.engine = KWHY_PAIR_WRITE,
		.source = (uint32_t)numbers[0],
		.target = (uint32_t)numbers[1],
		.bytes = numbers[2]};
	*out_s = strtod(place, NULL) * 1e-9;
	return numbers[0] < gpus && numbers[1]<gpus && * out_s> 0 && isfinite(*out_s);
}

static enum kwhy_status take_lines(const struct kwhy_pairs *pairs, const char *path, char *text,
	struct held *held, struct kwhy_error *error)
{
	size_t number = 0;
	char *place = NULL;

	for (char *line = strtok_r(text, "\r\n", &place); line; line = strtok_r(NULL, "\r\n", &place)) {
		struct kwhy_pair_config key;
		double time_s;

		number++;
		if (number == 1 && strncmp(line, "src,dst,size,time_ns", 20) == 0)
			continue;
		if (!parse(line, pairs->gpu_count, &key, &time_s))
			return kwhy_fail(error, KWHY_E_INPUT,
				"%s, line %zu: no prediction; rows are src,dst,size,time_ns of GPUs 0 to %u",
				path, number, pairs->gpu_count - 1);
		take(pairs, &key, time_s, held);
	}
	return KWHY_OK;
}

static void add_sum(struct kwhy_table *table, const char *name, const struct sum *sum)
{
	if (!sum->count)
		return;
	kwhy_table_cell(table, name);
	kwhy_table_count(table, sum->count);
	kwhy_table_percent(table, sum->ratios / (double)sum->count);
	kwhy_table_percent(table, sum->worst);
}

static void write_held(const struct kwhy_pairs *pairs, const struct held *held, struct kwhy_text *out)
{
	static const struct kwhy_table_column columns[] = {{"", KWHY_COLUMN_NAME},
		{"predictions", KWHY_COLUMN_RIGHT}, {"mean error", KWHY_COLUMN_RIGHT},
		{"worst", KWHY_COLUMN_RIGHT}};
	static const char *const regimes[] = {"below 4 KiB", "4 KiB to 1 MiB", "1 MiB and above"};
	const struct kwhy_text_style style = {.columns = 80};
	struct kwhy_table table;
	char name[NAME_BYTES];

	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < 3; i++)
		add_sum(&table, regimes[i], &held->regimes[i]);
	for (uint32_t i = 0; i < pairs->gpu_count; i++)
		for (uint32_t k = 0; k < pairs->gpu_count; k++) {
			snprintf(name, sizeof(name), "%u > %u", i, k);
			add_sum(&table, name, &held->pairs[i][k]);
		}
	kwhy_table_write(&table, &style, out);
	if (held->unknown)
		kwhy_text_addf(out, "Predictions without a measured copy (write, back to back): %zu.\n",
			held->unknown);
}

enum kwhy_status kwhy_pairs_hold_against(
	const struct kwhy_pairs *pairs, const char *path, struct kwhy_text *out, struct kwhy_error *error)
{
	struct held held = {.unknown = 0};
	struct kwhy_text file = {0};
	enum kwhy_status status = kwhy_file_read(path, FILE_MAX_BYTES, &file, error);

	if (!status && !file.data)
		status = kwhy_fail(error, KWHY_E_INPUT, "%s is empty; rows are src,dst,size,time_ns", path);
	if (!status)
		status = take_lines(pairs, path, file.data, &held, error);
	kwhy_text_done(&file);
	if (status)
		return status;
	kwhy_text_addf(out, "\n%s against the measurement\n", path);
	write_held(pairs, &held, out);
	return KWHY_OK;
}
