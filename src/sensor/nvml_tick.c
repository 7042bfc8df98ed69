/* SPDX-License-Identifier: Apache-2.0 */
#include "sensor/nvml_tick.h"

#define MS INT64_C(1000000)

#define GAP_NS (3 * MS) /* between the reads of a catch */
/*
 * An edge between reads further apart is not caught. A busy H200 (driver 580.159.04) takes 14 ms for the read
 * that finds the counter moved, 2.4 ms for others: 20 ms from the begin of one to the end of the next, +- 10
 * ms.
 */
#define CATCH_NS (28 * MS)
#define CATCH_LENGTH_NS (1000 * MS) /* then the counter stands still, or is too fast */
#define STILL_STEP_NS (250 * MS)
#define FAST_NS (15 * MS)   /* edges that close are not told apart */
#define MARGIN_NS (2 * MS)  /* of single edges and of waking up */
#define TRUST_NS (14 * MS)  /* a grid known less well tells nothing */
#define USUAL_NS (100 * MS) /* a period that fits is this one: 99.97 to 100.05 ms on an H200 */
#define USUAL_UNSURE_NS (MS / 10)
#define DRIFT_RATIO 20000 /* a period changes by less than 1 in that many */

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

/* How far off the grid may be that many ticks after its last edge. */
static int64_t unsure_after(const struct kwhy_nvml_tick *tick, int64_t ticks)
{
	return tick->unsure_ns + ticks * (tick->period_unsure_ns + tick->period_ns / DRIFT_RATIO);
}

static void start_catch(struct kwhy_nvml_tick *tick, int64_t end_ns)
{
	tick->phase = KWHY_NVML_TICK_CATCH;
	tick->since_ns = end_ns;
	tick->changes = tick->reads = 0;
	tick->next_ns = end_ns + GAP_NS;
}

static void start_grid(struct kwhy_nvml_tick *tick, int64_t edge_ns, int64_t unsure_ns)
{
	tick->edge_ns = tick->first_ns = edge_ns;
	tick->unsure_ns = tick->first_unsure_ns = unsure_ns;
	tick->ticks = 0;
	tick->stride = 1;
}

/* The next catch begins before the first place where its edge may be, and comes as far ahead as can be
 * foretold. */
static void rest(struct kwhy_nvml_tick *tick, int64_t end_ns)
{
	const int64_t wanted = most(nearest(tick->wanted_ns, tick->period_ns), 1);
	int64_t early_ns;

	tick->stride = least(8 * tick->stride, wanted);
	while (tick->stride > 1 && unsure_after(tick, tick->stride) > TRUST_NS)
		tick->stride /= 2; /* until then, a read at any time is told */
	early_ns = least(unsure_after(tick, tick->stride) + MARGIN_NS + tick->took_ns, tick->period_ns / 3);
	tick->phase = KWHY_NVML_TICK_REST;
	tick->next_ns = most(tick->edge_ns + tick->stride * tick->period_ns - early_ns, end_ns + GAP_NS);
}

/*
 * The period from the grid's first edge to its last. While the usual one fits and is known better, that one:
 * the next catch may then come much later. A grid that it misled is not trusted with it again.
 */
static void learn_period(struct kwhy_nvml_tick *tick)
{
	const int64_t period_ns = (tick->edge_ns - tick->first_ns) / tick->ticks;
	const int64_t unsure_ns = (tick->unsure_ns + tick->first_unsure_ns) / tick->ticks;
	const int64_t off_ns = period_ns - USUAL_NS;
	const bool is_usual = off_ns <= unsure_ns && off_ns >= -unsure_ns && unsure_ns > USUAL_UNSURE_NS;

	tick->period_ns = is_usual && !tick->is_unusual ? USUAL_NS : period_ns;
	tick->period_unsure_ns = is_usual && !tick->is_unusual ? USUAL_UNSURE_NS : unsure_ns;
}

/* An edge that was caught joins the grid, moves it a little, or begins another. */
static void join(struct kwhy_nvml_tick *tick, int64_t edge_ns, int64_t unsure_ns)
{
	const int64_t way_ns = edge_ns - tick->edge_ns;
	const int64_t ticks = tick->period_ns ? most(nearest(way_ns, tick->period_ns), 1) : 1;
	const int64_t off_ns = tick->period_ns ? way_ns - ticks * tick->period_ns : 0;
	const int64_t foretold_ns = tick->period_ns ? unsure_after(tick, ticks) : 4 * unsure_ns;
	const int64_t room_ns = unsure_ns + foretold_ns + MARGIN_NS;
	int64_t low_ns, high_ns;

	if (off_ns > room_ns || off_ns < -room_ns) {
		start_grid(tick, edge_ns, unsure_ns);
		tick->is_unusual = true;
		tick->period_ns = 0; /* learnt again from the next edge */
		return;
	}
	tick->ticks += ticks;
	/* It lies where both say that it may. */
	low_ns = most(-unsure_ns, -off_ns - foretold_ns);
	high_ns = least(unsure_ns, -off_ns + foretold_ns);
	tick->edge_ns = edge_ns + (low_ns + high_ns) / 2;
	tick->unsure_ns = most((high_ns - low_ns) / 2, MS);
	learn_period(tick);
}

static bool tell(struct kwhy_nvml_tick *tick, int64_t edge_ns, int64_t unsure_ns, int64_t *out_edge_ns)
{
	const bool is_new = !tick->told_ns || edge_ns > tick->told_ns + MARGIN_NS;

	if (!is_new || unsure_ns > TRUST_NS)
		return false;
	tick->told_ns = *out_edge_ns = edge_ns;
	tick->told_unsure_ns = unsure_ns;
	return true;
}

