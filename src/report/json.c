/* SPDX-License-Identifier: Apache-2.0 */
#include "report/json/parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void (*const parts_in_order[])(struct kwhy_json_report *parts) = {
	kwhy_json_source,
	kwhy_json_window,
	kwhy_json_devices,
	kwhy_json_api,
	kwhy_json_findings,
	kwhy_json_run,
	kwhy_json_work,
	kwhy_json_utilisation,
	kwhy_json_roofline,
	kwhy_json_ranges,
	kwhy_json_ranks,
	kwhy_json_processes,
	kwhy_json_streams,
	kwhy_json_memory,
	kwhy_json_hosts,
	kwhy_json_overhead,
	kwhy_json_probing,
	kwhy_json_operations,
	kwhy_json_cost_rankings,
	kwhy_json_categories,
	kwhy_json_price,
	kwhy_json_plan,
	kwhy_json_lost,
};

/*
 * Writes the member "opened", the indices of the two devices that are written in full, unless all devices
 * are.
 */
static void write_opened(struct kwhy_json_report *parts)
{
	if (!parts->opened || !kwhy_opened_is_part(parts->opened))
		return;
	kwhy_json_row(&parts->json, "opened");
	kwhy_json_index(&parts->json, "worst", parts->opened->worst);
	kwhy_json_index(&parts->json, "median", parts->opened->median);
	kwhy_json_object_end(&parts->json);
}

static enum kwhy_status write_report(const struct kwhy_report *report, const struct kwhy_opened *opened,
	struct kwhy_text *out, struct kwhy_error *error)
{
	struct kwhy_totals totals;
	struct kwhy_operations *operations = NULL;
	struct kwhy_cost_ranking *rankings = NULL;
	enum kwhy_status status = kwhy_totals_init(&totals, report->ledger, error);

	if (!status)
		status = kwhy_operations_new(report->recording, report->ledger, &operations, error);
	if (!status)
		status = kwhy_cost_rankings_new(report, &rankings, error);
	if (!status) {
		struct kwhy_json_report parts = {report, opened, &totals, operations, rankings, {0}};

		kwhy_json_init(&parts.json, out);
		kwhy_json_object(&parts.json, NULL);
		kwhy_json_string(&parts.json, "schema", "kwhy.report/1");
		write_opened(&parts);
		for (size_t i = 0; i < sizeof(parts_in_order) / sizeof(parts_in_order[0]); i++)
			parts_in_order[i](&parts);
		kwhy_json_object_end(&parts.json);
		status = kwhy_text_check(out, error);
	}
	kwhy_cost_rankings_free(rankings, report->ledger->device_count);
	free(operations);
	kwhy_totals_done(&totals);
	return status;
}

enum kwhy_status kwhy_report_json(
	const struct kwhy_report *report, struct kwhy_text *out, struct kwhy_error *error)
{
	return write_report(report, NULL, out, error);
}

enum kwhy_status kwhy_report_json_opened(const struct kwhy_report *report, const struct kwhy_opened *opened,
	struct kwhy_text *out, struct kwhy_error *error)
{
	return write_report(report, opened, out, error);
}

