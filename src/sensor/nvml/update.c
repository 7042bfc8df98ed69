/* SPDX-License-Identifier: Apache-2.0 */
#include "sensor/nvml/update.h"

#define MS INT64_C(1000000)

#define GAP_NS (3 * MS) /* time between the reads while an update is being caught */
/*
 * Longest time from the start of one read to the end of the next for an update between them to count as
 * caught. A busy H200 (driver 580.159.04) takes 14 ms for the read that finds a changed counter, 2.4 ms for
 * others: in all 20 ms, or +- 10 ms.
 */
#define CATCH_NS (28 * MS)
#define CATCH_LENGTH_NS (1000 * MS) /* longest catch: the counter stands still or is too fast */
#define STILL_STEP_NS (250 * MS)
#define FAST_NS (15 * MS)   /* updates closer than this cannot be distinguished */
#define MARGIN_NS (2 * MS)  /* margin for jitter of single updates and of waking up */
#define TRUST_NS (14 * MS)  /* a grid with a larger uncertainty is not used */
#define USUAL_NS (100 * MS) /* a period compatible with this one is set to it */
#define USUAL_UNSURE_NS (MS / 10)
#define DRIFT_RATIO 20000 /* a period drifts by less than 1 / DRIFT_RATIO */

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t nearest(int64_t way_ns, int64_t period_ns)
{
	return (way_ns + (way_ns < 0 ? -period_ns : period_ns) / 2) / period_ns;
}

/* Uncertainty of the grid `updates` updates after its last caught one. */
static int64_t unsure_after(const struct kwhy_nvml_update *update, int64_t updates)
{
	return update->unsure_ns + updates * (update->period_unsure_ns + update->period_ns / DRIFT_RATIO);
}

static void start_catch(struct kwhy_nvml_update *update, int64_t end_ns)
{
	update->phase = KWHY_NVML_UPDATE_SEARCH;
	update->since_ns = end_ns;
	update->changes = update->reads = 0;
	update->next_ns = end_ns + GAP_NS;
}

static void start_grid(struct kwhy_nvml_update *update, int64_t edge_ns, int64_t unsure_ns)
{
	update->edge_ns = update->first_ns = edge_ns;
	update->unsure_ns = update->first_unsure_ns = unsure_ns;
	update->updates = 0;
	update->stride = 1;
}

/*
 * Sets the start of the next catch: before the earliest time of its update, and as far ahead as can be
 * predicted.
 */
static void rest(struct kwhy_nvml_update *update, int64_t end_ns)
{
	const int64_t wanted = most(nearest(update->wanted_ns, update->period_ns), 1);
	int64_t early_ns;

	update->stride = least(8 * update->stride, wanted);
	while (update->stride > 1 && unsure_after(update, update->stride) > TRUST_NS)
		update->stride /= 2; /* until then, a read at any time is reported */
	early_ns = least(
		unsure_after(update, update->stride) + MARGIN_NS + update->took_ns, update->period_ns / 3);
	update->phase = KWHY_NVML_UPDATE_WAIT;
	update->next_ns = most(
		update->edge_ns + update->stride * update->period_ns - early_ns, end_ns + GAP_NS);
}

/*
 * Computes the period from the grid's first update to its last. While the usual period is compatible and more
 * precise, it is used instead, so that the next catch may come much later. After it has misled a grid once it
 * is not used again.
 */
static void learn_period(struct kwhy_nvml_update *update)
{
	const int64_t period_ns = (update->edge_ns - update->first_ns) / update->updates;
	const int64_t unsure_ns = (update->unsure_ns + update->first_unsure_ns) / update->updates;
	const int64_t off_ns = period_ns - USUAL_NS;
	const bool is_usual = off_ns <= unsure_ns && off_ns >= -unsure_ns && unsure_ns > USUAL_UNSURE_NS;

	update->period_ns = is_usual && !update->is_unusual ? USUAL_NS : period_ns;
	update->period_unsure_ns = is_usual && !update->is_unusual ? USUAL_UNSURE_NS : unsure_ns;
}

/* Adds a caught update to the grid, adjusts the grid, or starts a new one. */
static void join(struct kwhy_nvml_update *update, int64_t edge_ns, int64_t unsure_ns)
{
	const int64_t way_ns = edge_ns - update->edge_ns;
	const int64_t updates = update->period_ns ? most(nearest(way_ns, update->period_ns), 1) : 1;
	const int64_t off_ns = update->period_ns ? way_ns - updates * update->period_ns : 0;
	const int64_t predicted_ns = update->period_ns ? unsure_after(update, updates) : 4 * unsure_ns;
	const int64_t space_ns = unsure_ns + predicted_ns + MARGIN_NS;
	int64_t low_ns, high_ns;

	if (off_ns > space_ns || off_ns < -space_ns) {
		start_grid(update, edge_ns, unsure_ns);
		update->is_unusual = true;
		update->period_ns = 0; /* computed again from the next update */
		return;
	}
	update->updates += updates;
	/* The update lies in the intersection of both intervals. */
	low_ns = most(-unsure_ns, -off_ns - predicted_ns);
	high_ns = least(unsure_ns, -off_ns + predicted_ns);
	update->edge_ns = edge_ns + (low_ns + high_ns) / 2;
	update->unsure_ns = most((high_ns - low_ns) / 2, MS);
	learn_period(update);
}

