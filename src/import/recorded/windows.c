/* SPDX-License-Identifier: Apache-2.0 */
#include "base/column.h"
#include "base/sort.h"
#include "import/recorded/recorded.h"

#include <math.h>
#include <stdlib.h>

/*
 * In ns: a first activity that starts later than this after its launch may have waited for earlier work
 * (docs/formats/recording.md).
 */
#define AT_ONCE_NS 100000
/*
 * In ns: if the end of a selection and the end of its process are less than this apart, the process ended the
 * selection, not a time limit.
 */
#define ENDS_WITH_NS 10000000

_Static_assert((int)KWHY_CHOICE_DUTY == (int)KWHY_WIRE_CHOICE_DUTY &&
		(int)KWHY_CHOICE_COUNT == (int)KWHY_WIRE_CHOICE_COUNT,
	"choices of the wire and of the model are the same numbers");

enum kwhy_status kwhy_recorded_window_keep(
	struct kwhy_recorded *recorded, const struct kwhy_recorded_window *window, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_column_reserve((void **)&recorded->windows, &recorded->window_capacity,
		recorded->window_count + 1, sizeof(*recorded->windows), "windows of a recording", error);

	if (!status)
		recorded->windows[recorded->window_count++] = *window;
	return status;
}

void kwhy_recorded_selection_keep(
	struct kwhy_recorded *recorded, uint32_t writer, const struct kwhy_wire_selection *selection)
{
	const uint32_t name = kwhy_recorded_name(recorded, writer, selection->range);
	const int64_t start_ns = kwhy_recorded_time(recorded, writer, selection->start_mono_ns);
	int64_t end_ns = kwhy_recorded_time(recorded, writer, selection->end_mono_ns);

	if (selection->choice >= KWHY_CHOICE_COUNT || selection->choice == KWHY_CHOICE_ALL ||
		start_ns == KWHY_UNKNOWN_TIME)
		return;
	/*
	 * without an end, because the process did not end properly, the selection lasts until the end of the
	 * run
	 */
	if (end_ns == KWHY_UNKNOWN_TIME)
		end_ns = recorded->run_end_ns > start_ns ? recorded->run_end_ns : start_ns;
	recorded->writers[writer].selection = (struct kwhy_recorded_selection){
		.is_stated = end_ns >= start_ns,
		.choice = selection->choice,
		.start_ns = start_ns,
		.end_ns = end_ns,
		.range = name ? kwhy_names_get(&recorded->recording->names, name) : NULL,
		.share_ratio = selection->share_ratio > 0 && selection->share_ratio <= 1
			? selection->share_ratio
			: NAN};
}

static uint32_t process_of(const struct kwhy_recorded *recorded, uint32_t window)
{
	return recorded->writers[recorded->windows[window].writer].process;
}

static int compare_windows(const void *context, uint32_t a, uint32_t b)
{
	const struct kwhy_recorded *recorded = context;
	const struct kwhy_recorded_window *left = &recorded->windows[a], *right = &recorded->windows[b];
	const uint32_t left_process = process_of(recorded, a), right_process = process_of(recorded, b);

	if (left_process != right_process)
		return left_process < right_process ? -1 : 1;
	return (left->start_ns > right->start_ns) - (left->start_ns < right->start_ns);
}

/*
 * The earliest activity of a stream that belongs to a window: it starts before the window's end and after the
 * end of the previous window.
 */
struct first {
	uint32_t stream, window, correlation;
	int64_t start_ns;
};

struct trimming {
	struct kwhy_recorded *recorded;
	/*
	 * [process_count + 1] index of each process's first window; the windows are sorted by process, then
	 * start
	 */
	size_t *first_window;
	struct kwhy_track_map first_of; /* from (stream, window) to an index in `firsts` */
	struct kwhy_track_map calls; /* from (process, correlation id) of each item of `firsts` to the index
					of the call that launched it; KWHY_NONE: not found */
	struct first *firsts;
	size_t count, capacity;
	/*
	 * [window_count] time from which on all activities of the window's process on the current device are
	 * recorded
	 */
	int64_t *from_ns;
	bool *uses; /* [process_count] whether a process has a stream on the current device, the one of the
		       last switch_device() */
};