static void write_traces(struct kwhy_json *json, const struct kwhy_recording *recording)
{
	static const char *const formats[KWHY_FORMAT_COUNT] = {
#define X(format, reader, text, words) #reader,
#include "model/trace_formats.def"
#undef X
	};

	kwhy_json_array(json, "traces");
	for (size_t i = 0; i < recording->source_count; i++) {
		const struct kwhy_source *source = &recording->sources[i];

		kwhy_json_row(json, NULL);
		kwhy_json_string(json, "path", source->path);
		kwhy_json_string(
			json, "format", source->format < KWHY_FORMAT_COUNT ? formats[source->format] : NULL);
		kwhy_json_string(json, "version", source->version);
		kwhy_json_string(json, "producer", source->producer);
		kwhy_json_count(json, "events", source->events);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
}

static void write_meters(struct kwhy_json *json, const struct kwhy_recording *recording)
{
	const bool is_named = kwhy_recording_has_hosts(recording);

	kwhy_json_array(json, "meters");
	for (size_t i = 0; i < recording->power_count; i++) {
		const struct kwhy_power_series *series = &recording->power[i];
		const char *host = is_named ? kwhy_recording_host_of(recording, series) : NULL;

		kwhy_json_row(json, NULL);
		kwhy_json_string(json, "source", kwhy_meter_name((enum kwhy_meter)series->meter));
		kwhy_json_index(json, "device", series->device);
		if (host)
			kwhy_json_string(json, "host", host);
		kwhy_json_count(json, "domain", series->domain);
		kwhy_json_count(json, "readings", series->count);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
}

void kwhy_json_source(struct kwhy_json_report *parts)
{
	const struct kwhy_report *report = parts->report;
	struct kwhy_json *json = &parts->json;

	kwhy_json_object(json, "source");
	kwhy_json_string(json, "program", "kwhy");
	kwhy_json_string(json, "version", KWHY_VERSION);
	kwhy_json_string(json, "command", report->command);
	write_traces(json, report->recording);
	write_meters(json, report->recording);
	if (report->profile) {
		kwhy_json_row(json, "profile");
		kwhy_json_string(json, "device_name", report->profile->device_name);
		kwhy_json_string(json, "driver", report->profile->driver);
		kwhy_json_string(json, "measured_on", report->profile->measured_on);
		kwhy_json_object_end(json);
	} else {
		kwhy_json_null(json, "profile");
	}
	kwhy_json_real(json, "own_seconds", report->own_seconds);
	kwhy_json_object_end(json);
}

void kwhy_json_window(struct kwhy_json_report *parts)
{
	const struct kwhy_recording *recording = parts->report->recording;
	char origin[24];

	snprintf(origin, sizeof(origin), "%" PRId64, recording->origin_unix_ns);
	kwhy_json_row(&parts->json, "window");
	kwhy_json_string(&parts->json, "origin_unix_ns", origin);
	kwhy_json_int(&parts->json, "start_ns", recording->start_ns);
	kwhy_json_int(&parts->json, "end_ns", recording->end_ns);
	kwhy_json_string(&parts->json, "clock", recording->unix_clock ? "unix" : "trace");
	kwhy_json_object_end(&parts->json);
}

static void write_evidence(struct kwhy_json *json, const struct kwhy_finding *finding)
{
	kwhy_json_array(json, "evidence");
	for (size_t i = 0; i < finding->evidence_count; i++) {
		kwhy_json_row(json, NULL);
		kwhy_json_int(json, "start_ns", finding->evidence[i].start_ns);
		kwhy_json_int(json, "end_ns", finding->evidence[i].end_ns);
		kwhy_json_string(json, "what", finding->evidence[i].what);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
}

static void write_finding(struct kwhy_json *json, const struct kwhy_finding *finding)
{
	kwhy_json_object(json, NULL);
	kwhy_json_string(json, "id", finding->id);
	kwhy_json_string(json, "title", finding->title);
	kwhy_json_string(json, "in", finding->place.words);
	kwhy_json_string(json, "file", finding->place.file);
	if (finding->place.line)
		kwhy_json_count(json, "line", finding->place.line);
	else
		kwhy_json_null(json, "line");
	kwhy_json_index(json, "device", finding->device);
	kwhy_json_count(json, "count", finding->count);
	kwhy_json_int(json, "time_ns", finding->time_ns);
	kwhy_json_known(json, "energy_nj", finding->energy_nj);
	kwhy_json_known(json, "low_nj", finding->low_nj);
	kwhy_json_known(json, "high_nj", finding->high_nj);
	write_evidence(json, finding);
	kwhy_json_string(json, "cure", finding->cure);
	kwhy_json_row(json, "projection");
	kwhy_json_int(json, "time_ns", finding->saving.time_ns);
	kwhy_json_known(json, "energy_nj", finding->saving.energy_nj);
	kwhy_json_known(json, "low_nj", finding->saving.low_nj);
	kwhy_json_known(json, "high_nj", finding->saving.high_nj);
	kwhy_json_string(json, "assumption", finding->saving.assumption);
	kwhy_json_bool(json, "is_projected", finding->saving.bound == KWHY_BOUND_EXPECTED);
	kwhy_json_bool(json, "frees_device", finding->saving.frees_device);
	kwhy_json_string(json, "credited_to", finding->credited_to);
	kwhy_json_object_end(json);
	kwhy_json_object_end(json);
}

void kwhy_json_findings(struct kwhy_json_report *parts)
{
	const struct kwhy_findings *findings = parts->report->findings;

	kwhy_json_array(&parts->json, "findings");
	for (size_t i = 0; findings && i < findings->count; i++)
		if (findings->items[i].device == KWHY_NONE ||
			kwhy_json_is_opened(parts, findings->items[i].device))
			write_finding(&parts->json, &findings->items[i]);
	kwhy_json_array_end(&parts->json);
}

static void write_notes(struct kwhy_json *json, const struct kwhy_note *notes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		kwhy_json_row(json, NULL);
		kwhy_json_string(
			json, "kind", notes[i].kind == KWHY_NOTE_COMPLETENESS ? "completeness" : "warning");
		kwhy_json_string(json, "id", notes[i].id);
		kwhy_json_string(json, "text", notes[i].text);
		kwhy_json_object_end(json);
	}
}

void kwhy_json_lost(struct kwhy_json_report *parts)
{
	const struct kwhy_recording *recording = parts->report->recording;
	const struct kwhy_ledger *ledger = parts->report->ledger;
	struct kwhy_json *json = &parts->json;

	kwhy_json_row(json, "lost");
	kwhy_json_count(json, "dropped_records", recording->lost.dropped_records);
	kwhy_json_count(json, "skipped_events", recording->lost.skipped_events);
	kwhy_json_count(json, "unlinked_activities", recording->lost.unlinked_activities);
	kwhy_json_count(json, "unknown_bytes", recording->lost.unknown_bytes);
	kwhy_json_bool(json, "truncated", recording->lost.truncated);
	kwhy_json_object_end(json);
	kwhy_json_array(json, "warnings");
	write_notes(json, recording->notes, recording->note_count);
	write_notes(json, ledger->notes, ledger->note_count);
	kwhy_json_array_end(json);
}
