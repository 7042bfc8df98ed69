/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/changes.h"

#include "base/quantity.h"
#include "whatif/curves.h"
#include "whatif/edits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Changes to copies between host and device: packing several into one, and making host memory page-locked. */

/* A pack: copies in one direction that one copy can replace, and counts over all packs so far. */
struct pack {
	struct kwhy_whatif *whatif;
	enum kwhy_copy_kind kind;
	uint32_t first; /* first activity of the pack; KWHY_NONE: the pack is empty */
	size_t begin;	/* index of that activity in `rows` */
	uint32_t *rows;
	size_t count;
	double bytes;
	/*
	 * packs: number of packs that became one copy; packed: number of copies in these; not_worth: number
	 * of copies in packs that stay as they are, since one copy would take no less time
	 */
	uint64_t packs, packed, not_worth;
	bool has_calls;	    /* whether at least one packed copy has a recorded API call */
	const char *source; /* origin of the costs, in words */
};

static uint32_t process_of(const struct kwhy_recording *recording, uint32_t row)
{
	return recording->streams[recording->activities.stream[row]].process;
}

/*
 * Sum of the times in ns that the pack's copies take in the graph as changed so far. If the cost of the
 * packed copy is unknown, this sum is used as its time.
 */
static double sum_ns(const struct pack *pack)
{
	double sum = 0;

	for (size_t i = 0; i < pack->count; i++)
		sum += (double)kwhy_whatif_own_ns(
			pack->whatif->graph, &pack->whatif->graph->nodes[pack->rows[i]]);
	return sum;
}

static struct kwhy_whatif_cost cost_of(const struct pack *pack)
{
	return kwhy_whatif_row_copy_cost(pack->whatif, pack->first, pack->bytes);
}

/*
 * Time in ns of the packed copy and of a small kernel on the device, which gathers the parts before a copy to
 * the host or scatters them after a copy to the device.
 */
static double packed_ns(struct pack *pack)
{
	const struct kwhy_whatif *whatif = pack->whatif;
	struct kwhy_whatif_cost cost = cost_of(pack);

	if (!isfinite(cost.expected_ns))
		return sum_ns(pack);
	pack->source = cost.source;
	return kwhy_whatif_cost_at(&cost, whatif->corner) +
		kwhy_whatif_cost_at(&whatif->costs.small_kernel, whatif->corner);
}

static uint32_t call_after(const struct kwhy_whatif *whatif, uint32_t call)
{
	const struct kwhy_calls *calls = &whatif->recording->calls;
	size_t end = calls->first[calls->thread[call] + 1];

	for (uint32_t after = call + 1; after < end; after++)
		if (whatif->graph->outer[after] == after)
			return after;
	return KWHY_NONE;
}

/*
 * Host time in ns that removing a copy saves: that of its call, less the time of the copy itself, during
 * which the call may block; and that of a wait for the copy right after the call. 0 if the call is unknown or
 * removed, or issues other work, too.
 */
static double host_ns(const struct kwhy_whatif *whatif, uint32_t row)
{
	const struct kwhy_whatif_graph *graph = whatif->graph;
	uint32_t call = kwhy_whatif_call_of(whatif, row), after;
	double sum;

	if (call == KWHY_NONE || whatif->first_issued[call + 1] - whatif->first_issued[call] > 1 ||
		kwhy_whatif_call_is_dropped(whatif, call))
		return 0;
	sum = (double)kwhy_whatif_goes_with_call_ns(whatif, call) -
		(double)kwhy_whatif_own_ns(graph, &graph->nodes[row]);
	sum = fmax(sum, 0);
	after = call_after(whatif, call);
	if (after == KWHY_NONE || whatif->recording->calls.class[after] != KWHY_CALL_SYNC ||
		graph->nodes[kwhy_whatif_call_node(graph, after)].from[KWHY_LINK_JOIN] != row ||
		kwhy_whatif_call_is_dropped(whatif, after))
		return sum;
	return sum + (double)kwhy_whatif_goes_with_call_ns(whatif, after);
}

