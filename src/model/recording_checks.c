/* SPDX-License-Identifier: Apache-2.0 */
#include "model/recording_checks.h"

#include "base/plural.h"
#include "base/quantity.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * An activity that ends after the next activity of its stream ends is not corrected if it overlaps that
 * activity by at most this length, because errors of the profiler's clock and times in whole microseconds
 * cause such overlaps. In 31 public traces of PyTorch with 90,000 activities, no activity ends after the next
 * one of its stream ends; overlaps at the start of the next one are up to 3.7 us long.
 */
enum { CLOCK_ERROR_NS = 2000 };

/*
 * Launches without a recorded activity count as lost work only if they are more than 1 / LOST_MIN_SHARE of
 * all launches. Two traces of Nsight Systems that are otherwise complete lack the work of 3 of 3,580 and of
 * 20 of 4,006 launches.
 */
enum { LOST_MIN_SHARE = 100 };

struct impossible {
	uint64_t count;
	int64_t longest_ns;
};

/*
 * Whether an activity ends after the next activity of its stream ends, and overlaps that activity by more
 * than an error of the clock. Parallel branches of a graph may overlap in one stream and do not count.
 */
static bool outlasts(const struct kwhy_recording *recording, size_t row, size_t next)
{
	const struct kwhy_activities *rows = &recording->activities;

	return !recording->streams[rows->stream[row]].unordered && rows->graph_node[row] == KWHY_NONE &&
		rows->graph_node[next] == KWHY_NONE && rows->end_ns[next] > rows->start_ns[next] &&
		rows->end_ns[row] > rows->end_ns[next] &&
		rows->end_ns[row] - rows->start_ns[next] > CLOCK_ERROR_NS;
}

/*
 * Makes each activity that ends after the next activity of its stream ends end at the start of that next one.
 * The loop goes from the last activity to the first, so that the end of the next one is already corrected.
 * Returns the number of such activities, and the longest time that was cut off.
 */
static struct impossible cut(struct kwhy_recording *recording, size_t *next_of_stream)
{
	struct kwhy_activities *rows = &recording->activities;
	struct impossible found = {0};

	for (size_t i = rows->count; i-- > 0;) {
		size_t *next = &next_of_stream[rows->stream[i]];

		if (*next != SIZE_MAX && outlasts(recording, i, *next)) {
			int64_t beyond_ns = rows->end_ns[i] - rows->start_ns[*next];

			found.count++;
			if (beyond_ns > found.longest_ns)
				found.longest_ns = beyond_ns;
			rows->end_ns[i] = rows->start_ns[*next];
		}
		*next = i;
	}
	return found;
}

enum kwhy_status kwhy_recording_cut_impossible(struct kwhy_recording *recording, struct kwhy_error *error)
{
	size_t *next_of_stream = malloc((recording->stream_count + 1) * sizeof(*next_of_stream));
	char time[KWHY_QUANTITY_BYTES];
	struct impossible found;

	if (!next_of_stream)
		return kwhy_fail_memory(error, "checking durations");
	memset(next_of_stream, 0xFF, (recording->stream_count + 1) * sizeof(*next_of_stream));
	found = cut(recording, next_of_stream);
	free(next_of_stream);
	if (found.count == 0)
		return KWHY_OK;
	return kwhy_recording_add_note(recording, KWHY_NOTE_WARNING, "impossible-durations", error,
		"%" PRIu64
		" %s said to outlast the next of the same stream, by up to %s, which a stream that "
		"runs in order cannot do: cut at the start of the next.",
		found.count, found.count == 1 ? "activity is" : "activities are",
		kwhy_quantity_time(time, found.longest_ns));
}

static bool contains(const char *name, const char *word)
{
	return strstr(name, word) != NULL;
}

static bool launches_kernel(const char *name)
{
	return contains(name, "LaunchKernel") || contains(name, "KernelLaunch") ||
		contains(name, "LaunchCooperative") || contains(name, "NDRangeKernel");
}

enum role { ROLE_OTHER, ROLE_LAUNCH, ROLE_CAPTURE_BEGIN, ROLE_CAPTURE_END };

static unsigned char role_of(const char *name)
{
	if (contains(name, "StreamBeginCapture"))
		return ROLE_CAPTURE_BEGIN;
	if (contains(name, "StreamEndCapture"))
		return ROLE_CAPTURE_END;
	return kwhy_call_class_of(name) == KWHY_CALL_LAUNCH && launches_kernel(name) ? ROLE_LAUNCH
										     : ROLE_OTHER;
}

