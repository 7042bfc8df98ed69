/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sort.h"
#include "import/recorded.h"

#include <math.h>
#include <stdlib.h>

/* By how much Unix time may be set between two relations of one machine's clocks. */
#define SET_BY_NS 1e9

static bool has_clock(const struct kwhy_recorded_writer *writer)
{
	return writer->clock.spread_ns >= 0;
}

static bool is_closer(const struct kwhy_wire_clock *a, const struct kwhy_wire_clock *b)
{
	return a->spread_ns >= 0 && (b->spread_ns < 0 || a->spread_ns < b->spread_ns);
}

/* The offset at least and at most. Doubles cannot overflow, and are exact to a microsecond. */
static double lowest_ns(const struct kwhy_recorded_writer *writer)
{
	return has_clock(writer) ? (double)writer->clock.offset_ns - (double)writer->clock.spread_ns
				 : INFINITY;
}

static double highest_ns(const struct kwhy_recorded_writer *writer)
{
	return has_clock(writer) ? (double)writer->clock.offset_ns + (double)writer->clock.spread_ns
				 : INFINITY;
}

static bool agree(const struct kwhy_recorded_writer *a, const struct kwhy_recorded_writer *b)
{
	return lowest_ns(a) <= highest_ns(b) + SET_BY_NS && lowest_ns(b) <= highest_ns(a) + SET_BY_NS;
}

/* By the start of the machine, which all of its containers have in common; where it is not told by its name.
 */
static int compare_names(const struct kwhy_recorded_writer *a, const struct kwhy_recorded_writer *b)
{
	if (a->boot != b->boot)
		return a->boot < b->boot ? -1 : 1;
	if (a->boot || a->host == b->host)
		return 0;
	return a->host < b->host ? -1 : 1;
}

/* By name, then by the lowest offset; those without a clock last. */
static int compare_writers(const void *context, uint32_t a, uint32_t b)
{
	const struct kwhy_recorded_writer *writers = context;
	const double lowest_a_ns = lowest_ns(&writers[a]), lowest_b_ns = lowest_ns(&writers[b]);
	const int names = compare_names(&writers[a], &writers[b]);

	if (names)
		return names;
	return (lowest_a_ns > lowest_b_ns) - (lowest_a_ns < lowest_b_ns);
}

/* All that agree with the best known relation of their machine take it over. */
static void share_clock(struct kwhy_recorded *recorded, const uint32_t *writers, size_t count)
{
	const struct kwhy_recorded_writer *best = &recorded->writers[writers[0]];
	struct kwhy_recorded_writer known;

	for (size_t i = 1; i < count; i++)
		if (is_closer(&recorded->writers[writers[i]].clock, &best->clock))
			best = &recorded->writers[writers[i]];
	known = *best;
	for (size_t i = 0; i < count; i++)
		if (!has_clock(&recorded->writers[writers[i]]) ||
			agree(&recorded->writers[writers[i]], &known))
			recorded->writers[writers[i]].clock = known.clock;
}

/* How many of the writers, which are in order, are the first one's machine. */
static size_t count_machine(const struct kwhy_recorded *recorded, const uint32_t *writers, size_t count)
{
	double reach_ns = highest_ns(&recorded->writers[writers[0]]) + SET_BY_NS;
	size_t i = 1;

	for (; i < count; i++) {
		const struct kwhy_recorded_writer *writer = &recorded->writers[writers[i]];

		if (compare_names(writer, &recorded->writers[writers[0]]) ||
			(has_clock(writer) && lowest_ns(writer) > reach_ns))
			break;
		reach_ns = fmax(reach_ns, highest_ns(writer) + SET_BY_NS);
	}
	return i;
}

static enum kwhy_status note_namesakes(
	struct kwhy_recorded *recorded, size_t namesakes, struct kwhy_error *error)
{
	if (!namesakes)
		return KWHY_OK;
	return kwhy_recording_add_note(recorded->recording, KWHY_NOTE_WARNING, "host-namesakes", error,
		"%s: clocks of one machine's name are more than 1 s apart: %zu machines more have written "
		"than there are names. Each keeps its own clock.",
		recorded->tracks.path, namesakes);
}

static enum kwhy_status walk_machines(
	struct kwhy_recorded *recorded, const uint32_t *order, struct kwhy_error *error)
{
	size_t namesakes = 0, count;

	for (size_t i = 0; i < recorded->writer_count; i += count) {
		count = count_machine(recorded, order + i, recorded->writer_count - i);
		namesakes += i &&
			!compare_names(&recorded->writers[order[i]], &recorded->writers[order[i - 1]]);
		share_clock(recorded, order + i, count);
	}
	return note_namesakes(recorded, namesakes, error);
}

enum kwhy_status kwhy_recorded_machines_apply(struct kwhy_recorded *recorded, struct kwhy_error *error)
{
	uint32_t *sorted, *order = calloc(recorded->writer_count + 1, sizeof(*order));
	enum kwhy_status status;

	if (!order)
		return kwhy_fail_memory(error, "machines of a recording");
	for (uint32_t i = 0; i < recorded->writer_count; i++)
		order[i] = i;
	status = kwhy_sort_order(recorded->writer_count, compare_writers, recorded->writers, &sorted, error);
	if (!status) {
		status = walk_machines(recorded, sorted ? sorted : order, error);
		free(sorted);
	}
	free(order);
	return status;
}
