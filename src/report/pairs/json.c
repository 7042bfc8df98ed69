/* SPDX-License-Identifier: Apache-2.0 */
#include "report/pairs.h"

#include "report/pairs/columns.h"
#include "report/pairs/gauges.h"
#include "report/pairs/ranks.h"

#include <math.h>

static void write_reached_gpus(struct kwhy_json *json, const struct kwhy_pairs *pairs, uint32_t gpu)
{
	if (pairs->is_foreign) {
		kwhy_json_null(json, "reaches_directly");
		return;
	}
	kwhy_json_list(json, "reaches_directly");
	for (uint32_t k = 0; k < pairs->gpu_count; k++)
		if (pairs->is_direct[gpu][k])
			kwhy_json_count(json, NULL, k);
	kwhy_json_array_end(json);
}

static void write_conditions(struct kwhy_json *json, const struct kwhy_pairs *pairs)
{
	kwhy_json_object(json, "conditions");
	kwhy_json_string(json, "backend", pairs->backend);
	kwhy_json_string(json, "driver", pairs->driver);
	kwhy_json_string(json, "cuda", pairs->cuda);
	kwhy_json_string(json, "measured_on", pairs->measured_on);
	kwhy_json_count(json, "seed", pairs->seed);
	kwhy_json_string(json, "settings", pairs->settings);
	kwhy_json_real(json, "time_pass_s", pairs->time_pass_s);
	kwhy_json_real(json, "warm_s", pairs->warm_s);
	kwhy_json_real(json, "clocks_s", pairs->clocks_s);
	kwhy_json_string(json, "ended_early", pairs->ended_early);
	kwhy_json_array(json, "gpus");
	for (uint32_t i = 0; i < pairs->gpu_count; i++) {
		kwhy_json_row(json, NULL);
		kwhy_json_string(json, "name", pairs->gpus[i].name);
		kwhy_json_string(json, "pci_address", pairs->gpus[i].pci_address);
		kwhy_json_int(json, "numa_node", pairs->gpus[i].numa_node);
		kwhy_json_real(json, "clock_drift_ppm", pairs->drifts[i].ppm);
		kwhy_json_real(json, "clock_drift_half_width_ppm", pairs->drifts[i].half_width_ppm);
		kwhy_json_string(json, "clock_drift_grade",
			kwhy_pair_clock_grade_name(kwhy_pair_drift_grade(&pairs->drifts[i])));
		kwhy_pairs_gauges_json(pairs, i, json);
		write_reached_gpus(json, pairs, i);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
	kwhy_json_string(json, "nccl", pairs->nccl);
	kwhy_json_array(json, "ranks");
	for (uint32_t i = 0; i < pairs->rank_count; i++) {
		kwhy_json_row(json, NULL);
		kwhy_pairs_rank_json(pairs, i, json);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
	kwhy_json_array(json, "notes");
	for (size_t i = 0; i < pairs->note_count; i++)
		kwhy_json_string(json, NULL, pairs->notes[i]);
	kwhy_json_array_end(json);
	kwhy_json_object_end(json);
}

static void write_key(struct kwhy_json *json, enum kwhy_pair_engine engine, enum kwhy_pair_load load,
	enum kwhy_pair_clock clock, uint32_t source, uint32_t target)
{
	kwhy_json_string(json, "engine", kwhy_pair_engine_name(engine));
	kwhy_json_string(json, "load", kwhy_pair_load_name(load));
	kwhy_json_string(json, "clock", kwhy_pair_clock_name(clock));
	kwhy_json_count(json, "src", source);
	kwhy_json_count(json, "dst", target);
}

static void write_configs(struct kwhy_json *json, const struct kwhy_pairs *pairs)
{
	kwhy_json_array(json, "configs");
	for (size_t i = 0; i < pairs->config_count; i++) {
		const struct kwhy_pair_config *config = &pairs->configs[i];

		if (!config->sample_count)
			continue;
		kwhy_json_row(json, NULL);
		kwhy_json_count(json, "config_id", i);
		write_key(json, config->engine, config->load, config->clock, config->source, config->target);
		kwhy_json_count(json, "size", config->bytes);
		kwhy_json_count(json, "samples", config->sample_count);
		kwhy_json_real(json, "median_s", config->summary.median_s);
		kwhy_json_real(json, "low_s", config->summary.low_s);
		kwhy_json_real(json, "high_s", config->summary.high_s);
		kwhy_json_real(json, "least_s", config->summary.least_s);
		kwhy_json_real(json, "p95_s", config->summary.p95_s);
		kwhy_json_real(json, "mean_s", config->mean_s);
		kwhy_json_real(json, "deviation_s", config->deviation_s);
		kwhy_json_real(json, "bytes_per_s", kwhy_pair_rate(config));
		if (kwhy_pair_is_collective(config->engine))
			kwhy_json_real(json, "bus_bytes_per_s",
				kwhy_pair_rate(config) *
					kwhy_pair_bus_share(config->engine, pairs->gpu_count));
		kwhy_json_bool(json, "verified", config->verified);
		kwhy_json_bool(json, "capped", config->capped);
		kwhy_json_real(json, "temperature_c", config->conditions.temperature_c);
		kwhy_json_real(json, "clock_hz", config->conditions.clock_hz);
		kwhy_json_real(json, "power_w", config->conditions.power_w);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
}

static void write_curves(struct kwhy_json *json, const struct kwhy_pairs *pairs)
{
	kwhy_json_array(json, "curves");
	for (size_t i = 0; i < pairs->curve_count; i++) {
		const struct kwhy_pair_curve *curve = &pairs->curves[i];

		kwhy_json_row(json, NULL);
		write_key(json, curve->engine, curve->load, curve->clock, curve->source, curve->target);
		kwhy_json_count(json, "sizes", curve->point_count);
		kwhy_json_real(json, "residual_ratio", curve->residual_ratio);
		kwhy_json_real(json, "held_out_median_ratio", curve->held_out_median_ratio);
		kwhy_json_real(json, "held_out_worst_ratio", curve->held_out_worst_ratio);
		kwhy_json_list(json, "segments");
		for (size_t k = 0; k < curve->segment_count; k++) {
			kwhy_json_row(json, NULL);
			kwhy_json_real(json, "from_bytes", curve->segments[k].from_bytes);
			kwhy_json_real(json, "to_bytes", curve->segments[k].to_bytes);
			kwhy_json_real(json, "alpha_s", curve->segments[k].alpha_s);
			kwhy_json_real(json, "beta_s_per_byte", curve->segments[k].beta_s_per_byte);
			kwhy_json_object_end(json);
		}
		kwhy_json_array_end(json);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
}

static void write_reached(struct kwhy_json *json, const char *key, const struct kwhy_pairs *pairs,
	const struct kwhy_pair_config *config)
{
	kwhy_json_object(json, key);
	kwhy_json_string(json, "engine", config ? kwhy_pair_engine_name(config->engine) : NULL);
	kwhy_json_real(json, "size", config ? (double)config->bytes : NAN);
	kwhy_json_real(json, "bytes_per_s", config ? kwhy_pair_rate(config) : NAN);
	kwhy_json_real(json, "of_limit", kwhy_pairs_of_limit(pairs, config));
	kwhy_json_object_end(json);
}

static void write_route(
	struct kwhy_json *json, const struct kwhy_pairs *pairs, uint32_t source, uint32_t target)
{
	const struct kwhy_pair_route *route = &pairs->routes[source][target];
	char text[KWHY_PAIR_ROUTE_BYTES];

	kwhy_json_row(json, NULL);
	kwhy_json_count(json, "src", source);
	kwhy_json_count(json, "dst", target);
	kwhy_json_string(json, "way", kwhy_pair_link_kind_name(route->way));
	kwhy_json_string(json, "text", kwhy_pair_route_text(text, route));
	if (pairs->is_foreign)
		kwhy_json_null(json, "direct");
	else
		kwhy_json_bool(json, "direct", pairs->is_direct[source][target]);
	kwhy_json_real(json, "lanes", route->lanes ? route->lanes : NAN);
	kwhy_json_real(json, "lanes_most", route->lanes_most ? route->lanes_most : NAN);
	kwhy_json_real(json, "generation", route->generation ? route->generation : NAN);
	kwhy_json_real(json, "common_ancestor", route->ancestor >= 0 ? route->ancestor : NAN);
	kwhy_json_real(json, "limit_bytes_per_s", route->limit_bytes_per_s);
	kwhy_json_string(json, "limit_source", kwhy_pair_limit_source(route->way));
	write_reached(json, "one_way", pairs, kwhy_pairs_fastest(pairs, source, target, false));
	write_reached(json, "both_ways", pairs, kwhy_pairs_fastest(pairs, source, target, true));
	kwhy_json_object_end(json);
}

static void write_routes(struct kwhy_json *json, const struct kwhy_pairs *pairs)
{
	kwhy_json_array(json, "routes");
	for (uint32_t i = 0; i < pairs->gpu_count; i++)
		for (uint32_t k = 0; k < pairs->gpu_count; k++)
			if (i != k)
				write_route(json, pairs, i, k);
	kwhy_json_array_end(json);
	kwhy_json_string(json, "route_missing", pairs->route_missing);
}

static void write_energies(struct kwhy_json *json, const struct kwhy_pairs *pairs)
{
	kwhy_json_array(json, "energies");
	for (size_t i = 0; i < pairs->energy_count; i++) {
		const struct kwhy_pair_energy_row row = kwhy_pair_energy_row_of(&pairs->energies[i]);

		kwhy_columns_json_row(&kwhy_pair_energy_columns, json, &row);
	}
	kwhy_json_array_end(json);
	kwhy_json_string(json, "energy_missing", pairs->energy_missing);
}

static void write_pinnings(struct kwhy_json *json, const struct kwhy_pairs *pairs)
{
	kwhy_json_array(json, "pinning");
	for (size_t i = 0; i < pairs->pinning_count; i++) {
		const struct kwhy_pair_pinning_row row = kwhy_pair_pinning_row_of(&pairs->pinnings[i]);

		kwhy_columns_json_row(&kwhy_pair_pinning_columns, json, &row);
	}
	kwhy_json_array_end(json);
	kwhy_json_string(json, "pinning_missing", pairs->pinning_missing);
}

#define WRITE_ARRAY(json, key, columns, rows, count) \
	KWHY_COLUMNS_JSON_ARRAY(json, key, &kwhy_pair_##columns##_columns, rows, count)

enum kwhy_status kwhy_report_pairs_json(
	const struct kwhy_pairs *pairs, struct kwhy_text *out, struct kwhy_error *error)
{
	struct kwhy_json json;

	kwhy_json_init(&json, out);
	kwhy_json_object(&json, NULL);
	kwhy_json_string(&json, "schema", KWHY_PAIRS_SCHEMA);
	write_conditions(&json, pairs);
	write_configs(&json, pairs);
	write_routes(&json, pairs);
	write_curves(&json, pairs);
	WRITE_ARRAY(&json, "loggp", loggp, pairs->loggps, pairs->loggp_count);
	write_energies(&json, pairs);
	write_pinnings(&json, pairs);
	WRITE_ARRAY(&json, "held_out", held_out, pairs->held_outs, pairs->held_out_count);
	WRITE_ARRAY(&json, "relations", relation, pairs->relations, pairs->relation_count);
	WRITE_ARRAY(&json, "flags", flag, pairs->flags, pairs->flag_count);
	WRITE_ARRAY(&json, "criteria", criterion, pairs->criteria, pairs->criterion_count);
	WRITE_ARRAY(&json, "absent", absence, pairs->absences, pairs->absence_count);
	kwhy_json_object_end(&json);
	kwhy_text_add(out, "\n");
	return kwhy_text_check(out, error);
}