struct launches {
	const struct kwhy_recording *recording;
	unsigned char *role; /* [name] enum role of a call of this name */
	bool *matched;	     /* [call] whether an activity is linked to it */
	bool *is_linked;     /* [process] whether an activity is linked to any call of the process */
	uint64_t count, unmatched;
};

static bool launches_alloc(struct launches *launches)
{
	const struct kwhy_recording *recording = launches->recording;

	launches->role = malloc(recording->names.count + 1);
	launches->matched = calloc(recording->calls.count + 1, sizeof(bool));
	launches->is_linked = calloc(recording->process_count + 1, sizeof(bool));
	return launches->role && launches->matched && launches->is_linked;
}

static void mark(struct launches *launches)
{
	const struct kwhy_recording *recording = launches->recording;
	const struct kwhy_activities *rows = &recording->activities;

	for (size_t i = 0; i < recording->names.count; i++)
		launches->role[i] = role_of(recording->names.strings[i]);
	for (size_t i = 0; i < rows->count; i++) {
		uint32_t call = rows->call[i];

		if (call == KWHY_NONE)
			continue;
		launches->matched[call] = true;
		launches->is_linked[recording->threads[recording->calls.thread[call]].process] = true;
	}
}

/*
 * Counts the launch at `row`, and skips the calls inside it: a driver call inside a runtime call is the same
 * launch. Returns the row after the skipped calls.
 */
static size_t count_one(struct launches *launches, size_t row, size_t end)
{
	const struct kwhy_calls *calls = &launches->recording->calls;
	int64_t end_ns = calls->end_ns[row];
	bool matched = false;

	for (size_t first = row; row < end && (row == first || calls->start_ns[row] < end_ns); row++)
		matched |= launches->matched[row] == true;
	launches->count++;
	launches->unmatched += !matched;
	return row;
}

/*
 * Counts the launches of one thread. Launches that are captured into a graph do not count, since they run
 * later or never.
 */
static void count_thread(struct launches *launches, size_t first, size_t end)
{
	const struct kwhy_calls *calls = &launches->recording->calls;
	bool capturing = false;

	for (size_t row = first; row < end;) {
		unsigned char role = launches->role[calls->name[row]];

		if (role == ROLE_CAPTURE_BEGIN || role == ROLE_CAPTURE_END)
			capturing = role == ROLE_CAPTURE_BEGIN;
		if (role == ROLE_LAUNCH && !capturing)
			row = count_one(launches, row, end);
		else
			row++;
	}
}

static void launches_free(struct launches *launches)
{
	free(launches->role);
	free(launches->matched);
	free(launches->is_linked);
}

enum kwhy_status kwhy_recording_count_unmatched(struct kwhy_recording *recording, struct kwhy_error *error)
{
	struct launches launches = {.recording = recording};
	uint64_t unmatched;

	/*
	 * If only windows were recorded, or if kwhy probe was at work, the activity of a launch may be
	 * missing from the recording although no record was lost.
	 */
	if (recording->selection_count || recording->burst_count || !recording->calls.count)
		return KWHY_OK;
	if (!launches_alloc(&launches)) {
		launches_free(&launches);
		return kwhy_fail_memory(error, "checking launches");
	}
	mark(&launches);
	for (size_t t = 0; t < recording->thread_count; t++)
		if (launches.is_linked[recording->threads[t].process])
			count_thread(&launches, recording->calls.first[t], recording->calls.first[t + 1]);
	unmatched = launches.unmatched;
	if (unmatched * LOST_MIN_SHARE > launches.count)
		recording->lost.unmatched_launches = unmatched;
	launches_free(&launches);
	if (unmatched == 0)
		return KWHY_OK;
	return kwhy_recording_add_note(recording, KWHY_NOTE_WARNING, "launches-without-kernel", error,
		"%" PRIu64 " of %" PRIu64 " %s no kernel in the trace: the profiler dropped %s or stopped "
		"too early; the time in which %s ran counts as idle.",
		unmatched, launches.count, kwhy_plural(unmatched, "launches has", "launches have"),
		kwhy_plural(unmatched, "it", "them"), kwhy_plural(unmatched, "it", "they"));
}
