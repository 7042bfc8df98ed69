/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/rows.h"
#include "base/csv_cell.h"
#include "bench/pairs/store.h"
#include "pairs/analysis.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 16, CONFIGS_MAX = 1 << 20 };

const char kwhy_pair_row_names[] =
	"config_id,engine,load,clock,src,dst,size,repetition,timestamp_start_ns,timestamp_end_ns,seconds,"
	"verified,temperature_c,clock_hz,power_w,throttle_bits";

struct reader {
	struct kwhy_bench_rows rows;
	bool add;
	struct kwhy_pairs *pairs;
	size_t space; /* number of elements that pairs->configs has memory for */
};

void kwhy_pair_row_write(const struct kwhy_pairs *pairs, size_t id, size_t sample, struct kwhy_text *out)
{
	const struct kwhy_pair_config *config = &pairs->configs[id];
	const struct kwhy_pair_sample *row = &config->samples[sample];

	kwhy_text_addf(out,
		"%zu,%s,%s,%s,%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%zu,%" PRId64 ",%" PRId64 ",%.17g,%d", id,
		kwhy_pair_engine_name(config->engine), kwhy_pair_load_name(config->load),
		kwhy_pair_clock_name(config->clock), config->source, config->target, config->bytes, sample,
		row->start_unix_ns, row->end_unix_ns, row->seconds, config->verified);
	kwhy_csv_add_real(out, config->conditions.temperature_c);
	kwhy_csv_add_real(out, config->conditions.clock_hz);
	kwhy_csv_add_real(out, config->conditions.power_w);
	kwhy_text_addf(out, ",%u\n", config->conditions.throttle_bits);
}

static const char *or_unknown(const char *text)
{
	return text ? text : "unknown";
}

void kwhy_pair_settings_write(const struct kwhy_pairs *pairs, struct kwhy_text *out)
{
	kwhy_text_add(out, KWHY_PAIR_ROWS_MARK "\n");
	kwhy_text_addf(out, "# backend: %s\n", or_unknown(pairs->backend));
	kwhy_text_addf(out, "# driver: %s\n", or_unknown(pairs->driver));
	kwhy_text_addf(out, "# cuda: %s\n", or_unknown(pairs->cuda));
	kwhy_text_addf(out, "# seed: %" PRIu64 "\n", pairs->seed);
	kwhy_text_addf(out, "# settings: %s\n", or_unknown(pairs->settings));
	for (uint32_t i = 0; i < pairs->gpu_count; i++) {
		kwhy_text_addf(out, "# gpu: %d %s ", pairs->gpus[i].numa_node,
			or_unknown(pairs->gpus[i].pci_address));
		for (uint32_t k = 0; k < pairs->gpu_count; k++)
			kwhy_text_add(out, pairs->is_direct[i][k] ? "1" : "0");
		kwhy_text_addf(out, " %s\n", or_unknown(pairs->gpus[i].name));
	}
}

/*
 * Writes the routes between pairs of GPUs (the link, and its highest rate) as lines "# route: SRC DST WAY
 * LANES LANES_MAX GENERATION LIMIT ANCESTOR" (struct kwhy_pair_route). LIMIT is in bytes per second; 0:
 * unknown. Routes of which nothing is known are left out.
 */
void kwhy_pair_routes_write(const struct kwhy_pairs *pairs, struct kwhy_text *out)
{
	if (pairs->route_missing)
		kwhy_text_addf(out, "# route_missing: %s\n", pairs->route_missing);
	for (uint32_t i = 0; i < pairs->gpu_count; i++)
		for (uint32_t k = 0; k < pairs->gpu_count; k++) {
			const struct kwhy_pair_route *route = &pairs->routes[i][k];

			if (i == k || (route->way == KWHY_PAIR_LINK_KIND_UNKNOWN && route->ancestor < 0))
				continue;
			kwhy_text_addf(out, "# route: %" PRIu32 " %" PRIu32 " %s %u %u %u %.9g %d\n", i, k,
				kwhy_pair_link_kind_name(route->way), route->lanes, route->lanes_most,
				route->generation,
				isfinite(route->limit_bytes_per_s) ? route->limit_bytes_per_s : 0,
				route->ancestor);
		}
}

