/* SPDX-License-Identifier: Apache-2.0 */
#include "sensor/nvml_tick.h"

#define MS INT64_C(1000000)

#define SEARCH_STEP_NS (3 * MS)
#define SEARCH_LENGTH_NS (1000 * MS) /* then it stands still, or is too fast */
#define STILL_STEP_NS (250 * MS)
#define AFTER_NS (1 * MS)	  /* reads come that much after the latest time of an edge */
#define OVERDUE_NS (25 * MS)	  /* an edge that late is lost */
#define WIDE_NS (3 * MS / 2)	  /* an interval wider than that is halved by a read in its middle */
#define EDGE_NS (10 * MS)	  /* an edge known less well is not told */
#define JITTER_LEAST_NS (MS / 20) /* edges of an H200 are 99.97 to 100.05 ms apart */
#define JITTER_MOST_NS (4 * MS)
#define ANCHOR_TICKS 256 /* then the anchor moves, so that the period may drift */
#define DRIFT_NS (MS / 100)

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

struct interval {
	int64_t lo, hi;
};

static struct interval expected(const struct kwhy_nvml_tick *tick, int64_t ticks)
{
	return (struct interval){
		tick->edge_lo_ns + ticks * tick->period_lo_ns - tick->jitter_ns,
		tick->edge_hi_ns + ticks * tick->period_hi_ns + tick->jitter_ns,
	};
}

/* Each search after the first leaves more room for jitter. */
static void search(struct kwhy_nvml_tick *tick, int64_t begin_ns, int64_t end_ns)
{
	tick->jitter_ns = tick->jitter_ns ? least(2 * tick->jitter_ns, JITTER_MOST_NS) : JITTER_LEAST_NS;
	tick->phase = KWHY_NVML_TICK_SEARCH;
	tick->has_edge = tick->has_period = false;
	tick->search_reads = tick->search_changes = 0;
	tick->old_ns = tick->since_ns = begin_ns;
	tick->next_ns = end_ns + SEARCH_STEP_NS;
}

/* A search that found no two edges apart: the counter moves at most reads, or it does not move. */
static void give_up(struct kwhy_nvml_tick *tick, int64_t end_ns)
{
	bool is_fast = 2 * tick->search_changes > tick->search_reads;

	tick->phase = is_fast ? KWHY_NVML_TICK_FAST : KWHY_NVML_TICK_STILL;
	tick->next_ns = end_ns + (is_fast ? tick->wanted_ns : STILL_STEP_NS);
}

static int64_t stride(const struct kwhy_nvml_tick *tick)
{
	int64_t period_ns = (tick->period_lo_ns + tick->period_hi_ns) / 2;

	return most((tick->wanted_ns + period_ns / 2) / period_ns, 1);
}

/* The next read: in the middle of a wide interval, else after the edge that is wanted. */
static void aim(struct kwhy_nvml_tick *tick)
{
	struct interval edge = expected(tick, 1);
	int64_t lo = most(edge.lo, tick->old_ns);

	if (edge.hi - lo > most(most(WIDE_NS, 4 * tick->jitter_ns), 3 * tick->took_ns))
		tick->next_ns = lo + (edge.hi - lo) / 2;
	else
		tick->next_ns = expected(tick, stride(tick)).hi + AFTER_NS;
}

static void set_anchor(struct kwhy_nvml_tick *tick)
{
	tick->anchor_lo_ns = tick->edge_lo_ns;
	tick->anchor_hi_ns = tick->edge_hi_ns;
	tick->anchor_ticks = 0;
}

/* Narrows the period by the way from the anchor; false: it contradicts what was known. */
static bool narrow_period(struct kwhy_nvml_tick *tick)
{
	int64_t n = tick->anchor_ticks;
	int64_t lo = (tick->edge_lo_ns - tick->anchor_hi_ns - tick->jitter_ns) / n;
	int64_t hi = (tick->edge_hi_ns - tick->anchor_lo_ns + tick->jitter_ns) / n + 1;

	if (tick->has_period) {
		lo = most(lo, tick->period_lo_ns);
		hi = least(hi, tick->period_hi_ns);
	}
	if (lo > hi || lo <= 0)
		return false;
	tick->period_lo_ns = lo;
	tick->period_hi_ns = hi;
	tick->has_period = true;
	if (n >= ANCHOR_TICKS) {
		set_anchor(tick);
		tick->period_lo_ns -= DRIFT_NS;
		tick->period_hi_ns += DRIFT_NS;
	}
	return true;
}

static bool tell(const struct kwhy_nvml_tick *tick, int64_t *out_edge_ns)
{
	*out_edge_ns = tick->edge_lo_ns + (tick->edge_hi_ns - tick->edge_lo_ns) / 2;
	return tick->edge_hi_ns - tick->edge_lo_ns <= EDGE_NS;
}

static void set_edge(struct kwhy_nvml_tick *tick, int64_t lo_ns, int64_t hi_ns, int64_t begin_ns)
{
	tick->edge_lo_ns = lo_ns;
	tick->edge_hi_ns = hi_ns;
	tick->old_ns = begin_ns;
}

