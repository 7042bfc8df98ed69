/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/steps.h"

#include "whatif/edits.h"

#include <stdlib.h>

/* How the occurrences of one name lie in the work of a stream. */
struct rhythm {
	uint32_t last, period; /* place of the last one; activities between the last two */
	uint32_t even;	       /* times that the distance was the one before it */
	uint32_t count;
};

enum { EVEN_LEAST = 2, PERIOD_LEAST = 2 /* one activity is no step */ };

static void note_place(struct rhythm *rhythm, uint32_t place)
{
	uint32_t period = place - rhythm->last;

	rhythm->even += rhythm->count > 1 && period == rhythm->period;
	rhythm->period = period;
	rhythm->last = place;
	rhythm->count++;
}

/* The name that comes back at the longest even distance and covers most of the stream; KWHY_NONE: none does.
 */
static uint32_t choose_name(const struct rhythm *rhythms, size_t names, uint32_t length)
{
	uint32_t best = KWHY_NONE;

	for (uint32_t name = 0; name < names; name++) {
		const struct rhythm *rhythm = &rhythms[name];

		if (rhythm->even < EVEN_LEAST || rhythm->period < PERIOD_LEAST ||
			(uint64_t)rhythm->even * 2 < rhythm->count - 1 ||
			(uint64_t)rhythm->count * rhythm->period * 2 < length)
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

/* Every row belongs to the step of its device that began last before it. */
static uint32_t number_rows(struct kwhy_whatif *whatif, uint32_t device, uint32_t stream, uint32_t name)
{
	const struct kwhy_activities *rows = &whatif->recording->activities;
	uint32_t count = 0;

	for (size_t i = rows->first[device]; i < rows->first[device + 1]; i++) {
		count += rows->stream[i] == stream && rows->name[i] == name;
		if (count)
			whatif->step[i] = count - 1;
	}
	return count;
}

static void find_rhythm(struct kwhy_whatif *whatif, uint32_t device, struct rhythm *rhythms)
{
	const struct kwhy_recording *recording = whatif->recording;
	uint32_t length, place = 0, name, count, stream = busiest_stream(whatif, device, &length);

	if (stream == KWHY_NONE)
		return;
	for (size_t n = 0; n < recording->names.count; n++)
		rhythms[n] = (struct rhythm){0};
	for (uint32_t row = whatif->first_of_stream[stream]; row != KWHY_NONE;
		row = whatif->next[row], place++)
		if (recording->activities.kind[row] == KWHY_ACTIVITY_KERNEL)
			note_place(&rhythms[recording->activities.name[row]], place);
	name = choose_name(rhythms, recording->names.count, length);
	if (name == KWHY_NONE)
		return;
	count = number_rows(whatif, device, stream, name);
	whatif->step_count = count > whatif->step_count ? count : whatif->step_count;
	whatif->step_words = "a sequence of launches that repeats";
}

/* The last step range that began by then; KWHY_NONE: none. Ranges are in order of their start. */
static uint32_t step_at(
	const struct kwhy_recording *recording, const uint32_t *steps, uint32_t count, int64_t time_ns)
{
	uint32_t low = 0, high = count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (recording->ranges[steps[middle]].start_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? low - 1 : KWHY_NONE;
}

/* Work belongs to the step in which it was issued. Ranks that run side by side step together. */
static void number_by_ranges(struct kwhy_whatif *whatif, const uint32_t *steps, uint32_t count)
{
	const struct kwhy_recording *recording = whatif->recording;

	for (uint32_t i = 0; i < recording->activities.count; i++) {
		uint32_t call = kwhy_whatif_call_of(whatif, i);

		whatif->step[i] = step_at(recording, steps, count,
			call == KWHY_NONE ? recording->activities.start_ns[i]
					  : recording->calls.start_ns[call]);
	}
	whatif->step_count = count;
	whatif->step_words = "ranges";
	whatif->steps_named = true;
}

enum kwhy_status kwhy_whatif_find_steps(struct kwhy_whatif *whatif, struct kwhy_error *error)
{
	const struct kwhy_recording *recording = whatif->recording;
	uint32_t *steps = malloc((recording->range_count + 1) * sizeof(*steps)), count = 0;
	struct rhythm *rhythms = malloc((recording->names.count + 1) * sizeof(*rhythms));
	enum kwhy_status status = steps && rhythms ? KWHY_OK
						   : kwhy_fail_memory(error, "the steps of the run");

	for (uint32_t i = 0; i < recording->activities.count; i++)
		whatif->step[i] = KWHY_NONE;
	for (uint32_t i = 0; !status && i < recording->range_count; i++)
		if (recording->ranges[i].kind == KWHY_RANGE_STEP)
			steps[count++] = i;
	if (!status && count > 1)
		number_by_ranges(whatif, steps, count);
	for (uint32_t d = 0; !status && count < 2 && d < recording->device_count; d++)
		find_rhythm(whatif, d, rhythms);
	free(steps);
	free(rhythms);
	return status;
}
