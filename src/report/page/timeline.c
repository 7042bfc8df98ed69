/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page/timeline.h"

#include "model/host_time.h"
#include "report/page/timeline_part.h"
#include "report/page/timeline_power.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW_NS = 10000000, WINDOW_LIMIT = 64 };

/*
 * An interval, relative to the timeline's start, in which the page has every activity; elsewhere it has only
 * sums over equal bins of time.
 */
struct window {
	int64_t from_ns, to_ns;
};

struct track {
	const char *kind;
	/* index in the recording of the device to which the track belongs; KWHY_NONE: the host */
	uint32_t device;
	char label[64];
	/*
	 * [window_count] the track's rows in each window; if the page has every activity, the only window is
	 * the whole recording
	 */
	struct kwhy_timeline_part *parts;
	struct kwhy_timeline_bins bins;
	bool used, is_hidden;
};

struct builder {
	const struct kwhy_report *report;
	const bool *is_shown; /* [device_count] whether the page shows the device's tracks */
	int64_t start_ns, span_ns;
	bool exact;
	struct window windows[WINDOW_LIMIT];
	size_t window_count;
	/*
	 * The tracks in this order: one for each stream; one for the calls of each thread; one for the ranges
	 * of each thread; one for ranges without a thread; and one for each device with the ranges that the
	 * host was in while that device was idle.
	 */
	struct track *tracks;
	size_t track_count;
	struct kwhy_text columns;
	struct kwhy_error *error;
};

static void add_window(struct builder *builder, int64_t from_ns, int64_t to_ns)
{
	if (builder->window_count == WINDOW_LIMIT)
		return;
	from_ns = from_ns < 0 ? 0 : from_ns;
	to_ns = to_ns > builder->span_ns ? builder->span_ns : to_ns;
	if (from_ns < to_ns)
		builder->windows[builder->window_count++] = (struct window){from_ns, to_ns};
}

/*
 * Chooses the windows. If the page has every activity, there is one window over the whole recording.
 * Otherwise there are windows of 10 ms at both ends and in the middle of the recording and, until there are
 * 64, around each place that the findings of shown devices give as evidence.
 */
static void choose_windows(struct builder *builder)
{
	const struct kwhy_findings *findings = builder->report->findings;

	if (builder->exact) {
		add_window(builder, 0, builder->span_ns);
		return;
	}
	add_window(builder, 0, WINDOW_NS);
	add_window(builder, builder->span_ns - WINDOW_NS, builder->span_ns);
	add_window(builder, (builder->span_ns - WINDOW_NS) / 2, (builder->span_ns + WINDOW_NS) / 2);
	for (size_t i = 0; findings && i < findings->count; i++) {
		const struct kwhy_finding *finding = &findings->items[i];

		if (finding->device != KWHY_NONE && !builder->is_shown[finding->device])
			continue;
		for (size_t k = 0; k < finding->evidence_count; k++) {
			int64_t at = finding->evidence[k].start_ns - builder->start_ns;

			add_window(builder, at - WINDOW_NS / 2, at + WINDOW_NS / 2);
		}
	}
}

/*
 * Hides the tracks of streams on devices that are not shown, and the tracks of threads (calls and ranges) of
 * processes that have streams, but none on a device that is shown.
 */
static enum kwhy_status hide_tracks(struct builder *builder)
{
	const struct kwhy_recording *recording = builder->report->recording;
	bool *is_elsewhere = calloc(recording->process_count + 1, sizeof(bool));
	bool *is_here = calloc(recording->process_count + 1, sizeof(bool));
	struct track *threads = builder->tracks + recording->stream_count;
	const bool has_memory = is_elsewhere && is_here;

	for (size_t i = 0; has_memory && i < recording->stream_count; i++) {
		const struct kwhy_stream *stream = &recording->streams[i];

		builder->tracks[i].is_hidden = !builder->is_shown[stream->device];
		if (stream->process < recording->process_count)
			(builder->is_shown[stream->device] ? is_here : is_elsewhere)[stream->process] = true;
	}
	for (size_t i = 0; has_memory && i < recording->thread_count; i++) {
		const uint32_t process = recording->threads[i].process;
		const bool is_hidden = process < recording->process_count && is_elsewhere[process] &&
			!is_here[process];

		threads[i].is_hidden = is_hidden;
		threads[recording->thread_count + i].is_hidden = is_hidden;
	}
	free(is_elsewhere);
	free(is_here);
	return has_memory ? KWHY_OK : kwhy_fail_memory(builder->error, "the timeline");
}

