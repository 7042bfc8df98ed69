/* SPDX-License-Identifier: Apache-2.0 */
#include "model/known_sum.h"
#include "model/range_overlaps.h"
#include "report/json/parts.h"

#include <math.h>

/*
 * Writes the members of report.json that are about all devices together: API calls, the run, work, ranges,
 * ranks, processes and others. A member for which the recording has no data is null or left out.
 */

#define NJ_PER_KWH 3.6e15

void kwhy_json_api(struct kwhy_json_report *parts)
{
	const struct kwhy_ledger *ledger = parts->report->ledger;
	struct kwhy_json *json = &parts->json;

	kwhy_json_array(json, "api");
	for (size_t i = 0; i < ledger->api_count; i++) {
		kwhy_json_row(json, NULL);
		kwhy_json_string(
			json, "name", kwhy_names_get(&parts->report->recording->names, ledger->api[i].name));
		kwhy_json_count(json, "count", ledger->api[i].count);
		kwhy_json_int(json, "total_ns", ledger->api[i].total_ns);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
}

static void write_nj(struct kwhy_json *json, const char *key, double nj)
{
	kwhy_json_known(json, key, kwhy_whole_nj(nj));
}

void kwhy_json_run(struct kwhy_json_report *parts)
{
	const struct kwhy_totals *totals = parts->totals;
	struct kwhy_json *json = &parts->json;

	kwhy_json_row(json, "run");
	kwhy_json_real(json, "seconds", totals->run_s);
	write_nj(json, "energy_nj", totals->run_nj);
	write_nj(json, "low_nj", kwhy_totals_run_low_nj(totals));
	write_nj(json, "high_nj", totals->run_nj + totals->run_above_nj);
	write_nj(json, "recorded_nj", totals->recorded_nj);
	write_nj(json, "unmetered_nj", isfinite(totals->run_nj) ? totals->unmetered_nj : NAN);
	kwhy_json_bool(json, "modelled", totals->modelled);
	kwhy_json_object_end(json);
}

void kwhy_json_work(struct kwhy_json_report *parts)
{
	const struct kwhy_recording *recording = parts->report->recording;
	const struct kwhy_totals *totals = parts->totals;
	double energy_nj = totals->run_nj, seconds = totals->run_s;
	struct kwhy_json *json = &parts->json;

	if (!recording->work_count) {
		kwhy_json_null(json, "work");
		return;
	}
	kwhy_json_array(json, "work");
	for (size_t i = 0; i < recording->work_count; i++) {
		double count = recording->work[i].count > 0 ? recording->work[i].count : NAN;

		kwhy_json_row(json, NULL);
		kwhy_json_string(json, "unit", recording->work[i].unit);
		kwhy_json_real(json, "count", recording->work[i].count);
		kwhy_json_real(json, "energy_per_unit_nj", energy_nj / count);
		kwhy_json_real(json, "energy_per_unit_low_nj", kwhy_totals_run_low_nj(totals) / count);
		kwhy_json_real(json, "energy_per_unit_high_nj", (energy_nj + totals->run_above_nj) / count);
		kwhy_json_real(json, "units_per_joule", energy_nj > 0 ? count / (energy_nj * 1e-9) : NAN);
		kwhy_json_real(json, "units_per_second", count / seconds);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
}

void kwhy_json_utilisation(struct kwhy_json_report *parts)
{
	const struct kwhy_ledger *ledger = parts->report->ledger;

	kwhy_json_array(&parts->json, "utilisation");
	for (uint32_t d = 0; d < ledger->device_count; d++)
		kwhy_json_utilisation_row(&parts->json, NULL, &ledger->devices[d].time, d);
	kwhy_json_array_end(&parts->json);
}

static void write_least(struct kwhy_json *json, const char *key, double seconds)
{
	kwhy_json_known(json, key, fabs(seconds) < 9e9 ? llround(seconds * 1e9) : KWHY_UNKNOWN_NS);
}

void kwhy_json_roofline(struct kwhy_json_report *parts)
{
	const struct kwhy_roofline_sum *roofline = &parts->report->ledger->roofline;
	struct kwhy_json *json = &parts->json;

	if (!(roofline->ratio > 0)) {
		kwhy_json_null(json, "roofline");
		return;
	}
	kwhy_json_row(json, "roofline");
	write_least(json, "arithmetic_ns", roofline->arithmetic_s);
	write_least(json, "memory_ns", roofline->memory_s);
	kwhy_json_real(json, "ratio", roofline->ratio);
	kwhy_json_object_end(json);
}

typedef bool tells(const struct kwhy_range_overlaps *overlaps, size_t a, size_t b);

/*
 * Writes the indices of the ranges that stand in the relation is_one() to the range number `place`; null if
 * `overlaps` is NULL or does not contain that range.
 */
static void write_places(struct kwhy_json *json, const char *key, tells *is_one,
	const struct kwhy_range_overlaps *overlaps, size_t place)
{
	if (!overlaps || place >= overlaps->count) {
		kwhy_json_null(json, key);
		return;
	}
	kwhy_json_list(json, key);
	for (size_t i = 0; i < overlaps->count; i++)
		if (is_one(overlaps, place, i))
			kwhy_json_count(json, NULL, i);
	kwhy_json_array_end(json);
}

static int64_t union_ns(const struct kwhy_range_overlaps *overlaps, size_t place)
{
	return overlaps && place < overlaps->count ? overlaps->union_ns[place] : KWHY_UNKNOWN_NS;
}

static void write_range(struct kwhy_json *json, const struct kwhy_recording *recording,
	const struct kwhy_range_sum *range, const struct kwhy_range_overlaps *overlaps, size_t place)
{
	static const char *const kinds[KWHY_RANGE_KIND_COUNT] = {"nvtx", "user", "step"};

	kwhy_json_row(json, NULL);
	kwhy_json_string(json, "name", kwhy_names_get(&recording->names, range->name));
	kwhy_json_string(json, "kind", range->kind < KWHY_RANGE_KIND_COUNT ? kinds[range->kind] : NULL);
	kwhy_json_count(json, "count", range->count);
	kwhy_json_int(json, "start_ns", range->start_ns);
	kwhy_json_int(json, "host_ns", range->host_ns);
	kwhy_json_bytes(json, "activity_count", range->linked ? range->activity_count : KWHY_UNKNOWN_BYTES);
	kwhy_json_known(json, "device_ns", range->linked ? range->device_ns : KWHY_UNKNOWN_NS);
	kwhy_json_known(json, "busy_ns", range->busy_ns);
	kwhy_json_known(json, "energy_nj", range->energy_nj);
	kwhy_json_known(json, "window_energy_nj", range->window_energy_nj);
	kwhy_json_real(json, "busy_ratio", range->busy_ratio);
	kwhy_json_real(json, "sm_weighted_ratio", range->sm_weighted_ratio);
	/* work is stated only for the whole run, so a single range has no roofline ratio */
	kwhy_json_real(json, "roofline_ratio", NAN);
	write_places(json, "overlaps", kwhy_range_overlaps_has, overlaps, place);
	write_places(json, "beside", kwhy_range_overlaps_beside, overlaps, place);
	kwhy_json_known(json, "union_ns", union_ns(overlaps, place));
	kwhy_json_object_end(json);
}

static void write_ranges(struct kwhy_json_report *parts, const char *key, const struct kwhy_range_sum *ranges,
	size_t count, const struct kwhy_range_overlaps *overlaps)
{
	if (!count) {
		kwhy_json_null(&parts->json, key);
		return;
	}
	kwhy_json_array(&parts->json, key);
	for (size_t i = 0; i < count; i++)
		write_range(&parts->json, parts->report->recording, &ranges[i], overlaps, i);
	kwhy_json_array_end(&parts->json);
}

/* Writes start, end, time and energy of the loop of all steps, and its time and energy per step. */
static void write_loop(struct kwhy_json_report *parts)
{
	const struct kwhy_ledger *ledger = parts->report->ledger;
	const struct kwhy_loop_sum *loop = &ledger->loop;
	struct kwhy_json *json = &parts->json;

	if (!ledger->step_count) {
		kwhy_json_null(json, "loop");
		return;
	}
	kwhy_json_row(json, "loop");
	kwhy_json_count(json, "step_count", ledger->step_count);
	kwhy_json_int(json, "start_ns", loop->start_ns);
	kwhy_json_int(json, "end_ns", loop->end_ns);
	kwhy_json_int(json, "time_ns", loop->time_ns);
	kwhy_json_known(json, "energy_nj", loop->energy_nj);
	kwhy_json_real(json, "time_per_step_ns", (double)loop->time_ns / (double)ledger->step_count);
	kwhy_json_real(json, "energy_per_step_nj",
		loop->energy_nj == KWHY_UNKNOWN_NJ ? NAN
						   : (double)loop->energy_nj / (double)ledger->step_count);
	kwhy_json_object_end(json);
}

void kwhy_json_ranges(struct kwhy_json_report *parts)
{
	const struct kwhy_ledger *ledger = parts->report->ledger;
	struct kwhy_range_overlaps overlaps;

	if (!kwhy_range_overlaps_of(parts->report->recording, ledger->ranges, ledger->range_count, &overlaps))
		parts->json.out->failed = true;
	write_ranges(parts, "ranges", ledger->ranges, ledger->range_count, &overlaps);
	/*
	 * Sums of steps do not state a rank. If only some of the devices are shown in full, it is unknown to
	 * which devices a step belongs, so the member "steps" is then null.
	 */
	write_ranges(parts, "steps", ledger->steps,
		parts->opened && kwhy_opened_is_part(parts->opened) ? 0 : ledger->step_count, NULL);
	write_loop(parts);
}

static bool is_distributed(const struct kwhy_ledger *ledger)
{
	for (size_t i = 0; i < ledger->rank_count; i++)
		if (ledger->ranks[i].rank != KWHY_NONE)
			return true;
	return ledger->rank_count > 1;
}

void kwhy_json_ranks(struct kwhy_json_report *parts)
{
	const struct kwhy_ledger *ledger = parts->report->ledger;
	struct kwhy_json *json = &parts->json;

	if (!is_distributed(ledger)) {
		kwhy_json_null(json, "ranks");
		return;
	}
	kwhy_json_array(json, "ranks");
	for (size_t i = 0; i < ledger->rank_count; i++) {
		const struct kwhy_rank_sum *rank = &ledger->ranks[i];

		kwhy_json_row(json, NULL);
		kwhy_json_index(json, "rank", rank->rank);
		kwhy_json_index(json, "device", rank->device);
		kwhy_json_int(json, "span_ns", rank->span_ns);
		kwhy_json_int(json, "busy_ns", rank->busy_ns);
		kwhy_json_int(json, "compute_ns", rank->compute_ns);
		kwhy_json_int(json, "collective_exposed_ns", rank->collective_exposed_ns);
		kwhy_json_known(json, "energy_nj", rank->energy_nj);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
}

void kwhy_json_processes(struct kwhy_json_report *parts)
{
	const struct kwhy_recording *recording = parts->report->recording;
	struct kwhy_json *json = &parts->json;

	kwhy_json_array(json, "processes");
	for (size_t i = 0; i < recording->process_count; i++) {
		const struct kwhy_process *process = &recording->processes[i];

		kwhy_json_row(json, NULL);
		kwhy_json_known(json, "pid", process->pid < 0 ? KWHY_UNKNOWN_NS : process->pid);
		kwhy_json_index(json, "rank", process->rank);
		kwhy_json_index(json, "world_size", process->world_size ? process->world_size : KWHY_NONE);
		kwhy_json_string(json, "host", process->host);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
}

void kwhy_json_streams(struct kwhy_json_report *parts)
{
	const struct kwhy_ledger *ledger = parts->report->ledger;
	struct kwhy_json *json = &parts->json;

	kwhy_json_array(json, "streams");
	for (size_t i = 0; i < ledger->stream_count; i++) {
		const struct kwhy_stream_sum *sum = &ledger->streams[i];
		const struct kwhy_stream *stream = &parts->report->recording->streams[sum->stream];

		kwhy_json_row(json, NULL);
		kwhy_json_index(json, "device", stream->device);
		kwhy_json_index(json, "process", stream->process);
		kwhy_json_known(json, "context", stream->context < 0 ? KWHY_UNKNOWN_NS : stream->context);
		kwhy_json_int(json, "stream", stream->id);
		kwhy_json_count(json, "count", sum->count);
		kwhy_json_int(json, "busy_ns", sum->busy_ns);
		kwhy_json_int(json, "total_ns", sum->total_ns);
		kwhy_json_int(json, "alone_ns", sum->alone_ns);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
}

static bool is_memory_known(const struct kwhy_ledger *ledger)
{
	for (size_t i = 0; i < ledger->memory_count; i++)
		if (ledger->memory[i].peak_allocated_bytes != KWHY_UNKNOWN_BYTES ||
			ledger->memory[i].peak_reserved_bytes != KWHY_UNKNOWN_BYTES)
			return true;
	return false;
}

void kwhy_json_memory(struct kwhy_json_report *parts)
{
	const struct kwhy_ledger *ledger = parts->report->ledger;
	struct kwhy_json *json = &parts->json;

	if (!is_memory_known(ledger)) {
		kwhy_json_null(json, "memory");
		return;
	}
	kwhy_json_array(json, "memory");
	for (size_t i = 0; i < ledger->memory_count; i++) {
		const struct kwhy_memory_sum *memory = &ledger->memory[i];

		kwhy_json_row(json, NULL);
		kwhy_json_index(json, "device", memory->device);
		kwhy_json_bytes(json, "peak_allocated_bytes", memory->peak_allocated_bytes);
		kwhy_json_bytes(json, "peak_reserved_bytes", memory->peak_reserved_bytes);
		kwhy_json_bytes(json, "device_bytes", memory->device_bytes);
		kwhy_json_bytes(json, "unused_bytes", memory->unused_bytes);
		kwhy_json_count(json, "point_count", memory->point_count);
		kwhy_json_count(json, "taken_count", memory->taken_count);
		kwhy_json_count(json, "given_back_count", memory->given_back_count);
		kwhy_json_count(json, "taken_bytes", memory->taken_bytes);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
}

void kwhy_json_hosts(struct kwhy_json_report *parts)
{
	const struct kwhy_ledger *ledger = parts->report->ledger;
	struct kwhy_json *json = &parts->json;

	if (!ledger->host_count) {
		kwhy_json_null(json, "hosts");
		return;
	}
	kwhy_json_array(json, "hosts");
	for (size_t i = 0; i < ledger->host_count; i++) {
		kwhy_json_row(json, NULL);
		kwhy_json_string(json, "source", ledger->hosts[i].source);
		if (ledger->hosts[i].host)
			kwhy_json_string(json, "host", ledger->hosts[i].host);
		kwhy_json_int(json, "start_ns", ledger->hosts[i].start_ns);
		kwhy_json_int(json, "end_ns", ledger->hosts[i].end_ns);
		kwhy_json_known(json, "measured_nj", ledger->hosts[i].measured_nj);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
}

/* Writes what the recording itself cost, if the recording states it. */
void kwhy_json_overhead(struct kwhy_json_report *parts)
{
	const struct kwhy_ledger *ledger = parts->report->ledger;
	struct kwhy_json *json = &parts->json;

	if (!ledger->overhead_count)
		return;
	kwhy_json_array(json, "overhead");
	for (size_t i = 0; i < ledger->overhead_count; i++) {
		const struct kwhy_overhead_sum *row = &ledger->overheads[i];

		kwhy_json_row(json, NULL);
		kwhy_json_string(json, "kind", kwhy_overhead_kind_name(row->kind));
		kwhy_json_index(json, "device", row->device);
		kwhy_json_count(json, "count", row->count);
		kwhy_json_int(json, "time_ns", row->time_ns);
		kwhy_json_known(json, "energy_nj", row->energy_nj);
		kwhy_json_string(json, "basis",
			kwhy_basis_name(
				row->energy_nj == KWHY_UNKNOWN_NJ ? KWHY_BASIS_NONE : KWHY_BASIS_MODELLED));
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
}

void kwhy_json_price(struct kwhy_json_report *parts)
{
	const struct kwhy_report *report = parts->report;
	double kwh = kwhy_totals_paid_nj(parts->totals) / NJ_PER_KWH;
	double unmetered_kwh = isfinite(parts->totals->run_nj) ? parts->totals->unmetered_nj / NJ_PER_KWH : 0;
	struct kwhy_json *json = &parts->json;

	if (isfinite(kwh * report->price_per_kwh)) {
		kwhy_json_row(json, "cost");
		kwhy_json_real(json, "amount", kwh * report->price_per_kwh);
		kwhy_json_string(json, "currency", report->currency);
		kwhy_json_real(json, "price_per_kwh", report->price_per_kwh);
		kwhy_json_real(json, "energy_kwh", kwh);
		kwhy_json_real(json, "unmetered_kwh", unmetered_kwh);
		kwhy_json_object_end(json);
	} else {
		kwhy_json_null(json, "cost");
	}
	if (isfinite(kwh * report->intensity_g_per_kwh)) {
		kwhy_json_row(json, "carbon");
		kwhy_json_real(json, "g_co2e", kwh * report->intensity_g_per_kwh);
		kwhy_json_real(json, "intensity_g_per_kwh", report->intensity_g_per_kwh);
		kwhy_json_string(json, "place", report->place);
		kwhy_json_known(json, "year", report->place ? report->carbon_year : KWHY_UNKNOWN_NJ);
		kwhy_json_real(json, "energy_kwh", kwh);
		kwhy_json_real(json, "unmetered_kwh", unmetered_kwh);
		kwhy_json_object_end(json);
	} else {
		kwhy_json_null(json, "carbon");
	}
}
