/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/curve.h"

#include "measure/counter_samples.h"

#include <math.h>
#include <stdlib.h>

/*
 * A counter is stuck if power samples go on for more than STUCK_PERIODS of the counter's periods, and more
 * than STUCK_NS, after its last update.
 */
#define STUCK_PERIODS 5
#define STUCK_NS INT64_C(30000000000)
/*
 * If a counter update comes at least this long after the last sample, no further samples are expected: the
 * driver's ring buffer of samples holds 2.4 s, and is read more often than that.
 */
#define ENDED_NS INT64_C(3000000000)
/*
 * A counter is taken to have stopped if its value stays the same for at least STILL_NS, in which the power
 * samples show more than STILL_J joules.
 */
#define STILL_NS INT64_C(1000000000)
#define STILL_J 1
/*
 * An update corrects the sum of the samples only if the nearest sample is at most this far away, in periods
 * of the samples.
 */
#define MARGIN_PERIODS 3
/*
 * Range of plausible ratios of the counter's energy to the samples' energy. If the ratio between two updates
 * is outside of this range, the samples' energy replaces the counter's rise. If the ratio over all updates is
 * outside of it, the samples before the first and after the last update are not scaled.
 */
#define GAIN_MIN 0.6
#define GAIN_MAX 1.6

/*
 * State of the construction of a curve. A meter with a first-order low-pass (time constant tau) after a delay
 * d shows m(t) for the power p(t), with p(t) = m(t + d) + tau m'(t + d). The energy up to t is therefore the
 * integral of m up to t + d, plus tau times m(t + d). The integral is what the counter shows at an update at
 * t + d. Between updates, the samples give the course of the power, scaled so that its integral is the
 * counter's rise. Without samples, m(t + d) is the counter's mean power around the update.
 */
struct builder {
	struct kwhy_counter_samples counter_samples;
	struct kwhy_samples samples;
	bool shaped; /* the samples are dense enough to show the power between updates */
	struct kwhy_curve *curve;
};

static void add_knot(struct kwhy_curve *curve, int64_t time_ns, double joules, double reading_w)
{
	size_t at = curve->count;

	if (at > 0 && time_ns <= curve->time_ns[at - 1])
		return;
	curve->time_ns[at] = time_ns;
	curve->joules[at] = joules;
	curve->reading_w[at] = reading_w;
	curve->count++;
}

/*
 * Whether a time lies between samples, but not in a gap of them, or at most MARGIN_PERIODS periods before the
 * first or after the last sample.
 */
static bool is_sampled(const struct kwhy_samples *samples, int64_t time_ns)
{
	int64_t margin_ns = MARGIN_PERIODS * samples->period_ns;
	size_t at;

	if (samples->count < 2 || time_ns < samples->items[0].time_ns - margin_ns ||
		time_ns > samples->items[samples->count - 1].time_ns + margin_ns)
		return false;
	at = kwhy_samples_at(samples, time_ns);
	return at + 1 == samples->count || samples->items[at + 1].gaps == samples->items[at].gaps;
}

/*
 * Mean power of the counter over the two intervals before and after update `i`; an interval with a reset is
 * left out.
 */
static double watts_around(const struct kwhy_counter_samples *counter_samples, size_t i)
{
	double joules = 0, seconds = 0;

	for (size_t k = i > 0 ? i : 1; k <= i + 1 && k < counter_samples->count; k++) {
		if (counter_samples->broken[k])
			continue;
		joules += counter_samples->joules[k] - counter_samples->joules[k - 1];
		seconds += (double)(counter_samples->time_ns[k] - counter_samples->time_ns[k - 1]) * 1e-9;
	}
	return seconds > 0 ? joules / seconds : 0;
}

static double sampled_rise(const struct builder *builder, int64_t from_ns, int64_t to_ns)
{
	const struct kwhy_samples *samples = &builder->samples;

	if (!builder->shaped || !is_sampled(samples, from_ns) || !is_sampled(samples, to_ns) ||
		samples->items[kwhy_samples_at(samples, from_ns)].gaps !=
			samples->items[kwhy_samples_at(samples, to_ns)].gaps)
		return NAN;
	return kwhy_samples_between(samples, to_ns).joules - kwhy_samples_between(samples, from_ns).joules;
}

