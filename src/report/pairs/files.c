/* SPDX-License-Identifier: Apache-2.0 */
#include "report/pairs.h"

#include "model/meter.h"
#include "report/pairs/gauges.h"
#include "report/pairs/ranks.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { TID_SEND = 1, TID_RECEIVE = 2 };

static int64_t origin_of(const struct kwhy_pairs *pairs)
{
	int64_t origin_ns = INT64_MAX;

	for (size_t i = 0; i < pairs->config_count; i++)
		for (size_t k = 0; k < pairs->configs[i].sample_count; k++)
			if (pairs->configs[i].samples[k].start_unix_ns < origin_ns)
				origin_ns = pairs->configs[i].samples[k].start_unix_ns;
	return origin_ns;
}

static void write_event(struct kwhy_json *json, const struct kwhy_pairs *pairs, size_t id, size_t sample,
	uint32_t rank, bool host, int64_t origin_ns)
{
	const struct kwhy_pair_config *config = &pairs->configs[id];
	const struct kwhy_pair_sample *row = &config->samples[sample];
	char name[KWHY_PAIR_NAME_BYTES];

	kwhy_json_row(json, NULL);
	kwhy_json_string(json, "ph", "X");
	kwhy_json_string(json, "cat", host ? "cpu_op" : "gpu_memcpy");
	kwhy_json_string(json, "name", kwhy_pair_name(name, id, config, sample));
	kwhy_json_count(json, "pid", rank);
	kwhy_json_count(json, "tid", config->source == rank ? TID_SEND : TID_RECEIVE);
	kwhy_json_real(json, "ts", (double)(row->start_unix_ns - origin_ns) * 1e-3);
	kwhy_json_real(json, "dur",
		host ? (double)(row->end_unix_ns - row->start_unix_ns) * 1e-3 : row->seconds * 1e6);
	kwhy_json_object(json, "args");
	kwhy_json_string(json, "engine", kwhy_pair_engine_name(config->engine));
	kwhy_json_string(json, "load", kwhy_pair_load_name(config->load));
	kwhy_json_string(json, "clock", kwhy_pair_clock_name(config->clock));
	kwhy_json_count(json, "bytes", config->bytes);
	kwhy_json_object_end(json);
	kwhy_json_object_end(json);
}

enum kwhy_status kwhy_report_pairs_trace(const struct kwhy_pairs *pairs, uint32_t rank, bool host,
	struct kwhy_text *out, struct kwhy_error *error)
{
	int64_t origin_ns = origin_of(pairs);
	struct kwhy_json json;

	kwhy_json_init(&json, out);
	kwhy_json_object(&json, NULL);
	kwhy_json_int(&json, "schemaVersion", 1);
	kwhy_json_object(&json, "distributedInfo");
	kwhy_json_string(&json, "backend", pairs->backend);
	kwhy_json_count(&json, "rank", rank);
	kwhy_json_count(&json, "world_size", pairs->gpu_count);
	kwhy_json_object_end(&json);
	kwhy_json_string(&json, "displayTimeUnit", "ms");
	kwhy_json_int(&json, "baseTimeNanoseconds", origin_ns == INT64_MAX ? 0 : origin_ns);
	kwhy_json_array(&json, "traceEvents");
	for (size_t i = 0; i < pairs->config_count; i++)
		for (size_t k = 0; k < pairs->configs[i].sample_count; k++)
			if (pairs->configs[i].source == rank || pairs->configs[i].target == rank ||
				kwhy_pair_is_collective(pairs->configs[i].engine))
				write_event(&json, pairs, i, k, rank, host, origin_ns);
	kwhy_json_array_end(&json);
	kwhy_json_object_end(&json);
	kwhy_text_add(out, "\n");
	return kwhy_text_check(out, error);
}

static void write_reached_gpus(struct kwhy_json *json, const struct kwhy_pairs *pairs, uint32_t rank)
{
	char key[8], text[KWHY_PAIR_ROUTE_BYTES];

	kwhy_json_object(json, "gpus");
	for (uint32_t i = 0; i < pairs->gpu_count; i++) {
		if (i == rank)
			continue;
		snprintf(key, sizeof(key), "%u", i % 1000);
		kwhy_json_object(json, key);
		kwhy_json_bool(json, "reaches_directly", pairs->is_direct[rank][i]);
		kwhy_json_string(json, "over", kwhy_pair_route_text(text, &pairs->routes[rank][i]));
		kwhy_json_real(json, "limit_bytes_per_s", pairs->routes[rank][i].limit_bytes_per_s);
		kwhy_json_object_end(json);
	}
	kwhy_json_object_end(json);
}