static bool tell(struct kwhy_nvml_update *update, int64_t edge_ns, int64_t unsure_ns, int64_t *out_edge_ns)
{
	const bool is_new = !update->reported_ns || edge_ns > update->reported_ns + MARGIN_NS;

	if (!is_new || unsure_ns > TRUST_NS)
		return false;
	update->reported_ns = *out_edge_ns = edge_ns;
	update->reported_unsure_ns = unsure_ns;
	return true;
}

/* Handles two consecutive reads between which the value changed. */
static bool caught(struct kwhy_nvml_update *update, int64_t end_ns, int64_t *out_edge_ns)
{
	const int64_t unsure_ns = (end_ns - update->old_begin_ns) / 2,
		      edge_ns = update->old_begin_ns + unsure_ns;
	const bool is_first = !update->unsure_ns;

	if (is_first)
		start_grid(update, edge_ns, unsure_ns);
	else
		join(update, edge_ns, unsure_ns);
	if (update->period_ns) /* otherwise the next update is caught, too */
		rest(update, end_ns);
	return tell(update, update->edge_ns, update->unsure_ns, out_edge_ns);
}

/* Ends a catch without an update: the counter changes at nearly every read, or does not change. */
static void give_up(struct kwhy_nvml_update *update, int64_t end_ns)
{
	const bool is_fast = 2 * update->changes > update->reads;

	update->phase = is_fast ? KWHY_NVML_UPDATE_FAST : KWHY_NVML_UPDATE_STILL;
	update->unsure_ns = update->period_ns = 0;
	update->next_ns = end_ns + (is_fast ? update->wanted_ns : STILL_STEP_NS);
}

/*
 * Finds the last update of the grid that certainly precedes a read, unless another may fall inside the read.
 */
static bool place(struct kwhy_nvml_update *update, int64_t begin_ns, int64_t end_ns, int64_t *out_edge_ns)
{
	const int64_t updates = (begin_ns - update->edge_ns) / update->period_ns;
	const int64_t edge_ns = update->edge_ns + updates * update->period_ns,
		      unsure_ns = unsure_after(update, updates);
	const int64_t space_ns = unsure_ns + MARGIN_NS;

	if (begin_ns < edge_ns + space_ns || end_ns > edge_ns + update->period_ns - space_ns)
		return false;
	return tell(update, edge_ns, unsure_ns, out_edge_ns);
}

/*
 * Handles a read too late after the previous one: an update between them is not caught, but the absence of
 * one is known.
 */
static bool read_late(
	struct kwhy_nvml_update *update, int64_t begin_ns, int64_t end_ns, bool changed, int64_t *out_edge_ns)
{
	if (!changed && !update->changes && begin_ns - update->since_ns > CATCH_LENGTH_NS) {
		give_up(update, end_ns);
		return false;
	}
	if (changed || update->changes)
		start_catch(update, end_ns);
	else
		update->reads++;
	update->next_ns = end_ns + GAP_NS;
	if (changed && !update->period_ns)
		update->unsure_ns = 0; /* to the next that is caught it would be two periods, not one */
	return update->period_ns && place(update, begin_ns, end_ns, out_edge_ns);
}

static bool read_catching(
	struct kwhy_nvml_update *update, int64_t begin_ns, int64_t end_ns, bool changed, int64_t *out_edge_ns)
{
	if (end_ns - update->old_begin_ns > CATCH_NS)
		return read_late(update, begin_ns, end_ns, changed, out_edge_ns);
	update->reads++;
	update->changes += changed;
	update->next_ns = end_ns + GAP_NS;
	if (begin_ns - update->since_ns > CATCH_LENGTH_NS) {
		give_up(update, end_ns);
		return false;
	}
	if (changed && update->unsure_ns && !update->period_ns && end_ns - update->edge_ns < FAST_NS) {
		update->unsure_ns = 0; /* two edges that close: not caught one by one */
		return false;
	}
	return changed && caught(update, end_ns, out_edge_ns);
}

/*
 * Handles a read between catches, or the first of a catch. If it gives no result an update is near, and that
 * one is caught.
 */
static bool read_resting(
	struct kwhy_nvml_update *update, int64_t begin_ns, int64_t end_ns, int64_t *out_edge_ns)
{
	const bool reported = place(update, begin_ns, end_ns, out_edge_ns);

	if (begin_ns >= update->next_ns || !reported)
		start_catch(update, end_ns);
	return reported;
}

static bool read_any(
	struct kwhy_nvml_update *update, int64_t begin_ns, int64_t end_ns, bool changed, int64_t *out_edge_ns)
{
	switch (update->phase) {
	case KWHY_NVML_UPDATE_SEARCH:
		return read_catching(update, begin_ns, end_ns, changed, out_edge_ns);
	case KWHY_NVML_UPDATE_WAIT:
		return read_resting(update, begin_ns, end_ns, out_edge_ns);
	case KWHY_NVML_UPDATE_STILL:
		update->next_ns = end_ns + STILL_STEP_NS;
		if (changed)
			start_catch(update, end_ns);
		return false;
	default: /* fast */
		update->next_ns = begin_ns + update->wanted_ns;
		return changed &&
			tell(update, begin_ns + (end_ns - begin_ns) / 2, (end_ns - begin_ns) / 2,
				out_edge_ns);
	}
}

bool kwhy_nvml_update_read(
	struct kwhy_nvml_update *update, int64_t begin_ns, int64_t end_ns, bool changed, int64_t *out_edge_ns)
{
	bool reported = false;

	update->took_ns = end_ns - begin_ns;
	if (update->has_value)
		reported = read_any(update, begin_ns, end_ns, changed, out_edge_ns);
	else
		start_catch(update, end_ns);
	update->has_value = true;
	update->old_begin_ns = begin_ns;
	return reported;
}
