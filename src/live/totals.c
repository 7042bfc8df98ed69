/* SPDX-License-Identifier: Apache-2.0 */
#include "live/totals.h"

#include <math.h>
#include <string.h>

#define SECOND_NS INT64_C(1000000000)
/*
 * In ns: the end of the power curve, from this long before the newest update of the energy counter on, may
 * still be changed by later readings.
 */
#define UPDATE_MARGIN_NS INT64_C(50000000)

/*
 * Appends the mean power of a step to the history. When the array is full, its older half is dropped first.
 */
static void push_step(struct kwhy_live_totals *totals, double watts)
{
	if (totals->history_count == 2 * KWHY_LIVE_STEPS) {
		memmove(totals->history_w, totals->history_w + KWHY_LIVE_STEPS,
			KWHY_LIVE_STEPS * sizeof(*totals->history_w));
		totals->history_count = KWHY_LIVE_STEPS;
	}
	totals->history_w[totals->history_count++] = (float)watts;
}

/*
 * Ends the current step and begins step number `step`: appends the mean power of the current one, and NAN for
 * each step between them. If the two steps are more than KWHY_LIVE_STEPS apart, or there was no step yet, the
 * history becomes empty.
 */
static void advance_step(struct kwhy_live_totals *totals, int64_t step)
{
	if (totals->step == 0 || step - totals->step > KWHY_LIVE_STEPS) {
		totals->history_count = 0;
	} else {
		push_step(totals, totals->step_count ? totals->step_sum_w / (double)totals->step_count : NAN);
		for (int64_t empty = totals->step + 1; empty < step; empty++)
			push_step(totals, NAN);
	}
	totals->step = step;
	totals->step_sum_w = 0;
	totals->step_count = 0;
}

static void add_power(struct kwhy_live_totals *totals, int64_t time_ns, double watts)
{
	int64_t step = time_ns / KWHY_LIVE_STEP_NS;

	if (time_ns <= totals->seen_ns)
		return;
	totals->seen_ns = time_ns;
	if (step > totals->step)
		advance_step(totals, step);
	totals->step_sum_w += watts;
	totals->step_count++;
}

/*
 * Sets the lowest, mean and highest power of the second that ends at the newest power reading. If this
 * reading is older than KWHY_LIVE_STALE_NS, the three powers stay NAN.
 */
static void show_second(const struct kwhy_readings *powers, int64_t now_ns, struct kwhy_live_metered *out)
{
	int64_t newest_ns = powers->count ? powers->items[powers->count - 1].time_mono_ns : 0;
	double sum_w = 0, count = 0;

	if (!powers->count || now_ns - newest_ns > KWHY_LIVE_STALE_NS)
		return;
	for (size_t i = powers->count; i-- > 0 && powers->items[i].time_mono_ns > newest_ns - SECOND_NS;) {
		double watts = (double)powers->items[i].value * 1e-3;

		out->low_w = fmin(
			out->low_w, watts); /* low_w is NAN before the first reading, and fmin(NAN, x) is x */
		out->high_w = fmax(out->high_w, watts);
		sum_w += watts;
		count++;
	}
	out->mean_w = sum_w / count;
}

/*
 * For a meter with an energy counter and no power readings: sets the mean power of the last second of its
 * power curve, or of all of it if it is shorter, and adds it to the history. mean_w stays NAN if the curve
 * ends more than KWHY_LIVE_STALE_NS ago.
 */
static void show_counted(
	struct kwhy_live_totals *totals, const struct kwhy_live_entry *entry, struct kwhy_live_metered *out)
{
	int64_t last_ns = kwhy_curve_last_ns(entry->curve);
	struct kwhy_energy energy;