/*
 * Whether packing saves time at the expected costs. Device and host work concurrently, so a sequence of
 * copies takes the longer of their two times. Large copies take as long when packed, and work that needs the
 * first copy would then wait for the last. If the cost of a copy is unknown, packing is taken to save at
 * least the time of the calls.
 */
static bool is_worth_it(const struct pack *pack)
{
	const struct kwhy_whatif_costs *costs = &pack->whatif->costs;
	struct kwhy_whatif_cost cost = cost_of(pack);
	double first_ns = host_ns(pack->whatif, pack->first), all_ns = 0;
	double launch_ns = costs->launch.is_generic ? 0 : costs->launch.expected_ns;

	for (size_t i = 0; i < pack->count; i++)
		all_ns += host_ns(pack->whatif, pack->rows[i]);
	return !isfinite(cost.expected_ns) ||
		fmax(cost.expected_ns + costs->small_kernel.expected_ns, first_ns + launch_ns) <
		fmax(sum_ns(pack), all_ns);
}

/*
 * Adds the launch of the kernel that gathers or scatters the parts to the call of the packed copy. For the
 * upper bound of the saving, or if the cost of a launch is unknown, it adds nothing.
 */
static void lengthen_call(struct pack *pack)
{
	struct kwhy_whatif *whatif = pack->whatif;
	double launch_ns = kwhy_whatif_cost_at(&whatif->costs.launch, whatif->corner);
	uint32_t call = kwhy_whatif_call_of(whatif, pack->first);
	struct kwhy_whatif_node *node;

	if (call == KWHY_NONE || whatif->costs.launch.is_generic || whatif->corner == KWHY_CORNER_FAST)
		return;
	node = kwhy_whatif_edit(whatif->graph, kwhy_whatif_call_node(whatif->graph, call));
	whatif->out_of_memory |= !node;
	if (node)
		kwhy_whatif_set_own(whatif->graph, node,
			kwhy_whatif_own_ns(whatif->graph, node) + (int64_t)(launch_ns + 0.5));
}

static void close_pack(struct pack *pack)
{
	if (pack->count > 1 && !is_worth_it(pack)) {
		pack->not_worth += pack->count;
	} else if (pack->count > 1) {
		lengthen_call(pack);
		kwhy_whatif_resize_row(pack->whatif, pack->first, packed_ns(pack));
		kwhy_whatif_pack_row(pack->whatif, pack->first, (uint64_t)pack->bytes);
		for (size_t i = 1; i < pack->count; i++)
			kwhy_whatif_drop_row(pack->whatif, pack->rows[i]);
		pack->has_calls |= kwhy_whatif_call_of(pack->whatif, pack->first) != KWHY_NONE;
		pack->packs++;
		pack->packed += pack->count;
	}
	pack->first = KWHY_NONE;
	pack->count = 0;
	pack->bytes = 0;
}

/*
 * Whether a copy can be added to the pack: it has the same kinds of memory, the same process and, if steps
 * are known, the same step as the pack's first copy.
 */
static bool fits(const struct pack *pack, uint32_t row)
{
	const struct kwhy_whatif *whatif = pack->whatif;
	const struct kwhy_activities *rows = &whatif->recording->activities;

	return rows->src_memory[row] == rows->src_memory[pack->first] &&
		rows->dst_memory[row] == rows->dst_memory[pack->first] &&
		process_of(whatif->recording, row) == process_of(whatif->recording, pack->first) &&
		whatif->step[row] == whatif->step[pack->first];
}

static void add_to_pack(struct pack *pack, uint32_t row)
{
	uint64_t bytes = pack->whatif->recording->activities.bytes[row];

	if (bytes == KWHY_UNKNOWN_BYTES) {
		close_pack(pack);
		return;
	}
	if (pack->first != KWHY_NONE && !fits(pack, row))
		close_pack(pack);
	if (pack->first == KWHY_NONE)
		pack->first = row;
	pack->rows[pack->count++] = row;
	pack->bytes += (double)bytes;
}

typedef bool ends_pack(const struct kwhy_whatif *whatif, uint32_t row);

