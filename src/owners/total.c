/* SPDX-License-Identifier: Apache-2.0 */
#include "owners/total.h"

#include "model/counter.h"

#include <math.h>

/*
 * In ns: the curve is followed from a time at most this long ago, because old samples are dropped from it.
 */
#define ANCHOR_MAX_NS INT64_C(30000000000)
/* In ns: a total begins without its counter if the counter was not read for this time. */
#define COUNTER_WAIT_NS INT64_C(5000000000)
/*
 * A rise of the counter is believed if it differs from the energy of the power samples by at most this
 * share of that energy plus BELIEVED_J joules; otherwise the samples' energy is used. On an H200 the two
 * agree within some tenths of a percent.
 */
#define BELIEVED_RATIO 0.25
#define BELIEVED_J 50.0

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

/* The energy by which the counter rose since its last reading, nJ. */
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

	/* the curve may end some milliseconds earlier than the counter's reading */
	if (end_ns > readings->counter.time_mono_ns)
		end_ns = readings->counter.time_mono_ns;
	is_sampled = curve_nj(readings->curve, total->counted_ns, end_ns, &sampled_nj);
	step = kwhy_counter_rise(&span, &counts);
	if (step == KWHY_COUNTER_FELL || step == KWHY_COUNTER_JUMPED)
		return is_sampled ? sampled_nj : 0;
	if (is_sampled &&
		fabs((double)(counts * unit_nj - sampled_nj)) >
			BELIEVED_RATIO * (double)sampled_nj + BELIEVED_J * 1e9)
		return sampled_nj;
	return counts * unit_nj;
}

/* Begins a total: at the first reading of the counter or, if there is none, at the start of the curve. */
static bool begin(struct kwhy_meter_total *total, const struct kwhy_total_readings *readings)
{
	const int64_t first_ns = kwhy_curve_first_ns(readings->curve),
		      last_ns = kwhy_curve_last_ns(readings->curve);

	if (readings->has_counter) {
		set_counter(total, &readings->counter, total->booked_nj);
	} else if (last_ns && last_ns - first_ns > COUNTER_WAIT_NS) {
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

/* Continues a total that was read from a file. */
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
	if (!total->has_counter) { /* the counter's first reading comes late: it starts with the energy that
				      the samples gave */
		if (curve_nj(readings->curve, total->anchor_ns, readings->counter.time_mono_ns, &more_nj))
			set_counter(total, &readings->counter, total->anchor_nj + more_nj);
	} else if (readings->counter.time_mono_ns > total->counted_ns) {
		set_counter(total, &readings->counter, total->counter_nj + rise_nj(total, readings));
	}
}

/* Subtracts a gigajoule from the sums when they become large, so that they do not overflow. */
static void take_off(struct kwhy_meter_total *total)
{
	if (total->booked_nj < 2 * KWHY_GIGAJOULE_NJ)
		return;
	total->booked_nj -= KWHY_GIGAJOULE_NJ;
	total->counter_nj -= KWHY_GIGAJOULE_NJ;
	total->anchor_nj -= KWHY_GIGAJOULE_NJ;
	total->taken_off_gj++;
}

bool kwhy_total_advance(struct kwhy_meter_total *total, const struct kwhy_total_readings *readings,
	struct kwhy_total_window *out)
{
	const int64_t last_ns = kwhy_curve_last_ns(readings->curve),
		      first_ns = kwhy_curve_first_ns(readings->curve);
	int64_t more_nj, from_ns;

	*out = (struct kwhy_total_window){0};
	if (!total->until_ns) {
		if (total->begun ? !take_up(total, readings, &out->unwatched_nj) : !begin(total, readings))
			return false;
	}
	follow_counter(total, readings);
	out->start_ns = out->end_ns = total->until_ns;
	/* energy before the first sample is not added here; the counter's next reading contains it */
	from_ns = total->anchor_ns > first_ns ? total->anchor_ns : first_ns;
	if (last_ns <= total->until_ns || !curve_nj(readings->curve, from_ns, last_ns, &more_nj))
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
