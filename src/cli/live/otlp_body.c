/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the body of an OTLP request. Names are those of OpenTelemetry's semantic conventions for hardware
 * (hw.*), Kubernetes (k8s.*) and containers. Names that the conventions lack begin with "kwhy.".
 */
#include "cli/live/otlp.h"

#include "report/json/writer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { CUMULATIVE = 2 }; /* value of AGGREGATION_TEMPORALITY_CUMULATIVE */

/*
 * Instruments of OpenTelemetry. A counter only rises. An up-down counter may also fall; the values of both
 * can be added up over devices, unlike those of gauges.
 */
enum instrument { GAUGE, COUNTER, UP_DOWN_COUNTER };

struct body {
	const struct kwhy_otlp_figures *figures;
	struct kwhy_json json;
	enum instrument instrument; /* instrument of the metric that is being written */
};

static void put_attribute(struct kwhy_json *json, const char *key, const char *value)
{
	if (!value || !*value)
		return;
	kwhy_json_row(json, NULL);
	kwhy_json_string(json, "key", key);
	kwhy_json_object(json, "value");
	kwhy_json_string(json, "stringValue", value);
	kwhy_json_object_end(json);
	kwhy_json_object_end(json);
}

/* Writes a time. OTLP's JSON encoding has 64-bit integers as strings. */
static void put_time(struct kwhy_json *json, const char *key, int64_t unix_ns)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, unix_ns);
	kwhy_json_string(json, key, text);
}

static void begin_metric(struct body *body, const char *name, const char *unit, const char *description,
	enum instrument instrument)
{
	struct kwhy_json *json = &body->json;

	body->instrument = instrument;
	kwhy_json_object(json, NULL);
	kwhy_json_string(json, "name", name);
	kwhy_json_string(json, "unit", unit);
	kwhy_json_string(json, "description", description);
	kwhy_json_object(json, instrument == GAUGE ? "gauge" : "sum");
	if (instrument != GAUGE) {
		kwhy_json_int(json, "aggregationTemporality", CUMULATIVE);
		kwhy_json_bool(json, "isMonotonic", instrument == COUNTER);
	}
	kwhy_json_array(json, "dataPoints");
}

static void end_metric(struct body *body)
{
	kwhy_json_array_end(&body->json);
	kwhy_json_object_end(&body->json);
	kwhy_json_object_end(&body->json);
}

static void begin_point(struct body *body, double value)
{
	struct kwhy_json *json = &body->json;

	kwhy_json_object(json, NULL);
	if (body->instrument != GAUGE)
		put_time(json, "startTimeUnixNano", body->figures->started_unix_ns);
	put_time(json, "timeUnixNano", body->figures->now_unix_ns);
	kwhy_json_exact(json, "asDouble", value);
	kwhy_json_array(json, "attributes");
}

static void end_point(struct body *body)
{
	kwhy_json_array_end(&body->json);
	kwhy_json_object_end(&body->json);
}

static void put_device(struct body *body, const struct kwhy_live_device *device)
{
	char id[48];

	snprintf(id, sizeof(id), "gpu%" PRId32, device->index);
	put_attribute(&body->json, "hw.id", device->uuid ? device->uuid : id);
	put_attribute(&body->json, "hw.type", "gpu");
	put_attribute(&body->json, "hw.name", id);
	put_attribute(&body->json, "hw.model", device->name);
	put_attribute(&body->json, "hw.driver_version", device->driver);
}

typedef double device_value(const struct kwhy_live_device *device);

static double energy_j(const struct kwhy_live_device *device)
{
	return device->metered ? device->metered->energy_j : NAN;
}

static double mean_w(const struct kwhy_live_device *device)
{
	return device->metered ? device->metered->mean_w : NAN;
}

static double gauge_of(const struct kwhy_live_device *device, enum kwhy_gauge gauge, double scale)
{
	return device->gauges[gauge].known ? (double)device->gauges[gauge].value * scale : NAN;
}

static double busy(const struct kwhy_live_device *device)
{
	return gauge_of(device, KWHY_GAUGE_BUSY, 1e-3);
}

static double memory_used(const struct kwhy_live_device *device)
{
	return gauge_of(device, KWHY_GAUGE_MEMORY_USED, 1);
}

static double memory_size(const struct kwhy_live_device *device)
{
	return device->memory_bytes ? (double)device->memory_bytes : NAN;
}

static double temperature(const struct kwhy_live_device *device)
{
	return gauge_of(device, KWHY_GAUGE_TEMPERATURE, 1e-3);
}

static void put_devices(struct body *body, device_value *value, const char *task)
{
	const struct kwhy_live_snapshot *snapshot = body->figures->snapshot;

	for (size_t d = 0; d < snapshot->device_count; d++) {
		if (!isfinite(value(&snapshot->devices[d])))
			continue;
		begin_point(body, value(&snapshot->devices[d]));
		put_device(body, &snapshot->devices[d]);
		put_attribute(&body->json, "hw.gpu.task", task);
		end_point(body);
	}
}