static void pack_device(struct pack *pack, uint32_t device, ends_pack *ends)
{
	const size_t *first = pack->whatif->recording->activities.first;

	for (size_t i = first[device]; i < first[device + 1]; i++) {
		uint32_t row = (uint32_t)i;

		kwhy_whatif_fetch_copies_ahead(pack->whatif, i, first[device + 1]);
		if (kwhy_whatif_row_is_dropped(pack->whatif, row))
			continue;
		if (kwhy_whatif_is_copy(pack->whatif, row, pack->kind))
			add_to_pack(pack, row);
		else if (ends(pack->whatif, row))
			close_pack(pack);
	}
	close_pack(pack);
}

static void say_packed(const struct pack *pack, const char *until, struct kwhy_whatif_effect *effect)
{
	const struct kwhy_whatif_cost *kernel = &pack->whatif->costs.small_kernel;
	char own[32], kernel_words[96] = "";

	if (pack->source)
		snprintf(kernel_words, sizeof(kernel_words), ", a kernel of %s (%s)",
			kwhy_whatif_time_words(own, kernel->expected_ns), kernel->source);
	kwhy_whatif_say(effect, "%s copies become %s, %s; a packed copy takes %s%s%s%s%s",
		KWHY_WHATIF_COUNT(pack->packed), KWHY_WHATIF_COUNT(pack->packs), until,
		pack->source ? "what " : "the time of all its parts, since no cost of sizes is known",
		pack->source ? pack->source : "", pack->source ? " says of its size" : "", kernel_words,
		pack->has_calls ? " and a launch more" : "; no call says what the host did between them");
}

static void pack_copies(struct kwhy_whatif *whatif, enum kwhy_copy_kind kind, ends_pack *ends,
	const char *until, struct kwhy_whatif_effect *effect)
{
	struct pack pack = {.whatif = whatif, .kind = kind, .first = KWHY_NONE};

	pack.rows = malloc((whatif->recording->activities.count + 1) * sizeof(*pack.rows));
	if (!pack.rows) {
		whatif->out_of_memory = true;
		return;
	}
	for (uint32_t d = 0; d < whatif->recording->device_count; d++)
		pack_device(&pack, d, ends);
	free(pack.rows);
	if (!pack.packs && pack.not_worth) {
		kwhy_whatif_refuse(effect,
			"the %s copies that follow each other %s would take no less time as one",
			KWHY_WHATIF_COUNT(pack.not_worth), until);
		return;
	}
	if (!pack.packs) {
		kwhy_whatif_refuse(effect, "no two such copies follow each other %s", until);
		return;
	}
	kwhy_whatif_drop_idle_waits(whatif);
	effect->places = pack.packed;
	say_packed(&pack, until, effect);
}

/*
 * Whether an activity that is no copy to the device ends a pack of such copies. Only a copy to the host ends
 * it, because the data of later copies to the device may depend on what the host read.
 */
static bool reads_back(const struct kwhy_whatif *whatif, uint32_t row)
{
	return kwhy_whatif_is_copy(whatif, row, KWHY_COPY_D2H);
}

void kwhy_whatif_pack_h2d(struct kwhy_whatif *whatif, uint32_t number, struct kwhy_whatif_effect *effect)
{
	(void)number;
	pack_copies(whatif, KWHY_COPY_H2D, reads_back,
		whatif->step_count ? "up to the next read-back or step" : "up to the next read-back", effect);
}

/*
 * Whether an activity that is no copy to the host ends a pack of such copies. Any other activity ends it,
 * because the activity may change the values that later copies read.
 */
static bool is_work(const struct kwhy_whatif *whatif, uint32_t row)
{
	(void)whatif;
	(void)row;
	return true;
}

void kwhy_whatif_pack_d2h(struct kwhy_whatif *whatif, uint32_t number, struct kwhy_whatif_effect *effect)
{
	(void)number;
	pack_copies(whatif, KWHY_COPY_D2H, is_work, "with no other work between", effect);
}

static bool is_pageable(const struct kwhy_activities *rows, uint32_t row)
{
	return rows->src_memory[row] == KWHY_MEMORY_PAGEABLE || rows->dst_memory[row] == KWHY_MEMORY_PAGEABLE;
}

