/* SPDX-License-Identifier: Apache-2.0 */
#include "report/pairs.h"

#include "report/pairs_ranks.h"

#include <inttypes.h>
#include <math.h>

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

static void write_range(
	struct kwhy_json *json, const char *key, const struct kwhy_pairs *pairs, uint32_t rank, size_t offset)
{
	double low = NAN, high = NAN;

	for (size_t i = 0; i < pairs->config_count; i++) {
		const struct kwhy_pair_config *config = &pairs->configs[i];
		double value = *(const double *)(const void *)((const char *)&config->conditions + offset);

		if (!config->sample_count || config->source != rank)
			continue;
		low = fmin(low, value);
		high = fmax(high, value);
	}
	kwhy_json_list(json, key);
	kwhy_json_real(json, NULL, low);
	kwhy_json_real(json, NULL, high);
	kwhy_json_array_end(json);
}

/* YAML 1.2 takes JSON as it is (yaml.org/spec/1.2.2, chapter 1.3): nothing is left to quote. */
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
	kwhy_json_string(&json, "driver_version", pairs->driver);
	kwhy_json_string(&json, "cuda_version", pairs->cuda);
	kwhy_json_string(&json, "backend", pairs->backend);
	kwhy_json_string(&json, "measured_on", pairs->measured_on);
	kwhy_json_count(&json, "seed", pairs->seed);
	kwhy_json_string(&json, "nccl_version", pairs->nccl);
	if (pairs->rank_count)
		kwhy_pairs_rank_json(pairs, rank, &json);
	kwhy_json_real(&json, "clock_drift_ppm", pairs->drifts[rank].ppm);
	kwhy_json_real(&json, "clock_drift_half_width_ppm", pairs->drifts[rank].half_width_ppm);
	write_range(&json, "temperature_c", pairs, rank,
		offsetof(struct kwhy_transfer_conditions, temperature_c));
	write_range(&json, "power_w", pairs, rank, offsetof(struct kwhy_transfer_conditions, power_w));
	write_range(&json, "clock_hz", pairs, rank, offsetof(struct kwhy_transfer_conditions, clock_hz));
	kwhy_json_object(&json, "reaches_directly");
	for (uint32_t i = 0; i < pairs->gpu_count; i++) {
		char key[16] = {(char)('0' + i / 10 % 10), (char)('0' + i % 10)};

		if (i != rank)
			kwhy_json_bool(&json, i < 10 ? key + 1 : key, pairs->is_direct[rank][i]);
	}
	kwhy_json_object_end(&json);
	kwhy_json_object_end(&json);
	kwhy_text_add(out, "\n");
	return kwhy_text_check(out, error);
}
