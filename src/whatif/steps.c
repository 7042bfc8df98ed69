/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/steps.h"

#include "base/sort.h"
#include "whatif/edits.h"
#include "whatif/samples.h"

#include <stdlib.h>
#include <string.h>

/*
 * Distances between successive occurrences of one kernel name in a stream, counted in activities of the
 * stream. They are found in two passes, vote() and count_even().
 */
struct rhythm {
	uint32_t last; /* position in the stream of the last occurrence so far */
	/*
	 * after vote(): if more than half of all distances are equal, that distance; otherwise any of the
	 * distances
	 */
	uint32_t period;
	uint32_t votes; /* votes for `period` less votes for other distances */
	uint32_t even;	/* number of distances that equal `period` */
	uint32_t count;
};

enum {
	EVEN_MIN = 3,
	PERIOD_MIN = 2,	    /* least `period`, in activities, of a kernel name that begins steps */
	LENGTH_PERIODS = 2, /* longest step in activities of its stream, in multiples of `period`; chosen, not
			       measured */
	/*
	 * A sequence that takes more than this many times as long as the median step is no step. Chosen, not
	 * measured.
	 */
	FAR_RATIO = 4
};

/*
 * Counts an occurrence at position `place` by the Boyer-Moore majority vote: if more than half of all
 * distances are equal, `period` is that distance in the end.
 */
static void vote(struct rhythm *rhythm, uint32_t place)
{
	uint32_t distance = place - rhythm->last;

	if (rhythm->count && !rhythm->votes)
		rhythm->period = distance;
	if (rhythm->count && rhythm->period == distance)
		rhythm->votes++;
	else if (rhythm->count)
		rhythm->votes--;
	rhythm->last = place;
	rhythm->count++;
}

static void count_even(struct rhythm *rhythm, uint32_t place)
{
	rhythm->even += rhythm->count && place - rhythm->last == rhythm->period;
	rhythm->last = place;
	rhythm->count++;
}

static void note_places(const struct kwhy_whatif *whatif, uint32_t stream, struct rhythm *rhythms,
	void (*note)(struct rhythm *rhythm, uint32_t place))
{
	const struct kwhy_activities *rows = &whatif->recording->activities;
	uint32_t place = 0;

	for (size_t n = 0; n < whatif->recording->names.count; n++)
		rhythms[n].count = 0;
	for (uint32_t row = whatif->first_of_stream[stream]; row != KWHY_NONE;
		row = whatif->next[row], place++)
		if (rows->kind[row] == KWHY_ACTIVITY_KERNEL)
			note(&rhythms[rows->name[row]], place);
}

/*
 * Of all kernel names whose occurrences are regular, the one with the largest `period`; KWHY_NONE: none is
 * regular. A name is regular if at least half of its distances, and at least EVEN_MIN, equal `period`, and
 * these distances add up to at least half of the stream, which has `length` activities.
 */
static uint32_t choose_name(const struct rhythm *rhythms, size_t names, uint32_t length)
{
	uint32_t best = KWHY_NONE;

	for (uint32_t name = 0; name < names; name++) {
		const struct rhythm *rhythm = &rhythms[name];

		if (rhythm->even < EVEN_MIN || rhythm->period < PERIOD_MIN ||
			(uint64_t)rhythm->even * 2 < rhythm->count - 1 ||
			(uint64_t)rhythm->even * rhythm->period * 2 < length)
			continue;
		if (best == KWHY_NONE || rhythm->period > rhythms[best].period)
			best = name;
	}
	return best;
}

static uint32_t busiest_stream(const struct kwhy_whatif *whatif, uint32_t device, uint32_t *out_length)
{
	const struct kwhy_recording *recording = whatif->recording;
	uint32_t busiest = KWHY_NONE;

	*out_length = 0;
	for (uint32_t s = 0; s < recording->stream_count; s++) {
		uint32_t length = 0;

		if (recording->streams[s].device != device)
			continue;
		for (uint32_t row = whatif->first_of_stream[s]; row != KWHY_NONE; row = whatif->next[row])
			length++;
		if (length > *out_length) {
			*out_length = length;
			busiest = s;
		}
	}
	return busiest;
}

/* The kernel name that begins the steps of a device, in its stream with most activities. */
struct beat {
	const struct kwhy_whatif *whatif;
	uint32_t device, stream, name, period;
	int64_t far_ns; /* in ns; a sequence that begins with `name` and takes longer is no step */
};

/*
 * End in ns of the step that begins with an activity: the start of the next activity of the same name if that
 * comes within LENGTH_PERIODS * period activities, else the end of the last of `period` activities.
 */
static int64_t step_end_ns(const struct beat *beat, uint32_t row)
{
	const struct kwhy_activities *rows = &beat->whatif->recording->activities;
	uint32_t next = beat->whatif->next[row];
	int64_t end_ns = rows->end_ns[row];

	for (uint32_t place = 1; next != KWHY_NONE && place <= LENGTH_PERIODS * beat->period;
		next = beat->whatif->next[next], place++) {
		if (rows->name[next] == beat->name)
			return rows->start_ns[next];
		if (place < beat->period)
			end_ns = rows->end_ns[next];
	}
	return end_ns;
}

static int64_t usual_step_ns(const struct beat *beat)
{
	const struct kwhy_activities *rows = &beat->whatif->recording->activities;
	struct kwhy_whatif_samples lengths = {.count = 0};

	for (uint32_t row = beat->whatif->first_of_stream[beat->stream]; row != KWHY_NONE;
		row = beat->whatif->next[row])
		if (rows->name[row] == beat->name)
			kwhy_whatif_sample(&lengths, step_end_ns(beat, row) - rows->start_ns[row]);
	return kwhy_whatif_quantile(&lengths, 0.5);
}

