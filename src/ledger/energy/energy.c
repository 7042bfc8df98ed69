/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "ledger/energy/energy_assumed.h"
#include "ledger/energy/energy_contradicted.h"
#include "ledger/energy/energy_deconvolve.h"
#include "ledger/energy/energy_ends.h"
#include "ledger/energy/energy_findings.h"
#include "ledger/energy/energy_lag.h"
#include "ledger/energy/energy_misfit.h"
#include "ledger/energy/energy_priors.h"
#include "ledger/energy/energy_total.h"

#include <math.h>
#include <stdlib.h>

/* Share of the energy on wrong accounts (misfit_ratio) above which a note is written. */
#define MISFIT_NOTED 0.01
/*
 * Limits above which a note is written. CONTRADICTION_NOTED: of scatter_ratio (energy_contradicted.h), which
 * says how far the readings are from the energies that the fitted powers predict. COUNTER_NOTED: of
 * counter_check_ratio, which says how far the energy counter is from powers that other readings gave. In
 * recordings of an H200 and an H100, scatter_ratio was at most 0.031, counter_check_ratio at most 0.009.
 */
#define CONTRADICTION_NOTED 0.08
#define COUNTER_NOTED 0.04
#define STRETCHES_MIN 3
#define QUANTILE_95_SDS 1.645 /* 95 % quantile of a normal density, in standard deviations */

/* State of the attribution of one device's energy; docs/attribution.md describes the method. */
struct attribution {
	struct kwhy_ledger *ledger;
	const struct kwhy_recording *recording;
	uint32_t device;
	const struct kwhy_ledger_options *options;
	struct kwhy_device_ledger *device_ledger;
	struct kwhy_device_meters meters;
	struct kwhy_covered covered;
	struct kwhy_metered_total total;
	struct kwhy_power_classes classes;
	struct kwhy_powers_question question;
	struct kwhy_powers powers;
	double delay_s; /* remaining delay of metered intervals against the activities' clock, in s */
	struct kwhy_metered_view view;
	struct kwhy_apportioned apportioned;
	struct kwhy_energy_draws draws;
	double misfit_ratio; /* share of the energy on wrong accounts; NAN: unknown */
	struct kwhy_account_times times;
	struct kwhy_contradiction contradiction;
};

static void forget(struct kwhy_device_energy *energy)
{
	*energy = (struct kwhy_device_energy){
		.measured_nj = KWHY_UNKNOWN_NJ,
		.attributed_nj = KWHY_UNKNOWN_NJ,
		.clean_idle_nj = KWHY_UNKNOWN_NJ,
		.context_idle_nj = KWHY_UNKNOWN_NJ,
		.execution_idle_nj = KWHY_UNKNOWN_NJ,
		.net_nj = KWHY_UNKNOWN_NJ,
		.edge_nj = KWHY_UNKNOWN_NJ,
		.clean_idle_w = NAN,
		.context_idle_w = NAN,
		.expected_wrong_ratio = NAN,
		.counter_check_ratio = NAN,
		.highest_sample_w = NAN,
		.time_constant_s = NAN,
		.delay_s = NAN,
	};
}

/*
 * Widens the interval of the metered total by the uncertainty of the energy that was subtracted because
 * enabled performance counters drew it.
 */
static void widen_by_counters(struct attribution *attribution)
{
	const struct kwhy_counter_windows *counters = &attribution->meters.counters;
	struct kwhy_metered_total *total = &attribution->total;
	double half_nj;

	if (!counters->count || !total->count || total->sum_nj <= 0)
		return;
	half_nj = QUANTILE_95_SDS *
		kwhy_counter_windows_sd_nj(
			counters, total->intervals[0].start_ns, total->intervals[total->count - 1].end_ns);
	total->sampling_ratio = hypot(total->sampling_ratio, half_nj / (double)total->sum_nj);
}

static enum kwhy_status find_total(struct attribution *attribution, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_device_meters_find(&attribution->meters, attribution->recording,
		attribution->device, attribution->options->profile, error);

	if (!status)
		status = kwhy_covered_init(
			&attribution->covered, attribution->recording, attribution->device, error);
	if (!status)
		status = kwhy_energy_total_choose(&attribution->total, attribution->ledger,
			&attribution->meters, &attribution->covered, attribution->options->ignore_counter,
			error);
	if (!status)
		widen_by_counters(attribution);
	return status;
}