	if (last_ns == 0 || entry->now_ns - last_ns > KWHY_LIVE_STALE_NS)
		return;
	kwhy_window_energy(entry->curve, last_ns - SECOND_NS, last_ns, KWHY_ENOUGH_RATIO, &energy);
	if (energy.state == KWHY_ENERGY_FORGOTTEN)
		kwhy_window_energy(
			entry->curve, kwhy_curve_first_ns(entry->curve), last_ns, KWHY_ENOUGH_RATIO, &energy);
	if (energy.state != KWHY_ENERGY_MEASURED)
		return;
	out->mean_w = energy.mean_w;
	add_power(totals, last_ns, energy.mean_w);
}

/*
 * Start of the time whose energy is computed now: settled_ns, up to which energy is final already, or, before
 * any is, the time from which energies count. It is not before the start of the power curve.
 */
static int64_t settle_from(const struct kwhy_live_totals *totals, const struct kwhy_live_entry *entry)
{
	int64_t from_ns = totals->settled_ns ? totals->settled_ns : entry->started_ns,
		first_ns = kwhy_curve_first_ns(entry->curve);

	return from_ns > first_ns ? from_ns : first_ns;
}

/*
 * Time up to which later readings do not change the power curve: UPDATE_MARGIN_NS before the newest reading
 * of the counter or, without a counter or with one that is stuck, the end of the curve.
 */
static int64_t settle_to(const struct kwhy_live_entry *entry)
{
	int64_t last_ns = kwhy_curve_last_ns(entry->curve), counted_ns = entry->counted_ns - UPDATE_MARGIN_NS;

	if (!entry->counted_ns || kwhy_curve_faults(entry->curve).counter_stuck || counted_ns > last_ns)
		return last_ns;
	return counted_ns;
}

/*
 * Adds the energy of the curve from `from_ns` to `to_ns` to *joules, unless that energy is negative. False:
 * the energy is not known yet, and nothing was added.
 */
static bool add_window(const struct kwhy_curve *curve, int64_t from_ns, int64_t to_ns, double *joules)
{
	struct kwhy_energy energy;

	if (to_ns <= from_ns)
		return true;
	kwhy_window_energy(curve, from_ns, to_ns, KWHY_ENOUGH_RATIO, &energy);
	if (energy.state != KWHY_ENERGY_MEASURED)
		return false;
	*joules += fmax(energy.joules, 0);
	return true;
}

static void settle_energy(struct kwhy_live_totals *totals, const struct kwhy_live_entry *entry)
{
	int64_t last_ns = kwhy_curve_last_ns(entry->curve), to_ns = settle_to(entry), from_ns;
	double before_j = totals->energy_j, shown_j;

	from_ns = settle_from(totals, entry);
	if (last_ns == 0 || last_ns <= from_ns)
		return;
	if (!totals->settled_ns)
		totals->settled_ns = from_ns;
	if (to_ns > from_ns && add_window(entry->curve, from_ns, to_ns, &totals->settled_j))
		totals->settled_ns = from_ns = to_ns;
	shown_j = totals->settled_j;
	if (!add_window(entry->curve, from_ns, last_ns, &shown_j))
		return;
	totals->energy_j = fmax(before_j, shown_j);
	if (entry->idle_known && entry->idle)
		totals->idle_j += totals->energy_j - before_j;
}

void kwhy_live_totals_settle(
	struct kwhy_live_totals *totals, const struct kwhy_live_entry *entry, struct kwhy_live_metered *out)
{
	size_t shown;

	settle_energy(totals, entry);
	out->low_w = out->mean_w = out->high_w = NAN;
	if (entry->powers) {
		for (size_t i = 0; i < entry->powers->count; i++)
			add_power(totals, entry->powers->items[i].time_mono_ns,
				(double)entry->powers->items[i].value * 1e-3);
		show_second(entry->powers, entry->now_ns, out);
	} else {
		show_counted(totals, entry, out);
	}
	shown = totals->history_count < KWHY_LIVE_STEPS ? totals->history_count : KWHY_LIVE_STEPS;
	out->history_w = totals->history_w + totals->history_count - shown;
	out->history_count = shown;
	out->energy_j = totals->settled_ns ? totals->energy_j : NAN;
	out->idle_j = totals->settled_ns && entry->idle_known ? totals->idle_j : NAN;
}
