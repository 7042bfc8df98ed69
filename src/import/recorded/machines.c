/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sort.h"
#include "import/recorded/recorded.h"

#include <math.h>
#include <stdlib.h>

/*
 * Unix time may be set during a run. The difference of Unix and monotonic time may therefore differ between
 * two writers on one machine by up to this many ns, beside the uncertainty of their clock readings.
 */
#define SET_BY_NS 1e9

static bool is_closer(const struct kwhy_wire_clock *a, const struct kwhy_wire_clock *b)
{
	return a->width_ns >= 0 && (b->width_ns < 0 || a->width_ns < b->width_ns);
}

/*
 * lowest_ns() and highest_ns(): the ends of the range, in ns, in which Unix time minus monotonic time lies by
 * a pair of clock readings; INFINITY: the writer has no such pair (width_ns -1). They are doubles, because an
 * int64_t could overflow.
 */
static double lowest_ns(const struct kwhy_wire_clock *clock)
{
	return clock->width_ns < 0 ? INFINITY : (double)clock->offset_ns - (double)clock->width_ns / 2;
}

static double highest_ns(const struct kwhy_wire_clock *clock)
{
	return clock->width_ns < 0 ? INFINITY : (double)clock->offset_ns + (double)clock->width_ns / 2;
}

static bool agree(const struct kwhy_wire_clock *a, const struct kwhy_wire_clock *b)
{
	return a->width_ns < 0 || b->width_ns < 0 ||
		(lowest_ns(a) <= highest_ns(b) + SET_BY_NS && lowest_ns(b) <= highest_ns(a) + SET_BY_NS);
}

/*
 * Writers of older versions of kwhy state no boot id. Gives each of them the boot id of the first writer that
 * has one and the same host name.
 */
static enum kwhy_status complete_starts(
	struct kwhy_recorded *recorded, struct kwhy_track_map *starts, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	uint32_t boot;

	for (size_t i = 0; !status && i < recorded->writer_count; i++) {
		const struct kwhy_track_key host = {recorded->writers[i].host, 0, 0};

		if (recorded->writers[i].boot && !kwhy_track_map_find(starts, host, &boot))
			status = kwhy_track_map_put(starts, host, recorded->writers[i].boot, error);
	}
	for (size_t i = 0; !status && i < recorded->writer_count; i++) {
		const struct kwhy_track_key host = {recorded->writers[i].host, 0, 0};

		if (!recorded->writers[i].boot && kwhy_track_map_find(starts, host, &boot))
			recorded->writers[i].boot = boot;
	}
	return status;
}

/*
 * Compares the machines of two writers for sorting: by boot id, which all containers of a machine share, or,
 * if neither states one, by host name. 0: they may be one machine.
 */
static int compare_names(const struct kwhy_recorded_writer *a, const struct kwhy_recorded_writer *b)
{
	if (a->boot != b->boot)
		return a->boot < b->boot ? -1 : 1;
	if (a->boot || a->host == b->host)
		return 0;
	return a->host < b->host ? -1 : 1;
}

/*
 * Compares two writers for sorting: by compare_names(), then by the lowest difference between Unix and
 * monotonic time; writers without clock readings come last.
 */
static int compare_writers(const void *context, uint32_t a, uint32_t b)
{
	const struct kwhy_recorded_writer *writers = context;
	const double lowest_a_ns = lowest_ns(&writers[a].clock), lowest_b_ns = lowest_ns(&writers[b].clock);
	const int names = compare_names(&writers[a], &writers[b]);

	if (names)
		return names;
	return (lowest_a_ns > lowest_b_ns) - (lowest_a_ns < lowest_b_ns);
}

/*
 * Finds the pair of clock readings of these writers that was read within the shortest time, and gives it to
 * each writer whose own pair agrees with it.
 */
static struct kwhy_wire_clock share_clock(
	struct kwhy_recorded *recorded, const uint32_t *writers, size_t count)
{
	struct kwhy_wire_clock best = recorded->writers[writers[0]].clock;

	for (size_t i = 1; i < count; i++)
		if (is_closer(&recorded->writers[writers[i]].clock, &best))
			best = recorded->writers[writers[i]].clock;
	for (size_t i = 0; i < count; i++)
		if (agree(&recorded->writers[writers[i]].clock, &best))
			recorded->writers[writers[i]].clock = best;
	return best;
}

