/* SPDX-License-Identifier: Apache-2.0 */
#include "model/pairs.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const struct {
	const char *name, *title;
} engines[KWHY_PAIR_ENGINE_COUNT] = {
	[KWHY_PAIR_WRITE] = {"write", "a copy, queued on the source"},
	[KWHY_PAIR_READ] = {"read", "a copy, queued on the target"},
	[KWHY_PAIR_KERNEL] = {"kernel", "a kernel of the source that writes to the target"},
	[KWHY_PAIR_STAGED] = {"staged", "through host memory, in pieces that overlap"},
	[KWHY_PAIR_PUT] = {"put", "kernels that write bytes, then a flag; half a round trip"},
	[KWHY_PAIR_PING_PONG] = {"ping-pong", "copies that begin each other; half a round trip"},
	[KWHY_PAIR_EXCHANGE] = {"exchange", "copies both directions concurrently"},
	[KWHY_PAIR_NCCL] = {"nccl", "NCCL's send and receive"},
	[KWHY_PAIR_NCCL_EXCHANGE] = {"nccl-exchange",
		"NCCL's send and receive, both directions concurrently"},
	[KWHY_PAIR_NCCL_FULL] = {"nccl-full", "NCCL's send and receive, by the communicator of all"},
	[KWHY_PAIR_SOCKET] = {"socket", "host memory to host memory by TCP"},
	[KWHY_PAIR_ALL_REDUCE] = {"all-reduce", "sums of all, to all"},
	[KWHY_PAIR_ALL_GATHER] = {"all-gather", "a part of each, to all"},
	[KWHY_PAIR_REDUCE_SCATTER] = {"reduce-scatter", "sums of all, a part to each"},
	[KWHY_PAIR_BROADCAST] = {"broadcast", "of the first, to all"},
	[KWHY_PAIR_ALL_EXCHANGE] = {"all-to-all", "a part of each, to each"},
};

const char *kwhy_pair_engine_name(enum kwhy_pair_engine engine)
{
	return engines[engine].name;
}

const char *kwhy_pair_engine_title(enum kwhy_pair_engine engine)
{
	return engines[engine].title;
}

const char *kwhy_pair_load_name(enum kwhy_pair_load load)
{
	static const char *const names[KWHY_PAIR_LOAD_COUNT] = {
		"alone", "same-source", "same-target", "disjoint", "all-to-all", "from-host", "reference"};

	return names[load];
}

const char *kwhy_pair_clock_name(enum kwhy_pair_clock clock)
{
	static const char *const names[KWHY_PAIR_CLOCK_COUNT] = {
		"back-to-back", "isolated", "host", "call", "queued"};

	return names[clock];
}

const char *kwhy_pair_verdict_name(enum kwhy_pair_verdict verdict)
{
	static const char *const names[] = {"pass", "fail", "unknown"};

	return names[verdict];
}

const char *kwhy_pair_link_kind_name(enum kwhy_pair_link_kind way)
{
	static const char *const names[KWHY_PAIR_LINK_KIND_COUNT] = {"unknown", "nvswitch", "nvlink", "pcie"};

	return names[way];
}

/*
 * Words for the common ancestor of two GPUs, given as an NVML topology level (a multiple of 10 from 0 to 50).
 */
static const char *ancestor_words(int ancestor)
{
	static const char *const words[] = {
		", one board", ", one switch", ", switches", ", host bridge", ", one node", ", two nodes"};

	return ancestor >= 0 && ancestor <= 50 ? words[ancestor / 10] : "";
}

const char *kwhy_pair_route_text(char out[KWHY_PAIR_ROUTE_BYTES], const struct kwhy_pair_route *route)
{
	const char *words = ancestor_words(route->ancestor);

	switch (route->way) {
	case KWHY_PAIR_NVSWITCH:
	case KWHY_PAIR_NVLINK:
		snprintf(out, KWHY_PAIR_ROUTE_BYTES, "%u NVLink %u, %s", route->lanes, route->generation,
			route->way == KWHY_PAIR_NVSWITCH ? "switched" : "direct");
		break;
	case KWHY_PAIR_PCIE:
		snprintf(out, KWHY_PAIR_ROUTE_BYTES, "PCIe %u x%u%s", route->generation, route->lanes, words);
		break;
	default:
		snprintf(out, KWHY_PAIR_ROUTE_BYTES, "unknown%s", words);
	}
	return out;
}

