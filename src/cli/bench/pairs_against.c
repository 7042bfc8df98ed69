/* SPDX-License-Identifier: Apache-2.0 */
/* Compares measured transfers with a simulator's predictions in a file. */
#include "base/file.h"
#include "cli/bench/pairs_simulators.h"
#include "pairs/analysis.h"
#include "report/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX_BYTES = 64 << 20, NAME_BYTES = 96, REGIMES = 3 };

#define HEADER "src,dst,size,time_ns"

/*
 * count: number of predictions; ratios, worst: sum and maximum of the absolute values of their relative
 * errors.
 */
struct sum {
	size_t count;
	double ratios, worst;
};

/*
 * One engine: the clock that timed its transfers, and the errors of the predictions for these transfers,
 * summed by range of sizes (`regimes`) and by pair [source][target].
 */
struct held_engine {
	enum kwhy_pair_clock clock;
	struct sum regimes[REGIMES], pairs[KWHY_PAIR_GPUS_MAX][KWHY_PAIR_GPUS_MAX];
	size_t count, unknown; /* count: number of predictions for transfers that were measured; unknown:
				  number of predictions for transfers that were not */
	bool is_measured;
};

struct held {
	const struct kwhy_pairs *pairs;
	const char *path;
	enum kwhy_pair_engine otherwise; /* engine of the rows that name no engine */
	struct held_engine engines[KWHY_PAIR_ENGINE_COUNT];
};

struct prediction {
	struct kwhy_pair_config key;
	double time_s;
};

static void find_engines(struct held *held)
{
	bool is_first = true;

	for (unsigned i = 0; i < KWHY_PAIR_ENGINE_COUNT; i++) {
		struct held_engine *engine = &held->engines[i];

		engine->is_measured = kwhy_pairs_clock_of(
			held->pairs, (enum kwhy_pair_engine)i, &engine->clock);
		if (engine->is_measured && is_first) {
			held->otherwise = (enum kwhy_pair_engine)
				i; /* the first measured engine in the order of the enum, which begins with
				      KWHY_PAIR_WRITE */
			is_first = false;
		}
	}
}

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

static void take(struct prediction *prediction, struct held *held)
{
	struct kwhy_pair_config *key = &prediction->key;
	struct held_engine *engine = &held->engines[key->engine];
	const struct kwhy_pair_config *config;
	double ratio;

	key->clock = engine->clock;
	config = engine->is_measured ? kwhy_pairs_find(held->pairs, key) : NULL;
	if (!config) {
		engine->unknown++;
		return;
	}
	ratio = fabs(prediction->time_s / config->summary.median_s - 1);
	engine->count++;
	add_to(&engine->regimes[regime_of(key->bytes)], ratio);
	add_to(&engine->pairs[key->source][key->target], ratio);
}

/* Reads the name of an engine. False: no engine has this name. */
static bool read_engine(const char *name, enum kwhy_pair_engine *out)
{
	for (unsigned i = 0; i < KWHY_PAIR_ENGINE_COUNT; i++)
		if (strcmp(name, kwhy_pair_engine_name((enum kwhy_pair_engine)i)) == 0) {
			*out = (enum kwhy_pair_engine)i;
			return true;
		}
	return false;
}

static bool parse(const char *line, const struct held *held, struct prediction *out)
{
	const uint32_t gpus = held->pairs->gpu_count;
	unsigned long long numbers[3];
	const char *place = line;
	char *end;

	for (size_t i = 0; i < 3; i++) {
		numbers[i] = strtoull(place, &end, 10);
		if (*place < '0' || *place > '9' || *end != ',')
			return false;
		place = end + 1;
	}
	out->key = (struct kwhy_pair_config){.engine = held->otherwise,
		.source = (uint32_t)numbers[0],
		.target = (uint32_t)numbers[1],
		.bytes = numbers[2]};
	out->time_s = strtod(place, &end) * 1e-9;
	if (*end == ',' && end[1] && !read_engine(end + 1, &out->key.engine))
		return false;
	return numbers[0] < gpus && numbers[1] < gpus && out->time_s > 0 && isfinite(out->time_s);
}