/*
 * Compares the energy that the powers predict with that of the device's energy counter, and writes
 * counter_check_ratio. Does nothing if there is no counter, if the powers were fitted to it, or if no
 * activity was recorded: then the powers are idle powers alone.
 */
static enum kwhy_status check_counter(struct attribution *attribution, struct kwhy_error *error)
{
	const struct kwhy_power_series *series = kwhy_device_meters_best(
		&attribution->meters, KWHY_METER_OWNER_GPU, KWHY_METER_COUNTERS);
	struct kwhy_metered_total counter;
	enum kwhy_status status;

	if (!series || attribution->powers.meter == series->meter || attribution->powers.meter == KWHY_NONE ||
		attribution->device_ledger->time.busy_ns <= 0)
		return KWHY_OK;
	status = kwhy_metered_total_init(&counter, series, &attribution->covered, error);
	if (status)
		return status;
	status = kwhy_apportioned_check(&counter, &attribution->question, &attribution->powers,
		&attribution->device_ledger->energy.counter_check_ratio, error);
	kwhy_metered_total_done(&counter);
	return status;
}

static enum kwhy_status infer(struct attribution *attribution, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_power_classes_init(&attribution->classes, attribution->device_ledger,
		attribution->recording, attribution->device, attribution->options, error);

	if (status)
		return status;
	attribution->question = (struct kwhy_powers_question){
		.recording = attribution->recording,
		.device = attribution->device,
		.device_ledger = attribution->device_ledger,
		.classes = &attribution->classes,
		.covered = &attribution->covered,
		.meters = &attribution->meters,
		.total = &attribution->total,
		.options = attribution->options,
	};
	status = kwhy_powers_infer(&attribution->powers, &attribution->question, error);
	return status ? status : check_counter(attribution, error);
}

static enum kwhy_status divide(struct attribution *attribution, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_energy_deconvolve(
		&attribution->total, &attribution->question, &attribution->powers, error);

	if (!status)
		status = kwhy_energy_lag_find(&attribution->total, &attribution->question,
			&attribution->powers, &attribution->delay_s, error);
	if (!status)
		status = kwhy_energy_reach_ends(&attribution->total, &attribution->question,
			&attribution->powers, attribution->delay_s, error);
	if (!status)
		status = kwhy_metered_view_init(&attribution->view, &attribution->total,
			&attribution->question,
			attribution->total.is_deconvolved ? KWHY_METERED_NO_TAU_S : attribution->powers.tau_s,
			attribution->delay_s, error);
	if (!status)
		status = kwhy_apportioned_init(&attribution->apportioned, &attribution->total,
			&attribution->view, &attribution->powers, error);
	if (!status)
		status = kwhy_energy_draws_init(&attribution->draws, &attribution->apportioned,
			&attribution->powers, attribution->options->seed, error);
	if (!status)
		status = kwhy_energy_misfit(&attribution->total, &attribution->view, &attribution->powers,
			&attribution->misfit_ratio, error);
	if (!status)
		status = kwhy_energy_contradiction(&attribution->total, &attribution->view,
			&attribution->powers, &attribution->contradiction, error);
	return status;
}

static void write_energy(struct attribution *attribution)
{
	struct kwhy_device_energy *energy = &attribution->device_ledger->energy;
	const struct kwhy_metered_total *total = &attribution->total;

	energy->known = true;
	energy->source = kwhy_meter_name((enum kwhy_meter)total->meter);
	energy->start_ns = total->starts_sharp ? attribution->covered.hull.start_ns
					       : total->intervals[0].start_ns;
	energy->end_ns = total->ends_sharp ? attribution->covered.hull.end_ns
					   : total->intervals[total->count - 1].end_ns;
	energy->metered_ns = total->sum_ns;
	energy->sampling_ratio = total->sampling_ratio;
	energy->measured_nj = energy->attributed_nj = total->sum_nj;
	energy->context_idle_measured = attribution->powers.idle_measured;
	energy->expected_wrong_ratio = fmax(attribution->draws.wrong_ratio, attribution->misfit_ratio);
	energy->time_constant_s = attribution->powers.tau_s;
	energy->delay_s = attribution->powers.delay_s;
	energy->reading_count = attribution->powers.reading_count;
}

