/* SPDX-License-Identifier: Apache-2.0 */
#include "report/transfers.h"

#include "model/meter.h"
#include "report/transfers/columns.h"

#include <math.h>

static void add_device(struct kwhy_json *json, const struct kwhy_transfers *transfers)
{
	kwhy_json_object(json, "conditions");
	kwhy_json_string(json, "backend", transfers->backend);
	kwhy_json_string(json, "device", transfers->device_name);
	kwhy_json_string(json, "pci_address", transfers->pci_address);
	kwhy_json_string(json, "driver", transfers->driver);
	kwhy_json_string(json, "cuda", transfers->cuda);
	kwhy_json_string(json, "measured_on", transfers->measured_on);
	kwhy_json_string(json, "data", transfers->data);
	kwhy_json_count(json, "seed", transfers->seed);
	kwhy_json_real(json, "time_budget_s", transfers->time_budget_s);
	kwhy_json_real(json, "time_pass_s", transfers->time_pass_s);
	kwhy_json_real(json, "context_idle_w", transfers->context_idle_w);
	kwhy_json_string(json, "energy_missing", transfers->energy_missing);
	kwhy_json_string(json, "ended_early", transfers->ended_early);
	kwhy_json_object_end(json);
}

static void add_reasons(struct kwhy_json *json, unsigned bits)
{
	kwhy_json_list(json, "throttled");
	for (unsigned bit = 0; bit < KWHY_THROTTLE_COUNT; bit++)
		if (bits & 1u << bit)
			kwhy_json_string(json, NULL, kwhy_throttle_name(bit));
	kwhy_json_array_end(json);
}

static void add_point(struct kwhy_json *json, const struct kwhy_transfer_point *point)
{
	kwhy_json_row(json, NULL);
	kwhy_columns_json(&kwhy_transfer_point_columns, json, point);
	add_reasons(json, point->conditions.throttle_bits);
	kwhy_json_object_end(json);
}

static void add_curve(struct kwhy_json *json, const struct kwhy_transfer_curve *curve)
{
	const char *start = curve->is_energy ? "alpha_j" : "alpha_s",
		   *slope = curve->is_energy ? "beta_j_per_byte" : "beta_s_per_byte";

	kwhy_json_object(json, NULL);
	kwhy_columns_json(&kwhy_transfer_curve_columns, json, curve);
	kwhy_json_array(json, "segments");
	for (size_t i = 0; i < curve->segment_count; i++) {
		kwhy_json_row(json, NULL);
		kwhy_json_real(json, "from_bytes", curve->segments[i].from_bytes);
		kwhy_json_real(json, "to_bytes", curve->segments[i].to_bytes);
		kwhy_json_real(json, start, curve->segments[i].alpha_s);
		kwhy_json_real(json, slope, curve->segments[i].beta_s_per_byte);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
	kwhy_json_object_end(json);
}

/* Writes a size in bytes from which one method is faster than another; 0, not measured, as null. */
static void add_limit(struct kwhy_json *json, const char *key, uint64_t bytes)
{
	if (bytes)
		kwhy_json_count(json, key, bytes);
	else
		kwhy_json_null(json, key);
}

static void add_crossover(struct kwhy_json *json, const struct kwhy_transfers *transfers)
{
	kwhy_json_row(json, "overtaking");
	add_limit(json, "put_packed_bytes", transfers->crossover.put_packed_bytes);
	add_limit(json, "get_packed_bytes", transfers->crossover.get_packed_bytes);
	add_limit(json, "batch_bytes", transfers->crossover.batch_bytes);
	kwhy_json_object_end(json);
}

/* Writes the results of compression, or null if it was not measured. */
static void add_compression(struct kwhy_json *json, const struct kwhy_transfers *transfers)
{
	const struct kwhy_transfer_compression *compression = &transfers->compression;

	if (!compression->bytes) {
		kwhy_json_null(json, "compression");
		return;
	}
	kwhy_json_row(json, "compression");
	kwhy_columns_json(&kwhy_transfer_compression_columns, json, compression);
	kwhy_json_object_end(json);
}

static void add_baseline(struct kwhy_json *json, const struct kwhy_transfer_baseline *baseline)
{
	kwhy_json_object(json, NULL);
	kwhy_columns_json(&kwhy_transfer_baseline_columns, json, baseline);
	kwhy_json_array(json, "stretches");
	for (size_t i = 0; i < baseline->stretch_count; i++) {
		kwhy_json_row(json, NULL);
		kwhy_json_count(json, "from_bytes", baseline->stretches[i].from_bytes);
		kwhy_json_count(json, "to_bytes", baseline->stretches[i].to_bytes);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
	kwhy_json_object_end(json);
}

#define ADD_LIST(json, key, add, items, count)       \
	do {                                         \
		kwhy_json_array(json, key);          \
		for (size_t i = 0; i < (count); i++) \
			add(json, &(items)[i]);      \
		kwhy_json_array_end(json);           \
	} while (0)

static void add_energies(struct kwhy_json *json, const struct kwhy_transfers *transfers)
{
	kwhy_json_array(json, "energies");
	for (size_t i = 0; i < transfers->energy_count; i++) {
		const struct kwhy_transfer_energy_row row = kwhy_transfer_energy_row_of(transfers, i);

		kwhy_columns_json_row(&kwhy_transfer_energy_columns, json, &row);
	}
	kwhy_json_array_end(json);
}

enum kwhy_status kwhy_report_transfers_json(
	const struct kwhy_transfers *transfers, struct kwhy_text *out, struct kwhy_error *error)
{
	struct kwhy_json json;

	kwhy_json_init(&json, out);
	kwhy_json_object(&json, NULL);
	kwhy_json_string(&json, "schema", KWHY_TRANSFERS_SCHEMA);
	add_device(&json, transfers);
	ADD_LIST(&json, "points", add_point, transfers->points, transfers->point_count);
	add_energies(&json, transfers);
	ADD_LIST(&json, "curves", add_curve, transfers->curves, transfers->curve_count);
	KWHY_COLUMNS_JSON_ARRAY(
		&json, "choices", &kwhy_transfer_choice_columns, transfers->choices, transfers->choice_count);
	add_crossover(&json, transfers);
	add_compression(&json, transfers);
	ADD_LIST(&json, "comparisons", add_baseline, transfers->baselines, transfers->baseline_count);
	KWHY_COLUMNS_JSON_ARRAY(&json, "page_locking", &kwhy_transfer_pinning_columns, transfers->pinnings,
		transfers->pinning_count);
	KWHY_COLUMNS_JSON_ARRAY(&json, "absent", &kwhy_transfer_absence_columns, transfers->absences,
		transfers->absence_count);
	kwhy_json_object_end(&json);
	return kwhy_text_check(out, error);
}

enum kwhy_status kwhy_report_transfers_part(
	const struct kwhy_transfers *transfers, struct kwhy_text *out, struct kwhy_error *error)
{
	struct kwhy_json json;

	kwhy_json_init(&json, out);
	kwhy_json_object(&json, NULL);
	add_device(&json, transfers);
	ADD_LIST(&json, "curves", add_curve, transfers->curves, transfers->curve_count);
	KWHY_COLUMNS_JSON_ARRAY(
		&json, "choices", &kwhy_transfer_choice_columns, transfers->choices, transfers->choice_count);
	add_crossover(&json, transfers);
	kwhy_json_object_end(&json);
	return kwhy_text_check(out, error);
}