/*
 * Writes a data point for each metered domain of the host: its energy in J or its mean power in W. hw.type is
 * "cpu" for all of them, also for those that measure memory or a board.
 */
static void put_domains(struct body *body, bool is_energy)
{
	const struct kwhy_live_snapshot *snapshot = body->figures->snapshot;

	for (size_t m = 0; m < snapshot->metered_count; m++) {
		const struct kwhy_live_metered *metered = &snapshot->metered[m];
		const double value = is_energy ? metered->energy_j : metered->mean_w;

		if (metered->kind != KWHY_METERED_HOST || !isfinite(value))
			continue;
		begin_point(body, value);
		put_attribute(&body->json, "hw.id", metered->name);
		put_attribute(&body->json, "hw.type", "cpu");
		end_point(body);
	}
}

static void put_hardware(struct body *body)
{
	static const struct {
		const char *name, *unit, *description, *task;
		device_value *value;
		enum instrument instrument;
		bool has_domains;
	} rows[] = {
		{"hw.energy", "J", "Energy since kwhy began to read the meter.", NULL, energy_j, COUNTER,
			true},
		{"hw.power", "W", "Mean power of the last second.", NULL, mean_w, GAUGE, true},
		{"hw.gpu.utilization", "1", "Share of time in which anything ran.", "general", busy, GAUGE,
			false},
		{"hw.gpu.memory.usage", "By", "Device memory in use.", NULL, memory_used, UP_DOWN_COUNTER,
			false},
		{"hw.gpu.memory.limit", "By", "Device memory.", NULL, memory_size, UP_DOWN_COUNTER, false},
		{"hw.temperature", "Cel", "Temperature of the chip.", NULL, temperature, GAUGE, false},
	};

	for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
		begin_metric(body, rows[r].name, rows[r].unit, rows[r].description, rows[r].instrument);
		put_devices(body, rows[r].value, rows[r].task);
		if (rows[r].has_domains)
			put_domains(body, rows[r].instrument == COUNTER);
		end_metric(body);
	}
}

static void put_owner(struct body *body, const struct kwhy_owner *owner)
{
	struct kwhy_json *json = &body->json;

	put_attribute(json, "kwhy.owner.kind", kwhy_owner_kind_name(owner->kind));
	put_attribute(json, "user.name", owner->user);
	switch (owner->kind) {
	case KWHY_OWNER_KUBERNETES:
		put_attribute(json, "k8s.pod.name", owner->name);
		put_attribute(json, "k8s.namespace.name", owner->space);
		put_attribute(json, "k8s.container.name", owner->part);
		break;
	case KWHY_OWNER_CONTAINER:
		put_attribute(json, "container.id", owner->name);
		put_attribute(json, "container.runtime", owner->part);
		break;
	default:
		put_attribute(json, "kwhy.owner.name", owner->name);
		put_attribute(json, "kwhy.owner.part", owner->part);
		break;
	}
}

static void put_owners(struct body *body)
{
	const struct kwhy_keeper_state *state = body->figures->owners;

	begin_metric(body, "kwhy.owner.energy", "J",
		"Energy by job, pod, container, unit or user; of the host it is modelled by CPU time.",
		COUNTER);
	for (size_t i = 0; i < state->row_count; i++) {
		const struct kwhy_owner_row *row = &state->rows[i];

		if (!row->is_there || !row->is_labelled)
			continue;
		for (size_t k = 0; k < row->account_count; k++) {
			const struct kwhy_store_meter *meter = &state->meters[row->accounts[k].meter];

			begin_point(body, row->accounts[k].shown.energy_j);
			put_attribute(&body->json, "hw.id", meter->is_host ? meter->name : meter->key);
			put_attribute(&body->json, "hw.type", meter->is_host ? "cpu" : "gpu");
			put_owner(body, &row->owner);
			end_point(body);
		}
	}
	end_metric(body);
}

void kwhy_otlp_write(const struct kwhy_otlp_figures *figures, struct kwhy_text *out)
{
	struct body body = {.figures = figures};
	struct kwhy_json *json = &body.json;

	kwhy_json_init(json, out);
	kwhy_json_object(json, NULL);
	kwhy_json_array(json, "resourceMetrics");
	kwhy_json_object(json, NULL);
	kwhy_json_object(json, "resource");
	kwhy_json_array(json, "attributes");
	put_attribute(json, "service.name", "kwhy");
	put_attribute(json, "service.version", figures->version);
	put_attribute(json, "host.name", figures->host);
	kwhy_json_array_end(json);
	kwhy_json_object_end(json);
	kwhy_json_array(json, "scopeMetrics");
	kwhy_json_object(json, NULL);
	kwhy_json_object(json, "scope");
	kwhy_json_string(json, "name", "kwhy");
	kwhy_json_string(json, "version", figures->version);
	kwhy_json_object_end(json);
	kwhy_json_array(json, "metrics");
	put_hardware(&body);
	if (figures->owners)
		put_owners(&body);
	for (int i = 0; i < 2; i++) {
		kwhy_json_array_end(json);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
	kwhy_json_object_end(json);
}
