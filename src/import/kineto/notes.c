/* SPDX-License-Identifier: Apache-2.0 */
#include "base/plural.h"
#include "base/quantity.h"
#include "import/kineto/file.h"

#include <stdlib.h>
#include <string.h>

/* Each function on_...() below checks one property of the file and adds at most one note to the recording. */

#define COMPLETENESS(id, ...) \
	kwhy_recording_add_note(file->recording, KWHY_NOTE_COMPLETENESS, (id), error, "%s: " __VA_ARGS__)
#define WARNING(id, ...) \
	kwhy_recording_add_note(file->recording, KWHY_NOTE_WARNING, (id), error, "%s: " __VA_ARGS__)
#define LL(number) ((unsigned long long)(number))

static size_t activity_count(const struct kwhy_kineto_file *file)
{
	return file->recording->activities.count - file->first.activities;
}

static enum kwhy_status on_activities(struct kwhy_kineto_file *file, struct kwhy_error *error)
{
	if (activity_count(file) > 0)
		return KWHY_OK;
	return COMPLETENESS("no-gpu-events",
		"it holds no kernel, copy or memset: no device did anything, or the profiler was not asked "
		"to record devices.",
		file->path);
}

static enum kwhy_status on_unknown(struct kwhy_kineto_file *file, struct kwhy_error *error)
{
	struct kwhy_text list = {0};
	enum kwhy_status status;

	if (file->unknown.events == 0)
		return KWHY_OK;
	kwhy_kineto_unknown_list(file, &list);
	status = kwhy_text_check(&list, error);
	if (!status)
		status = COMPLETENESS("events-unknown", "%llu %s left out: %s.", file->path,
			LL(file->unknown.events),
			kwhy_plural(file->unknown.events, "event of an unknown kind was",
				"events of unknown kinds were"),
			list.data);
	kwhy_text_done(&list);
	return status;
}

static enum kwhy_status on_untimed(struct kwhy_kineto_file *file, struct kwhy_error *error)
{
	if (file->counts.untimed == 0)
		return KWHY_OK;
	return WARNING("records-untimed",
		"%llu %s without times (start and duration are 0) and left out; what the device did then "
		"counts as idle.",
		file->path, LL(file->counts.untimed),
		kwhy_plural(file->counts.untimed, "activity or call is", "activities and calls are"));
}

static enum kwhy_status on_unpaired(struct kwhy_kineto_file *file, struct kwhy_error *error)
{
	if (file->counts.unpaired == 0)
		return KWHY_OK;
	return WARNING("slices-unpaired", "%llu %s left out.", file->path, LL(file->counts.unpaired),
		kwhy_plural(file->counts.unpaired, "slice with a begin or an end alone was",
			"slices with a begin or an end alone were"));
}

static enum kwhy_status on_device_numbers(struct kwhy_kineto_file *file, struct kwhy_error *error)
{
	if (file->counts.unnumbered_devices == 0)
		return KWHY_OK;
	return COMPLETENESS("no-device-numbers", "%llu %s of an unstated device: device 0 is assumed.",
		file->path, LL(file->counts.unnumbered_devices),
		kwhy_plural(file->counts.unnumbered_devices, "activity is", "activities are"));
}

static enum kwhy_status on_calls(struct kwhy_kineto_file *file, struct kwhy_error *error)
{
	if (file->recording->calls.count > file->first.calls || activity_count(file) == 0)
		return KWHY_OK;
	return COMPLETENESS("no-api-rows",
		"it holds no API calls, so what the host did while a device was idle cannot be determined.",
		file->path);
}

static enum kwhy_status on_bytes(struct kwhy_kineto_file *file, struct kwhy_error *error)
{
	if (file->counts.copies_without_bytes == 0)
		return KWHY_OK;
	return COMPLETENESS("copies-without-bytes", "the bytes of %llu %s are not stated.", file->path,
		LL(file->counts.copies_without_bytes),
		kwhy_plural(file->counts.copies_without_bytes, "copy", "copies"));
}

static enum kwhy_status on_digits(struct kwhy_kineto_file *file, struct kwhy_error *error)
{
	if (file->counts.fractional || activity_count(file) == 0)
		return KWHY_OK;
	return COMPLETENESS("whole-microseconds",
		"times are whole microseconds: kernels under 1 us show as 0, and sums of short work are off "
		"by as much.",
		file->path);
}

/*
 * Counts the calls in the file whose names contain "GraphLaunch". Each distinct name is searched once,
 * because there are few names and many calls.
 */