static enum kwhy_status write_device_energy(struct attribution *attribution, struct kwhy_error *error)
{
	struct kwhy_energy_findings findings = {
		.recording = attribution->recording,
		.device = attribution->device,
		.profile = attribution->options->profile,
		.meters = &attribution->meters,
		.covered = &attribution->covered,
		.total = &attribution->total,
		.delay_s = attribution->delay_s,
		.classes = &attribution->classes,
		.powers = &attribution->powers,
		.apportioned = &attribution->apportioned,
		.draws = &attribution->draws,
	};
	enum kwhy_status status;

	write_energy(attribution);
	status = kwhy_energy_times(&attribution->times, &findings, attribution->device_ledger, error);
	if (!status)
		status = kwhy_energy_write_accounts(
			attribution->ledger, &findings, &attribution->times, error);
	if (!status)
		status = kwhy_energy_write_groups(attribution->ledger, &findings, error);
	return status ? status : kwhy_energy_write_curve(attribution->ledger, &findings, error);
}

/*
 * Adds a note if an activity was recorded and scatter_ratio shows that the readings do not agree with what
 * ran. Meters of instantaneous power get no such note, because they show the power at a few moments only.
 * Adds another note if the energy counter contradicts the powers that other readings gave.
 */
static enum kwhy_status note_contradicted(
	struct attribution *attribution, int32_t index, struct kwhy_error *error)
{
	const struct kwhy_contradiction *found = &attribution->contradiction;
	const enum kwhy_meter meter = (enum kwhy_meter)attribution->total.meter;
	const double counter_ratio = attribution->device_ledger->energy.counter_check_ratio;
	enum kwhy_status status = KWHY_OK;
	char time[KWHY_QUANTITY_BYTES];

	if (attribution->device_ledger->time.busy_ns > 0 &&
		kwhy_meter_row(meter)->role != KWHY_METER_ROLE_INSTANTS && found->count >= STRETCHES_MIN &&
		found->scatter_ratio > CONTRADICTION_NOTED)
		status = kwhy_ledger_note(attribution->ledger, KWHY_NOTE_WARNING, "readings-contradicted",
			error,
			"%s of device %d does not follow what ran: over times of 0.2 s it differs from the "
			"powers that fit it best by %.0f %%, most at %s. Its clock may differ from that of "
			"the "
			"trace, it may have jumped, or the readings may be those of another device: energies "
			"may be wrong",
			kwhy_meter_name(meter), index, 100 * found->scatter_ratio,
			kwhy_quantity_time(
				time, found->largest_ns - attribution->device_ledger->time.first_ns));
	if (!status && counter_ratio > COUNTER_NOTED)
		status = kwhy_ledger_note(attribution->ledger, KWHY_NOTE_WARNING, "counter-contradicted",
			error,
			"between its updates the energy counter of device %d differs by %.0f %% from the "
			"powers "
			"that other readings give: their clocks may differ, or the counter may have jumped; "
			"energies may be wrong",
			index, 100 * counter_ratio);
	return status;
}

static enum kwhy_status note_misfit(struct attribution *attribution, int32_t index, struct kwhy_error *error)
{
	double own_ratio = attribution->draws.wrong_ratio;

	if (!(attribution->misfit_ratio > MISFIT_NOTED && attribution->misfit_ratio > own_ratio))
		return KWHY_OK;
	return kwhy_ledger_note(attribution->ledger, KWHY_NOTE_WARNING, "powers-contradicted", error,
		"the energy counter of device %d contradicts the powers of its accounts: about %.1f %% of "
		"the energy is on wrong accounts, but the intervals allow for %.1f %% only. A changing idle "
		"level can cause this, for example when a context is created or destroyed between activities",
		index, 100 * attribution->misfit_ratio, 100 * own_ratio);
}

/* Notes that elevated idle time, if any, was not used to find the idle level. */
static enum kwhy_status note_elevated_idle(
	struct attribution *attribution, int32_t index, struct kwhy_error *error)
{
	const struct kwhy_device_ledger *device_ledger = attribution->device_ledger;

	if (!device_ledger->elevated_idle_count)
		return KWHY_OK;
	return kwhy_ledger_note(attribution->ledger, KWHY_NOTE_COMPLETENESS, "not-at-rest", error,
		"device %d drew %.0f W %s its work, above its idle level of %.0f W: its clocks stay up for a "
		"while after the last context has gone. That time is not used to find the idle level",
		index, device_ledger->elevated_idle[0].power_w,
		device_ledger->elevated_idle_count > 1 ? "before and after"
			: device_ledger->elevated_idle[0].end_ns <= device_ledger->time.first_ns ? "before"
												 : "after",
		attribution->powers.idle_w);
}