const char *kwhy_pair_limit_source(enum kwhy_pair_link_kind way)
{
	switch (way) {
	case KWHY_PAIR_NVSWITCH:
	case KWHY_PAIR_NVLINK:
		return "raw rate of the links that are up, as NVML reports it; heads of packets take a part";
	case KWHY_PAIR_PCIE:
		return "lanes that are up at the rate of the generation, line coding taken off; heads of "
		       "packets take a part";
	default:
		return NULL;
	}
}

const struct kwhy_pair_config *kwhy_pairs_fastest(
	const struct kwhy_pairs *pairs, uint32_t source, uint32_t target, bool both_directions)
{
	const struct kwhy_pair_config *best = NULL;

	for (size_t i = 0; i < pairs->config_count; i++) {
		const struct kwhy_pair_config *config = &pairs->configs[i];

		if (config->sample_count && config->source == source && config->target == target &&
			config->load == KWHY_PAIR_ALONE && config->clock != KWHY_PAIR_CALL &&
			!kwhy_pair_is_collective(config->engine) &&
			kwhy_pair_is_exchange(config->engine) == both_directions &&
			(!best || kwhy_pair_rate(config) > kwhy_pair_rate(best)))
			best = config;
	}
	return best;
}

double kwhy_pairs_of_limit(const struct kwhy_pairs *pairs, const struct kwhy_pair_config *config)
{
	double ways;

	if (!config)
		return NAN;
	ways = kwhy_pair_is_exchange(config->engine) ? 2 : 1;
	return kwhy_pair_rate(config) /
		(ways * pairs->routes[config->source][config->target].limit_bytes_per_s);
}

bool kwhy_pairs_have_link_kind(const struct kwhy_pairs *pairs, enum kwhy_pair_link_kind way)
{
	for (uint32_t i = 0; i < pairs->gpu_count; i++)
		for (uint32_t k = 0; k < pairs->gpu_count; k++)
			if (i != k && pairs->routes[i][k].way == way)
				return true;
	return false;
}

bool kwhy_pairs_are_alike(const struct kwhy_pairs *pairs, uint32_t a_source, uint32_t a_target,
	uint32_t b_source, uint32_t b_target)
{
	const struct kwhy_pair_route *a = &pairs->routes[a_source][a_target],
				     *b = &pairs->routes[b_source][b_target];
	bool is_nvlink = a->way == KWHY_PAIR_NVSWITCH || a->way == KWHY_PAIR_NVLINK;

	return pairs->is_direct[a_source][a_target] == pairs->is_direct[b_source][b_target] &&
		a->way == b->way && a->lanes == b->lanes && a->generation == b->generation &&
		(is_nvlink || a->ancestor == b->ancestor);
}

bool kwhy_pairs_stands_for_others(const struct kwhy_pairs *pairs, uint32_t source, uint32_t target)
{
	uint32_t low = source < target ? source : target, high = source < target ? target : source;

	for (uint32_t i = 0; i < pairs->gpu_count; i++)
		for (uint32_t k = i + 1; k < pairs->gpu_count; k++)
			if (kwhy_pairs_are_alike(pairs, i, k, low, high))
				return i == low && k == high;
	return true;
}

struct kwhy_pairs *kwhy_pairs_new(void)
{
	struct kwhy_pairs *pairs = calloc(1, sizeof(*pairs));