/* Index of the first window of a process that ends after time_ns; KWHY_NONE: there is none. */
static uint32_t window_after(const struct trimming *trimming, uint32_t process, int64_t time_ns)
{
	const struct kwhy_recorded_window *windows = trimming->recorded->windows;
	size_t low = trimming->first_window[process], high = trimming->first_window[process + 1];
	const size_t end = high;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (windows[middle].end_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low < end ? (uint32_t)low : KWHY_NONE;
}

static enum kwhy_status open_first(
	struct trimming *trimming, struct kwhy_track_key key, uint32_t *out, struct kwhy_error *error)
{
	enum kwhy_status status;

	if (kwhy_track_map_find(&trimming->first_of, key, out))
		return KWHY_OK;
	*out = (uint32_t)trimming->count;
	status = kwhy_track_map_put(&trimming->first_of, key, *out, error);
	if (!status)
		status = kwhy_column_reserve((void **)&trimming->firsts, &trimming->capacity,
			trimming->count + 1, sizeof(*trimming->firsts), "windows of a recording", error);
	if (!status)
		trimming->firsts[trimming->count++] = (struct first){
			(uint32_t)key.a, (uint32_t)key.b, KWHY_NONE, INT64_MAX};
	return status;
}

static enum kwhy_status find_first(struct trimming *trimming, size_t row, struct kwhy_error *error)
{
	const struct kwhy_recording *recording = trimming->recorded->recording;
	const uint32_t stream = recording->activities.stream[row];
	const int64_t start_ns = recording->activities.start_ns[row];
	const uint32_t window = window_after(trimming, recording->streams[stream].process, start_ns);
	enum kwhy_status status;
	uint32_t first;

	if (window == KWHY_NONE || start_ns < trimming->recorded->windows[window].since_ns)
		return KWHY_OK;
	status = open_first(trimming, (struct kwhy_track_key){stream, window, 0}, &first, error);
	if (status || start_ns >= trimming->firsts[first].start_ns)
		return status;
	trimming->firsts[first].start_ns = start_ns;
	trimming->firsts[first].correlation = recording->activities.call[row];
	return KWHY_OK;
}

static struct kwhy_track_key launch_of(const struct trimming *trimming, const struct first *first)
{
	const uint32_t process = trimming->recorded->recording->streams[first->stream].process;

	return (struct kwhy_track_key){process, first->correlation, 0};
}

/*
 * Finds the calls that launched the activities of `firsts`, by correlation id. If several calls have one id,
 * the earliest counts; the calls are not sorted by time yet.
 */
static enum kwhy_status find_launches(struct trimming *trimming, struct kwhy_error *error)
{
	const struct kwhy_recording *recording = trimming->recorded->recording;
	const struct kwhy_calls *calls = &recording->calls;
	enum kwhy_status status = KWHY_OK;
	uint32_t known;

	for (size_t i = 0; !status && i < trimming->count; i++)
		status = kwhy_track_map_put(
			&trimming->calls, launch_of(trimming, &trimming->firsts[i]), KWHY_NONE, error);
	for (size_t i = 0; !status && i < calls->count; i++) {
		const struct kwhy_track_key key = {
			recording->threads[calls->thread[i]].process, calls->correlation[i], 0};

		if (calls->correlation[i] != KWHY_NONE &&
			kwhy_track_map_find(&trimming->calls, key, &known) &&
			(known == KWHY_NONE || calls->start_ns[i] < calls->start_ns[known]))
			status = kwhy_track_map_put(&trimming->calls, key, (uint32_t)i, error);
	}
	return status;
}

/*
 * Whether the first activity of a stream in a window may have waited for work that was launched before the
 * window: it started more than AT_ONCE_NS after its launch, or its launch is unknown.
 */
static bool had_to_wait(struct trimming *trimming, const struct first *first)
{
	uint32_t call;

	if (!kwhy_track_map_find(&trimming->calls, launch_of(trimming, first), &call) || call == KWHY_NONE)
		return true;
	return first->start_ns - trimming->recorded->recording->calls.start_ns[call] > AT_ONCE_NS;
}

static void index_windows(struct trimming *trimming)
{
	const struct kwhy_recorded *recorded = trimming->recorded;

	for (size_t i = 0; i < recorded->window_count; i++)
		trimming->first_window[process_of(recorded, (uint32_t)i) + 1]++;
	for (size_t i = 0; i < recorded->recording->process_count; i++)
		trimming->first_window[i + 1] += trimming->first_window[i];
}

static enum kwhy_status trimming_init(struct trimming *trimming, struct kwhy_error *error)
{
	struct kwhy_recorded *recorded = trimming->recorded;
	const struct kwhy_recording *recording = recorded->recording;
	uint32_t *order = NULL;
	enum kwhy_status status;

	trimming->first_window = calloc(recording->process_count + 1, sizeof(*trimming->first_window));
	trimming->from_ns = calloc(recorded->window_count + 1, sizeof(*trimming->from_ns));
	trimming->uses = calloc(recording->process_count + 1, sizeof(*trimming->uses));
	if (!trimming->first_window || !trimming->from_ns || !trimming->uses)
		return kwhy_fail_memory(error, "windows of a recording");
	status = kwhy_sort_order(recorded->window_count, compare_windows, recorded, &order, error);
	if (!status && order)
		recorded->window_capacity = recorded->window_count;
	if (!status)
		status = kwhy_sort_apply((void **)&recorded->windows, sizeof(*recorded->windows),
			recorded->window_count, order, error);
	free(order);
	index_windows(trimming);
	for (size_t row = 0; !status && row < recording->activities.count; row++)
		status = find_first(trimming, row, error);
	return status ? status : find_launches(trimming, error);
}

static void trimming_done(struct trimming *trimming)
{
	kwhy_track_map_done(&trimming->first_of);
	kwhy_track_map_done(&trimming->calls);
	free(trimming->first_window);
	free(trimming->firsts);
	free(trimming->from_ns);
	free(trimming->uses);
}

/*
 * Makes a device the current one: sets which processes use it (uses) and, for each window, from_ns. from_ns
 * is the start of the window, or, if the first activity of a stream on the device may have waited, the start
 * of that activity.
 */
static void switch_device(struct trimming *trimming, uint32_t device)
{
	const struct kwhy_recorded *recorded = trimming->recorded;
	const struct kwhy_recording *recording = recorded->recording;

	for (size_t i = 0; i < recording->process_count; i++)
		trimming->uses[i] = false;
	for (size_t i = 0; i < recording->stream_count; i++)
		if (recording->streams[i].device == device)
			trimming->uses[recording->streams[i].process] = true;
	for (size_t i = 0; i < recorded->window_count; i++)
		trimming->from_ns[i] = recorded->windows[i].start_ns;
	for (size_t i = 0; i < trimming->count; i++) {
		const struct first *first = &trimming->firsts[i];
		int64_t *from_ns = &trimming->from_ns[first->window];

		if (recording->streams[first->stream].device == device && first->start_ns > *from_ns &&
			had_to_wait(trimming, first))
			*from_ns = first->start_ns;
	}
}

/*
 * A time at which one of two sums changes. `open` is added to the number of windows, and of times in which a
 * process is known to run nothing, that contain the time. `unrecorded` is added to the number of processes
 * that use the device and whose selection contains the time, but none of whose windows does.
 */
struct change {
	int64_t time_ns;
	int open, unrecorded;
};

struct changes {
	struct change *items;
	size_t count;
};

static int compare_changes(const void *a, const void *b)
{
	const struct change *left = a, *right = b;

	return (left->time_ns > right->time_ns) - (left->time_ns < right->time_ns);
}

static void add_stretch(struct changes *changes, int64_t start_ns, int64_t end_ns, int open, int unrecorded)
{
	if (start_ns >= end_ns)
		return;
	changes->items[changes->count++] = (struct change){start_ns, open, unrecorded};
	changes->items[changes->count++] = (struct change){end_ns, -open, -unrecorded};
}

static int64_t within(int64_t time_ns, const struct kwhy_recorded_selection *selection)
{
	if (time_ns < selection->start_ns)
		return selection->start_ns;
	return time_ns > selection->end_ns ? selection->end_ns : time_ns;
}

/*
 * Time until which a process is known to run nothing after its selection. For a process that ended properly,
 * with its selection and just before the end of the run, that is KWHY_RECORDED_FLUSH_NS after the run, by
 * when the energy counters have been updated. Otherwise it is the end of the selection.
 */
static int64_t known_idle_to(const struct kwhy_recorded *recorded, const struct kwhy_recorded_writer *writer)
{
	const int64_t end_ns = writer->selection.end_ns;

	return writer->has_ended && llabs(writer->ended_ns - end_ns) < ENDS_WITH_NS &&
			recorded->run_start_ns <= recorded->run_end_ns &&
			end_ns > recorded->run_end_ns - KWHY_RECORDED_JUST_BEFORE_NS
		? recorded->run_end_ns + KWHY_RECORDED_FLUSH_NS
		: end_ns;
}

static void list_changes(const struct trimming *trimming, uint32_t device, struct changes *changes)
{
	const struct kwhy_recorded *recorded = trimming->recorded;

	for (size_t i = 0; i < recorded->writer_count; i++) {
		const struct kwhy_recorded_writer *writer = &recorded->writers[i];

		if (!writer->selection.is_stated)
			continue;
		add_stretch(changes, writer->selection.end_ns, known_idle_to(recorded, writer), 1, 0);
		if (trimming->uses[writer->process])
			add_stretch(changes, writer->selection.start_ns, writer->selection.end_ns, 0, 1);
	}
	for (size_t i = 0; i < recorded->window_count; i++) {
		const struct kwhy_recorded_window *window = &recorded->windows[i];
		const struct kwhy_recorded_writer *writer = &recorded->writers[window->writer];

		if (window->device != KWHY_NONE && window->device != device)
			continue;
		add_stretch(changes, trimming->from_ns[i], window->end_ns, 1, 0);
		if (writer->selection.is_stated && trimming->uses[writer->process])
			add_stretch(changes, within(trimming->from_ns[i], &writer->selection),
				within(window->end_ns, &writer->selection), 0, -1);
	}
	qsort(changes->items, changes->count, sizeof(*changes->items), compare_changes);
}

/*
 * Adds the coverage of a device: the intervals in which the sum of `open` is above 0 and that of `unrecorded`
 * is 0 (struct change). If there is no such interval, adds one of length 0, which shows that the device's
 * coverage is known and empty; without it, all time would count as covered.
 */
static enum kwhy_status cover(struct kwhy_recorded *recorded, uint32_t device, const struct changes *changes,
	struct kwhy_error *error)
{
	struct kwhy_coverage row = {.device = device};
	enum kwhy_status status = KWHY_OK;
	int64_t open = 0, unrecorded = 0;
	bool known = false, any = false;

	for (size_t i = 0; !status && i < changes->count; i++) {
		const struct change *change = &changes->items[i];

		open += change->open;
		unrecorded += change->unrecorded;
		if ((i + 1 < changes->count && changes->items[i + 1].time_ns == change->time_ns) ||
			known == (open > 0 && unrecorded <= 0))
			continue;
		known = !known;
		if (known) {
			row.start_ns = change->time_ns;
			continue;
		}
		row.end_ns = change->time_ns;
		any = true;
		status = kwhy_recording_add_coverage(recorded->recording, &row, error);
	}
	if (status || any)
		return status;
	row.start_ns = row.end_ns = changes->count ? changes->items[0].time_ns : 0;
	return kwhy_recording_add_coverage(recorded->recording, &row, error);
}

/*
 * Adds the selection of the recording, from the start of the earliest to the end of the latest selection of a
 * writer, limited to the run if the run is known.
 */
static enum kwhy_status select_all(struct kwhy_recorded *recorded, struct kwhy_error *error)
{
	struct kwhy_selection row = {
		.device = KWHY_NONE, .start_ns = INT64_MAX, .end_ns = INT64_MIN, .share_ratio = NAN};

	for (size_t i = 0; i < recorded->writer_count; i++) {
		const struct kwhy_recorded_selection *selection = &recorded->writers[i].selection;

		if (!selection->is_stated)
			continue;
		row.choice = selection->choice > row.choice ? selection->choice : row.choice;
		row.start_ns = selection->start_ns < row.start_ns ? selection->start_ns : row.start_ns;
		row.end_ns = known_idle_to(recorded, &recorded->writers[i]) > row.end_ns
			? known_idle_to(recorded, &recorded->writers[i])
			: row.end_ns;
		row.range = selection->range ? selection->range : row.range;
		row.share_ratio = isnan(selection->share_ratio) ? row.share_ratio : selection->share_ratio;
	}
	if (recorded->run_start_ns <= recorded->run_end_ns) {
		row.start_ns = row.start_ns > recorded->run_start_ns ? row.start_ns : recorded->run_start_ns;
		if (row.end_ns > recorded->run_end_ns + KWHY_RECORDED_FLUSH_NS)
			row.end_ns = recorded->run_end_ns;
	}
	return row.start_ns > row.end_ns ? KWHY_OK
					 : kwhy_recording_add_selection(recorded->recording, &row, error);
}

static enum kwhy_status cover_selected(struct kwhy_recorded *recorded, struct kwhy_error *error)
{
	struct trimming trimming = {.recorded = recorded};
	struct changes changes = {0};
	enum kwhy_status status = trimming_init(&trimming, error);

	changes.items = calloc(
		4 * (recorded->window_count + recorded->writer_count) + 1, sizeof(*changes.items));
	if (!status && !changes.items)
		status = kwhy_fail_memory(error, "windows of a recording");
	for (uint32_t device = 0; !status && device < recorded->recording->device_count; device++) {
		switch_device(&trimming, device);
		changes.count = 0;
		list_changes(&trimming, device, &changes);
		status = cover(recorded, device, &changes, error);
	}
	free(changes.items);
	trimming_done(&trimming);
	return status ? status : select_all(recorded, error);
}

static enum kwhy_status cover_stated(struct kwhy_recorded *recorded, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < recorded->window_count; i++) {
		const struct kwhy_recorded_window *window = &recorded->windows[i];
		const struct kwhy_coverage row = {window->device, window->start_ns, window->end_ns};

		status = kwhy_recording_add_coverage(recorded->recording, &row, error);
	}
	return status;
}

enum kwhy_status kwhy_recorded_windows_apply(struct kwhy_recorded *recorded, struct kwhy_error *error)
{
	for (size_t i = 0; i < recorded->writer_count; i++)
		if (recorded->writers[i].selection.is_stated)
			return cover_selected(recorded, error);
	return cover_stated(recorded, error);
}