static enum kwhy_status take_lines(struct held *held, char *text, struct kwhy_error *error)
{
	size_t number = 0;
	char *place = NULL;

	for (char *line = strtok_r(text, "\r\n", &place); line; line = strtok_r(NULL, "\r\n", &place)) {
		struct prediction prediction;

		number++;
		if (number == 1 && strncmp(line, HEADER, strlen(HEADER)) == 0)
			continue;
		if (!parse(line, held, &prediction))
			return kwhy_fail(error, KWHY_E_INPUT,
				"%s, line %zu: no prediction; rows are " HEADER
				" of GPUs 0 to %u, and then the engine as --engine names it, if it is not %s",
				held->path, number, held->pairs->gpu_count - 1,
				kwhy_pair_engine_name(held->otherwise));
		take(&prediction, held);
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

static void write_engine(const struct held *held, unsigned number, struct kwhy_text *out)
{
	static const struct kwhy_table_column columns[] = {{"", KWHY_COLUMN_NAME},
		{"predictions", KWHY_COLUMN_RIGHT}, {"mean error", KWHY_COLUMN_RIGHT},
		{"worst", KWHY_COLUMN_RIGHT}};
	static const char *const regimes[REGIMES] = {"below 4 KiB", "4 KiB to 1 MiB", "1 MiB and above"};
	const struct held_engine *engine = &held->engines[number];
	const char *name = kwhy_pair_engine_name((enum kwhy_pair_engine)number);
	const struct kwhy_text_style style = {.columns = 80};
	struct kwhy_table table;
	char pair[NAME_BYTES];

	if (engine->count) {
		kwhy_text_addf(out, "\n%s against the measurement: %s, %s\n", held->path, name,
			kwhy_pair_clock_name(engine->clock));
		kwhy_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
		for (size_t i = 0; i < REGIMES; i++)
			add_sum(&table, regimes[i], &engine->regimes[i]);
		for (uint32_t i = 0; i < held->pairs->gpu_count; i++)
			for (uint32_t k = 0; k < held->pairs->gpu_count; k++) {
				snprintf(pair, sizeof(pair), "%u > %u", i, k);
				add_sum(&table, pair, &engine->pairs[i][k]);
			}
		kwhy_table_write(&table, &style, out);
	}
	if (engine->unknown)
		kwhy_text_addf(out, "Predictions of transfers by %s that were not measured: %zu.\n", name,
			engine->unknown);
}

static enum kwhy_status hold(struct held *held, char *text, struct kwhy_text *out, struct kwhy_error *error)
{
	enum kwhy_status status;

	find_engines(held);
	status = take_lines(held, text, error);
	if (status)
		return status;
	for (unsigned i = 0; i < KWHY_PAIR_ENGINE_COUNT; i++)
		write_engine(held, i, out);
	if (!out->length)
		kwhy_text_addf(out, "\n%s has no prediction.\n", held->path);
	return KWHY_OK;
}

enum kwhy_status kwhy_pairs_hold_against(
	const struct kwhy_pairs *pairs, const char *path, struct kwhy_text *out, struct kwhy_error *error)
{
	struct held *held = calloc(1, sizeof(*held));
	struct kwhy_text file = {0};
	enum kwhy_status status = held ? kwhy_file_read(path, FILE_MAX_BYTES, &file, error)
				       : kwhy_fail_memory(error, "predictions");

	if (!status && !file.data)
		status = kwhy_fail(error, KWHY_E_INPUT, "%s is empty; rows are " HEADER, path);
	if (!status) {
		held->pairs = pairs;
		held->path = path;
		status = hold(held, file.data, out, error);
	}
	kwhy_text_done(&file);
	free(held);
	return status;
}
