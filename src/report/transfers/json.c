/* SPDX-License-Identifier: Apache-2.0 */
#include "report/transfers.h"

#include "model/meter.h"

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
	const struct kwhy_transfer_summary *summary = &point->summary;
	const struct kwhy_transfer_conditions *conditions = &point->conditions;

	kwhy_json_row(json, NULL);
	kwhy_json_string(json, "strategy", point->strategy);
	kwhy_json_string(json, "direction", kwhy_transfer_direction_name(point->direction));
	kwhy_json_string(json, "clock", kwhy_transfer_clock_name(point->clock));
	kwhy_json_count(json, "bytes", point->bytes);
	kwhy_json_count(json, "pieces", point->pieces);
	kwhy_json_count(json, "samples", summary->count);
	kwhy_json_real(json, "median_s", summary->median_s);
	kwhy_json_real(json, "low_s", summary->low_s);
	kwhy_json_real(json, "high_s", summary->high_s);
	kwhy_json_real(json, "least_s", summary->least_s);
	kwhy_json_real(json, "p5_s", summary->p5_s);
	kwhy_json_real(json, "p95_s", summary->p95_s);
	kwhy_json_real(json, "bytes_per_s", kwhy_transfer_rate(point));
	kwhy_json_real(json, "link_bytes", point->link_bytes);
	kwhy_json_bool(json, "verified", point->verified);
	kwhy_json_bool(json, "capped", point->capped);
	kwhy_json_real(json, "temperature_c", conditions->temperature_c);
	kwhy_json_real(json, "sm_clock_hz", conditions->clock_hz);
	kwhy_json_real(json, "memory_clock_hz", conditions->memory_clock_hz);
	kwhy_json_real(json, "power_w", conditions->power_w);
	add_reasons(json, conditions->throttle_bits);
	kwhy_json_object_end(json);
}

static void add_energy(struct kwhy_json *json, const struct kwhy_transfer_energy *energy)
{
	kwhy_json_row(json, NULL);
	kwhy_json_string(json, "strategy", energy->strategy);
	kwhy_json_string(json, "direction", kwhy_transfer_direction_name(energy->direction));
	kwhy_json_count(json, "bytes", energy->bytes);
	kwhy_json_count(json, "pieces", energy->pieces);
	kwhy_json_count(json, "transfers", energy->transfers);
	kwhy_json_real(json, "seconds", energy->seconds);
	kwhy_json_real(json, "gross_j", energy->gross_j);
	kwhy_json_real(json, "gross_low_j", energy->gross_low_j);
	kwhy_json_real(json, "gross_high_j", energy->gross_high_j);
	kwhy_json_real(json, "net_j", energy->net_j);
	kwhy_json_real(json, "net_low_j", energy->net_low_j);
	kwhy_json_real(json, "net_high_j", energy->net_high_j);
	kwhy_json_real(json, "host_j", energy->host_j);
	kwhy_json_real(json, "host_low_j", energy->host_low_j);
	kwhy_json_real(json, "host_high_j", energy->host_high_j);
	kwhy_json_object_end(json);
}