/*
 * Length in ns of the part of the run, from the start of its first activity to the end of its last, that
 * metered intervals cover.
 */
static int64_t seen_ns(const struct attribution *attribution)
{
	const struct kwhy_device_time *time = &attribution->device_ledger->time;
	int64_t sum_ns = 0;

	for (size_t i = 0; i < attribution->total.count; i++) {
		const struct kwhy_metered_interval *interval = &attribution->total.intervals[i];
		const int64_t from_ns = interval->start_ns > time->first_ns ? interval->start_ns
									    : time->first_ns;
		const int64_t to_ns = interval->end_ns < time->last_ns ? interval->end_ns : time->last_ns;

		sum_ns += to_ns > from_ns ? to_ns - from_ns : 0;
	}
	return sum_ns;
}

/*
 * Whether no power can be inferred from the readings, and the metered intervals cover less than half of the
 * run. If so, most of the run's energy would be an assumption, and the readings are not used.
 */
static bool are_useless(const struct attribution *attribution)
{
	const struct kwhy_device_time *time = &attribution->device_ledger->time;

	return !attribution->powers.reading_count && !attribution->powers.unfitted_count &&
		seen_ns(attribution) < (time->last_ns - time->first_ns) / 2;
}

/*
 * Adds a note that the readings are of no use. The device's energy then stays unknown, as if the device had
 * no meter; if the user gave assumed powers, it is computed from those.
 */
static enum kwhy_status leave_unmetered(struct attribution *attribution, struct kwhy_error *error)
{
	struct kwhy_device_ledger *device_ledger = attribution->device_ledger;
	const int64_t worked_ns = device_ledger->time.last_ns - device_ledger->time.first_ns;
	char seen[KWHY_QUANTITY_BYTES], worked[KWHY_QUANTITY_BYTES];
	enum kwhy_status status = kwhy_ledger_note(attribution->ledger, KWHY_NOTE_WARNING,
		"no-usable-readings", error,
		"the power readings of device %d cover %s of the %s in which it worked, and no reading tells "
		"a power: they are not used",
		attribution->recording->devices[attribution->device].index,
		kwhy_quantity_time(seen, seen_ns(attribution)), kwhy_quantity_time(worked, worked_ns));

	for (size_t i = 0; i < device_ledger->account_count; i++)
		device_ledger->accounts[i].power_class = KWHY_NONE;
	if (status || !attribution->options->assumed.given)
		return status;
	return kwhy_energy_assume(attribution->ledger, attribution->recording, attribution->device,
		attribution->options, error);
}

/* Adds a note if the powers are assumed, because no reading was used or no powers fit the readings. */
static enum kwhy_status note_assumed(struct attribution *attribution, int32_t index, struct kwhy_error *error)
{
	const struct kwhy_powers *powers = &attribution->powers;

	if (powers->unfitted_count)
		return kwhy_ledger_note(attribution->ledger, KWHY_NOTE_WARNING, "readings-unfitted", error,
			"no powers of its accounts fit the %zu power readings of device %d, so assumed "
			"powers are used; check the units of the power file",
			powers->unfitted_count, index);
	if (powers->reading_count)
		return KWHY_OK;
	return kwhy_ledger_note(attribution->ledger, KWHY_NOTE_WARNING, "no-usable-readings", error,
		"no power reading of device %d tells a power, so that assumed powers divide the energy that "
		"was metered",
		index);
}

static enum kwhy_status note_response(
	struct attribution *attribution, int32_t index, struct kwhy_error *error)
{
	const uint32_t meter = attribution->total.meter;
	struct kwhy_normal tau_s, delay_s;

	(void)kwhy_priors_response(meter, attribution->options->profile, &tau_s, &delay_s);
	if (kwhy_meter_row(meter)->vendor == KWHY_VENDOR_AMD)
		return kwhy_ledger_note(attribution->ledger, KWHY_NOTE_COMPLETENESS, "meter-response-assumed",
			error,
			"nobody has measured how fast AMD's meters follow the power: for that of device %d, "
			"%sa time constant of %g ± %g ms and a delay of %g ± %g ms are assumed",
			index, kwhy_meter_is_mean(meter) ? "a mean over the last second, " : "",
			1e3 * tau_s.mean, 1e3 * tau_s.sd, 1e3 * delay_s.mean, 1e3 * delay_s.sd);
	return kwhy_ledger_note(attribution->ledger, KWHY_NOTE_COMPLETENESS, "meter-response-assumed", error,
		"no machine profile says how fast the meter of device %d follows the power: the time "
		"constant (%g ± %g ms) and delay (%g ± %g ms) of one H200 are assumed; kwhy calibrate "
		"measures yours",
		index, 1e3 * tau_s.mean, 1e3 * tau_s.sd, 1e3 * delay_s.mean, 1e3 * delay_s.sd);
}

