/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/energy_total.h"

#include "base/quantity.h"
#include "model/counter.h"
#include "model/response.h"

#include <math.h>

/*
 * Limits on the ratio of the larger to the smaller of two mean powers, of a device's energy counter and of
 * its power meter: up to SILENT_RATIO no note is written, from BELIEVED_RATIO on the counter is not used.
 * Gains of cards differ by some per cent; a counter that was stuck at idle read 187 J where 327 J were drawn
 * (zeus issue 181).
 */
#define BELIEVED_RATIO 1.4
#define SILENT_RATIO 1.05

/*
 * Least time in ns that counter and power meter must both cover to be compared. In less time, the differences
 * between the ends of their intervals matter.
 */
#define COMPARED_MIN_NS 500000000

/* A note says that the power was read too rarely if sampling_ratio is at least this. */
#define RARE_RATIO 0.02

/*
 * Mean power in W by `other`, over its intervals between the first start and the last end of `total`; NAN:
 * these intervals last less than COMPARED_MIN_NS in all.
 */
static double mean_power_within(
	const struct kwhy_metered_total *other, const struct kwhy_metered_total *total)
{
	int64_t start_ns = total->intervals[0].start_ns, end_ns = total->intervals[total->count - 1].end_ns;
	double energy_nj = 0, length_ns = 0;

	for (size_t i = 0; i < other->count; i++) {
		const struct kwhy_metered_interval *interval = &other->intervals[i];

		if (interval->start_ns < start_ns || interval->end_ns > end_ns)
			continue;
		energy_nj += (double)interval->energy_nj;
		length_ns += (double)(interval->end_ns - interval->start_ns);
	}
	return length_ns >= COMPARED_MIN_NS ? energy_nj / length_ns : NAN;
}

static enum kwhy_status choose_power(struct kwhy_metered_total *out_total,
	const struct kwhy_device_meters *meters, const struct kwhy_covered *covered, struct kwhy_error *error)
{
	const struct kwhy_meter_list powers = kwhy_meters_ranked(KWHY_METER_OF_DEVICE, KWHY_METER_POWERS);

	*out_total = (struct kwhy_metered_total){0};
	for (size_t i = 0; i < powers.count; i++) {
		const struct kwhy_power_series *series = meters->series[powers.items[i]];
		enum kwhy_status status = series ? kwhy_metered_total_init(out_total, series, covered, error)
						 : KWHY_OK;

		if (status || out_total->count)
			return status;
		kwhy_metered_total_done(out_total);
	}
	return KWHY_OK;
}

/*
 * Replaces instantaneous readings that are too rare by a meter that reports means, if the meter of means
 * covers at least half as much time as the instantaneous readings.
 */
static enum kwhy_status prefer_means(struct kwhy_metered_total *total,
	const struct kwhy_device_meters *meters, const struct kwhy_covered *covered, struct kwhy_error *error)
{
	const struct kwhy_power_series *means = kwhy_device_meters_best(
		meters, KWHY_METER_OF_DEVICE, KWHY_METER_ROLE_MEANS);
	struct kwhy_metered_total other;
	enum kwhy_status status;

	if (kwhy_meter_row(total->meter)->role != KWHY_METER_ROLE_INSTANTS ||
		total->sampling_ratio < RARE_RATIO || !means)
		return KWHY_OK;
	status = kwhy_metered_total_init(&other, means, covered, error);
	if (!status && other.sum_ns < total->sum_ns / 2) {
		kwhy_metered_total_done(&other);
		return KWHY_OK;
	}
	kwhy_metered_total_done(total);
	*total = other;
	return status;
}

static enum kwhy_status note_rare(
	struct kwhy_ledger *ledger, const struct kwhy_metered_total *total, struct kwhy_error *error)
{
	char step[KWHY_QUANTITY_BYTES];

	if (!(total->sampling_ratio >= RARE_RATIO))
		return KWHY_OK;
	return kwhy_ledger_note(ledger, KWHY_NOTE_WARNING, "readings-rare", error,
		"%s was read only every %s, and readings do not show what the power did in between: the "
		"energy is known to ±%.1f %%. Read the meter more often, or read means",
		kwhy_meter_name(total->meter),
		kwhy_quantity_time(step, total->sum_ns / (int64_t)total->count), 100 * total->sampling_ratio);
}

/*
 * Largest difference in W that a meter of trailing means may show to a counter because its means include time
 * before its intervals. 0 for other meters.
 */
static double trailing_w(const struct kwhy_metered_total *other)
{
	const double window_ns = 1e9 * kwhy_response_of((enum kwhy_meter)other->meter).average_window_s;
	double least_w = INFINITY, most_w = 0;

	for (size_t i = 0; i < other->count; i++) {
		const struct kwhy_metered_interval *interval = &other->intervals[i];
		const double power_w = (double)interval->energy_nj /
			(double)(interval->end_ns - interval->start_ns);

		least_w = fmin(least_w, power_w);
		most_w = fmax(most_w, power_w);
	}
	return window_ns > 0 && other->sum_ns > 0
		? (most_w - least_w) * fmin(1, window_ns / (double)other->sum_ns)
		: 0;
}