/*
 * Writes the step of the activities of a device, and returns the number of steps. An activity belongs to the
 * last step that began before it, on any stream, unless that step has ended. A sequence longer than far_ns
 * (an evaluation, a checkpoint, the rest of the run) is no step, since a change to the steps does not change
 * it.
 */
static uint32_t number_rows(struct kwhy_whatif *whatif, const struct beat *beat)
{
	const struct kwhy_activities *rows = &whatif->recording->activities;
	int64_t end_ns = INT64_MIN;
	uint32_t count = 0;

	for (size_t i = rows->first[beat->device]; i < rows->first[beat->device + 1]; i++) {
		bool begins = rows->stream[i] == beat->stream && rows->name[i] == beat->name;

		if (begins) {
			end_ns = step_end_ns(beat, (uint32_t)i);
			begins = end_ns - rows->start_ns[i] <= beat->far_ns;
			end_ns = begins ? end_ns : INT64_MIN;
			count += begins;
		}
		if (begins || rows->start_ns[i] < end_ns)
			whatif->step[i] = count - 1;
	}
	return count;
}

static void find_rhythm(struct kwhy_whatif *whatif, uint32_t device, struct rhythm *rhythms)
{
	struct beat beat = {.whatif = whatif, .device = device};
	uint32_t length, count;

	beat.stream = busiest_stream(whatif, device, &length);
	if (beat.stream == KWHY_NONE)
		return;
	memset(rhythms, 0, whatif->recording->names.count * sizeof(*rhythms));
	note_places(whatif, beat.stream, rhythms, vote);
	note_places(whatif, beat.stream, rhythms, count_even);
	beat.name = choose_name(rhythms, whatif->recording->names.count, length);
	if (beat.name == KWHY_NONE)
		return;
	beat.period = rhythms[beat.name].period;
	beat.far_ns = FAR_RATIO * usual_step_ns(&beat);
	count = number_rows(whatif, &beat);
	whatif->step_count = count > whatif->step_count ? count : whatif->step_count;
	whatif->step_words = "a sequence of launches that repeats";
}

/*
 * Index in `starts_ns` of the last step that began at or before time_ns; KWHY_NONE: no step did. Starts are
 * sorted.
 */
static uint32_t step_at(const int64_t *starts_ns, uint32_t count, int64_t time_ns)
{
	uint32_t low = 0, high = count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (starts_ns[middle] <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? low - 1 : KWHY_NONE;
}

/*
 * Writes the step of all activities: the last range that began before the activity's call (or the activity,
 * if that is unknown). `count` ranges begin at starts_ns. Ranks that run at the same time have the same
 * steps.
 */
static void number_by_ranges(struct kwhy_whatif *whatif, const int64_t *starts_ns, uint32_t count)
{
	const struct kwhy_recording *recording = whatif->recording;

	for (uint32_t i = 0; i < recording->activities.count; i++) {
		uint32_t call = kwhy_whatif_call_of(whatif, i);

		whatif->step[i] = step_at(starts_ns, count,
			call == KWHY_NONE ? recording->activities.start_ns[i]
					  : recording->calls.start_ns[call]);
	}
	whatif->step_count = count;
	whatif->step_words = "ranges";
	whatif->steps_named = true;
}

static int earlier_first(const void *a, const void *b)
{
	const int64_t *left = a, *right = b;

	return kwhy_sort_by(*left, *right);
}

/*
 * Writes the sorted starts of the ranges that are steps, and returns their number: the steps of the ledger,
 * which are those that the user named; without these, all ranges of kind KWHY_RANGE_STEP.
 */
static uint32_t find_starts(const struct kwhy_whatif *whatif, int64_t *starts_ns)
{
	const struct kwhy_recording *recording = whatif->recording;
	const bool by_ledger = whatif->ledger && whatif->ledger->step_count;
	uint32_t count = 0;

	for (size_t i = 0; by_ledger && i < whatif->ledger->step_count; i++)
		starts_ns[count++] = whatif->ledger->steps[i].start_ns;
	for (size_t i = 0; !by_ledger && i < recording->range_count; i++)
		if (recording->ranges[i].kind == KWHY_RANGE_STEP)
			starts_ns[count++] = recording->ranges[i].start_ns;
	qsort(starts_ns, count, sizeof(*starts_ns), earlier_first);
	return count;
}

enum kwhy_status kwhy_whatif_find_steps(struct kwhy_whatif *whatif, struct kwhy_error *error)
{
	const struct kwhy_recording *recording = whatif->recording;
	int64_t *starts_ns = malloc((recording->range_count + 1) * sizeof(*starts_ns));
	struct rhythm *rhythms = malloc((recording->names.count + 1) * sizeof(*rhythms));
	enum kwhy_status status = starts_ns && rhythms ? KWHY_OK
						       : kwhy_fail_memory(error, "the steps of the run");
	uint32_t count = status ? 0 : find_starts(whatif, starts_ns);

	for (uint32_t i = 0; i < recording->activities.count; i++)
		whatif->step[i] = KWHY_NONE;
	if (!status && count > 1)
		number_by_ranges(whatif, starts_ns, count);
	for (uint32_t d = 0; !status && count < 2 && d < recording->device_count; d++)
		find_rhythm(whatif, d, rhythms);
	free(starts_ns);
	free(rhythms);
	return status;
}