/*
 * Fills in the counter's energy across each reset, from the samples or, where samples are missing, from the
 * mean of the counter's powers before and after the reset. Does the same where the ratio of the counter's
 * rise to the samples' energy is outside of GAIN_MIN to GAIN_MAX, as after a first reading whose value is
 * old.
 */
static void bridge_resets(struct builder *builder)
{
	struct kwhy_counter_samples *counter_samples = &builder->counter_samples;
	double bridged_j = 0;

	for (size_t i = 1; i < counter_samples->count; i++) {
		int64_t from_ns = counter_samples->time_ns[i - 1], to_ns = counter_samples->time_ns[i];
		double rise_j = counter_samples->joules[i] + bridged_j - counter_samples->joules[i - 1];
		double sampled_j = sampled_rise(builder, from_ns, to_ns);

		if (!counter_samples->broken[i] &&
			(rise_j < GAIN_MIN * sampled_j || rise_j > GAIN_MAX * sampled_j)) {
			counter_samples->broken[i] = true;
			builder->curve->faults.mistrusted++;
		}
		if (counter_samples->broken[i] && isnan(sampled_j))
			sampled_j = (watts_around(counter_samples, i - 1) +
					    watts_around(counter_samples, i)) /
				2 * (double)(to_ns - from_ns) * 1e-9;
		if (counter_samples->broken[i])
			bridged_j += sampled_j - rise_j;
		counter_samples->joules[i] += bridged_j;
	}
}

/*
 * Whether readings repeat the value of the counter's last update for at least STILL_NS, in which the samples
 * show more than STILL_J joules.
 */
static bool is_still(const struct builder *builder)
{
	const struct kwhy_counter_samples *counter_samples = &builder->counter_samples;
	int64_t from_ns = counter_samples->count ? counter_samples->time_ns[counter_samples->count - 1]
						 : INT64_MAX;

	return counter_samples->still_ns > from_ns && counter_samples->still_ns - from_ns >= STILL_NS &&
		sampled_rise(builder, from_ns, counter_samples->still_ns) > STILL_J;
}

/*
 * Sets counter_stuck, and removes the last updates of a counter that has stopped: those that come at least
 * STILL_NS after the one before and rise by less than GAIN_MIN times the samples' energy.
 */
static void leave_out_still(struct builder *builder)
{
	struct kwhy_counter_samples *counter_samples = &builder->counter_samples;

	builder->curve->faults.counter_stuck = is_still(builder);
	for (; counter_samples->count >= 2; counter_samples->count--) {
		size_t last = counter_samples->count - 1;
		int64_t from_ns = counter_samples->time_ns[last - 1], to_ns = counter_samples->time_ns[last];
		double rise_j = counter_samples->joules[last] - counter_samples->joules[last - 1];

		if (counter_samples->broken[last] || to_ns - from_ns < STILL_NS ||
			!(rise_j < GAIN_MIN * sampled_rise(builder, from_ns, to_ns)))
			return;
		builder->curve->faults.counter_stuck = true;
	}
}

/*
 * Energy up to the moment whose power the power meter shows at the time of counter update `i`: the counter's
 * energy plus the time constant times the meter's reading.
 */
static double used_at_counter_sample(const struct builder *builder, size_t i)
{
	int64_t time_ns = builder->counter_samples.time_ns[i];
	double watts = builder->shaped && is_sampled(&builder->samples, time_ns)
		? kwhy_samples_between(&builder->samples, time_ns).watts
		: watts_around(&builder->counter_samples, i);

	return builder->counter_samples.joules[i] + builder->curve->response.time_constant_s * watts;
}

static int64_t delay_ns(const struct builder *builder)
{
	const struct kwhy_response *response = &builder->curve->response;

	return (int64_t)((response->delay_s + response->average_window_s / 2) * 1e9);
}

static void add_samples(struct builder *builder, size_t from, size_t to, double offset_j, double gain)
{
	for (size_t i = from; i < to; i++)
		add_knot(builder->curve, builder->samples.items[i].time_ns - delay_ns(builder),
			offset_j + gain * builder->samples.items[i].joules, builder->samples.items[i].watts);
}