/*
 * What a thread does after a call. AFTER_WAIT: it waits for the device before it issues work other than
 * copies to the host. AFTER_OTHER_WORK: it may issue other work than copies to the host before it waits, or
 * it does not wait any more.
 */
enum after { AFTER_OTHER_WORK, AFTER_WAIT };

static enum after look_back(const struct kwhy_whatif *whatif, uint32_t call, enum after after)
{
	const struct kwhy_whatif_graph *graph = whatif->graph;
	bool issues = false;

	if (graph->outer[call] != call || kwhy_whatif_call_is_dropped(whatif, call))
		return after;
	if (whatif->recording->calls.class[call] == KWHY_CALL_SYNC)
		return graph->nodes[kwhy_whatif_call_node(graph, call)].from[KWHY_LINK_JOIN] == KWHY_NONE
			? after
			: AFTER_WAIT;
	for (size_t i = whatif->first_issued[call]; i < whatif->first_issued[call + 1]; i++) {
		if (!kwhy_whatif_is_copy(whatif, whatif->issued[i], KWHY_COPY_D2H))
			return AFTER_OTHER_WORK;
		issues = true;
	}
	return issues || whatif->recording->calls.class[call] == KWHY_CALL_OTHER ? after : AFTER_OTHER_WORK;
}

/*
 * Returns, for each call, [call_count], whether the thread waits after the call before it issues anything but
 * copies to the host. If so, a copy to the host by this call need not block. The caller frees the array.
 * NULL: out of memory.
 */
static bool *find_waited_for(struct kwhy_whatif *whatif)
{
	const struct kwhy_calls *calls = &whatif->recording->calls;
	bool *waited = malloc((calls->count + 1) * sizeof(*waited));

	whatif->out_of_memory |= !waited;
	for (size_t t = 0; waited && t < whatif->recording->thread_count; t++) {
		enum after after = AFTER_OTHER_WORK;

		for (size_t i = calls->first[t + 1]; i-- > calls->first[t];) {
			kwhy_whatif_fetch_calls_after(whatif, i, calls->first[t], KWHY_CALL_SYNC);
			waited[i] = after == AFTER_WAIT;
			after = look_back(whatif, (uint32_t)i, after);
		}
	}
	return waited;
}

/*
 * Time in ns of a call that queues a copy and returns: that of a launch or, if shorter, that of a small copy
 * in a queue by the machine profile. For the lower bound of a saving it is always that of a launch.
 */
static double queueing_ns(const struct kwhy_whatif *whatif, enum kwhy_copy_kind kind)
{
	const struct kwhy_transfer_curve *curve = kwhy_whatif_queued_copy_curve(whatif->profile, kind);
	double launch_ns = kwhy_whatif_cost_at(&whatif->costs.launch, whatif->corner);

	if (!curve || whatif->corner == KWHY_CORNER_SLOW)
		return launch_ns;
	return fmin(launch_ns, kwhy_whatif_curve_ns(curve, 1));
}

/*
 * Makes a call that waited for its copy return at once, if `may_return`: the copy is to the device, or the
 * thread waits afterwards anyway.
 */
static void unblock(struct kwhy_whatif *whatif, uint32_t row, uint32_t call, bool may_return)
{
	if (call == KWHY_NONE ||
		whatif->graph->nodes[kwhy_whatif_call_node(whatif->graph, call)].from[KWHY_LINK_JOIN] != row)
		return;
	if (may_return)
		kwhy_whatif_unblock_call(
			whatif, call, queueing_ns(whatif, whatif->recording->activities.copy_kind[row]));
}

/*
 * Removes a wait right after the call of a copy to the device, if it waits for that copy. Frameworks wait in
 * this way after a copy without non_blocking; the wait goes once the host memory is page-locked and the copy
 * does not block. For the lower bound of the saving it stays.
 */