/* Number of activities of the devices that are shown, and of calls of threads whose tracks are not hidden. */
static size_t count_rows(const struct builder *builder)
{
	const struct kwhy_recording *recording = builder->report->recording;
	const struct track *threads = builder->tracks + recording->stream_count;
	size_t count = 0;

	for (size_t d = 0; d < recording->device_count; d++)
		if (builder->is_shown[d])
			count += recording->activities.first[d + 1] - recording->activities.first[d];
	for (size_t i = 0; i < recording->calls.count; i++)
		count += !threads[recording->calls.thread[i]].is_hidden;
	return count;
}

static enum kwhy_status open_track(struct builder *builder, struct track *track)
{
	track->parts = calloc(builder->window_count ? builder->window_count : 1, sizeof(*track->parts));
	if (!track->parts)
		return kwhy_fail_memory(builder->error, "the timeline");
	for (size_t i = 0; i < builder->window_count; i++)
		kwhy_timeline_part_init(
			&track->parts[i], builder->windows[i].from_ns, builder->windows[i].to_ns, 0);
	track->used = true;
	if (builder->exact)
		return KWHY_OK;
	return kwhy_timeline_bins_init(&track->bins, builder->span_ns, builder->error);
}

static enum kwhy_status put(struct builder *builder, struct track *track, struct kwhy_timeline_row *row)
{
	int64_t end_ns;

	if (track->is_hidden)
		return KWHY_OK;
	if (!track->used && open_track(builder, track))
		return builder->error->status;
	row->start_ns -= builder->start_ns;
	end_ns = row->start_ns + row->duration_ns;
	for (size_t i = 0; i < builder->window_count; i++)
		if (row->start_ns < builder->windows[i].to_ns &&
			(end_ns > builder->windows[i].from_ns || builder->exact))
			kwhy_timeline_part_add(&track->parts[i], row);
	if (!builder->exact)
		kwhy_timeline_bins_add(&track->bins, row);
	return KWHY_OK;
}

static enum kwhy_status put_activities(struct builder *builder)
{
	static const enum kwhy_timeline_category categories[KWHY_ACTIVITY_KIND_COUNT] = {
		[KWHY_ACTIVITY_COLLECTIVE] = KWHY_TIMELINE_COLLECTIVE,
		[KWHY_ACTIVITY_COPY] = KWHY_TIMELINE_COPY,
		[KWHY_ACTIVITY_MEMSET] = KWHY_TIMELINE_MEMSET,
	};
	const struct kwhy_activities *rows = &builder->report->recording->activities;
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < rows->count; i++) {
		struct kwhy_timeline_row row = {
			.start_ns = rows->start_ns[i],
			.duration_ns = rows->end_ns[i] - rows->start_ns[i],
			.name = rows->name[i],
			.category = categories[rows->kind[i]],
			.bytes = rows->bytes[i] == KWHY_UNKNOWN_BYTES ? 0 : rows->bytes[i],
		};

		status = put(builder, &builder->tracks[rows->stream[i]], &row);
	}
	return status;
}

static enum kwhy_status put_calls(struct builder *builder)
{
	static const enum kwhy_timeline_category categories[KWHY_CALL_CLASS_COUNT] = {
		[KWHY_CALL_OTHER] = KWHY_TIMELINE_CALL,
		[KWHY_CALL_LAUNCH] = KWHY_TIMELINE_LAUNCH,
		[KWHY_CALL_COPY] = KWHY_TIMELINE_SYNC,
		[KWHY_CALL_SYNC] = KWHY_TIMELINE_SYNC,
		[KWHY_CALL_ALLOC] = KWHY_TIMELINE_ALLOC,
		[KWHY_CALL_FREE] = KWHY_TIMELINE_ALLOC,
	};
	const struct kwhy_calls *rows = &builder->report->recording->calls;
	struct track *tracks = builder->tracks + builder->report->recording->stream_count;
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < rows->count; i++) {
		struct kwhy_timeline_row row = {
			.start_ns = rows->start_ns[i],
			.duration_ns = rows->end_ns[i] - rows->start_ns[i],
			.name = rows->name[i],
			.category = categories[rows->class[i]],
		};

		status = put(builder, &tracks[rows->thread[i]], &row);
	}
	return status;
}

static enum kwhy_status put_ranges(struct builder *builder)
{
	const struct kwhy_recording *recording = builder->report->recording;
	struct track *tracks = builder->tracks + recording->stream_count + recording->thread_count;
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < recording->range_count; i++) {
		const struct kwhy_range *range = &recording->ranges[i];
		int64_t from_ns = range->start_ns < recording->start_ns ? recording->start_ns
									: range->start_ns;
		int64_t to_ns = range->end_ns > recording->end_ns ? recording->end_ns : range->end_ns;
		struct kwhy_timeline_row row = {
			.start_ns = from_ns,
			.duration_ns = to_ns - from_ns,
			.name = range->name,
			.category = KWHY_TIMELINE_RANGE,
		};

		if (from_ns <= to_ns)
			status = put(builder,
				&tracks[range->thread == KWHY_NONE ? recording->thread_count : range->thread],
				&row);
	}
	return status;
}