static const char *engine_name(unsigned i)
{
	return kwhy_pair_engine_name((enum kwhy_pair_engine)i);
}

static const char *load_name(unsigned i)
{
	return kwhy_pair_load_name((enum kwhy_pair_load)i);
}

static const char *clock_name(unsigned i)
{
	return kwhy_pair_clock_name((enum kwhy_pair_clock)i);
}

static bool parse_key(const struct reader *reader, uint64_t *out_id, struct kwhy_pair_config *out)
{
	char *const *cells = reader->rows.cells;
	unsigned engine, load, clock;
	uint64_t source, target;

	if (!kwhy_bench_cell_whole(cells[0], out_id) ||
		!kwhy_bench_cell_find(cells[1], engine_name, KWHY_PAIR_ENGINE_COUNT, &engine) ||
		!kwhy_bench_cell_find(cells[2], load_name, KWHY_PAIR_LOAD_COUNT, &load) ||
		!kwhy_bench_cell_find(cells[3], clock_name, KWHY_PAIR_CLOCK_COUNT, &clock) ||
		!kwhy_bench_cell_whole(cells[4], &source) || !kwhy_bench_cell_whole(cells[5], &target) ||
		!kwhy_bench_cell_whole(cells[6], &out->bytes))
		return false;
	out->engine = (enum kwhy_pair_engine)engine;
	out->load = (enum kwhy_pair_load)load;
	out->clock = (enum kwhy_pair_clock)clock;
	out->source = (uint32_t)source;
	out->target = (uint32_t)target;
	return source < reader->pairs->gpu_count && target < reader->pairs->gpu_count && source != target &&
		out->bytes > 0 && out->bytes <= KWHY_PAIR_BYTES_MAX && *out_id < CONFIGS_MAX;
}

static bool parse_sample(
	const struct reader *reader, struct kwhy_pair_config *out, struct kwhy_pair_sample *sample)
{
	char *const *cells = reader->rows.cells;
	uint64_t repetition, start, end, verified, bits;

	if (!kwhy_bench_cell_whole(cells[7], &repetition) || !kwhy_bench_cell_whole(cells[8], &start) ||
		!kwhy_bench_cell_whole(cells[9], &end) ||
		!kwhy_bench_cell_real(cells[10], &sample->seconds) ||
		!kwhy_bench_cell_whole(cells[11], &verified) ||
		!kwhy_bench_cell_real(cells[12], &out->conditions.temperature_c) ||
		!kwhy_bench_cell_real(cells[13], &out->conditions.clock_hz) ||
		!kwhy_bench_cell_real(cells[14], &out->conditions.power_w) ||
		!kwhy_bench_cell_whole(cells[15], &bits) || start > INT64_MAX || end > INT64_MAX ||
		bits > UINT32_MAX)
		return false;
	sample->start_unix_ns = (int64_t)start;
	sample->end_unix_ns = (int64_t)end;
	out->conditions.memory_clock_hz = NAN;
	out->conditions.throttle_bits = (unsigned)bits;
	out->verified = verified != 0;
	return sample->seconds > 0;
}

static bool is_same(const struct kwhy_pair_config *a, const struct kwhy_pair_config *b)
{
	return a->engine == b->engine && a->load == b->load && a->clock == b->clock &&
		a->source == b->source && a->target == b->target && a->bytes == b->bytes;
}

/*
 * Makes pairs->configs reach up to configuration `id`. Configurations of which no row has been read yet have
 * `bytes` 0.
 */
static enum kwhy_status grow(struct reader *reader, size_t id)
{
	struct kwhy_pairs *pairs = reader->pairs;
	struct kwhy_pair_config *configs;
	size_t space = reader->space ? reader->space : 256;

	while (space <= id)
		space *= 2;
	if (space != reader->space) {
		configs = kwhy_arena_alloc(&pairs->arena, space, sizeof(*configs));
		if (!configs)
			return kwhy_fail_memory(reader->rows.error, "configurations of a benchmark");
		if (pairs->config_count)
			memcpy(configs, pairs->configs, pairs->config_count * sizeof(*configs));
		pairs->configs = configs;
		reader->space = space;
	}
	if (id >= pairs->config_count)
		pairs->config_count = id + 1;
	return KWHY_OK;
}

