/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/segments.h"

#include "whatif/edits.h"
#include "whatif/parts.h"

#include <stdlib.h>

enum {
	/* in ns; in a longer pause between calls of a thread, the host did something other than launch */
	PAUSE_NS = 1000000,
	/* a segment with this many activities ends where the next step begins, even if steps have no names */
	LONG_ROWS = 1024
};

bool kwhy_whatif_segments_init(struct kwhy_whatif_segments *segments, struct kwhy_whatif *whatif)
{
	*segments = (struct kwhy_whatif_segments){.whatif = whatif,
		.rows = malloc((whatif->recording->activities.count + 1) * sizeof(*segments->rows))};
	whatif->out_of_memory |= !segments->rows;
	return segments->rows != NULL;
}

void kwhy_whatif_segments_done(struct kwhy_whatif_segments *segments)
{
	free(segments->rows);
}

/* Whether a call ends a segment: waits, copies that may block, allocations, frees and launches of graphs do.
 */
static bool ends_segment(const struct kwhy_whatif *whatif, uint32_t call)
{
	switch (whatif->recording->calls.class[call]) {
	case KWHY_CALL_LAUNCH:
		return kwhy_whatif_call_is(whatif->graph, call, KWHY_MARK_GRAPH);
	case KWHY_CALL_OTHER:
		return false;
	default:
		return true;
	}
}

static bool is_handed_over(const struct kwhy_whatif *whatif, uint32_t call)
{
	return whatif->graph->nodes[kwhy_whatif_call_node(whatif->graph, call)].from[KWHY_LINK_CROSS] !=
		KWHY_NONE;
}

bool kwhy_whatif_is_after_pause(const struct kwhy_whatif *whatif, uint32_t call)
{
	return !is_handed_over(whatif, call) &&
		kwhy_whatif_lag_ns(whatif->graph,
			&whatif->graph->nodes[kwhy_whatif_call_node(whatif->graph, call)],
			KWHY_LINK_ORDER) > PAUSE_NS;
}

static uint32_t step_of(const struct kwhy_whatif *whatif, uint32_t call)
{
	size_t first = whatif->first_issued[call];

	return first == whatif->first_issued[call + 1] ? KWHY_NONE : whatif->step[whatif->issued[first]];
}

static void take(struct kwhy_whatif_segments *segments, uint32_t call, struct kwhy_whatif_segment *out)
{
	const struct kwhy_whatif *whatif = segments->whatif;

	for (size_t i = whatif->first_issued[call]; i < whatif->first_issued[call + 1]; i++)
		if (!kwhy_whatif_row_is_dropped(whatif, whatif->issued[i])) {
			kwhy_whatif_fetch(whatif->graph, whatif->issued[i]);
			segments->rows[out->row_count++] = whatif->issued[i];
		}
}

/*
 * Whether a call of step `step`, after calls of step `before`, begins a new segment. If segments->steps is
 * set, the first step of each group of that many steps does. Otherwise every step that a range names does. A
 * step without a name may be an iteration of a loop inside a real step; it begins a new segment only if the
 * segment so far has LONG_ROWS activities or more and rhythm_is_whole is false.
 */
static bool parts_segment(
	const struct kwhy_whatif_segments *segments, uint32_t before, uint32_t step, size_t row_count)
{
	if (step == KWHY_NONE || step == before)
		return false;
	if (segments->steps)
		return before == KWHY_NONE || step / segments->steps != before / segments->steps;
	return segments->whatif->steps_named || (row_count >= LONG_ROWS && !segments->rhythm_is_whole);
}

/*
 * Reads a segment from `call` on, up to the call `end`; it has no activities if none was found before a call
 * that ends segments. Returns the call at which to go on.
 */
static size_t read_segment(
	struct kwhy_whatif_segments *segments, size_t call, size_t end, struct kwhy_whatif_segment *out)
{
	const struct kwhy_whatif *whatif = segments->whatif;
	uint32_t step = KWHY_NONE;

	*out = (struct kwhy_whatif_segment){(uint32_t)call, (uint32_t)call, segments->rows, 0};
	for (; call < end; call++) {
		uint32_t at = (uint32_t)call, step_here;

		kwhy_whatif_fetch_calls_ahead(whatif, call, end, KWHY_CALL_LAUNCH);
		if (whatif->graph->outer[at] != at || kwhy_whatif_call_is_dropped(whatif, at))
			continue;
		if (ends_segment(whatif, at))
			return call + 1;
		step_here = step_of(whatif, at);
		if (out->row_count &&
			(is_handed_over(whatif, at) || kwhy_whatif_is_after_pause(whatif, at) ||
				parts_segment(segments, step, step_here, out->row_count)))
			return call;
		if (!out->row_count)
			out->first_call = at;
		step = step_here != KWHY_NONE ? step_here : step;
		take(segments, at, out);
		out->end_call = at + 1;
	}
	return call;
}

bool kwhy_whatif_segments_next(struct kwhy_whatif_segments *segments, struct kwhy_whatif_segment *out)
{
	const struct kwhy_recording *recording = segments->whatif->recording;

	while (segments->thread < recording->thread_count) {
		size_t end = recording->calls.first[segments->thread + 1];

		while (segments->next < end) {
			segments->next = read_segment(segments, segments->next, end, out);
			if (out->row_count)
				return true;
		}
		segments->thread++;
	}
	return false;
}