	if (!pairs)
		return NULL;
	pairs->time_pass_s = pairs->warm_s = pairs->clocks_s = NAN;
	for (int i = 0; i < KWHY_PAIR_GPUS_MAX; i++) {
		pairs->drifts[i] = (struct kwhy_pair_drift){NAN, NAN};
		pairs->ranks[i] = (struct kwhy_pair_rank){
			.offset_ns = NAN, .offset_half_width_ns = NAN, .drift = {NAN, NAN}};
	}
	for (int i = 0; i < KWHY_PAIR_GPUS_MAX * KWHY_PAIR_GPUS_MAX; i++)
		pairs->routes[i / KWHY_PAIR_GPUS_MAX][i % KWHY_PAIR_GPUS_MAX] = (struct kwhy_pair_route){
			.limit_bytes_per_s = NAN, .ancestor = -1};
	return pairs;
}

void kwhy_pairs_free(struct kwhy_pairs *pairs)
{
	if (!pairs)
		return;
	kwhy_arena_done(&pairs->arena);
	free(pairs);
}

enum kwhy_status kwhy_pairs_add_absence(
	struct kwhy_pairs *pairs, const char *engine, const char *reason, struct kwhy_error *error)
{
	struct kwhy_transfer_absence *items = kwhy_arena_grow(
		&pairs->arena, pairs->absences, pairs->absence_count, sizeof(*items));
	struct kwhy_transfer_absence absence = {
		kwhy_arena_copy(&pairs->arena, engine), kwhy_arena_copy(&pairs->arena, reason)};

	if (!items || !absence.strategy || !absence.reason)
		return kwhy_fail_memory(error, "an engine that is not there");
	pairs->absences = items;
	items[pairs->absence_count++] = absence;
	return KWHY_OK;
}

static enum kwhy_status add_text(struct kwhy_pairs *pairs, const char ***texts, size_t *count,
	const char *text, struct kwhy_error *error)
{
	const char **items = kwhy_arena_grow(&pairs->arena, (void *)*texts, *count, sizeof(*items));
	const char *copy = kwhy_arena_copy(&pairs->arena, text);

	if (!items || !copy)
		return kwhy_fail_memory(error, "what is known of a run");
	*texts = items;
	items[(*count)++] = copy;
	return KWHY_OK;
}

enum kwhy_status kwhy_pairs_add_note(struct kwhy_pairs *pairs, const char *note, struct kwhy_error *error)
{
	return add_text(pairs, &pairs->notes, &pairs->note_count, note, error);
}

enum kwhy_status kwhy_pairs_add_nccl_setting(
	struct kwhy_pairs *pairs, const char *setting, struct kwhy_error *error)
{
	return add_text(pairs, &pairs->nccl_settings, &pairs->nccl_setting_count, setting, error);
}

const char *kwhy_pair_gauge_name(enum kwhy_pair_gauge gauge)
{
	static const char *const names[KWHY_PAIR_GAUGE_COUNT] = {"temperature", "clock"};

	return names[gauge];
}

enum kwhy_status kwhy_pairs_add_reading(
	struct kwhy_pairs *pairs, const struct kwhy_pair_reading *reading, struct kwhy_error *error)
{
	struct kwhy_pair_reading *items = kwhy_arena_grow(
		&pairs->arena, pairs->readings, pairs->reading_count, sizeof(*items));

	if (!items)
		return kwhy_fail_memory(error, "temperatures of pairs");
	pairs->readings = items;
	items[pairs->reading_count++] = *reading;
	return KWHY_OK;
}

struct kwhy_pair_figure kwhy_pair_pinning_ratio(const struct kwhy_pair_pinning *row, enum kwhy_pair_pin pin)
{
	const struct kwhy_pair_figure *there = &row->times[pin], *near = &row->times[KWHY_PAIR_NEAR];

	return (struct kwhy_pair_figure){
		there->value / near->value, there->low / near->high, there->high / near->low};
}

enum kwhy_status kwhy_pairs_add_pinning(
	struct kwhy_pairs *pairs, const struct kwhy_pair_pinning *pinning, struct kwhy_error *error)
{
	struct kwhy_pair_pinning *items = kwhy_arena_grow(
		&pairs->arena, pairs->pinnings, pairs->pinning_count, sizeof(*items));

	if (!items)
		return kwhy_fail_memory(error, "times of pairs by NUMA node");
	pairs->pinnings = items;
	items[pairs->pinning_count++] = *pinning;
	return KWHY_OK;
}

