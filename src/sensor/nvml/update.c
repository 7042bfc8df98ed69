/* SPDX-License-Identifier: Apache-2.0 */
#include "sensor/nvml/update.h"

#define MS INT64_C(1000000)

/* time from the end of a read to the start of the next while an update is being caught */
#define GAP_NS (3 * MS)
/*
 * An update counts as caught if the value changed between two reads, and at most this time passed from the
 * start of the first read to the end of the second. On a busy H200 (driver 580.159.04) a read takes 14 ms if
 * the counter has just changed and 2.4 ms otherwise. With the pause between the two reads this makes 20 ms,
 * so the time of the update is known within 10 ms.
 */
#define CATCH_NS (28 * MS)
/*
 * longest attempt to catch an update; after it, the counter counts as unchanging, or as changing too fast to
 * be caught
 */
#define CATCH_LENGTH_NS (1000 * MS)
#define STILL_STEP_NS (250 * MS)
/* time from a single read that did not show which update it saw to the next single read */
#define AGAIN_NS (1000 * MS)
#define FAST_NS (15 * MS)  /* updates less than this apart cannot be distinguished */
#define MARGIN_NS (2 * MS) /* margin for jitter of the updates and of the thread's wake-up */
#define TRUST_NS (14 * MS) /* updates whose predicted time is more uncertain than this are not reported */
/*
 * In place of TRUST_NS for counters that are also read between catches. It must exceed the uncertainty of an
 * update that was just caught on a busy H200, 12 ms.
 */
#define TRUST_BETWEEN_NS (30 * MS)
/*
 * Period of the updates on an H200, and its uncertainty. If a measured period agrees with it within the
 * measurement's uncertainty, USUAL_NS is used instead.
 */
#define USUAL_NS (100 * MS)
#define USUAL_UNSURE_NS (MS / 10)
#define DRIFT_RATIO 20000 /* the assumed drift of a period is at most 1 / DRIFT_RATIO of that period */

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

/* Uncertainty of the time of the update that is `updates` periods after the last caught one. */
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

static bool reads_between(const struct kwhy_nvml_update *update)
{
	return update->catch_ns > update->wanted_ns;
}

static int64_t trust_ns(const struct kwhy_nvml_update *update)
{
	return reads_between(update) ? TRUST_BETWEEN_NS : TRUST_NS;
}

/*
 * Decides when the next read is: at the start of the next attempt to catch. If single reads are wanted and
 * one fits before that, it is a single read, midway between two updates, of which the earlier one is not
 * before `want_ns`.
 */
static void plan(struct kwhy_nvml_update *update, int64_t want_ns)
{
	const int64_t updates = (want_ns - update->edge_ns + update->period_ns - 1) / update->period_ns;
	const int64_t middle_ns = update->edge_ns + updates * update->period_ns +
		(update->period_ns - update->took_ns) / 2;

	update->next_ns = update->catch_at_ns;
	if (reads_between(update) && middle_ns < update->catch_at_ns)
		update->next_ns = middle_ns;
}

/*
 * Ends an attempt that caught an update, and decides when the next attempt starts. The update that the next
 * attempt is to catch is at most `catch_ns` ahead, at most 8 times as many periods ahead as the one before,
 * and its predicted time must be uncertain by at most trust_ns(). The next attempt starts before the earliest
 * time of that update, but at most a third of a period early.
 */
static void rest(struct kwhy_nvml_update *update, int64_t end_ns)
{
	const int64_t catch_ns = most(update->wanted_ns, update->catch_ns);
	const int64_t wanted = most(nearest(catch_ns, update->period_ns), 1);
	int64_t early_ns;

	update->stride = least(8 * update->stride, wanted);
	while (update->stride > 1 && unsure_after(update, update->stride) > trust_ns(update))
		update->stride /= 2; /* the time of every update up to the next attempt must be known to
					within trust_ns() */
	early_ns = least(
		unsure_after(update, update->stride) + MARGIN_NS + update->took_ns, update->period_ns / 3);
	update->phase = KWHY_NVML_UPDATE_WAIT;
	update->catch_at_ns = most(
		update->edge_ns + update->stride * update->period_ns - early_ns, end_ns + GAP_NS);
	plan(update, end_ns + update->wanted_ns);
}

