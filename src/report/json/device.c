/* SPDX-License-Identifier: Apache-2.0 */
#include "report/account_columns.h"
#include "report/gauge_summary.h"
#include "report/json/parts.h"

#include <math.h>
#include <stdlib.h>

/* Writes the member "devices" of report.json. */

static void write_time(struct kwhy_json *json, const struct kwhy_device_time *time)
{
	const struct {
		const char *key;
		int64_t value;
	} fields[] = {
		{"first_ns", time->first_ns},
		{"last_ns", time->last_ns},
		{"span_ns", time->span_ns},
		{"busy_ns", time->busy_ns},
		{"idle_ns", time->idle_ns},
		{"unrecorded_ns", time->unrecorded_ns},
		{"probing_ns", time->probing_ns},
		{"compute_ns", time->compute_ns},
		{"collective_ns", time->collective_ns},
		{"copy_ns", time->copy_ns},
		{"memset_ns", time->memset_ns},
		{"overlap_ns", time->overlap_ns},
		{"sync_ns", time->sync_ns},
		{"launch_ns", time->launch_ns},
		{"alloc_ns", time->alloc_ns},
		{"host_ns", time->host_ns},
	};

	kwhy_json_row(json, "time");
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		kwhy_json_known(json, fields[i].key, fields[i].value);
	kwhy_json_count(json, "idle_gaps", time->idle_gaps);
	kwhy_json_object_end(json);
}

void kwhy_json_utilisation_row(
	struct kwhy_json *json, const char *key, const struct kwhy_device_time *time, uint32_t device)
{
	kwhy_json_row(json, key);
	if (!key)
		kwhy_json_index(json, "device", device);
	kwhy_json_real(json, "busy_ratio", time->busy_ratio);
	kwhy_json_real(json, "sm_weighted_ratio", time->sm_weighted_ratio);
	kwhy_json_real(json, "sm_weighted_known_ratio", time->sm_weighted_known_ratio);
	kwhy_json_real(json, "roofline_ratio", time->roofline_ratio);
	kwhy_json_count(json, "stream_count", time->stream_count);
	kwhy_json_count(json, "max_concurrency", time->max_concurrency);
	kwhy_json_real(json, "mean_concurrency", time->mean_concurrency);
	kwhy_json_object_end(json);
}

static void write_kernels(struct kwhy_json *json, const struct kwhy_device_time *time)
{
	double union_ns = (double)time->collective_union_ns;

	kwhy_json_row(json, "kernels");
	kwhy_json_count(json, "count", time->kernel_count);
	kwhy_json_int(json, "total_ns", time->kernel_total_ns);
	kwhy_json_int(json, "union_ns", time->kernel_union_ns);
	kwhy_json_object_end(json);
	kwhy_json_row(json, "collectives");
	kwhy_json_count(json, "count", time->collective_count);
	kwhy_json_int(json, "total_ns", time->collective_total_ns);
	kwhy_json_int(json, "union_ns", time->collective_union_ns);
	kwhy_json_real(
		json, "overlap_ratio", union_ns > 0 ? (double)time->collective_overlap_ns / union_ns : NAN);
	kwhy_json_int(json, "exposed_ns", time->collective_exposed_ns);
	kwhy_json_object_end(json);
}

static void write_copy_place(struct kwhy_json *json, uint32_t kind, uint32_t src_memory, uint32_t dst_memory)
{
	kwhy_json_string(json, "kind", kwhy_copy_kind_name((enum kwhy_copy_kind)kind));
	kwhy_json_string(json, "src_memory", kwhy_memory_kind_name((enum kwhy_memory_kind)src_memory));
	kwhy_json_string(json, "dst_memory", kwhy_memory_kind_name((enum kwhy_memory_kind)dst_memory));
}