/* Writes the throttle reasons that were set at any time during transfers with the rank as source. */
static void write_throttling(struct kwhy_json *json, const struct kwhy_pairs *pairs, uint32_t rank)
{
	unsigned bits = 0;

	for (size_t i = 0; i < pairs->config_count; i++)
		if (pairs->configs[i].sample_count && pairs->configs[i].source == rank)
			bits |= pairs->configs[i].conditions.throttle_bits;
	kwhy_json_list(json, "throttled_by");
	for (unsigned bit = 0; bit < KWHY_THROTTLE_COUNT; bit++)
		if (bits >> bit & 1)
			kwhy_json_string(json, NULL, kwhy_throttle_name(bit));
	kwhy_json_array_end(json);
}

static void write_known(struct kwhy_json *json, const char *key, uint64_t count)
{
	if (count)
		kwhy_json_count(json, key, count);
	else
		kwhy_json_null(json, key);
}

static void write_properties(struct kwhy_json *json, const struct kwhy_pair_gpu *gpu)
{
	char capability[24];

	snprintf(capability, sizeof(capability), "%d.%d", gpu->architecture / 10, gpu->architecture % 10);
	kwhy_json_string(json, "compute_capability", gpu->architecture > 0 ? capability : NULL);
	write_known(json, "sm_count", gpu->sm_count);
	write_known(json, "memory_bytes", gpu->memory_bytes);
}

/* The YAML is written as JSON, which is also YAML 1.2 (yaml.org/spec/1.2.2, chapter 1.3). */
enum kwhy_status kwhy_report_pairs_metadata(
	const struct kwhy_pairs *pairs, uint32_t rank, struct kwhy_text *out, struct kwhy_error *error)
{
	const struct kwhy_pair_gpu *gpu = &pairs->gpus[rank];
	struct kwhy_json json;

	kwhy_text_add(out, "# kwhy.pairs.metadata/1\n");
	kwhy_json_init(&json, out);
	kwhy_json_object(&json, NULL);
	kwhy_json_count(&json, "rank", rank);
	kwhy_json_count(&json, "world_size", pairs->gpu_count);
	kwhy_json_string(&json, "gpu_name", gpu->name);
	kwhy_json_string(&json, "pci_address", gpu->pci_address);
	kwhy_json_int(&json, "numa_node", gpu->numa_node);
	write_properties(&json, gpu);
	kwhy_json_string(&json, "driver_version", pairs->driver);
	kwhy_json_string(&json, "cuda_version", pairs->cuda);
	kwhy_json_string(&json, "backend", pairs->backend);
	kwhy_json_string(&json, "measured_on", pairs->measured_on);
	kwhy_json_count(&json, "seed", pairs->seed);
	kwhy_json_string(&json, "nccl_version", pairs->nccl);
	kwhy_json_list(&json, "nccl_environment");
	for (size_t i = 0; i < pairs->nccl_setting_count; i++)
		kwhy_json_string(&json, NULL, pairs->nccl_settings[i]);
	kwhy_json_array_end(&json);
	if (pairs->rank_count)
		kwhy_pairs_rank_json(pairs, rank, &json);
	kwhy_json_real(&json, "clock_drift_ppm", pairs->drifts[rank].ppm);
	kwhy_json_real(&json, "clock_drift_half_width_ppm", pairs->drifts[rank].half_width_ppm);
	kwhy_json_string(&json, "clock_drift_grade",
		kwhy_pair_clock_grade_name(kwhy_pair_drift_grade(&pairs->drifts[rank])));
	kwhy_pairs_gauges_json(pairs, rank, &json);
	write_throttling(&json, pairs, rank);
	write_reached_gpus(&json, pairs, rank);
	kwhy_json_object_end(&json);
	kwhy_text_add(out, "\n");
	return kwhy_text_check(out, error);
}