/* State of put_wait(), which adds to a track the parts of host ranges that lie in idle time of one device. */
struct waits {
	struct builder *builder;
	struct track *track;
	enum kwhy_status status;
};

static void put_wait(void *context, int64_t start_ns, int64_t end_ns, uint32_t row)
{
	struct waits *waits = context;
	struct kwhy_timeline_row shown = {
		.start_ns = start_ns, .duration_ns = end_ns - start_ns, .category = KWHY_TIMELINE_RANGE};

	if (waits->status || row >= waits->builder->report->recording->host_ranges.count)
		return;
	shown.name = waits->builder->report->recording->host_ranges.name[row];
	waits->status = put(waits->builder, waits->track, &shown);
}

static enum kwhy_status put_waits_of(struct builder *builder, uint32_t device, struct track *track)
{
	const struct kwhy_activities *rows = &builder->report->recording->activities;
	const struct kwhy_device_ledger *device_ledger = &builder->report->ledger->devices[device];
	struct waits waits = {.builder = builder, .track = track};
	struct kwhy_host_time host;
	size_t last = rows->first[device];
	enum kwhy_status status = kwhy_host_time_init(&host, builder->report->recording, builder->error);

	for (size_t i = last; !status && i < rows->first[device + 1]; i++) {
		struct kwhy_host_span gap = {rows->end_ns[last], rows->start_ns[i]};

		if (gap.start_ns < gap.end_ns &&
			!kwhy_ledger_is_unrecorded(device_ledger, gap.start_ns, gap.end_ns))
			kwhy_host_time_divide(&host, &gap, (uint32_t)last, (uint32_t)i, put_wait, &waits);
		last = rows->end_ns[i] > rows->end_ns[last] ? i : last;
		status = waits.status;
	}
	kwhy_host_time_done(&host);
	return status;
}

/*
 * Fills the last tracks: for each device that is shown, the host ranges during its idle time. Adds nothing if
 * no host ranges were recorded.
 */
static enum kwhy_status put_waits(struct builder *builder)
{
	const struct kwhy_recording *recording = builder->report->recording;
	struct track *tracks = builder->tracks + builder->track_count - recording->device_count;
	enum kwhy_status status = KWHY_OK;

	for (uint32_t d = 0; !status && recording->host_ranges.count && d < recording->device_count; d++)
		if (builder->is_shown[d])
			status = put_waits_of(builder, d, &tracks[d]);
	return status;
}

static void name_tracks(struct builder *builder)
{
	const struct kwhy_recording *recording = builder->report->recording;
	struct track *track = builder->tracks;

	for (size_t i = 0; i < recording->stream_count; i++, track++) {
		track->kind = "stream";
		track->device = recording->streams[i].device;
		snprintf(track->label, sizeof(track->label), "stream %" PRId64, recording->streams[i].id);
	}
	for (size_t pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < recording->thread_count; i++, track++) {
			track->kind = pass ? "ranges" : "calls";
			track->device = KWHY_NONE;
			snprintf(track->label, sizeof(track->label), "%s %" PRId64, track->kind,
				recording->threads[i].tid);
		}
	track->kind = "ranges";
	track->device = KWHY_NONE;
	snprintf(track->label, sizeof(track->label), "ranges");
	for (uint32_t d = 0; d < recording->device_count; d++) {
		(++track)->kind = "waits";
		track->device = d;
		snprintf(track->label, sizeof(track->label), "idle, host in");
	}
}

static json_t *index_or_null(uint32_t index)
{
	return index == KWHY_NONE ? json_null() : json_integer(index);
}

static json_t *finish_track(struct builder *builder, struct track *track)
{
	json_t *parts = json_array();

	for (size_t i = 0; i < builder->window_count; i++)
		json_array_append_new(parts, kwhy_timeline_part_finish(&track->parts[i], &builder->columns));
	if (track->bins.items)
		json_array_append_new(
			parts, kwhy_timeline_bins_finish(&track->bins, builder->span_ns, &builder->columns));
	free(track->parts);
	return json_pack("{ss so ss so}", "kind", track->kind, "device", index_or_null(track->device),
		"label", track->label, "parts", parts);
}