/*
 * Ratio of the counter's energy from update `i` to the next to the samples' energy; 0: unknown, or
 * implausible (not between GAIN_MIN / 2 and GAIN_MAX * 2).
 */
static double gain_between(const struct builder *builder, size_t i)
{
	double sampled_j = sampled_rise(
		builder, builder->counter_samples.time_ns[i], builder->counter_samples.time_ns[i + 1]);
	double gain = (used_at_counter_sample(builder, i + 1) - used_at_counter_sample(builder, i)) /
		sampled_j;

	return gain > GAIN_MIN / 2 && gain < GAIN_MAX * 2 ? gain : 0;
}

/*
 * Adds the samples between two updates, scaled to the counter's rise; false: gain_between() has no ratio for
 * them.
 */
static bool add_between(struct builder *builder, size_t i)
{
	const struct kwhy_samples *samples = &builder->samples;
	int64_t from_ns = builder->counter_samples.time_ns[i],
		to_ns = builder->counter_samples.time_ns[i + 1];
	double gain = gain_between(builder, i);
	size_t first;

	if (gain == 0)
		return false;
	first = kwhy_samples_at(samples, from_ns);
	add_samples(builder, first + (samples->items[first].time_ns < from_ns),
		kwhy_samples_at(samples, to_ns) + 1,
		used_at_counter_sample(builder, i) - gain * kwhy_samples_between(samples, from_ns).joules,
		gain);
	return true;
}

static void add_counter_knot(struct builder *builder, size_t i)
{
	add_knot(builder->curve, builder->counter_samples.time_ns[i] - delay_ns(builder),
		used_at_counter_sample(builder, i), NAN);
}

static double ratio_of(const struct builder *builder)
{
	const struct kwhy_counter_samples *counter_samples = &builder->counter_samples;
	const struct kwhy_samples *samples = &builder->samples;
	double counted_j = 0, sampled_j = 0;

	for (size_t i = 1; i < counter_samples->count; i++) {
		int64_t from_ns = counter_samples->time_ns[i - 1], to_ns = counter_samples->time_ns[i];

		if (counter_samples->broken[i] || !is_sampled(samples, from_ns) ||
			!is_sampled(samples, to_ns))
			continue;
		counted_j += used_at_counter_sample(builder, i) - used_at_counter_sample(builder, i - 1);
		sampled_j += kwhy_samples_between(&builder->samples, to_ns).joules -
			kwhy_samples_between(&builder->samples, from_ns).joules;
	}
	return sampled_j > 0 ? counted_j / sampled_j : NAN;
}

/*
 * Factor for the samples before the first and after the last update: the counter's energy between these two
 * updates, where samples cover it, divided by that of the samples; 1 if that is implausible.
 */
static double gain_outside(const struct builder *builder)
{
	double ratio = ratio_of(builder);

	return ratio > GAIN_MIN && ratio < GAIN_MAX ? ratio : 1;
}

static void add_before(struct builder *builder)
{
	const struct kwhy_samples *samples = &builder->samples;
	int64_t update_ns = builder->counter_samples.time_ns[0];
	double gain = gain_outside(builder);

	if (builder->shaped && is_sampled(samples, update_ns))
		add_samples(builder, 0, kwhy_samples_at(samples, update_ns) + 1,
			used_at_counter_sample(builder, 0) -
				gain * kwhy_samples_between(samples, update_ns).joules,
			gain);
}

static void add_after(struct builder *builder)
{
	const struct kwhy_samples *samples = &builder->samples;
	size_t last = builder->counter_samples.count - 1;
	int64_t update_ns = builder->counter_samples.time_ns[last];
	double gain = gain_outside(builder);

	if (builder->shaped && is_sampled(samples, update_ns))
		add_samples(builder, kwhy_samples_at(samples, update_ns) + 1, samples->count,
			used_at_counter_sample(builder, last) -
				gain * kwhy_samples_between(samples, update_ns).joules,
			gain);
}

static void build_counted(struct builder *builder)
{
	size_t count = builder->counter_samples.count;
	bool sampled; /* whether the knots up to update i come from samples, so that update i needs none of
			 its own */

	bridge_resets(builder);
	add_before(builder);
	sampled = builder->curve->count > 0;
	for (size_t i = 0; i < count; i++) {
		if (!sampled)
			add_counter_knot(builder, i);
		if (i + 1 == count)
			break;
		if (sampled && gain_between(builder, i) == 0)
			add_counter_knot(builder, i);
		sampled = add_between(builder, i);
	}
	if (sampled)
		add_after(builder);
}

