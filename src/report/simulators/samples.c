/* SPDX-License-Identifier: Apache-2.0 */
/* Input files of network simulators that use measured times as they are. */
#include "report/simulators/simulators.h"

#include "report/json/writer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_BYTES = 96 };

/* Values of the enum CollectiveCommType of Chakra's schema (et_def.proto). */
static const uint64_t collective_types[KWHY_PAIR_ENGINE_COUNT] = {
	[KWHY_PAIR_ALL_REDUCE] = 0,
	[KWHY_PAIR_ALL_GATHER] = 2,
	[KWHY_PAIR_BROADCAST] = 5,
	[KWHY_PAIR_ALL_EXCHANGE] = 6,
	[KWHY_PAIR_REDUCE_SCATTER] = 7,
};

static const char *node_name(char out[KEY_BYTES], const struct kwhy_pair_config *config)
{
	if (kwhy_pair_is_collective(config->engine))
		snprintf(out, KEY_BYTES, "%s_sz%" PRIu64, kwhy_pair_engine_name(config->engine),
			config->bytes);
	else
		snprintf(out, KEY_BYTES, "p2p_s%" PRIu32 "d%" PRIu32 "_sz%" PRIu64, config->source,
			config->target, config->bytes);
	return out;
}

static void write_attribute(struct kwhy_json *json, const char *name, const char *type, uint64_t value)
{
	kwhy_json_row(json, NULL);
	kwhy_json_string(json, "name", name);
	kwhy_json_count(json, type, value);
	kwhy_json_object_end(json);
}

static void write_attributes(struct kwhy_json *json, const struct kwhy_pair_config *config)
{
	kwhy_json_list(json, "attr");
	if (kwhy_pair_is_collective(config->engine)) {
		write_attribute(json, "comm_type", "int64_val", collective_types[config->engine]);
	} else {
		write_attribute(json, "comm_src", "uint64_val", config->source);
		write_attribute(json, "comm_dst", "uint64_val", config->target);
	}
	write_attribute(json, "comm_size", "uint64_val", config->bytes);
	write_attribute(json, "duration_ns", "uint64_val", (uint64_t)(config->summary.median_s * 1e9 + 0.5));
	kwhy_json_array_end(json);
}

/*
 * Writes nodes of a Chakra execution trace in the JSON form of its schema, one for each measured transfer.
 * The time is in the attribute duration_ns, since Chakra's duration_micros has whole microseconds, which is
 * too coarse here.
 */
static void write_chakra(const struct kwhy_pair_series *series, struct kwhy_text *out)
{
	const struct kwhy_pairs *pairs = series->pairs;
	struct kwhy_json json;
	char name[KEY_BYTES];

	kwhy_json_init(&json, out);
	kwhy_json_object(&json, NULL);
	kwhy_json_array(&json, "nodes");
	for (size_t i = 0; i < pairs->config_count; i++) {
		const struct kwhy_pair_config *config = &pairs->configs[i];

		if (!kwhy_simulator_takes(series, config))
			continue;
		kwhy_json_row(&json, NULL);
		kwhy_json_count(&json, "id", i);
		kwhy_json_string(&json, "name", node_name(name, config));
		kwhy_json_string(&json, "type",
			kwhy_pair_is_collective(config->engine) ? "COMM_COLL_NODE" : "COMM_SEND_NODE");
		kwhy_json_count(&json, "duration_micros", (uint64_t)(config->summary.median_s * 1e6 + 0.5));
		write_attributes(&json, config);
		kwhy_json_object_end(&json);
	}
	kwhy_json_array_end(&json);
	kwhy_json_object_end(&json);
	kwhy_text_add(out, "\n");
}

static double predict_chakra(const char *text, const struct kwhy_pair_config *config)
{
	char name[KEY_BYTES], key[KEY_BYTES + 2];
	const char *node;

	snprintf(key, sizeof(key), "\"%s\"", node_name(name, config));
	node = strstr(text, key);
	node = node ? strstr(node, "\"duration_ns\"") : NULL;
	node = node ? strstr(node, "uint64_val\"") : NULL;
	return node ? kwhy_simulator_number(node, ":") * 1e-9 : NAN;
}

const struct kwhy_simulator kwhy_simulator_chakra = {"Chakra", "chakra_nodes.json",
	"the attribute duration_ns; duration_micros is whole microseconds", true, write_chakra,
	predict_chakra};

static const char *event_name(char out[KEY_BYTES], const struct kwhy_pair_config *config)
{
	snprintf(out, KEY_BYTES, "p2p_copy_%" PRIu32 "_%" PRIu32, config->source, config->target);
	return out;
}

static void write_sizes(
	struct kwhy_json *json, const struct kwhy_pair_series *series, uint32_t source, uint32_t target)
{
	const struct kwhy_pairs *pairs = series->pairs;

	for (size_t i = 0; i < pairs->config_count; i++) {
		const struct kwhy_pair_config *config = &pairs->configs[i];
		char size[KEY_BYTES];

		if (!kwhy_simulator_takes(series, config) || config->source != source ||
			config->target != target)
			continue;
		snprintf(size, sizeof(size), "%" PRIu64, config->bytes);
		kwhy_json_list(json, size);
		for (size_t k = 0; k < config->sample_count; k++)
			kwhy_json_real(json, NULL, config->samples[k].seconds * 1e9);
		kwhy_json_array_end(json);
	}
}

/* Writes {event: {size: [ns, ...]}}, the format of NPKit's measurements, which ATLAHS reads. */
static void write_npkit(const struct kwhy_pair_series *series, struct kwhy_text *out)
{
	const uint32_t gpus = series->pairs->gpu_count;
	struct kwhy_json json;
	char name[KEY_BYTES];

	kwhy_json_init(&json, out);
	kwhy_json_object(&json, NULL);
	for (uint32_t source = 0; source < gpus; source++)
		for (uint32_t target = 0; target < gpus; target++) {
			const struct kwhy_pair_config key = {.source = source, .target = target};

			if (source == target)
				continue;
			kwhy_json_object(&json, event_name(name, &key));
			write_sizes(&json, series, source, target);
			kwhy_json_object_end(&json);
		}
	kwhy_json_object_end(&json);
	kwhy_text_add(out, "\n");
}

/* Predicts the time of a transfer, s, as the mean of the samples in the file for its size. */
static double predict_npkit(const char *text, const struct kwhy_pair_config *config)
{
	char name[KEY_BYTES], key[KEY_BYTES + 2];
	const char *place;
	double sum = 0, value;
	size_t count = 0;
	char *end;

	snprintf(key, sizeof(key), "\"%s\"", event_name(name, config));
	place = strstr(text, key);
	snprintf(key, sizeof(key), "\"%" PRIu64 "\"", config->bytes);
	place = place ? strstr(place, key) : NULL;
	place = place ? strchr(place, '[') : NULL;
	for (place = place ? place + 1 : NULL; place; place = *end == ',' ? end + 1 : NULL) {
		value = strtod(place, &end);
		if (end == place)
			break;
		sum += value;
		count++;
	}
	return count ? sum / (double)count * 1e-9 : NAN;
}

const struct kwhy_simulator kwhy_simulator_npkit = {"NPKit", "npkit_samples.json",
	"the mean of the samples of that size", false, write_npkit, predict_npkit};