/*
 * Index of a machine of an earlier file (below `first`) that is the same as `machine`: same boot id or host
 * name, and clocks that agree. KWHY_NONE: there is none.
 */
static uint32_t find_machine(
	const struct kwhy_recording *recording, size_t first, const struct kwhy_machine *machine)
{
	const struct kwhy_wire_clock clock = {.offset_ns = machine->offset_ns, .width_ns = machine->width_ns};

	for (uint32_t i = 0; i < first; i++) {
		const struct kwhy_machine *known = &recording->machines[i];
		const struct kwhy_wire_clock known_clock = {
			.offset_ns = known->offset_ns, .width_ns = known->width_ns};

		if ((known->boot && machine->boot ? known->boot == machine->boot
						  : known->host == machine->host) &&
			agree(&known_clock, &clock))
			return i;
	}
	return KWHY_NONE;
}

static enum kwhy_status add_machine(struct kwhy_recorded *recorded, const uint32_t *writers, size_t count,
	size_t first, struct kwhy_error *error)
{
	const struct kwhy_wire_clock clock = share_clock(recorded, writers, count);
	const struct kwhy_machine row = {.host = recorded->writers[writers[0]].host,
		.boot = recorded->writers[writers[0]].boot,
		.offset_ns = clock.offset_ns,
		.width_ns = clock.width_ns};
	uint32_t machine = find_machine(recorded->recording, first, &row);
	enum kwhy_status status = KWHY_OK;

	if (machine == KWHY_NONE)
		status = kwhy_recording_add_machine(recorded->recording, &row, &machine, error);
	for (size_t i = 0; i < count; i++)
		recorded->writers[writers[i]].machine = machine;
	return status;
}

/*
 * Number of writers at the start of a list, sorted by compare_writers(), that are on the machine of the first
 * writer: all have the same boot id or host name (compare_names()), and no gap between the clock ranges of
 * successive writers is longer than SET_BY_NS.
 */
static size_t count_machine(const struct kwhy_recorded *recorded, const uint32_t *writers, size_t count)
{
	double reach_ns = highest_ns(&recorded->writers[writers[0]].clock) + SET_BY_NS;
	size_t i = 1;

	for (; i < count; i++) {
		const struct kwhy_recorded_writer *writer = &recorded->writers[writers[i]];

		if (compare_names(writer, &recorded->writers[writers[0]]) ||
			(writer->clock.width_ns >= 0 && lowest_ns(&writer->clock) > reach_ns))
			break;
		reach_ns = fmax(reach_ns, highest_ns(&writer->clock) + SET_BY_NS);
	}
	return i;
}

static enum kwhy_status note_duplicate_names(struct kwhy_recorded *recorded, struct kwhy_error *error)
{
	return kwhy_recording_add_note(recorded->recording, KWHY_NOTE_WARNING, "host-namesakes", error,
		"%s: clocks under one machine's name differ by more than 1 s (several machines have that "
		"name, it was restarted, or its Unix time was set); each keeps its own times.",
		recorded->tracks.path);
}

static enum kwhy_status walk_machines(
	struct kwhy_recorded *recorded, const uint32_t *order, struct kwhy_error *error)
{
	const size_t first = recorded->recording->machine_count;
	enum kwhy_status status = KWHY_OK;
	bool has_duplicate_names = false;
	size_t count;

	for (size_t i = 0; !status && i < recorded->writer_count; i += count) {
		count = count_machine(recorded, order + i, recorded->writer_count - i);
		has_duplicate_names |= i &&
			!compare_names(&recorded->writers[order[i]], &recorded->writers[order[i - 1]]);
		status = add_machine(recorded, order + i, count, first, error);
	}
	return status || !has_duplicate_names ? status : note_duplicate_names(recorded, error);
}

static enum kwhy_status sort_machines(struct kwhy_recorded *recorded, struct kwhy_error *error)
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

enum kwhy_status kwhy_recorded_machines_apply(struct kwhy_recorded *recorded, struct kwhy_error *error)
{
	struct kwhy_track_map starts = {0};
	enum kwhy_status status = complete_starts(recorded, &starts, error);

	kwhy_track_map_done(&starts);
	return status ? status : sort_machines(recorded, error);
}