static void drop_wait_after(struct kwhy_whatif *whatif, uint32_t row, uint32_t call)
{
	uint32_t after = call == KWHY_NONE ? KWHY_NONE : call_after(whatif, call);

	if (after != KWHY_NONE && whatif->corner != KWHY_CORNER_SLOW &&
		whatif->recording->calls.class[after] == KWHY_CALL_SYNC &&
		whatif->graph->nodes[kwhy_whatif_call_node(whatif->graph, after)].from[KWHY_LINK_JOIN] == row)
		kwhy_whatif_drop_call(whatif, after);
}

/*
 * Makes the host memory of a copy page-locked: the copy takes its cost from such memory, if that is less, and
 * its call no longer blocks. *out_cost, which is for the change's words, becomes the cost of this copy,
 * unless it already has the cost of an earlier copy that was only assumed (is_generic).
 */
static void pin(
	struct kwhy_whatif *whatif, uint32_t row, const bool *waited, struct kwhy_whatif_cost *out_cost)
{
	const struct kwhy_activities *rows = &whatif->recording->activities;
	bool up = rows->copy_kind[row] == KWHY_COPY_H2D;
	struct kwhy_whatif_cost cost = kwhy_whatif_copy_cost(&whatif->costs, rows->copy_kind[row],
		up ? KWHY_MEMORY_PINNED : rows->src_memory[row],
		up ? rows->dst_memory[row] : KWHY_MEMORY_PINNED, (double)kwhy_whatif_copy_bytes(whatif, row));
	uint32_t call = kwhy_whatif_call_of(whatif, row);
	double own_ns;

	if (!isfinite(cost.expected_ns))
		cost = kwhy_whatif_link_cost(&whatif->costs, (double)kwhy_whatif_copy_bytes(whatif, row));
	own_ns = kwhy_whatif_cost_at(&cost, whatif->corner);
	kwhy_whatif_pin_row(whatif, row);
	if (!out_cost->is_generic)
		*out_cost = cost;
	if (own_ns < (double)kwhy_whatif_own_ns(whatif->graph, &whatif->graph->nodes[row]))
		kwhy_whatif_resize_row(whatif, row, own_ns);
	unblock(whatif, row, call, up || (call != KWHY_NONE && waited[call]));
	if (up)
		drop_wait_after(whatif, row, call);
}

static void say_pinned(const struct kwhy_whatif *whatif, const struct kwhy_whatif_cost *cost,
	struct kwhy_whatif_effect *effect)
{
	effect->is_generic = cost->is_generic || whatif->costs.launch.is_generic;
	kwhy_whatif_say(effect,
		"%s copies from or to page-locked memory, at %s%s%s; copies to the device no longer block; "
		"time to fill the new buffers is not counted",
		KWHY_WHATIF_COUNT(effect->places), cost->is_generic ? "the full speed of " : "the cost of ",
		cost->source, cost->is_generic ? ", since their rate here is not known" : "");
}

void kwhy_whatif_pin(struct kwhy_whatif *whatif, uint32_t number, struct kwhy_whatif_effect *effect)
{
	const struct kwhy_activities *rows = &whatif->recording->activities;
	struct kwhy_whatif_cost cost = {.source = NULL};
	bool *waited = find_waited_for(whatif);
	uint64_t unknown = 0;

	(void)number;
	if (!waited)
		return;
	for (uint32_t i = 0; i < rows->count; i++) {
		kwhy_whatif_fetch_copies_ahead(whatif, i, rows->count);
		if (rows->kind[i] != KWHY_ACTIVITY_COPY || !is_pageable(rows, i) ||
			kwhy_whatif_row_is_dropped(whatif, i) ||
			(rows->copy_kind[i] != KWHY_COPY_H2D && rows->copy_kind[i] != KWHY_COPY_D2H))
			continue;
		if (rows->bytes[i] == KWHY_UNKNOWN_BYTES) {
			unknown++;
			continue;
		}
		pin(whatif, i, waited, &cost);
		effect->places++;
	}
	free(waited);
	if (effect->places)
		say_pinned(whatif, &cost, effect);
	else if (unknown)
		kwhy_whatif_refuse(effect, "the recording does not say how large the pageable copies are");
	else
		kwhy_whatif_refuse(effect, "no copy is from or to pageable memory");
}