static int64_t probing_nj(const struct kwhy_device_ledger *device_ledger)
{
	int64_t sum_nj = 0;

	for (size_t i = 0; i < device_ledger->account_count; i++)
		if (device_ledger->accounts[i].category == KWHY_CATEGORY_PROBING)
			sum_nj += device_ledger->accounts[i].gross_nj;
	return sum_nj;
}

/*
 * Notes the energy that kwhy probe took. Also notes how many of its bursts (repeats of one kernel in a row)
 * are not used, because their clock was not that of the program's work or because it fell during them.
 */
static enum kwhy_status note_probing(struct attribution *attribution, int32_t index, struct kwhy_error *error)
{
	const struct kwhy_powers *powers = &attribution->powers;
	enum kwhy_status status;

	if (!attribution->device_ledger->time.probing_ns)
		return KWHY_OK;
	status = kwhy_ledger_note(attribution->ledger, KWHY_NOTE_COMPLETENESS, "probing-energy", error,
		"kwhy probe drew %.4g J on device %d; no figure of the run includes them",
		1e-9 * (double)probing_nj(attribution->device_ledger), index);
	if (!status && powers->other_clock_count)
		status = kwhy_ledger_note(attribution->ledger, KWHY_NOTE_COMPLETENESS, "bursts-other-clock",
			error,
			"%zu of %zu bursts of kwhy probe on device %d were left out: the clock in them was "
			"more than 1.2 %% off the clocks at which the program's own work ran, so the power "
			"in them is not its power in the program",
			powers->other_clock_count, powers->burst_count, index);
	if (status || !powers->throttled_count)
		return status;
	return kwhy_ledger_note(attribution->ledger, KWHY_NOTE_COMPLETENESS, "bursts-throttled", error,
		"%zu of %zu bursts of kwhy probe on device %d were left out: repeats took 3 %% longer at "
		"their end than at their start, so the clock fell, as it does at the power limit. The "
		"kernel's power at that clock is not its power in the program",
		powers->throttled_count, powers->burst_count, index);
}

/*
 * Notes how many powers start from those of --powers, and how many powers of --powers are not used because
 * the readings contradict them.
 */
static enum kwhy_status note_learnt(struct attribution *attribution, int32_t index, struct kwhy_error *error)
{
	const struct kwhy_power_classes *classes = &attribution->classes;
	enum kwhy_status status = KWHY_OK;
	size_t count = 0;

	if (!attribution->options->learnt_count)
		return KWHY_OK;
	for (size_t c = 0; c < classes->count; c++)
		count += classes->priors[c].learnt_w > 0;
	if (attribution->powers.overruled_count)
		status = kwhy_ledger_note(attribution->ledger, KWHY_NOTE_WARNING, "powers-overruled", error,
			"the readings of device %d contradict %zu powers of --powers, which are not used: "
			"these kernels had other data or sizes there, or the clocks were different",
			index, attribution->powers.overruled_count);
	return status ? status
		      : kwhy_ledger_note(attribution->ledger, KWHY_NOTE_COMPLETENESS, "powers-learnt", error,
				"%zu of the %zu powers of device %d start from those of --powers", count,
				classes->count, index);
}

/* Notes what enabled performance counters drew in the device's run. */
static enum kwhy_status note_counting(
	struct attribution *attribution, int32_t index, struct kwhy_error *error)
{
	const struct kwhy_counter_windows *counters = &attribution->meters.counters;
	const struct kwhy_device_time *time = &attribution->device_ledger->time;
	const int64_t length_ns = kwhy_counter_windows_ns(counters, time->first_ns, time->last_ns);
	char length[KWHY_QUANTITY_BYTES];