static bool is_stuck(const struct builder *builder)
{
	const struct kwhy_counter_samples *counter_samples = &builder->counter_samples;
	const struct kwhy_samples *samples = &builder->samples;
	int64_t silent_ns;

	if (!builder->shaped)
		return false;
	silent_ns = samples->items[samples->count - 1].time_ns -
		counter_samples->time_ns[counter_samples->count - 1];
	return silent_ns > STUCK_PERIODS * counter_samples->period_ns && silent_ns > STUCK_NS;
}

static enum kwhy_energy_basis basis_of_power(enum kwhy_meter meter)
{
	if (kwhy_meter_row(meter)->owner == KWHY_METER_OWNER_USER)
		return KWHY_ENERGY_WALL;
	return kwhy_meter_is_mean(meter) ? KWHY_ENERGY_AVERAGES : KWHY_ENERGY_POWER;
}

/* Sets the curve's last_ns, basis, faults, and the times and gains of the counter's updates. */
static void finish(
	struct builder *builder, const struct kwhy_readings *counter, const struct kwhy_readings *power)
{
	struct kwhy_curve *curve = builder->curve;
	const struct kwhy_counter_samples *counter_samples = &builder->counter_samples;
	bool counted = counter_samples->count >= 2;

	curve->faults.wraps = counter_samples->wraps;
	curve->faults.resets = counter_samples->resets;
	curve->faults.misread = counter_samples->misread;
	curve->faults.late = builder->samples.late;
	curve->faults.unordered = counter_samples->unordered + builder->samples.unordered;
	curve->faults.counter_ratio = counted && builder->shaped ? ratio_of(builder) : NAN;
	if (curve->count < 2) {
		curve->count = 0;
		return;
	}
	curve->last_ns = curve->time_ns[curve->count - 1];
	if (!counted) {
		curve->basis = basis_of_power(power->meter);
		return;
	}
	curve->basis = builder->shaped ? KWHY_ENERGY_COUNTER_AND_POWER : KWHY_ENERGY_COUNTER;
	curve->quantum_j = (double)kwhy_meter_unit_nj(counter->meter) * 1e-9;
	curve->faults.counter_stuck |= is_stuck(builder);
	for (size_t i = 0; i < counter_samples->count; i++) {
		double gain = i + 1 < counter_samples->count ? gain_between(builder, i) : 1;

		curve->gains[i] = gain > 0 ? gain : 1;
		curve->ticks_ns[curve->update_count++] = counter_samples->time_ns[i] - delay_ns(builder);
	}
}

static bool reserve(struct kwhy_curve *curve, size_t capacity, size_t ticks)
{
	curve->ticks_ns = calloc(ticks + 1, sizeof(*curve->ticks_ns));
	curve->gains = calloc(ticks + 1, sizeof(*curve->gains));
	curve->time_ns = calloc(capacity, sizeof(*curve->time_ns));
	curve->joules = calloc(capacity, sizeof(*curve->joules));
	curve->reading_w = calloc(capacity, sizeof(*curve->reading_w));
	curve->capacity = capacity;
	return curve->ticks_ns && curve->gains && curve->time_ns && curve->joules && curve->reading_w;
}

/*
 * Whether the samples are to shape the curve between two counter updates: they are at least twice as frequent
 * as the updates and no trailing means. Without a counter any two samples will do.
 */
static bool is_dense(const struct builder *builder)
{
	const struct kwhy_samples *samples = &builder->samples;

	if (samples->count < 2)
		return false;
	return builder->counter_samples.count < 2 ||
		(builder->curve->response.average_window_s == 0 &&
			samples->period_ns * 2 <= builder->counter_samples.period_ns);
}

/*
 * Removes counter updates before the first or after the last sample, because samples for them are still to
 * come or were dropped. Removes none if samples have ended (ENDED_NS) or began long after the first update
 * (STUCK_NS).
 */