enum kwhy_status kwhy_pairs_add_energy(
	struct kwhy_pairs *pairs, const struct kwhy_pair_energy *energy, struct kwhy_error *error)
{
	struct kwhy_pair_energy *items = kwhy_arena_grow(
		&pairs->arena, pairs->energies, pairs->energy_count, sizeof(*items));

	if (!items)
		return kwhy_fail_memory(error, "energies of pairs");
	pairs->energies = items;
	items[pairs->energy_count++] = *energy;
	return KWHY_OK;
}

struct kwhy_pair_figure kwhy_pair_energy_per_byte(const struct kwhy_pair_energy *energy, bool net)
{
	const struct kwhy_pair_figure *source = net ? &energy->source_net : &energy->source_gross,
				      *target = net ? &energy->target_net : &energy->target_gross;
	double bytes = (kwhy_pair_is_exchange(energy->engine) ? 2 : 1) * (double)energy->bytes;

	return (struct kwhy_pair_figure){(source->value + target->value) / bytes,
		(source->low + target->low) / bytes, (source->high + target->high) / bytes};
}

const struct kwhy_pair_config *kwhy_pairs_find(
	const struct kwhy_pairs *pairs, const struct kwhy_pair_config *key)
{
	for (size_t i = 0; i < pairs->config_count; i++) {
		const struct kwhy_pair_config *config = &pairs->configs[i];

		if (config->sample_count && config->engine == key->engine && config->load == key->load &&
			config->clock == key->clock && config->source == key->source &&
			config->target == key->target && config->bytes == key->bytes)
			return config;
	}
	return NULL;
}

const struct kwhy_pair_curve *kwhy_pairs_curve(const struct kwhy_pairs *pairs, enum kwhy_pair_engine engine,
	enum kwhy_pair_clock clock, uint32_t source, uint32_t target)
{
	for (size_t i = 0; i < pairs->curve_count; i++) {
		const struct kwhy_pair_curve *curve = &pairs->curves[i];

		if (curve->engine == engine && curve->load == KWHY_PAIR_ALONE && curve->clock == clock &&
			curve->source == source && curve->target == target)
			return curve;
	}
	return NULL;
}

bool kwhy_pair_is_exchange(enum kwhy_pair_engine engine)
{
	return engine == KWHY_PAIR_EXCHANGE || engine == KWHY_PAIR_NCCL_EXCHANGE;
}

bool kwhy_pair_is_by_nccl(enum kwhy_pair_engine engine)
{
	return engine == KWHY_PAIR_NCCL || engine == KWHY_PAIR_NCCL_EXCHANGE ||
		engine == KWHY_PAIR_NCCL_FULL || kwhy_pair_is_collective(engine);
}

bool kwhy_pair_is_collective(enum kwhy_pair_engine engine)
{
	return engine >= KWHY_PAIR_ALL_REDUCE && engine <= KWHY_PAIR_ALL_EXCHANGE;
}

double kwhy_pair_bus_share(enum kwhy_pair_engine engine, uint32_t gpu_count)
{
	double others = gpu_count ? (gpu_count - 1.0) / gpu_count : 1;

	switch (engine) {
	case KWHY_PAIR_ALL_REDUCE:
		return 2 * others;
	case KWHY_PAIR_ALL_GATHER:
	case KWHY_PAIR_REDUCE_SCATTER:
	case KWHY_PAIR_ALL_EXCHANGE:
		return others;
	default:
		return 1;
	}
}

double kwhy_pair_rate(const struct kwhy_pair_config *config)
{
	double ways = kwhy_pair_is_exchange(config->engine) ? 2 : 1;

	return ways * (double)config->bytes / config->summary.median_s;
}

const char *kwhy_pair_name(
	char out[KWHY_PAIR_NAME_BYTES], size_t id, const struct kwhy_pair_config *config, size_t repetition)
{
	snprintf(out, KWHY_PAIR_NAME_BYTES, "p2p_cfg%04zu_s%" PRIu32 "d%" PRIu32 "_sz%" PRIu64 "_r%zu", id,
		config->source, config->target, config->bytes, repetition);
	return out;
}
