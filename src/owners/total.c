/* SPDX-License-Identifier: Apache-2.0 */
#include "owners/total.h"

#include "model/counter.h"

#include <math.h>

/*
 * In ns: when the anchor (struct kwhy_meter_total) is older than this, it moves to the end of the curve,
 * because old samples are dropped from the curve.
 */
#define ANCHOR_MAX_NS INT64_C(30000000000)
/* In ns: a total begins without its counter if the counter was not read for this time. */
#define COUNTER_WAIT_NS INT64_C(5000000000)
/*
 * A rise of the counter counts if it differs from the energy that the power samples give for the same time by
 * at most this share of that energy plus BELIEVED_J joules; otherwise the energy of the samples is used
 * instead of the rise. On an H200 the two energies agree within some tenths of a percent.
 */
#define BELIEVED_RATIO 0.25
#define BELIEVED_J 50.0

/*
 * In ns: a time without samples that is longer than this and lies after the counter was last read and energy
 * was last handed out is a gap. The energy that the curve interpolates for a gap is not handed out if the
 * meter has a counter, because the counter's next reading contains what was really used.
 */
#define GAP_NS INT64_C(5000000000)
/* In ns: after a gap, no energy is handed out until the counter is read or until this time has passed. */
#define GAP_WAIT_NS INT64_C(60000000000)

/* Gets the energy of a window from the curve. False: it is unknown. */
static bool curve_nj(const struct kwhy_curve *curve, int64_t start_ns, int64_t end_ns, int64_t *out_nj)
{
	struct kwhy_energy energy;

	*out_nj = 0;
	if (end_ns <= start_ns)
		return true;
	kwhy_window_energy(curve, start_ns, end_ns, KWHY_ENOUGH_RATIO, &energy);
	if (energy.state != KWHY_ENERGY_MEASURED || !(fabs(energy.joules) < 1e9))
		return false;
	*out_nj = llround(fmax(energy.joules, 0) * 1e9);
	return true;
}

static void set_counter(
	struct kwhy_meter_total *total, const struct kwhy_reading *reading, int64_t counter_nj)
{
	total->has_counter = true;
	total->counted = reading->value;
	total->counted_ns = reading->time_mono_ns;
	total->counter_nj = total->anchor_nj = counter_nj;
	total->anchor_ns = reading->time_mono_ns;
}

/*
 * Whether the counter's rise agrees with the power samples, which gave sampled_nj (BELIEVED_RATIO).
 * unsampled_ns: time from the last sample to the counter's reading, in which the device may have drawn any
 * power up to span->most_w.
 */
static bool is_believed(
	const struct kwhy_counter_span *span, int64_t rise_nj, int64_t sampled_nj, int64_t unsampled_ns)
{
	const double off_nj = (double)(rise_nj - sampled_nj);
	const double most_nj = BELIEVED_RATIO * (double)sampled_nj + BELIEVED_J * 1e9;
	const double rest_nj = unsampled_ns > 0 ? (double)unsampled_ns * span->most_w : 0;

	return off_nj >= -most_nj && off_nj <= most_nj + rest_nj;
}

/*
 * The energy from the counter's reading before to its present one, nJ: the counter's rise or, if the counter
 * fell or jumped or the rise differs too much from the power samples (is_believed()), the energy of the
 * samples; 0 if neither is known.
 */