static void write_copies(struct kwhy_json *json, const struct kwhy_device_time *time)
{
	kwhy_json_array(json, "copies");
	for (size_t i = 0; i < time->copy_sum_count; i++) {
		const struct kwhy_copy_sum *copy = &time->copies[i];

		kwhy_json_row(json, NULL);
		write_copy_place(json, copy->kind, copy->src_memory, copy->dst_memory);
		kwhy_json_count(json, "count", copy->count);
		kwhy_json_bytes(
			json, "bytes", copy->unknown_bytes >= copy->count ? KWHY_UNKNOWN_BYTES : copy->bytes);
		kwhy_json_count(json, "unknown_bytes_count", copy->unknown_bytes);
		kwhy_json_int(json, "total_ns", copy->total_ns);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
}

static void write_copy_classes(struct kwhy_json *json, const struct kwhy_device_time *time)
{
	kwhy_json_array(json, "copy_classes");
	for (size_t i = 0; i < time->copy_class_count; i++) {
		const struct kwhy_copy_class_sum *copy = &time->copy_classes[i];

		kwhy_json_row(json, NULL);
		write_copy_place(json, copy->kind, copy->src_memory, copy->dst_memory);
		kwhy_json_index(json, "size_class", copy->size_class);
		kwhy_json_count(json, "count", copy->count);
		kwhy_json_bytes(
			json, "bytes", copy->size_class == KWHY_NONE ? KWHY_UNKNOWN_BYTES : copy->bytes);
		kwhy_json_int(json, "total_ns", copy->total_ns);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
}

static void write_memsets(struct kwhy_json *json, const struct kwhy_device_time *time)
{
	bool unknown = time->memset_count && time->memset_unknown_bytes >= time->memset_count;

	kwhy_json_row(json, "memsets");
	kwhy_json_count(json, "count", time->memset_count);
	kwhy_json_bytes(json, "bytes", unknown ? KWHY_UNKNOWN_BYTES : time->memset_bytes);
	kwhy_json_count(json, "unknown_bytes_count", time->memset_unknown_bytes);
	kwhy_json_int(json, "total_ns", time->memset_total_ns);
	kwhy_json_int(json, "union_ns", time->memset_union_ns);
	kwhy_json_object_end(json);
	kwhy_json_row(json, "small_h2d_copies");
	kwhy_json_count(json, "limit_bytes", 4096);
	kwhy_json_count(json, "count", time->small_h2d_count);
	kwhy_json_object_end(json);
	kwhy_json_count(json, "graph_count", time->graph_count);
}

static void write_activities(struct kwhy_json *json, const struct kwhy_device_time *time)
{
	write_kernels(json, time);
	write_copies(json, time);
	write_copy_classes(json, time);
	write_memsets(json, time);
}

static void write_energy_sums(struct kwhy_json *json, const struct kwhy_device_energy *energy)
{
	kwhy_json_int(json, "start_ns", energy->start_ns);
	kwhy_json_int(json, "end_ns", energy->end_ns);
	kwhy_json_int(json, "metered_ns", energy->metered_ns);
	kwhy_json_known(json, "measured_nj", energy->modelled ? KWHY_UNKNOWN_NJ : energy->measured_nj);
	kwhy_json_known(json, "attributed_nj", energy->attributed_nj);
	kwhy_json_known(json, "clean_idle_nj", energy->clean_idle_nj);
	kwhy_json_known(json, "context_idle_nj", energy->context_idle_nj);
	kwhy_json_known(json, "execution_idle_nj", energy->execution_idle_nj);
	kwhy_json_known(json, "net_nj", energy->net_nj);
	kwhy_json_known(json, "edge_nj", energy->edge_nj);
	kwhy_json_int(json, "edge_ns", energy->edge_ns);
}

static void write_energy(struct kwhy_json *json, const struct kwhy_device_energy *energy)
{
	if (!energy->known) {
		kwhy_json_null(json, "energy");
		return;
	}
	kwhy_json_object(json, "energy");
	kwhy_json_string(json, "source", energy->source);
	kwhy_json_bool(json, "modelled", energy->modelled);
	write_energy_sums(json, energy);
	kwhy_json_real(json, "expected_wrong_ratio", energy->expected_wrong_ratio);
	kwhy_json_real(json, "counter_check_ratio", energy->counter_check_ratio);
	kwhy_json_real(json, "clean_idle_w", energy->clean_idle_w);
	kwhy_json_real(json, "context_idle_w", energy->context_idle_w);
	kwhy_json_bool(json, "clean_idle_measured", energy->clean_idle_measured);
	kwhy_json_bool(json, "context_idle_measured", energy->context_idle_measured);
	kwhy_json_real(json, "highest_sample_w", energy->highest_sample_w);
	kwhy_json_real(json, "time_constant_s", energy->time_constant_s);
	kwhy_json_real(json, "delay_s", energy->delay_s);
	kwhy_json_count(json, "reading_count", energy->reading_count);
	kwhy_json_object_end(json);
}

static void write_groups(struct kwhy_json *json, const struct kwhy_device_ledger *device_ledger)
{
	kwhy_json_array(json, "groups");
	for (size_t i = 0; i < device_ledger->group_count; i++) {
		const struct kwhy_account_group *group = &device_ledger->groups[i];

		kwhy_json_row(json, NULL);
		kwhy_json_count(json, "id", i);
		kwhy_json_list(json, "members");
		for (size_t j = 0; j < group->member_count; j++)
			kwhy_json_index(json, NULL, group->members[j]);
		kwhy_json_array_end(json);
		kwhy_json_known(json, "gross_nj", group->gross_nj);
		kwhy_json_known(json, "low_nj", group->low_nj);
		kwhy_json_known(json, "high_nj", group->high_nj);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
}

static void write_account(struct kwhy_json *json, const struct kwhy_account_row *row)
{
	kwhy_json_row(json, NULL);
	kwhy_columns_json(&kwhy_account_columns, json, row);
	if (row->account.has_whole) {
		kwhy_json_row(json, "whole_run");
		kwhy_columns_json(&kwhy_account_whole_columns, json, row);
		kwhy_json_object_end(json);
	}
	kwhy_json_object_end(json);
}

static void write_accounts(struct kwhy_json *json, const struct kwhy_device_ledger *device_ledger,
	const struct kwhy_device *device)
{
	kwhy_json_array(json, "accounts");
	for (size_t i = 0; i < device_ledger->account_count; i++) {
		const struct kwhy_account_row row = kwhy_account_row_of(device_ledger, device, i);

		write_account(json, &row);
	}
	kwhy_json_array_end(json);
	kwhy_json_array(json, "power_classes");
	for (size_t i = 0; i < device_ledger->class_count; i++) {
		kwhy_json_row(json, NULL);
		kwhy_json_real(json, "power_w", device_ledger->classes[i].power_w);
		kwhy_json_real(json, "low_w", device_ledger->classes[i].low_w);
		kwhy_json_real(json, "high_w", device_ledger->classes[i].high_w);
		kwhy_json_real(json, "prior_power_w", device_ledger->classes[i].prior_power_w);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
}

/*
 * Writes the member "coverage" if only parts (windows) of the device's run were recorded: which parts, and
 * how they were chosen.
 */
static void write_coverage(struct kwhy_json *json, const struct kwhy_coverage_sum *coverage)
{
	if (!coverage->is_in_windows)
		return;
	kwhy_json_object(json, "coverage");
	kwhy_json_string(json, "choice", kwhy_choice_name((enum kwhy_choice)coverage->choice));
	kwhy_json_int(json, "start_ns", coverage->start_ns);
	kwhy_json_int(json, "end_ns", coverage->end_ns);
	kwhy_json_int(json, "known_ns", coverage->known_ns);
	kwhy_json_count(json, "window_count", coverage->window_count);
	kwhy_json_count(json, "drawn_count", coverage->drawn_count);
	kwhy_json_int(json, "drawn_ns", coverage->drawn_ns);
	kwhy_json_int(json, "drawn_of_ns", coverage->select_end_ns - coverage->select_start_ns);
	kwhy_json_real(json, "sampling_error_ratio", coverage->share_error_ratio);
	kwhy_json_object_end(json);
}

/* Counts the processes that have a stream on the device. */
static size_t count_processes(struct kwhy_json *json, const struct kwhy_recording *recording, uint32_t device)
{
	bool *seen = calloc(recording->process_count + 1, sizeof(*seen));
	size_t count = 0;

	json->out->failed |= !seen;
	for (size_t i = 0; seen && i < recording->stream_count; i++) {
		const struct kwhy_stream *stream = &recording->streams[i];

		if (stream->device != device || stream->process >= recording->process_count)
			continue;
		count += !seen[stream->process];
		seen[stream->process] = true;
	}
	free(seen);
	return count;
}

static void write_identity(struct kwhy_json *json, const struct kwhy_recording *recording, uint32_t index)
{
	const struct kwhy_device *device = &recording->devices[index];

	kwhy_json_int(json, "index", device->index);
	kwhy_json_index(json, "rank", device->rank);
	kwhy_json_string(json, "name", device->name);
	kwhy_json_string(json, "uuid", device->uuid);
	kwhy_json_index(json, "sm_count", device->sm_count ? device->sm_count : KWHY_NONE);
	kwhy_json_known(json, "limit_mw", device->limit_mw < 0 ? KWHY_UNKNOWN_NJ : device->limit_mw);
	kwhy_json_count(json, "pid_count", count_processes(json, recording, index));
}

static void write_throttling(struct kwhy_json *json, const struct kwhy_gauge_series *series)
{
	kwhy_json_array(json, "throttling");
	for (unsigned bit = 0; bit < KWHY_THROTTLE_COUNT; bit++) {
		double ratio = kwhy_gauge_throttled_ratio(series, bit);

		if (!(ratio > 0))
			continue;
		kwhy_json_row(json, NULL);
		kwhy_json_string(json, "reason", kwhy_throttle_name(bit));
		kwhy_json_real(json, "time_ratio", ratio);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
}

static void write_gauge(struct kwhy_json *json, const struct kwhy_gauge_series *series)
{
	struct kwhy_gauge_summary summary;

	kwhy_gauge_summarise(series, &summary);
	kwhy_json_row(json, NULL);
	kwhy_json_string(json, "gauge", kwhy_gauge_name((enum kwhy_gauge)series->gauge));
	kwhy_json_count(json, "count", summary.count);
	kwhy_json_real(json, "mean", summary.mean);
	kwhy_json_int(json, "least", summary.least);
	kwhy_json_int(json, "most", summary.most);
	kwhy_json_object_end(json);
}

/*
 * Writes the gauges of a device, if any were recorded: summaries in the member "gauges", and throttle reasons
 * in "throttling".
 */
static void write_gauges(struct kwhy_json *json, const struct kwhy_recording *recording, uint32_t device)
{
	const struct kwhy_gauge_series *throttling = NULL;
	size_t count = 0;

	for (size_t i = 0; i < recording->gauge_count; i++) {
		const struct kwhy_gauge_series *series = &recording->gauges[i];

		if (series->device != device)
			continue;
		if (series->gauge == KWHY_GAUGE_THROTTLE_REASONS) {
			throttling = series;
			continue;
		}
		if (!count++)
			kwhy_json_array(json, "gauges");
		write_gauge(json, series);
	}
	if (count)
		kwhy_json_array_end(json);
	if (throttling)
		write_throttling(json, throttling);
}

/*
 * Writes the device's idle time divided by the reason for it: the host range that ran meanwhile or, without
 * one, why there is none ("reason"). The times of the elements add up to all idle time.
 */
static void write_host_waits(struct kwhy_json *json, const struct kwhy_recording *recording,
	const struct kwhy_device_ledger *device_ledger)
{
	kwhy_json_array(json, "host_waits");
	for (size_t i = 0; i < device_ledger->host_sum_count; i++) {
		const struct kwhy_host_sum *sum = &device_ledger->host_sums[i];
		bool is_range = sum->what == KWHY_HOST_WAIT_RANGE;

		kwhy_json_row(json, NULL);
		kwhy_json_string(
			json, "reason", kwhy_host_wait_reason_name((enum kwhy_host_wait_reason)sum->what));
		kwhy_json_string(
			json, "kind", is_range ? kwhy_host_kind_name((enum kwhy_host_kind)sum->kind) : NULL);
		kwhy_json_string(
			json, "name", sum->name ? kwhy_names_get(&recording->names, sum->name) : NULL);
		kwhy_json_string(
			json, "file", sum->file ? kwhy_names_get(&recording->names, sum->file) : NULL);
		kwhy_json_index(json, "line", sum->line ? sum->line : KWHY_NONE);
		kwhy_json_int(json, "time_ns", sum->time_ns);
		kwhy_json_count(json, "gap_count", sum->gaps);
		kwhy_json_int(json, "longest_ns", sum->longest_ns);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
}

void kwhy_json_devices(struct kwhy_json_report *parts)
{
	const struct kwhy_ledger *ledger = parts->report->ledger;
	struct kwhy_json *json = &parts->json;

	kwhy_json_array(json, "devices");
	for (uint32_t d = 0; d < ledger->device_count; d++) {
		const struct kwhy_device_ledger *device_ledger = &ledger->devices[d];
		const bool is_opened = kwhy_json_is_opened(parts, d);

		kwhy_json_object(json, NULL);
		write_identity(json, parts->report->recording, d);
		write_coverage(json, &device_ledger->coverage);
		write_time(json, &device_ledger->time);
		if (is_opened)
			write_host_waits(json, parts->report->recording, device_ledger);
		kwhy_json_utilisation_row(json, "utilisation", &device_ledger->time, d);
		if (is_opened)
			write_activities(json, &device_ledger->time);
		write_energy(json, &device_ledger->energy);
		if (is_opened) {
			write_groups(json, device_ledger);
			write_accounts(json, device_ledger, &parts->report->recording->devices[d]);
			write_gauges(json, parts->report->recording, d);
		}
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
}