static enum kwhy_status count_graph_launches(
	const struct kwhy_kineto_file *file, uint64_t *out, struct kwhy_error *error)
{
	const struct kwhy_recording *recording = file->recording;
	bool *launches = malloc(recording->names.count + 1);

	*out = 0;
	if (!launches)
		return kwhy_fail_memory(error, "the calls of a trace");
	for (uint32_t name = 0; name < recording->names.count; name++)
		launches[name] = strstr(kwhy_names_get(&recording->names, name), "GraphLaunch") != NULL;
	for (size_t i = file->first.calls; i < recording->calls.count; i++)
		*out += launches[recording->calls.name[i]];
	free(launches);
	return KWHY_OK;
}

static enum kwhy_status on_graphs(struct kwhy_kineto_file *file, struct kwhy_error *error)
{
	enum kwhy_status status;
	uint64_t launches;

	if (file->counts.graph_kernels > 0)
		return KWHY_OK;
	status = count_graph_launches(file, &launches, error);
	if (status || launches == 0)
		return status;
	return COMPLETENESS("graph-nodes-unknown",
		"it has %llu %s, but no kernel that is stated to belong to a graph.", file->path,
		LL(launches), kwhy_plural(launches, "graph launch", "graph launches"));
}

static enum kwhy_status on_properties(struct kwhy_kineto_file *file, struct kwhy_error *error)
{
	if (file->meta.device_count > 0 || activity_count(file) == 0)
		return KWHY_OK;
	return COMPLETENESS("no-device-properties",
		"it does not say what its devices are, so how well kernels fill them cannot be determined.",
		file->path);
}

static enum kwhy_status on_memory(struct kwhy_kineto_file *file, struct kwhy_error *error)
{
	if (file->counts.memory_without_totals == 0)
		return KWHY_OK;
	return COMPLETENESS("memory-without-totals",
		"%llu memory %s but no total, so memory in use is unknown there.", file->path,
		LL(file->counts.memory_without_totals),
		kwhy_plural(
			file->counts.memory_without_totals, "event gives a change", "events give changes"));
}

static enum kwhy_status on_overhead(struct kwhy_kineto_file *file, struct kwhy_error *error)
{
	char time[KWHY_QUANTITY_BYTES];

	if (file->counts.overhead_events == 0)
		return KWHY_OK;
	return COMPLETENESS("profiler-overhead",
		"the profiler itself spent %s in %llu %s during the recording.", file->path,
		kwhy_quantity_time(time, file->counts.overhead_ns), LL(file->counts.overhead_events),
		kwhy_plural(file->counts.overhead_events, "buffer request or flush",
			"buffer requests and flushes"));
}

static enum kwhy_status on_dropped(struct kwhy_kineto_file *file, struct kwhy_error *error)
{
	if (file->meta.dropped_records == 0 && !file->meta.stopped_early)
		return KWHY_OK;
	return WARNING("records-dropped", "the profiler lost %llu %s%s.", file->path,
		LL(file->meta.dropped_records), kwhy_plural(file->meta.dropped_records, "record", "records"),
		file->meta.stopped_early ? " and stopped early" : "");
}

static enum kwhy_status on_window(struct kwhy_kineto_file *file, struct kwhy_error *error)
{
	if (file->meta.out_of_window_records == 0)
		return KWHY_OK;
	return COMPLETENESS("records-out-of-window", "the profiler left out %llu %s outside its window.",
		file->path, LL(file->meta.out_of_window_records),
		kwhy_plural(file->meta.out_of_window_records, "record", "records"));
}

static enum kwhy_status on_skipped(struct kwhy_kineto_file *file, struct kwhy_error *error)
{
	if (file->counts.skipped == 0)
		return KWHY_OK;
	return WARNING("events-skipped", "%llu unusable %s left out.", file->path, LL(file->counts.skipped),
		kwhy_plural(file->counts.skipped, "event was", "events were"));
}

static enum kwhy_status on_host_ranges(struct kwhy_kineto_file *file, struct kwhy_error *error)
{
	if (file->counts.untimed_host_ranges == 0)
		return KWHY_OK;
	return WARNING("host-ranges-untimed", "%llu %s without usable times left out.", file->path,
		LL(file->counts.untimed_host_ranges),
		kwhy_plural(file->counts.untimed_host_ranges, "operator or Python function of the host was",
			"operators and Python functions of the host were"));
}

enum kwhy_status kwhy_kineto_notes(struct kwhy_kineto_file *file, struct kwhy_error *error)
{
	static enum kwhy_status (*const questions[])(struct kwhy_kineto_file *, struct kwhy_error *) = {
		on_activities, on_calls, on_bytes, on_digits, on_graphs, on_properties, on_memory,
		on_overhead, on_dropped, on_window, on_skipped, on_host_ranges, on_unknown, on_untimed,
		on_unpaired, on_device_numbers};
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < sizeof(questions) / sizeof(questions[0]); i++)
		status = questions[i](file, error);
	return status;
}