static int64_t rise_nj(const struct kwhy_meter_total *total, const struct kwhy_total_readings *readings)
{
	const int64_t unit_nj = kwhy_meter_unit_nj(readings->meter);
	struct kwhy_counter_span span = {.before = total->counted,
		.after = readings->counter.value,
		.wrap = readings->wrap,
		.length_ns = (double)(readings->counter.time_mono_ns - total->counted_ns),
		.unit_nj = unit_nj,
		.most_w = kwhy_counter_most_w(readings->meter)};
	enum kwhy_counter_step step;
	int64_t counts = 0, sampled_nj;
	int64_t end_ns = kwhy_curve_last_ns(readings->curve);
	bool is_sampled;

	if (end_ns > readings->counter.time_mono_ns)
		end_ns = readings->counter.time_mono_ns;
	is_sampled = curve_nj(readings->curve, total->counted_ns, end_ns, &sampled_nj);
	step = kwhy_counter_rise(&span, &counts);
	if (step == KWHY_COUNTER_FELL || step == KWHY_COUNTER_JUMPED)
		return is_sampled ? sampled_nj : 0;
	if (is_sampled &&
		!is_believed(&span, counts * unit_nj, sampled_nj, readings->counter.time_mono_ns - end_ns))
		return sampled_nj;
	return counts * unit_nj;
}

/*
 * Begins a total: at the first reading of the counter or, if none came for COUNTER_WAIT_NS, at the start of
 * the curve. False: it cannot begin yet.
 */
static bool begin(struct kwhy_meter_total *total, const struct kwhy_total_readings *readings)
{
	const int64_t first_ns = kwhy_curve_first_ns(readings->curve),
		      last_ns = kwhy_curve_last_ns(readings->curve);

	if (!total->wait.since_ns)
		total->wait.since_ns = first_ns;
	if (readings->has_counter) {
		set_counter(total, &readings->counter, total->booked_nj);
	} else if (last_ns && last_ns - total->wait.since_ns > COUNTER_WAIT_NS) {
		total->has_counter = false;
		total->anchor_nj = total->booked_nj;
		total->anchor_ns = first_ns;
	} else {
		return false;
	}
	total->begun = true;
	total->until_ns = total->anchor_ns;
	return true;
}

/*
 * Continues a total that was read from a file. *out_nj: energy that the counter shows for the time since the
 * file was written. If the file or `readings` has no reading of the counter, it calls begin(), which keeps
 * the stored energy. False: the total cannot continue yet.
 */
static bool take_up(
	struct kwhy_meter_total *total, const struct kwhy_total_readings *readings, int64_t *out_nj)
{
	int64_t counter_nj;

	*out_nj = 0;
	if (!total->has_counter || !readings->has_counter)
		return begin(total, readings);
	counter_nj = total->counter_nj + rise_nj(total, readings);
	set_counter(total, &readings->counter, counter_nj);
	if (counter_nj > total->booked_nj) {
		*out_nj = counter_nj - total->booked_nj;
		total->booked_nj = counter_nj;
	}
	total->until_ns = total->counted_ns;
	return true;
}

static void follow_counter(struct kwhy_meter_total *total, const struct kwhy_total_readings *readings)
{
	int64_t more_nj;

	if (!readings->has_counter)
		return;
	if (!total->has_counter) { /* the counter's first reading comes after the total began: set its energy
				      to that of the samples up to the reading */
		if (curve_nj(readings->curve, total->anchor_ns, readings->counter.time_mono_ns, &more_nj))
			set_counter(total, &readings->counter, total->anchor_nj + more_nj);
	} else if (readings->counter.time_mono_ns > total->counted_ns) {
		set_counter(total, &readings->counter, total->counter_nj + rise_nj(total, readings));
	}
}

/*
 * If booked_nj has reached 2 GJ, subtracts one gigajoule from it and from the other sums, so that they do not
 * overflow.
 */
static void take_off(struct kwhy_meter_total *total)
{
	if (total->booked_nj < 2 * KWHY_GIGAJOULE_NJ)
		return;
	total->booked_nj -= KWHY_GIGAJOULE_NJ;
	total->counter_nj -= KWHY_GIGAJOULE_NJ;
	total->anchor_nj -= KWHY_GIGAJOULE_NJ;
	total->taken_off_gj++;
}

/*
 * Whether no energy is handed out now, because there is a gap (GAP_NS) for which the counter has no reading
 * yet. Meanwhile total->wait sums the energy of the samples after the gap, which is handed out if no reading
 * comes within GAP_WAIT_NS.
 */