static json_t *finish_tracks(struct builder *builder)
{
	json_t *tracks = json_array();

	for (size_t i = 0; i < builder->track_count; i++)
		if (builder->tracks[i].used)
			json_array_append_new(tracks, finish_track(builder, &builder->tracks[i]));
	return tracks;
}

static json_t *names_of(const struct kwhy_names *names)
{
	json_t *array = json_array();

	for (size_t i = 0; i < names->count; i++)
		json_array_append_new(array, json_string(names->strings[i]));
	return array;
}

static json_t *devices_of(const struct kwhy_recording *recording)
{
	json_t *array = json_array();

	for (size_t i = 0; i < recording->device_count; i++)
		json_array_append_new(array,
			json_pack("{si so ss?}", "index", (int)recording->devices[i].index, "rank",
				index_or_null(recording->devices[i].rank), "name",
				recording->devices[i].name));
	return array;
}

static json_t *header_of(struct builder *builder)
{
	const struct kwhy_recording *recording = builder->report->recording;
	char origin[24];

	snprintf(origin, sizeof(origin), "%" PRId64, recording->origin_unix_ns);
	return json_pack("{ss sI sI so sb so so so so so}", "origin_unix_ns", origin, "start_ns",
		(json_int_t)builder->start_ns, "end_ns",
		(json_int_t)builder->start_ns + (json_int_t)builder->span_ns, "names",
		names_of(&recording->names), "exact", (int)builder->exact, "devices", devices_of(recording),
		"tracks", finish_tracks(builder), "power",
		kwhy_timeline_power(builder->report, builder->is_shown, &builder->columns), "model",
		kwhy_timeline_model(builder->report, builder->is_shown, &builder->columns), "memory",
		kwhy_timeline_memory(builder->report, builder->is_shown, &builder->columns));
}

static enum kwhy_status write_container(struct builder *builder, struct kwhy_text *out)
{
	json_t *header = header_of(builder);
	char *text = header ? json_dumps(header, JSON_COMPACT) : NULL;
	uint32_t length = text ? (uint32_t)strlen(text) : 0;
	unsigned char bytes[4] = {(unsigned char)length, (unsigned char)(length >> 8),
		(unsigned char)(length >> 16), (unsigned char)(length >> 24)};

	json_decref(header);
	if (!text)
		return kwhy_fail_memory(builder->error, "the timeline");
	kwhy_text_add_bytes(out, "KWHYTL1\n", 8);
	kwhy_text_add_bytes(out, bytes, sizeof(bytes));
	kwhy_text_add_bytes(out, text, length);
	if (builder->columns.length)
		kwhy_text_add_bytes(out, builder->columns.data, builder->columns.length);
	out->failed |= builder->columns.failed;
	free(text);
	return kwhy_text_check(out, builder->error);
}

static void drop_tracks(struct builder *builder)
{
	for (size_t i = 0; i < builder->track_count; i++) {
		struct track *track = &builder->tracks[i];

		for (size_t k = 0; track->used && k < builder->window_count; k++)
			json_decref(kwhy_timeline_part_finish(&track->parts[k], &builder->columns));
		free(track->parts);
		free(track->bins.items);
	}
}

static enum kwhy_status put_all(struct builder *builder)
{
	enum kwhy_status status = put_activities(builder);

	if (!status)
		status = put_calls(builder);
	if (!status)
		status = put_ranges(builder);
	return status ? status : put_waits(builder);
}

enum kwhy_status kwhy_report_timeline(const struct kwhy_report *report, const bool *is_shown,
	size_t exact_rows, struct kwhy_text *out, struct kwhy_error *error)
{
	const struct kwhy_recording *recording = report->recording;
	struct builder builder = {
		.report = report,
		.is_shown = is_shown,
		.track_count = recording->stream_count + 2 * recording->thread_count + 1 +
			recording->device_count,
		.error = error,
	};
	enum kwhy_status status;
	int64_t end_ns;

	kwhy_timeline_window(recording, &builder.start_ns, &end_ns);
	builder.span_ns = end_ns - builder.start_ns;
	builder.tracks = calloc(builder.track_count, sizeof(*builder.tracks));
	if (!builder.tracks)
		return kwhy_fail_memory(error, "the timeline");
	name_tracks(&builder);
	status = hide_tracks(&builder);
	if (!status) {
		builder.exact = count_rows(&builder) <= exact_rows;
		choose_windows(&builder);
		status = put_all(&builder);
	}
	if (status)
		drop_tracks(&builder);
	else
		status = write_container(&builder, out);
	kwhy_text_done(&builder.columns);
	free(builder.tracks);
	return status;
}