static enum kwhy_status take_sample(struct reader *reader)
{
	struct kwhy_pair_config key = {.bytes = 0}, *config;
	struct kwhy_pair_sample sample;
	enum kwhy_status status = KWHY_OK;
	uint64_t id;

	if (reader->rows.cell_count != CELLS || !parse_key(reader, &id, &key) ||
		!parse_sample(reader, &key, &sample))
		return kwhy_bench_rows_wrong(&reader->rows, "no sample of a pair");
	if (reader->add)
		status = grow(reader, id);
	if (status)
		return status;
	if (id >= reader->pairs->config_count)
		return kwhy_bench_rows_wrong(
			&reader->rows, "a configuration that these settings do not measure");
	config = &reader->pairs->configs[id];
	if (reader->add && !config->bytes)
		*config = key;
	if (!is_same(config, &key))
		return kwhy_bench_rows_wrong(&reader->rows, "another configuration of the same number");
	if (!kwhy_pair_samples(reader->pairs, config))
		return kwhy_fail_memory(reader->rows.error, "samples");
	if (config->sample_count == KWHY_PAIR_SAMPLES_MAX)
		return kwhy_bench_rows_wrong(
			&reader->rows, "more samples of one configuration than are ever taken");
	config->samples[config->sample_count++] = sample;
	config->conditions = key.conditions;
	config->verified = key.verified;
	return KWHY_OK;
}

/*
 * Parses the rest of a line "# gpu: NODE ADDRESS PEERS NAME": NUMA node, PCI address, and one digit for each
 * GPU: 1 if the GPU of this line can access the memory of that GPU, otherwise 0.
 */
static enum kwhy_status take_gpu(struct reader *reader, char *text)
{
	struct kwhy_pairs *pairs = reader->pairs;
	uint32_t row = pairs->gpu_count;
	char *rest = NULL, *node = strtok_r(text, " ", &rest), *address = strtok_r(NULL, " ", &rest),
	     *peers = strtok_r(NULL, " ", &rest), *name = strtok_r(NULL, "", &rest);

	if (!node || !address || !peers || row == KWHY_PAIR_GPUS_MAX || strlen(peers) > KWHY_PAIR_GPUS_MAX)
		return kwhy_bench_rows_wrong(&reader->rows, "no GPU");
	pairs->gpus[row].numa_node = (int)strtol(node, NULL, 10);
	if (strcmp(address, "unknown") != 0)
		pairs->gpus[row].pci_address = kwhy_arena_copy(&pairs->arena, address);
	if (name && strcmp(name, "unknown") != 0)
		pairs->gpus[row].name = kwhy_arena_copy(&pairs->arena, name);
	for (size_t i = 0; peers[i]; i++)
		pairs->is_direct[row][i] = peers[i] == '1';
	pairs->gpu_count++;
	return KWHY_OK;
}

static const char *way_name(unsigned i)
{
	return kwhy_pair_link_kind_name((enum kwhy_pair_link_kind)i);
}

/*
 * Parses the words of a route. WAY is a name, LIMIT a real number and ANCESTOR may be negative; the other
 * words are unsigned integers.
 */
static bool parse_route(char *const words[8], struct kwhy_pair_route *out)
{
	uint64_t lanes, lanes_most, generation;
	unsigned way;

	if (!kwhy_bench_cell_find(words[2], way_name, KWHY_PAIR_LINK_KIND_COUNT, &way) ||
		!kwhy_bench_cell_whole(words[3], &lanes) || !kwhy_bench_cell_whole(words[4], &lanes_most) ||
		!kwhy_bench_cell_whole(words[5], &generation) ||
		!kwhy_bench_cell_real(words[6], &out->limit_bytes_per_s) || lanes > UINT16_MAX ||
		lanes_most > UINT16_MAX || generation > UINT16_MAX || out->limit_bytes_per_s < 0)
		return false;
	out->way = (enum kwhy_pair_link_kind)way;
	out->lanes = (unsigned)lanes;
	out->lanes_most = (unsigned)lanes_most;
	out->generation = (unsigned)generation;
	if (!(out->limit_bytes_per_s > 0))
		out->limit_bytes_per_s = NAN;
	out->ancestor = (int)strtol(words[7], NULL, 10);
	return true;
}

