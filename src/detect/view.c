/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/view.h"

#include "detect/walk.h"

#include <stdlib.h>
#include <string.h>

static size_t count_gaps(const struct kwhy_activities *rows, size_t begin, size_t end)
{
	size_t gaps = 0;
	int64_t reach_ns = begin < end ? rows->end_ns[begin] : 0;

	for (size_t i = begin; i < end; i++) {
		gaps += rows->start_ns[i] > reach_ns;
		reach_ns = rows->end_ns[i] > reach_ns ? rows->end_ns[i] : reach_ns;
	}
	return gaps;
}

/*
 * Lists the gaps of a device without those that contain unrecorded time, and sets last_ns. `device_ledger`
 * states which time is unrecorded; NULL: none is.
 */
static void fill_gaps(struct kwhy_device_view *device, const struct kwhy_activities *rows,
	const struct kwhy_device_ledger *device_ledger)
{
	size_t last = device->begin;

	for (size_t i = device->begin; i < device->end; i++) {
		if (rows->start_ns[i] > rows->end_ns[last] &&
			!(device_ledger &&
				kwhy_ledger_is_unrecorded(
					device_ledger, rows->end_ns[last], rows->start_ns[i])))
			device->gaps[device->gap_count++] = (struct kwhy_gap){(uint32_t)last, (uint32_t)i};
		if (rows->end_ns[i] > rows->end_ns[last])
			last = i;
	}
	device->last_ns = rows->end_ns[last];
}

/*
 * Whether the call that issued the work after the gap had returned when the gap began. False also if the work
 * before the gap ran in another stream, as the work after may then have waited for something else.
 */
static bool is_queued(const struct kwhy_detect_view *view, const struct kwhy_gap *gap)
{
	const struct kwhy_activities *rows = &view->recording->activities;
	uint32_t call = rows->call[gap->after];

	return rows->stream[gap->before] == rows->stream[gap->after] && call != KWHY_NONE &&
		view->recording->calls.end_ns[call] <= rows->end_ns[gap->before];
}

static int64_t smallest_queued_gap_ns(
	const struct kwhy_detect_view *view, const struct kwhy_device_view *device)
{
	int64_t smallest_ns = INT64_MAX;

	for (size_t i = 0; i < device->gap_count; i++) {
		const struct kwhy_gap *gap = &device->gaps[i];
		int64_t length_ns = kwhy_gap_end_ns(view, gap) - kwhy_gap_start_ns(view, gap);

		if (length_ns < smallest_ns && is_queued(view, gap))
			smallest_ns = length_ns;
	}
	return smallest_ns == INT64_MAX ? 0 : smallest_ns;
}

static enum kwhy_status view_device(struct kwhy_detect_view *view, size_t index, struct kwhy_error *error)
{
	const struct kwhy_activities *rows = &view->recording->activities;
	const struct kwhy_device_ledger *device_ledger = view->ledger && index < view->ledger->device_count
		? &view->ledger->devices[index]
		: NULL;
	struct kwhy_device_view *device = &view->devices[index];
	size_t gaps;

	device->begin = rows->first[index];
	device->end = rows->first[index + 1];
	if (device->begin == device->end)
		return KWHY_OK;
	gaps = count_gaps(rows, device->begin, device->end);
	device->gaps = malloc((gaps + 1) * sizeof(*device->gaps));
	if (!device->gaps)
		return kwhy_fail_memory(error, "idle gaps");
	device->first_ns = rows->start_ns[device->begin];
	device->unrecorded_ns = device_ledger
		? device_ledger->time.unrecorded_ns + device_ledger->time.probing_ns
		: 0;
	fill_gaps(device, rows, device_ledger);
	device->floor_ns = smallest_queued_gap_ns(view, device);
	return KWHY_OK;
}

/*
 * Sets outer[] to the outermost call around each call, and clears issued[]. Calls are sorted by thread, then
 * by start, with outer calls before inner ones. A call that ends after the current outermost call is the next
 * outermost one.
 */
static void find_outer_calls(struct kwhy_detect_view *view)
{
	const struct kwhy_calls *calls = &view->recording->calls;
	size_t outer = 0;

	for (size_t i = 0; i < calls->count; i++) {
		if (i == 0 || calls->thread[i] != calls->thread[outer] ||
			calls->end_ns[i] > calls->end_ns[outer])
			outer = i;
		view->outer[i] = (uint32_t)outer;
		view->issued[i] = KWHY_NONE;
	}
}