/* Reads one after the other between which the value changed. */
static bool caught(struct kwhy_nvml_tick *tick, int64_t end_ns, int64_t *out_edge_ns)
{
	const int64_t unsure_ns = (end_ns - tick->old_begin_ns) / 2, edge_ns = tick->old_begin_ns + unsure_ns;
	const bool is_first = !tick->unsure_ns;

	if (is_first)
		start_grid(tick, edge_ns, unsure_ns);
	else
		join(tick, edge_ns, unsure_ns);
	if (tick->period_ns) /* else the next edge is caught, too */
		rest(tick, end_ns);
	return tell(tick, tick->edge_ns, tick->unsure_ns, out_edge_ns);
}

/* A catch that found no edge: the counter moves at most reads, or it does not move. */
static void give_up(struct kwhy_nvml_tick *tick, int64_t end_ns)
{
	const bool is_fast = 2 * tick->changes > tick->reads;

	tick->phase = is_fast ? KWHY_NVML_TICK_FAST : KWHY_NVML_TICK_STILL;
	tick->unsure_ns = tick->period_ns = 0;
	tick->next_ns = end_ns + (is_fast ? tick->wanted_ns : STILL_STEP_NS);
}

/* The last edge of the grid that surely lies before a read, unless another may lie inside it. */
static bool place(struct kwhy_nvml_tick *tick, int64_t begin_ns, int64_t end_ns, int64_t *out_edge_ns)
{
	const int64_t ticks = (begin_ns - tick->edge_ns) / tick->period_ns;
	const int64_t edge_ns = tick->edge_ns + ticks * tick->period_ns,
		      unsure_ns = unsure_after(tick, ticks);
	const int64_t room_ns = unsure_ns + MARGIN_NS;

	if (begin_ns < edge_ns + room_ns || end_ns > edge_ns + tick->period_ns - room_ns)
		return false;
	return tell(tick, edge_ns, unsure_ns, out_edge_ns);
}

/* Too late after the read before: an edge between them is not caught, but that there was none is known. */
static bool read_late(
	struct kwhy_nvml_tick *tick, int64_t begin_ns, int64_t end_ns, bool changed, int64_t *out_edge_ns)
{
	if (!changed && !tick->changes && begin_ns - tick->since_ns > CATCH_LENGTH_NS) {
		give_up(tick, end_ns);
		return false;
	}
	if (changed || tick->changes)
		start_catch(tick, end_ns);
	else
		tick->reads++;
	tick->next_ns = end_ns + GAP_NS;
	if (changed && !tick->period_ns)
		tick->unsure_ns = 0; /* to the next that is caught it would be two periods, not one */
	return tick->period_ns && place(tick, begin_ns, end_ns, out_edge_ns);
}

static bool read_catching(
	struct kwhy_nvml_tick *tick, int64_t begin_ns, int64_t end_ns, bool changed, int64_t *out_edge_ns)
{
	if (end_ns - tick->old_begin_ns > CATCH_NS)
		return read_late(tick, begin_ns, end_ns, changed, out_edge_ns);
	tick->reads++;
	tick->changes += changed;
	tick->next_ns = end_ns + GAP_NS;
	if (begin_ns - tick->since_ns > CATCH_LENGTH_NS) {
		give_up(tick, end_ns);
		return false;
	}
	if (changed && tick->unsure_ns && !tick->period_ns && end_ns - tick->edge_ns < FAST_NS) {
		tick->unsure_ns = 0; /* two edges that close: not caught one by one */
		return false;
	}
	return changed && caught(tick, end_ns, out_edge_ns);
}

/* Out of turn, or the first read of a catch. Where it tells nothing, an edge is near: that one is caught. */
static bool read_resting(struct kwhy_nvml_tick *tick, int64_t begin_ns, int64_t end_ns, int64_t *out_edge_ns)
{
	const bool told = place(tick, begin_ns, end_ns, out_edge_ns);

	if (begin_ns >= tick->next_ns || !told)
		start_catch(tick, end_ns);
	return told;
}

static bool read_any(
	struct kwhy_nvml_tick *tick, int64_t begin_ns, int64_t end_ns, bool changed, int64_t *out_edge_ns)
{
	switch (tick->phase) {
	case KWHY_NVML_TICK_CATCH:
		return read_catching(tick, begin_ns, end_ns, changed, out_edge_ns);
	case KWHY_NVML_TICK_REST:
		return read_resting(tick, begin_ns, end_ns, out_edge_ns);
	case KWHY_NVML_TICK_STILL:
		tick->next_ns = end_ns + STILL_STEP_NS;
		if (changed)
			start_catch(tick, end_ns);
		return false;
	default: /* fast */
		tick->next_ns = begin_ns + tick->wanted_ns;
		return changed &&
			tell(tick, begin_ns + (end_ns - begin_ns) / 2, (end_ns - begin_ns) / 2, out_edge_ns);
	}
}

bool kwhy_nvml_tick_read(
	struct kwhy_nvml_tick *tick, int64_t begin_ns, int64_t end_ns, bool changed, int64_t *out_edge_ns)
{
	bool told = false;

	tick->took_ns = end_ns - begin_ns;
	if (tick->has_value)
		told = read_any(tick, begin_ns, end_ns, changed, out_edge_ns);
	else
		start_catch(tick, end_ns);
	tick->has_value = true;
	tick->old_begin_ns = begin_ns;
	return told;
}
