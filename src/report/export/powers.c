/* SPDX-License-Identifier: Apache-2.0 */
#include "model/learnt.h"
#include "report/export/export.h"
#include "report/export/sink.h"
#include "report/json/writer.h"

/*
 * Writes the powers of a run's kernels that its meter readings determined, as a file for the option --powers
 * of later reports (docs/formats/powers.md).
 */

static void write_watts(struct kwhy_json *json, const char *key, double value_w, double sd_w)
{
	kwhy_json_row(json, key);
	kwhy_json_real(json, "value", value_w);
	if (sd_w > 0)
		kwhy_json_real(json, "spread", sd_w);
	kwhy_json_string(json, "unit", "W");
	kwhy_json_object_end(json);
}

static void write_power(struct kwhy_json *json, const struct kwhy_learnt_power *power)
{
	kwhy_json_object(json, NULL);
	kwhy_json_string(json, "name", power->name);
	kwhy_json_index(json, "blocks", power->grid.blocks);
	kwhy_json_index(json, "threads_per_block", power->grid.threads);
	write_watts(json, "above_idle_w", power->above_idle_w, power->sd_w);
	kwhy_json_count(json, "launches", power->count);
	kwhy_json_int(json, "time_ns", power->time_ns);
	kwhy_json_object_end(json);
}

static void write_powers(struct kwhy_text *out, const struct kwhy_learnt_powers *powers)
{
	struct kwhy_json json;

	kwhy_json_init(&json, out);
	kwhy_json_object(&json, NULL);
	kwhy_json_string(&json, "schema", KWHY_POWERS_SCHEMA);
	kwhy_json_string(&json, "device", powers->device_name);
	write_watts(&json, "context_idle_w", powers->context_idle_w, 0);
	kwhy_json_array(&json, "powers");
	for (size_t i = 0; i < powers->count; i++)
		write_power(&json, &powers->items[i]);
	kwhy_json_array_end(&json);
	kwhy_json_object_end(&json);
	kwhy_text_add(out, "\n");
}

static enum kwhy_status write(
	const struct kwhy_report *report, const char *path, bool compress, struct kwhy_error *error)
{
	struct kwhy_learnt_powers *powers;
	struct kwhy_sink sink;
	enum kwhy_status status;

	(void)compress;
	status = kwhy_learnt_powers_collect(
		report->recording, report->ledger, report->recording->sources[0].path, &powers, error);
	if (status)
		return status;
	status = kwhy_sink_open(&sink, path, false, error);
	if (!status) {
		write_powers(&sink.text, powers);
		status = kwhy_sink_close(&sink, error);
	}
	kwhy_learnt_powers_free(powers);
	return status;
}

const struct kwhy_exporter kwhy_export_powers = {
	.name = "powers",
	.extension = ".powers.json",
	.description = "powers of the kernels, for --powers",
	.uncompressed = "powers are a small file that is read as it is",
	.write = write,
};