static bool awaits_counter(struct kwhy_meter_total *total, const struct kwhy_curve *curve)
{
	const int64_t first_ns = kwhy_curve_first_ns(curve), last_ns = kwhy_curve_last_ns(curve),
		      told_ns = total->counted_ns > total->until_ns ? total->counted_ns : total->until_ns;
	int64_t more_nj;

	if (!total->has_counter || total->wait.is_over || last_ns - told_ns <= GAP_NS ||
		kwhy_curve_gap_ns(curve, told_ns, last_ns) <= GAP_NS)
		return false;
	if (!total->wait.since_ns) {
		total->wait.since_ns = last_ns;
		total->wait.until_ns = first_ns > told_ns ? first_ns : last_ns;
		total->wait.energy_nj = 0;
	}
	if (first_ns <= total->wait.until_ns && curve_nj(curve, total->wait.until_ns, last_ns, &more_nj)) {
		total->wait.energy_nj += more_nj;
		total->wait.until_ns = last_ns;
	}
	total->wait.is_over = last_ns - total->wait.since_ns > GAP_WAIT_NS;
	if (total->wait.is_over) {
		total->anchor_nj = total->booked_nj + total->wait.energy_nj;
		total->anchor_ns = total->wait.until_ns;
	}
	return !total->wait.is_over;
}

/*
 * Ends the waiting for the counter, which has been read. Returns the energy by which the counter exceeds what
 * was handed out, if it came after GAP_WAIT_NS (wait.is_over): this energy counts as unwatched. Otherwise 0.
 */
static int64_t end_wait(struct kwhy_meter_total *total)
{
	const int64_t late_nj = total->wait.is_over ? total->counter_nj - total->booked_nj : 0;

	total->wait.since_ns = 0;
	total->wait.is_over = false;
	if (late_nj <= 0)
		return 0;
	total->booked_nj += late_nj;
	return late_nj;
}

bool kwhy_total_advance(struct kwhy_meter_total *total, const struct kwhy_total_readings *readings,
	struct kwhy_total_window *out)
{
	const int64_t last_ns = kwhy_curve_last_ns(readings->curve),
		      first_ns = kwhy_curve_first_ns(readings->curve);
	const int64_t counted_ns = total->counted_ns;
	int64_t more_nj, from_ns;

	*out = (struct kwhy_total_window){0};
	if (!total->until_ns) {
		if (total->begun ? !take_up(total, readings, &out->unwatched_nj) : !begin(total, readings))
			return false;
		total->wait.since_ns = 0;
	}
	follow_counter(total, readings);
	if (total->has_counter && total->counted_ns > counted_ns)
		out->unwatched_nj += end_wait(total);
	if (total->anchor_ns < first_ns && total->anchor_ns < total->until_ns) {
		/* the curve's beginning was dropped, as without a counter only its last seconds are kept */
		total->anchor_nj = total->booked_nj;
		total->anchor_ns = total->until_ns;
	}
	out->start_ns = out->end_ns = total->until_ns;
	if (last_ns <= total->until_ns || awaits_counter(total, readings->curve))
		return out->unwatched_nj > 0;
	/* energy before the first sample is not added here; the counter's next reading contains it */
	from_ns = total->anchor_ns > first_ns ? total->anchor_ns : first_ns;
	if (!curve_nj(readings->curve, from_ns, last_ns, &more_nj))
		return out->unwatched_nj > 0;
	out->end_ns = total->until_ns = last_ns;
	if (total->anchor_nj + more_nj > total->booked_nj) {
		out->energy_nj = total->anchor_nj + more_nj - total->booked_nj;
		total->booked_nj = total->anchor_nj + more_nj;
	}
	take_off(total);
	if (last_ns - total->anchor_ns > ANCHOR_MAX_NS) {
		total->anchor_nj += more_nj;
		total->anchor_ns = last_ns;
	}
	return true;
}