static void leave_out_unsampled(struct builder *builder)
{
	struct kwhy_counter_samples *counter_samples = &builder->counter_samples;
	const struct kwhy_samples *samples = &builder->samples;
	int64_t margin_ns = MARGIN_PERIODS * samples->period_ns;
	int64_t first_ns = samples->items[0].time_ns - margin_ns;
	int64_t last_ns = samples->items[samples->count - 1].time_ns + margin_ns;
	size_t first = 0;

	if (counter_samples->count == 0 ||
		counter_samples->time_ns[counter_samples->count - 1] > last_ns + ENDED_NS ||
		counter_samples->time_ns[0] < first_ns - STUCK_NS)
		return;
	while (counter_samples->count > 0 && counter_samples->time_ns[counter_samples->count - 1] > last_ns)
		counter_samples->count--;
	while (first < counter_samples->count && counter_samples->time_ns[first] < first_ns)
		first++;
	kwhy_counter_samples_drop(counter_samples, first);
}

static enum kwhy_status build(struct builder *builder, const struct kwhy_readings *counter,
	const struct kwhy_readings *power, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_counter_samples_make(counter, &builder->counter_samples, error);

	if (!status)
		status = kwhy_samples_make(
			power, builder->curve->response.time_constant_s, &builder->samples, error);
	if (status)
		return status;
	builder->shaped = is_dense(builder);
	if (builder->shaped) {
		leave_out_unsampled(builder);
		leave_out_still(builder);
	}
	if (builder->counter_samples.count >= 2 && !builder->shaped)
		builder->curve->response
			.average_window_s = 0; /* trailing means are not used if there is a counter, so the
						  curve has no lag by their window */
	if (!reserve(builder->curve, builder->counter_samples.count + builder->samples.count + 2,
		    builder->counter_samples.count))
		return kwhy_fail_memory(error, "the energy curve of a device");
	if (builder->counter_samples.count >= 2)
		build_counted(builder);
	else
		add_samples(builder, 0, builder->samples.count, 0, 1);
	finish(builder, counter, power);
	return KWHY_OK;
}

enum kwhy_status kwhy_curve_new(const struct kwhy_readings *counter, const struct kwhy_readings *power,
	const struct kwhy_response *response, struct kwhy_curve **out, struct kwhy_error *error)
{
	struct builder builder = {.curve = calloc(1, sizeof(*builder.curve))};
	enum kwhy_status status;

	if (!builder.curve)
		return kwhy_fail_memory(error, "the energy curve of a device");
	builder.curve->response = *response;
	status = build(&builder, counter, power, error);
	kwhy_counter_samples_done(&builder.counter_samples);
	kwhy_samples_done(&builder.samples);
	if (status)
		kwhy_curve_free(builder.curve);
	else
		*out = builder.curve;
	return status;
}

void kwhy_curve_free(struct kwhy_curve *curve)
{
	if (!curve)
		return;
	free(curve->time_ns);
	free(curve->joules);
	free(curve->reading_w);
	free(curve->ticks_ns);
	free(curve->gains);
	free(curve);
}

int64_t kwhy_curve_first_ns(const struct kwhy_curve *curve)
{
	return curve->count ? curve->time_ns[0] : 0;
}

int64_t kwhy_curve_last_ns(const struct kwhy_curve *curve)
{
	return curve->count ? curve->last_ns : 0;
}

int64_t kwhy_curve_gap_ns(const struct kwhy_curve *curve, int64_t start_ns, int64_t end_ns)
{
	int64_t before_ns = start_ns, longest_ns = 0;

	for (size_t i = 0; i <= curve->count; i++) {
		int64_t time_ns = i < curve->count ? curve->time_ns[i] : end_ns;

		if (time_ns < start_ns || time_ns > end_ns)
			continue;
		if (time_ns - before_ns > longest_ns)
			longest_ns = time_ns - before_ns;
		before_ns = time_ns;
	}
	return longest_ns;
}

int64_t kwhy_curve_counted_ns(const struct kwhy_curve *curve)
{
	return curve->update_count ? curve->ticks_ns[curve->update_count - 1] : kwhy_curve_last_ns(curve);
}

struct kwhy_curve_faults kwhy_curve_faults(const struct kwhy_curve *curve)
{
	return curve->faults;
}