/* An edge seen by the search; true: it gave the period. */
static bool found(struct kwhy_nvml_tick *tick, int64_t begin_ns, int64_t end_ns)
{
	set_edge(tick, tick->old_ns, end_ns, begin_ns);
	tick->anchor_ticks = 1;
	if (tick->has_edge && narrow_period(tick))
		return true;
	tick->has_edge = true;
	set_anchor(tick);
	return false;
}

/* After a read that came late nothing is known of the edges before it. */
static bool read_searching(
	struct kwhy_nvml_tick *tick, int64_t begin_ns, int64_t end_ns, bool changed, int64_t *out_edge_ns)
{
	bool late = begin_ns > tick->next_ns + EDGE_NS;

	tick->next_ns = end_ns + SEARCH_STEP_NS;
	tick->search_reads++;
	tick->search_changes += changed && !late;
	if (late)
		tick->has_edge = false;
	if (changed && !late && found(tick, begin_ns, end_ns)) {
		tick->phase = KWHY_NVML_TICK_FOLLOW;
		aim(tick);
		return tell(tick, out_edge_ns);
	}
	tick->old_ns = begin_ns;
	if (end_ns - tick->since_ns > SEARCH_LENGTH_NS)
		give_up(tick, end_ns);
	return changed && !late && tell(tick, out_edge_ns);
}

/* An edge later than expected, between two reads close together: a new anchor, and a period less sure. */
static bool read_late(struct kwhy_nvml_tick *tick, int64_t begin_ns, int64_t end_ns, int64_t *out_edge_ns)
{
	set_edge(tick, tick->old_ns, end_ns, begin_ns);
	set_anchor(tick);
	tick->period_lo_ns -= tick->period_lo_ns / 100;
	tick->period_hi_ns += tick->period_hi_ns / 100;
	aim(tick);
	return tell(tick, out_edge_ns);
}

/* An edge within its interval, or so far from it that the search begins anew. */
static bool read_edge(struct kwhy_nvml_tick *tick, int64_t begin_ns, int64_t end_ns, int64_t *out_edge_ns)
{
	struct interval edge = expected(tick, 1);
	int64_t lo = most(edge.lo, tick->old_ns), hi = least(edge.hi, end_ns);

	if (tick->old_ns > edge.hi && end_ns - tick->old_ns <= EDGE_NS)
		return read_late(tick, begin_ns, end_ns, out_edge_ns);
	if (lo <= hi && tick->old_ns <= edge.hi) {
		set_edge(tick, lo, hi, begin_ns);
		tick->anchor_ticks++;
		if (narrow_period(tick)) {
			aim(tick);
			return tell(tick, out_edge_ns);
		}
	}
	search(tick, begin_ns, end_ns);
	return false;
}

static void read_no_edge(struct kwhy_nvml_tick *tick, int64_t begin_ns, int64_t end_ns)
{
	struct interval edge = expected(tick, 1);

	tick->old_ns = begin_ns;
	if (begin_ns > edge.hi + OVERDUE_NS)
		search(tick, begin_ns, end_ns);
	else if (begin_ns > edge.hi)
		tick->next_ns = end_ns + SEARCH_STEP_NS;
	else
		aim(tick);
}

/* Edges before the last one that lies before this read are behind; whether there were any. */
static bool pass_edges(struct kwhy_nvml_tick *tick, int64_t begin_ns)
{
	bool passed = false;

	for (; begin_ns > expected(tick, 2).lo; passed = true) {
		struct interval edge = expected(tick, 1);

		set_edge(tick, edge.lo, edge.hi, tick->old_ns);
		tick->anchor_ticks++;
	}
	return passed;
}

static bool read_following(
	struct kwhy_nvml_tick *tick, int64_t begin_ns, int64_t end_ns, bool changed, int64_t *out_edge_ns)
{
	bool passed = pass_edges(tick, begin_ns);
	int64_t hi = expected(tick, 1).hi;

	if (passed && begin_ns <= hi) { /* the value may be that of either edge */
		tick->old_ns = begin_ns;
		tick->next_ns = hi + AFTER_NS;
		return false;
	}
	if (changed)
		return read_edge(tick, begin_ns, end_ns, out_edge_ns);
	read_no_edge(tick, begin_ns, end_ns);
	return false;
}

bool kwhy_nvml_tick_read(
	struct kwhy_nvml_tick *tick, int64_t begin_ns, int64_t end_ns, bool changed, int64_t *out_edge_ns)
{
	tick->took_ns = end_ns - begin_ns;
	if (!tick->has_value) {
		tick->has_value = true;
		search(tick, begin_ns, end_ns);
		return false;
	}
	switch (tick->phase) {
	case KWHY_NVML_TICK_SEARCH:
		return read_searching(tick, begin_ns, end_ns, changed, out_edge_ns);
	case KWHY_NVML_TICK_FOLLOW:
		return read_following(tick, begin_ns, end_ns, changed, out_edge_ns);
	case KWHY_NVML_TICK_STILL:
		tick->next_ns = end_ns + STILL_STEP_NS;
		if (changed)
			search(tick, begin_ns, end_ns);
		return false;
	default: /* fast */
		tick->next_ns = begin_ns + tick->wanted_ns;
		*out_edge_ns = begin_ns + (end_ns - begin_ns) / 2;
		return changed;
	}
}