static void add_curve(struct kwhy_json *json, const struct kwhy_transfer_curve *curve)
{
	const char *start = curve->is_energy ? "alpha_j" : "alpha_s",
		   *slope = curve->is_energy ? "beta_j_per_byte" : "beta_s_per_byte";

	kwhy_json_object(json, NULL);
	kwhy_json_string(json, "strategy", curve->strategy);
	kwhy_json_string(json, "direction", kwhy_transfer_direction_name(curve->direction));
	kwhy_json_string(json, "clock", curve->is_energy ? "energy" : kwhy_transfer_clock_name(curve->clock));
	kwhy_json_count(json, "points", curve->point_count);
	kwhy_json_real(json, "residual_ratio", curve->residual_ratio);
	kwhy_json_real(json, "held_out_ratio", curve->held_out_ratio);
	kwhy_json_real(json, "held_out_worst_ratio", curve->held_out_worst_ratio);
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

/* Writes curves and choices as members of the open object. */
static void add_curves(struct kwhy_json *json, const struct kwhy_transfers *transfers)
{
	kwhy_json_array(json, "curves");
	for (size_t i = 0; i < transfers->curve_count; i++)
		add_curve(json, &transfers->curves[i]);
	kwhy_json_array_end(json);
}

static void add_choices(struct kwhy_json *json, const struct kwhy_transfers *transfers)
{
	kwhy_json_array(json, "choices");
	for (size_t i = 0; i < transfers->choice_count; i++) {
		const struct kwhy_transfer_choice *choice = &transfers->choices[i];

		kwhy_json_row(json, NULL);
		kwhy_json_string(json, "direction", kwhy_transfer_direction_name(choice->direction));
		kwhy_json_count(json, "piece_bytes", choice->piece_bytes);
		kwhy_json_count(json, "pieces", choice->pieces);
		kwhy_json_string(json, "strategy", choice->strategy);
		kwhy_json_real(json, "median_s", choice->median_s);
		kwhy_json_string(json, "second", choice->second);
		kwhy_json_real(json, "second_s", choice->second_s);
		kwhy_json_bool(json, "sure", choice->is_sure);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
}

/* Writes a limit; 0 means that it was not measured and becomes null. */
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

/* Writes the compression; null where it was not measured. */
static void add_compression(struct kwhy_json *json, const struct kwhy_transfers *transfers)
{
	const struct kwhy_transfer_compression *compression = &transfers->compression;

	if (!compression->bytes) {
		kwhy_json_null(json, "compression");
		return;
	}
	kwhy_json_row(json, "compression");
	kwhy_json_count(json, "bytes", compression->bytes);
	kwhy_json_real(json, "ratio", compression->ratio);
	kwhy_json_real(json, "link_bytes_per_s", compression->link_bytes_per_s);
	kwhy_json_real(json, "expand_bytes_per_s", compression->expand_bytes_per_s);
	kwhy_json_real(json, "compress_bytes_per_s", compression->compress_bytes_per_s);
	kwhy_json_real(json, "serial_ratio", compression->serial_ratio);
	kwhy_json_real(json, "overlapped_ratio", compression->overlapped_ratio);
	kwhy_json_object_end(json);
}

static void add_baseline(struct kwhy_json *json, const struct kwhy_transfer_baseline *baseline)
{
	kwhy_json_object(json, NULL);
	kwhy_json_string(json, "question", baseline->question);
	kwhy_json_string(json, "better", baseline->better);
	kwhy_json_string(json, "than", baseline->than);
	kwhy_json_string(json, "direction", kwhy_transfer_direction_name(baseline->direction));
	kwhy_json_string(json, "clock", kwhy_transfer_clock_name(baseline->clock));
	kwhy_json_count(json, "pieces", baseline->pieces);
	kwhy_json_count(json, "sizes_compared", baseline->sizes_compared);
	kwhy_json_real(json, "best_ratio", baseline->best_ratio);
	kwhy_json_count(json, "best_bytes", baseline->best_bytes);
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

static void add_pinning(struct kwhy_json *json, const struct kwhy_transfer_pinning *pinning)
{
	kwhy_json_row(json, NULL);
	kwhy_json_string(json, "direction", kwhy_transfer_direction_name(pinning->direction));
	kwhy_json_count(json, "bytes", pinning->bytes);
	kwhy_json_real(json, "cost_s", pinning->cost_s);
	kwhy_json_real(json, "pageable_s", pinning->pageable_s);
	kwhy_json_real(json, "pinned_s", pinning->pinned_s);
	kwhy_json_real(json, "transfers", pinning->transfers);
	kwhy_json_object_end(json);
}

static void add_absences(struct kwhy_json *json, const struct kwhy_transfers *transfers)
{
	kwhy_json_array(json, "absent");
	for (size_t i = 0; i < transfers->absence_count; i++) {
		kwhy_json_row(json, NULL);
		kwhy_json_string(json, "strategy", transfers->absences[i].strategy);
		kwhy_json_string(json, "reason", transfers->absences[i].reason);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
}

#define ADD_LIST(json, key, add, items, count)       \
	do {                                         \
		kwhy_json_array(json, key);          \
		for (size_t i = 0; i < (count); i++) \
			add(json, &(items)[i]);      \
		kwhy_json_array_end(json);           \
	} while (0)

enum kwhy_status kwhy_report_transfers_json(
	const struct kwhy_transfers *transfers, struct kwhy_text *out, struct kwhy_error *error)
{
	struct kwhy_json json;

	kwhy_json_init(&json, out);
	kwhy_json_object(&json, NULL);
	kwhy_json_string(&json, "schema", KWHY_TRANSFERS_SCHEMA);
	add_device(&json, transfers);
	ADD_LIST(&json, "points", add_point, transfers->points, transfers->point_count);
	ADD_LIST(&json, "energies", add_energy, transfers->energies, transfers->energy_count);
	add_curves(&json, transfers);
	add_choices(&json, transfers);
	add_crossover(&json, transfers);
	add_compression(&json, transfers);
	ADD_LIST(&json, "comparisons", add_baseline, transfers->baselines, transfers->baseline_count);
	ADD_LIST(&json, "page_locking", add_pinning, transfers->pinnings, transfers->pinning_count);
	add_absences(&json, transfers);
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
	add_curves(&json, transfers);
	add_choices(&json, transfers);
	add_crossover(&json, transfers);
	kwhy_json_object_end(&json);
	return kwhy_text_check(out, error);
}