/*
 * Writes whether the counter is believed: whether its mean power and that of `other` have a ratio below
 * BELIEVED_RATIO, or cannot be compared. Adds a note if the ratio is not below SILENT_RATIO.
 */
static enum kwhy_status judge(struct kwhy_ledger *ledger, const struct kwhy_metered_total *counter,
	const struct kwhy_metered_total *other, bool *out_believed, struct kwhy_error *error)
{
	double other_w = mean_power_within(other, counter);
	double counter_w = (double)counter->sum_nj / (double)counter->sum_ns;
	const double slack_w = fmin(trailing_w(other), fabs(other_w - counter_w));
	double ratio = counter_w > 0 ? (other_w + (other_w < counter_w ? slack_w : -slack_w)) / counter_w
				     : INFINITY;

	*out_believed = true;
	if (isnan(other_w) || other_w <= 0 || (ratio < SILENT_RATIO && ratio > 1 / SILENT_RATIO))
		return KWHY_OK;
	*out_believed = ratio < BELIEVED_RATIO && ratio > 1 / BELIEVED_RATIO;
	return kwhy_ledger_note(ledger, KWHY_NOTE_WARNING,
		*out_believed ? "meters-disagree" : "counter-stuck", error,
		"the energy counter gives a mean of %.1f W, but %s gives %.1f W; energies follow %s",
		counter_w, kwhy_meter_name(other->meter), other_w,
		*out_believed ? "the counter" : kwhy_meter_name(other->meter));
}

static enum kwhy_status note_falls(
	struct kwhy_ledger *ledger, const struct kwhy_metered_total *counter, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	if (counter->jumped_count)
		status = kwhy_ledger_note(ledger, KWHY_NOTE_WARNING, "counter-jumped", error,
			"the energy counter rose %zu %s by more than a GPU draws (above %.0f W); %s not "
			"counted",
			counter->jumped_count, counter->jumped_count == 1 ? "time" : "times",
			kwhy_counter_most_w((enum kwhy_meter)counter->meter),
			counter->jumped_count == 1 ? "that interval is" : "those intervals are");
	if (status || counter->fallen_count == 0)
		return status;
	return kwhy_ledger_note(ledger, KWHY_NOTE_WARNING, "counter-fell", error,
		"the energy counter fell %zu %s (it was reset); %s not counted", counter->fallen_count,
		counter->fallen_count == 1 ? "time" : "times",
		counter->fallen_count == 1 ? "that interval is" : "those intervals are");
}

/*
 * Writes whether the counter is used: it must cover at least half as much time as `other` and agree with it.
 * In a short recording, the 20 ms samples may cover more time than a few updates of the counter do. Adds
 * notes about jumps and falls of a used counter.
 */
static enum kwhy_status weigh(struct kwhy_ledger *ledger, const struct kwhy_metered_total *counter,
	const struct kwhy_metered_total *other, bool *out_believed, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	*out_believed = counter->count > 0 && counter->sum_ns >= other->sum_ns / 2;
	if (*out_believed && other->count > 0)
		status = judge(ledger, counter, other, out_believed, error);
	return !status && *out_believed ? note_falls(ledger, counter, error) : status;
}

static enum kwhy_status note_holes(struct kwhy_ledger *ledger, const struct kwhy_metered_total *total,
	const struct kwhy_covered *covered, struct kwhy_error *error)
{
	char hole[KWHY_QUANTITY_BYTES];

	if (total->hole_count == 0)
		return KWHY_OK;
	return kwhy_ledger_note(ledger, KWHY_NOTE_WARNING, "readings-hole", error,
		"%s has no readings for %s in %zu %s; the energy %s", kwhy_meter_name(total->meter),
		kwhy_quantity_time(hole, total->hole_ns), total->hole_count,
		total->hole_count == 1 ? "interval" : "intervals",
		covered->is_all_idle ? "of that time is in no figure"
				     : "of that time is estimated from the powers of what ran");
}

enum kwhy_status kwhy_energy_total_choose(struct kwhy_metered_total *out_total, struct kwhy_ledger *ledger,
	const struct kwhy_device_meters *meters, const struct kwhy_covered *covered, bool ignore_counter,
	struct kwhy_error *error)
{
	const struct kwhy_power_series *series = kwhy_device_meters_best(
		meters, KWHY_METER_OWNER_GPU, KWHY_METER_COUNTERS);
	struct kwhy_metered_total other, counter = {0};
	enum kwhy_status status = choose_power(&other, meters, covered, error);
	bool believed = false;

	if (!status)
		status = prefer_means(&other, meters, covered, error);
	if (status)
		return status;
	if (series && !ignore_counter)
		status = kwhy_metered_total_init(&counter, series, covered, error);
	if (!status)
		status = weigh(ledger, &counter, &other, &believed, error);
	if (status || believed)
		kwhy_metered_total_done(&other);
	if (status || !believed)
		kwhy_metered_total_done(&counter);
	*out_total = believed ? counter : other;
	if (!status)
		status = note_holes(ledger, out_total, covered, error);
	return status ? status : note_rare(ledger, out_total, error);
}