static void find_issued(struct kwhy_detect_view *view)
{
	const struct kwhy_activities *rows = &view->recording->activities;

	for (size_t i = 0; i < rows->count; i++) {
		uint32_t *issued;

		if (rows->call[i] == KWHY_NONE)
			continue;
		issued = &view->issued[view->outer[rows->call[i]]];
		if (*issued == KWHY_NONE || rows->start_ns[i] < rows->start_ns[*issued])
			*issued = (uint32_t)i;
	}
}

/*
 * Finds the innermost host range in which each call of a thread starts, in one pass, since calls and ranges
 * are sorted by start.
 */
static void find_ranges_of_thread(
	const struct kwhy_recording *recording, size_t thread, uint32_t *range_of_call)
{
	const struct kwhy_host_ranges *ranges = &recording->host_ranges;
	const struct kwhy_calls *calls = &recording->calls;
	const size_t first = ranges->first[thread], end = ranges->first[thread + 1];
	size_t next = first;

	for (size_t i = calls->first[thread]; i < calls->first[thread + 1]; i++) {
		uint32_t range;

		while (next < end && ranges->start_ns[next] <= calls->start_ns[i])
			next++;
		range = next > first ? (uint32_t)next - 1 : KWHY_NONE;
		while (range != KWHY_NONE && ranges->end_ns[range] <= calls->start_ns[i])
			range = ranges->parent[range];
		range_of_call[i] = range;
	}
}

/*
 * Sets range_of_launch[] of all activities. view->issued, which is filled later, serves as memory for the
 * host range of each call.
 */
static void find_ranges(struct kwhy_detect_view *view)
{
	const struct kwhy_activities *rows = &view->recording->activities;
	uint32_t *range_of_call = view->issued;

	for (size_t t = 0; t < view->recording->thread_count; t++)
		find_ranges_of_thread(view->recording, t, range_of_call);
	for (size_t i = 0; i < rows->count; i++)
		view->range_of_launch[i] = rows->call[i] == KWHY_NONE ? KWHY_NONE
								      : range_of_call[rows->call[i]];
}