	if (length_ns <= 0)
		return KWHY_OK;
	attribution->device_ledger->energy.counting_ns = length_ns;
	attribution->device_ledger->energy.counting_nj = llround(
		kwhy_counter_windows_nj(counters, time->first_ns, time->last_ns));
	return kwhy_ledger_note(attribution->ledger, KWHY_NOTE_COMPLETENESS, "counting-energy", error,
		"the performance counters of device %d were enabled for %s of its run, in which it drew %.0f "
		"± %.0f W more; no figure of the run includes these %.3g J",
		index, kwhy_quantity_time(length, length_ns), counters->extra_w,
		QUANTILE_95_SDS * counters->sd_w,
		1e-9 * (double)attribution->device_ledger->energy.counting_nj);
}

/* Notes how many powers start from performance counters, or that the profile has no model for them. */
static enum kwhy_status note_counted(struct attribution *attribution, int32_t index, struct kwhy_error *error)
{
	const struct kwhy_power_classes *classes = &attribution->classes;
	const struct kwhy_profile *profile = attribution->options->profile;
	enum kwhy_status status;
	size_t count = 0;

	if (!attribution->meters.counters.count)
		return KWHY_OK;
	status = note_counting(attribution, index, error);
	for (size_t c = 0; c < classes->count; c++)
		count += classes->priors[c].is_counted;
	if (status)
		return status;
	if (!profile || !(profile->counter_model.spread > 0))
		return kwhy_ledger_note(attribution->ledger, KWHY_NOTE_COMPLETENESS, "counters-unused", error,
			"the performance counters of device %d are not used: its machine profile has no "
			"power model by counters",
			index);
	return kwhy_ledger_note(attribution->ledger, KWHY_NOTE_COMPLETENESS, "powers-counted", error,
		"%zu of the %zu powers of device %d start from its performance counters", count,
		classes->count, index);
}

static enum kwhy_status note(struct attribution *attribution, struct kwhy_error *error)
{
	const struct kwhy_powers *powers = &attribution->powers;
	int32_t index = attribution->recording->devices[attribution->device].index;
	enum kwhy_status status = KWHY_OK;

	if (powers->response_assumed)
		status = note_response(attribution, index, error);
	if (!status && powers->left_out_count)
		status = kwhy_ledger_note(attribution->ledger, KWHY_NOTE_COMPLETENESS, "readings-thinned",
			error,
			"to save time, %zu of the %zu power readings of device %d, evenly spread, are used "
			"for its powers",
			powers->reading_count, powers->reading_count + powers->left_out_count, index);
	if (!status)
		status = note_assumed(attribution, index, error);
	if (!status)
		status = note_elevated_idle(attribution, index, error);
	if (!status)
		status = note_learnt(attribution, index, error);
	if (!status)
		status = note_counted(attribution, index, error);
	if (!status)
		status = note_probing(attribution, index, error);
	if (!status)
		status = note_contradicted(attribution, index, error);
	return status ? status : note_misfit(attribution, index, error);
}

static void attribution_done(struct attribution *attribution)
{
	kwhy_account_times_done(&attribution->times);
	kwhy_energy_draws_done(&attribution->draws);
	kwhy_apportioned_done(&attribution->apportioned);
	kwhy_metered_view_done(&attribution->view);
	kwhy_powers_done(&attribution->powers);
	kwhy_power_classes_done(&attribution->classes);
	kwhy_metered_total_done(&attribution->total);
	kwhy_covered_done(&attribution->covered);
	kwhy_device_meters_done(&attribution->meters);
}

static enum kwhy_status attribute(struct attribution *attribution, struct kwhy_error *error)
{
	enum kwhy_status status = infer(attribution, error);

	if (!status && are_useless(attribution))
		return leave_unmetered(attribution, error);
	if (!status)
		status = divide(attribution, error);
	if (!status)
		status = write_device_energy(attribution, error);
	return status ? status : note(attribution, error);
}

enum kwhy_status kwhy_ledger_energy(struct kwhy_ledger *ledger, const struct kwhy_recording *recording,
	uint32_t device, const struct kwhy_ledger_options *options, struct kwhy_error *error)
{
	struct attribution attribution = {
		.ledger = ledger,
		.recording = recording,
		.device = device,
		.options = options,
		.device_ledger = &ledger->devices[device],
	};
	enum kwhy_status status;

	forget(&attribution.device_ledger->energy);
	status = find_total(&attribution, error);
	if (!status && attribution.total.count > 0)
		status = attribute(&attribution, error);
	else if (!status && options->assumed.given)
		status = kwhy_energy_assume(ledger, recording, device, options, error);
	attribution_done(&attribution);
	return status;
}