/*
 * Computes the period from the grid's first and last update. If the usual period is compatible with the
 * computed one and more precise, the usual period is used, so that the next catch may come much later. After
 * an update that did not fit the grid (is_unusual), USUAL_NS is never used again.
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

/*
 * Adds an update to the grid and corrects the grid's phase and period by it. The update was caught at
 * `edge_ns`, to within +- `unsure_ns`. If it is farther from the grid than both uncertainties and MARGIN_NS
 * allow, it starts a new grid.
 */
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
		update->period_ns = 0; /* the period is computed again after the next caught update */
		return;
	}
	update->updates += updates;
	/*
	 * The update lies both between the two reads and in the interval that the grid predicts; the result
	 * is the intersection.
	 */
	low_ns = most(-unsure_ns, -off_ns - predicted_ns);
	high_ns = least(unsure_ns, -off_ns + predicted_ns);
	update->edge_ns = edge_ns + (low_ns + high_ns) / 2;
	update->unsure_ns = most((high_ns - low_ns) / 2, MS);
	learn_period(update);
}

static bool tell(struct kwhy_nvml_update *update, int64_t edge_ns, int64_t unsure_ns, int64_t *out_edge_ns)
{
	const bool is_new = !update->reported_ns || edge_ns > update->reported_ns + MARGIN_NS;

	if (!is_new || unsure_ns > trust_ns(update))
		return false;
	update->reported_ns = *out_edge_ns = edge_ns;
	update->reported_unsure_ns = unsure_ns;
	return true;
}

/* Handles two consecutive reads between which the value changed, which means that an update was caught. */
static bool caught(struct kwhy_nvml_update *update, int64_t end_ns, int64_t *out_edge_ns)
{
	const int64_t unsure_ns = (end_ns - update->old_begin_ns) / 2,
		      edge_ns = update->old_begin_ns + unsure_ns;
	const bool is_first = !update->unsure_ns;

	if (is_first)
		start_grid(update, edge_ns, unsure_ns);
	else
		join(update, edge_ns, unsure_ns);
	if (update->period_ns) /* as long as the period is unknown, the next update is caught, too */
		rest(update, end_ns);
	return tell(update, update->edge_ns, update->unsure_ns, out_edge_ns);
}

/*
 * Ends an attempt to catch an update without success. If the value changed at more than half of the attempt's
 * reads, the counter counts as too fast to be caught, otherwise as still.
 */
static void give_up(struct kwhy_nvml_update *update, int64_t end_ns)
{
	const bool is_fast = 2 * update->changes > update->reads;

	update->phase = is_fast ? KWHY_NVML_UPDATE_FAST : KWHY_NVML_UPDATE_STILL;
	update->unsure_ns = update->period_ns = 0;
	update->next_ns = end_ns + (is_fast ? update->wanted_ns : STILL_STEP_NS);
}

/*
 * Finds the update of the grid whose value a read shows, and reports it. False: an update may have happened
 * during the read, so that it is not certain which value was read; or the update was reported before; or its
 * time is too uncertain.
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
 * Handles a read of an attempt that ended more than CATCH_NS after the start of the read before it, too late
 * to catch an update. If the value changed in this read or earlier in this attempt, a new attempt begins.
 * Otherwise this attempt goes on, and is given up once CATCH_LENGTH_NS have passed.
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
		update->unsure_ns = 0; /* The update was not caught, so the grid begins anew with the next
					  caught one: the time between the caught updates before and after it
					  would be two periods but be taken for one. */
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
		update->unsure_ns = 0; /* these updates are too close together to be caught one by one */
		return false;
	}
	return changed && caught(update, end_ns, out_edge_ns);
}

/*
 * Handles a read in the phase WAIT: the one at which an attempt to catch is due, or a single read before
 * that. If place() reports no update, an attempt begins at once; with single reads, another single read
 * follows instead.
 */
static bool read_resting(
	struct kwhy_nvml_update *update, int64_t begin_ns, int64_t end_ns, int64_t *out_edge_ns)
{
	const bool reported = place(update, begin_ns, end_ns, out_edge_ns);

	if (begin_ns >= update->catch_at_ns || (!reported && !reads_between(update)))
		start_catch(update, end_ns);
	else
		plan(update, end_ns + (reported ? update->wanted_ns : AGAIN_NS));
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
	default: /* KWHY_NVML_UPDATE_FAST */
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