static int compare_uses(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

static void find_uses(struct kwhy_detect_view *view)
{
	const struct kwhy_recording *recording = view->recording;
	size_t kept = 0;

	for (size_t i = 0; i < recording->stream_count; i++)
		view->uses[i] = (uint64_t)recording->streams[i].process << 32 | recording->streams[i].device;
	qsort(view->uses, recording->stream_count, sizeof(*view->uses), compare_uses);
	for (size_t i = 0; i < recording->stream_count; i++)
		if (kept == 0 || view->uses[kept - 1] != view->uses[i])
			view->uses[kept++] = view->uses[i];
	view->use_count = kept;
}

static bool has_space(const struct kwhy_detect_view *view)
{
	return view->devices && view->outer && view->issued && view->range_of_launch && view->uses &&
		view->marks && view->streams && view->wait_patterns && view->name_sorts;
}

static enum kwhy_status link_calls(struct kwhy_detect_view *view, struct kwhy_error *error)
{
	find_ranges(view);
	find_outer_calls(view);
	find_issued(view);
	find_uses(view);
	return kwhy_detect_view_cut_segments(view, error);
}

enum kwhy_status kwhy_detect_view_init(struct kwhy_detect_view *view, const struct kwhy_recording *recording,
	const struct kwhy_ledger *ledger, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	*view = (struct kwhy_detect_view){
		.recording = recording,
		.ledger = ledger,
		.devices = calloc(recording->device_count + 1, sizeof(*view->devices)),
		.outer = malloc((recording->calls.count + 1) * sizeof(*view->outer)),
		.issued = malloc((recording->calls.count + 1) * sizeof(*view->issued)),
		.range_of_launch = malloc((recording->activities.count + 1) * sizeof(*view->range_of_launch)),
		.uses = malloc((recording->stream_count + 1) * sizeof(*view->uses)),
		.marks = calloc(recording->activities.count + 1, sizeof(*view->marks)),
		.streams = calloc(recording->stream_count + 1, sizeof(*view->streams)),
		.wait_patterns = calloc(recording->thread_count + 1, sizeof(*view->wait_patterns)),
		.name_sorts = calloc(recording->names.count + 1, sizeof(*view->name_sorts)),
	};
	if (!has_space(view))
		status = kwhy_fail_memory(error, "the view of the recording");
	for (size_t i = 0; !status && i < recording->device_count; i++)
		status = view_device(view, i, error);
	if (!status)
		status = link_calls(view, error);
	if (status)
		kwhy_detect_view_done(view);
	return status;
}

void kwhy_detect_view_done(struct kwhy_detect_view *view)
{
	for (size_t i = 0; view->devices && i < view->recording->device_count; i++)
		free(view->devices[i].gaps);
	free(view->devices);
	free(view->outer);
	free(view->issued);
	free(view->range_of_launch);
	free(view->uses);
	free(view->segments);
	free(view->marks);
	free(view->streams);
	free(view->wait_patterns);
	free(view->name_sorts);
	*view = (struct kwhy_detect_view){0};
}

size_t kwhy_detect_view_find_gap(const struct kwhy_detect_view *view, uint32_t device, int64_t time_ns)
{
	const struct kwhy_device_view *seen = &view->devices[device];
	size_t low = 0, high = seen->gap_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (kwhy_gap_end_ns(view, &seen->gaps[middle]) > time_ns)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static size_t first_use(const struct kwhy_detect_view *view, uint64_t key)
{
	size_t low = 0, high = view->use_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (view->uses[middle] >= key)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static bool device_idle(
	const struct kwhy_detect_view *view, uint32_t device, int64_t start_ns, int64_t end_ns)
{
	const struct kwhy_device_view *seen = &view->devices[device];
	size_t at = kwhy_detect_view_find_gap(view, device, start_ns);

	return at < seen->gap_count && kwhy_gap_start_ns(view, &seen->gaps[at]) <= start_ns &&
		kwhy_gap_end_ns(view, &seen->gaps[at]) >= end_ns;
}

enum { PROCESS_DEVICES_MAX = 64 };

bool kwhy_detect_view_process_idle(
	const struct kwhy_detect_view *view, uint32_t process, int64_t start_ns, int64_t end_ns)
{
	size_t at = first_use(view, (uint64_t)process << 32);
	size_t end = first_use(view, ((uint64_t)process + 1) << 32);

	if (at == end || end - at > PROCESS_DEVICES_MAX)
		return false;
	for (; at < end; at++)
		if (!device_idle(view, (uint32_t)view->uses[at], start_ns, end_ns))
			return false;
	return true;
}

void kwhy_detect_view_reset_streams(const struct kwhy_detect_view *view, uint32_t device)
{
	const struct kwhy_device_view *seen = &view->devices[device];

	for (size_t i = seen->begin; i < seen->end; i++)
		view->streams[view->recording->activities.stream[i]] = (struct kwhy_stream_state){
			KWHY_NONE, 0};
}

int64_t kwhy_detect_view_union_ns(const struct kwhy_detect_view *view, uint32_t device, unsigned kinds)
{
	const struct kwhy_activities *rows = &view->recording->activities;
	const struct kwhy_device_view *seen = &view->devices[device];
	int64_t union_ns = 0, reach_ns = seen->first_ns;

	for (size_t i = seen->begin; i < seen->end; i++) {
		int64_t from_ns = rows->start_ns[i] > reach_ns ? rows->start_ns[i] : reach_ns;

		if (!(kinds >> rows->kind[i] & 1) || rows->end_ns[i] <= from_ns)
			continue;
		union_ns += rows->end_ns[i] - from_ns;
		reach_ns = rows->end_ns[i];
	}
	return union_ns;
}

bool kwhy_detect_view_is_wait(const struct kwhy_detect_view *view, uint32_t call)
{
	const struct kwhy_calls *calls = &view->recording->calls;

	switch (calls->class[call]) {
	case KWHY_CALL_SYNC:
	case KWHY_CALL_COPY:
		return true;
	case KWHY_CALL_FREE: /* cudaFree and similar calls wait for the device, but stream-ordered frees, such
				as cudaFreeAsync, do not */
		return !strstr(kwhy_names_get(&view->recording->names, calls->name[call]), "Async");
	default:
		return false;
	}
}