/*
 * Parses the rest of a line "# route: " (kwhy_pair_routes_write()) and stores it in pairs->routes. Both GPUs
 * must have had their "# gpu: " lines before.
 */
static enum kwhy_status take_route(struct reader *reader, char *text)
{
	struct kwhy_pairs *pairs = reader->pairs;
	struct kwhy_pair_route route;
	char *words[8], *rest = NULL;
	uint64_t source, target;

	for (size_t i = 0; i < 8; i++) {
		words[i] = strtok_r(i ? NULL : text, " ", &rest);
		if (!words[i])
			return kwhy_bench_rows_wrong(&reader->rows, "no link of a pair");
	}
	if (!kwhy_bench_cell_whole(words[0], &source) || !kwhy_bench_cell_whole(words[1], &target) ||
		source >= pairs->gpu_count || target >= pairs->gpu_count || !parse_route(words, &route))
		return kwhy_bench_rows_wrong(&reader->rows, "no link between two of the GPUs");
	pairs->routes[source][target] = route;
	return KWHY_OK;
}

static enum kwhy_status take_setting(struct reader *reader, char *line)
{
	static const char seed[] = "# seed: ", planned[] = "# configurations: ", gpu[] = "# gpu: ",
			  route[] = "# route: ";
	struct kwhy_pairs *pairs = reader->pairs;
	const struct kwhy_bench_setting texts[] = {{"# backend: ", &pairs->backend},
		{"# driver: ", &pairs->driver}, {"# cuda: ", &pairs->cuda},
		{"# settings: ", &pairs->settings}, {"# begun: ", &pairs->measured_on},
		{"# route_missing: ", &pairs->route_missing}};

	if (strncmp(line, seed, sizeof(seed) - 1) == 0)
		pairs->seed = strtoull(line + sizeof(seed) - 1, NULL, 10);
	if (strncmp(line, planned, sizeof(planned) - 1) == 0)
		pairs->planned_count = strtoull(line + sizeof(planned) - 1, NULL, 10);
	if (strncmp(line, gpu, sizeof(gpu) - 1) == 0)
		return take_gpu(reader, line + sizeof(gpu) - 1);
	if (strncmp(line, route, sizeof(route) - 1) == 0)
		return take_route(reader, line + sizeof(route) - 1);
	return kwhy_bench_rows_setting(
		&reader->rows, line, texts, sizeof(texts) / sizeof(texts[0]), &pairs->arena);
}

static enum kwhy_status take_line(void *context, char *line)
{
	struct reader *reader = context;

	if (reader->rows.line == 1)
		return strcmp(line, KWHY_PAIR_ROWS_MARK) == 0
			? KWHY_OK
			: kwhy_bench_rows_wrong(&reader->rows, "these are no samples of kwhy bench pairs");
	if (*line == '#')
		return reader->add ? take_setting(reader, line) : KWHY_OK;
	if (strcmp(line, kwhy_pair_row_names) == 0)
		return KWHY_OK;
	kwhy_bench_rows_split(&reader->rows, line);
	return take_sample(reader);
}

/*
 * A configuration without rows keeps its place in pairs->configs, because the rows give the index of their
 * configuration.
 */
enum kwhy_status kwhy_pair_rows_read(const char *path, const struct kwhy_text *file, bool add,
	struct kwhy_pairs *pairs, struct kwhy_error *error)
{
	struct reader reader = {.rows = {.path = path, .error = error}, .pairs = pairs, .add = add};
	enum kwhy_status status = kwhy_bench_rows_walk(&reader.rows, file, take_line, &reader);

	if (!status && reader.rows.line == 0)
		return kwhy_bench_rows_empty(&reader.rows);
	for (size_t i = 0; !status && i < pairs->config_count; i++)
		kwhy_pair_sum_up(&pairs->configs[i]);
	return status;
}
