/* SPDX-License-Identifier: Apache-2.0 */
#include "owners/watts.h"

#include <math.h>
#include <string.h>

/*
 * Indices of the filter's states: the device's idle power (W), the deviation s that all owners share, the
 * typical rate (W/GHz). From FIRST_OWNER on, two states follow for each slot: rate (W/GHz) and other power
 * (W) of its owner.
 */
enum { IDLE, SCALE, TYPICAL, FIRST_OWNER };

/*
 * The figures below were chosen by hand on the simulated plans of tests/unit/owners/watts_test.c. None was
 * measured on a GPU.
 */
/*
 * Means and standard deviations (SD) of the states before anything is known. TYPICAL: in W/GHz. The mean of
 * the idle power is the device's lowest power so far.
 */
#define IDLE_SD_W 40.0
#define TYPICAL_W 200.0
#define TYPICAL_SD_W 200.0
#define RATE_SD 0.5 /* standard deviation of an owner's rate from the typical rate, as a share of that */
#define OTHER_SD_W 10.0
#define SCALE_SD 0.05
/*
 * An owner that returns may run another program: so the variances of its known rate and other power grow by
 * the square of this share of the rate and of the other power.
 */
#define AGAIN_SD 0.07
/*
 * Drifts: standard deviations by which the states change within one second; their variances grow in
 * proportion to time. RATE_DRIFT: as a share of the rate. SCALE_S: time constant in s with which the
 * deviation s decays to 0.
 */
#define IDLE_DRIFT_W 0.3
#define RATE_DRIFT 0.002
#define OTHER_DRIFT_W 0.03
#define SCALE_S 60.0
/*
 * Standard deviation of the error of a stretch's mean power: METER_SD_W in W, and independently of it
 * POWER_SD as a share of the power above idle.
 */
#define METER_SD_W 2.0
#define POWER_SD 0.02
/*
 * In the first STRETCH_MIN_S of a stretch and in looks at an idle device, the filter limits the power's
 * deviation from the model to this number of standard deviations of that deviation, because use and power may
 * not be from the same moment.
 */
#define CUT_SD 3.0
/*
 * A stretch ends after STRETCH_MAX_S or, after STRETCH_MIN_S, at a look whose power differs from the
 * stretch's mean by more than CHANGE_W and by more than CHANGE times the mean's part above idle.
 */
#define STRETCH_MIN_S 10.0
#define STRETCH_MAX_S 60.0
#define CHANGE 0.1
#define CHANGE_W 10.0
/*
 * Standard deviations of the model's error for one owner, who draws another power while other owners run than
 * alone. MODEL_SD is a share of the power by the owner's rate, OTHER_MODEL_SD a share of its other power.
 */
#define MODEL_SD 0.08
#define OTHER_MODEL_SD 0.3
/*
 * Scatter of an owner's share from look to look. Before any look, the variance is assumed to be that of the
 * mean of SAMPLES samples, each of which names one owner; this assumed variance weighs as much as that of
 * SAMPLE_LOOKS looks. The mean and the variance of the shares cover about the last SAMPLE_MEMORY looks. The
 * correlation of successive looks counts as at most SUCCESSIVE_MAX.
 */
#define SAMPLES 6.0
#define SAMPLE_LOOKS 2.0
#define SAMPLE_MEMORY 60.0
#define SUCCESSIVE_MAX 0.8
/*
 * Time constants in s of the mean use (USE_S) and of the energies that were handed out (GIVEN_S). An owner
 * counts as known if it was learnt from at least SETTLED_S s of looks and the standard deviation of its rate
 * is below the share SETTLED_SD of the rate.
 */
#define USE_S 30.0
#define GIVEN_S 60.0
#define SETTLED_SD 0.05
#define SETTLED_S 10.0
/*
 * In s: the looks in the first LATE_S of work after an idle look are left out, because the driver's samples
 * of the use are up to 0.2 s late (H200).
 */
#define LATE_S 0.5
/* assumed SM clock while the clock is unknown */
#define CLOCK_GHZ 1.5

static size_t rate_of(size_t slot)
{
	return FIRST_OWNER + 2 * slot;
}

static size_t other_of(size_t slot)
{
	return FIRST_OWNER + 2 * slot + 1;
}

static size_t states_of(const struct kwhy_watts *watts)
{
	return FIRST_OWNER + 2 * watts->count;
}

static double clock_ghz(const struct kwhy_watts_look *look)
{
	return look->clock_hz > 0 ? look->clock_hz * 1e-9 : CLOCK_GHZ;
}

static struct kwhy_watts_slot *slot_of(struct kwhy_watts *watts, uint32_t owner)
{
	for (size_t i = 0; i < watts->count; i++)
		if (watts->slots[i].owner == owner)
			return &watts->slots[i];
	return NULL;
}

static void begin(struct kwhy_watts *watts, const struct kwhy_watts_look *look)
{
	struct kwhy_watts_fit *fit = &watts->before;

	memset(watts, 0, sizeof(*watts));
	watts->has_begun = true;
	fit->state[IDLE] = look->low_w > 0 ? look->low_w : fmax(look->power_w, 0);
	fit->state[TYPICAL] = TYPICAL_W;
	fit->covariance[IDLE][IDLE] = IDLE_SD_W * IDLE_SD_W;
	fit->covariance[SCALE][SCALE] = SCALE_SD * SCALE_SD;
	fit->covariance[TYPICAL][TYPICAL] = TYPICAL_SD_W * TYPICAL_SD_W;
	watts->now = *fit;
}

/* Ends the present stretch: makes the states with its observation (`now`) those before the next stretch. */
static void end_stretch(struct kwhy_watts *watts)
{
	watts->before = watts->now;
	watts->stretch = (struct kwhy_watts_stretch){0};
}

static void drop(struct kwhy_watts *watts, size_t slot)
{
	struct kwhy_watts_fit *fit = &watts->before;
	const size_t size = states_of(watts), from = rate_of(slot), to = from + 2, rest = size - to;

	memmove(&fit->state[from], &fit->state[to], rest * sizeof(double));
	memmove(fit->covariance[from], fit->covariance[to], rest * sizeof(fit->covariance[0]));
	for (size_t i = 0; i < size; i++)
		memmove(&fit->covariance[i][from], &fit->covariance[i][to], rest * sizeof(double));
	memmove(&watts->slots[slot], &watts->slots[slot + 1],
		(watts->count - slot - 1) * sizeof(watts->slots[0]));
	watts->count--;
}

/*
 * Adds an owner in a new slot. Its rate and its other power are those known from earlier, with the error
 * AGAIN_SD added, or otherwise the typical rate, with RATE_SD added to its error, and 0 W.
 */
static void take_in(struct kwhy_watts *watts, uint32_t owner, const struct kwhy_watts_known *known)
{
	struct kwhy_watts_fit *fit = &watts->before;
	const size_t slot = watts->count++, rate = rate_of(slot), other = other_of(slot);

	watts->slots[slot] = (struct kwhy_watts_slot){.owner = owner, .is_listed = true};
	for (size_t i = 0; i <= other; i++)
		for (size_t k = rate; k <= other; k++)
			fit->covariance[i][k] = fit->covariance[k][i] = 0;
	if (known->is_known) {
		fit->state[rate] = known->rate_w;
		fit->covariance[rate][rate] = known->rate_variance + pow(AGAIN_SD * known->rate_w, 2);
		fit->state[other] = known->other_w;
		fit->covariance[other][other] = known->other_variance + pow(AGAIN_SD * known->other_w, 2);
		return;
	}
	fit->state[rate] = fit->state[TYPICAL];
	for (size_t i = 0; i < rate; i++)
		fit->covariance[i][rate] = fit->covariance[rate][i] = fit->covariance[i][TYPICAL];
	fit->covariance[rate][rate] = fit->covariance[TYPICAL][TYPICAL] +
		pow(RATE_SD * fit->state[TYPICAL], 2);
	fit->state[other] = 0;
	fit->covariance[other][other] = OTHER_SD_W * OTHER_SD_W;
}

void kwhy_watts_list(
	struct kwhy_watts *watts, const struct kwhy_watts_look *look, const struct kwhy_watts_known *known)
{
	size_t listed = 0;

	if (!watts->has_begun)
		begin(watts, look);
	for (size_t i = 0; i < watts->count; i++)
		watts->slots[i].is_listed = false;
	for (size_t i = 0; i < look->count; i++) {
		struct kwhy_watts_slot *slot = slot_of(watts, look->holders[i].owner);

		if (slot)
			slot->is_listed = true;
		listed += slot != NULL;
	}
	if (listed == watts->count && (listed == look->count || listed == KWHY_WATTS_OWNERS))
		return;
	end_stretch(watts);
	for (size_t i = watts->count; i-- > 0;) {
		if (!watts->slots[i].is_listed)
			drop(watts, i);
		else /* sets all sums and means of the slot to 0, because they were made with other holders */
			watts->slots[i] = (struct kwhy_watts_slot){
				.owner = watts->slots[i].owner, .is_listed = true};
	}
	for (size_t i = 0; i < look->count && watts->count < KWHY_WATTS_OWNERS; i++)
		if (!slot_of(watts, look->holders[i].owner))
			take_in(watts, look->holders[i].owner, &known[i]);
	watts->now = watts->before;
}

/*
 * Adds to the variances what may have changed in length_s, and lets the deviation s that all owners share
 * decay.
 */
static void drift(struct kwhy_watts *watts, double length_s)
{
	struct kwhy_watts_fit *fit = &watts->before;
	const size_t size = states_of(watts);
	const double keeps = exp(-length_s / SCALE_S);

	fit->state[SCALE] *= keeps;
	for (size_t i = 0; i < size; i++) {
		fit->covariance[SCALE][i] *= keeps;
		fit->covariance[i][SCALE] *= keeps;
	}
	fit->covariance[SCALE][SCALE] += (1 - keeps * keeps) * SCALE_SD * SCALE_SD;
	fit->covariance[IDLE][IDLE] += IDLE_DRIFT_W * IDLE_DRIFT_W * length_s;
	for (size_t i = 0; i < watts->count; i++) {
		const size_t rate = rate_of(i), other = other_of(i);

		fit->covariance[rate][rate] += pow(RATE_DRIFT * fit->state[rate], 2) * length_s;
		fit->covariance[other][other] += OTHER_DRIFT_W * OTHER_DRIFT_W * length_s;
	}
}

/*
 * Variance of an owner's share between looks, if its mean is `share`: weighted mean of the variance of its
 * shares in the looks so far, by the number of looks, and of the assumed variance (SAMPLES), by SAMPLE_LOOKS.
 */
static double sample_variance(const struct kwhy_watts_slot *slot, double share)
{
	const double before = share * (1 - share) / SAMPLES;
	double successive = slot->variance > 0 ? slot->successive / slot->variance : 0;

	/* positive correlation of successive shares makes the variance of their mean larger */
	successive = fmin(fmax(successive, 0), SUCCESSIVE_MAX);
	return (slot->looks * slot->variance * (1 + successive) / (1 - successive) + SAMPLE_LOOKS * before) /
		(slot->looks + SAMPLE_LOOKS);
}

/* Sets the derivatives of the stretch's mean power by the states. Returns the modelled mean power. */
static double set_slopes(const struct kwhy_watts *watts, double slopes[KWHY_WATTS_STATES])
{
	const struct kwhy_watts_stretch *stretch = &watts->stretch;
	const double *state = watts->before.state, length_s = stretch->length_s;
	double running_w = state[TYPICAL] * stretch->rest_s / length_s, power_w = state[IDLE];

	memset(slopes, 0, KWHY_WATTS_STATES * sizeof(double));
	slopes[IDLE] = 1;
	slopes[TYPICAL] = stretch->rest_s / length_s * (1 + state[SCALE]);
	for (size_t i = 0; i < watts->count; i++) {
		const double used = stretch->used_s[i] / length_s;

		running_w += state[rate_of(i)] * used;
		slopes[rate_of(i)] = used * (1 + state[SCALE]);
		slopes[other_of(i)] = 1;
		power_w += state[other_of(i)] * slopes[other_of(i)];
	}
	slopes[SCALE] = running_w;
	return power_w + running_w * (1 + state[SCALE]);
}

/*
 * Variance of the stretch's power around the model. If the driver's samples give one owner too much time and
 * another too little, the modelled power is wrong by that share of time times the difference of the owners'
 * powers.
 */
static double noise_of(const struct kwhy_watts *watts)
{
	const struct kwhy_watts_stretch *stretch = &watts->stretch;
	const double *state = watts->before.state;
	const double above_w = fmax(stretch->power_ws / stretch->length_s - state[IDLE], 0);
	const double clock = stretch->clock_s / stretch->length_s;
	double variance = METER_SD_W * METER_SD_W + pow(POWER_SD * above_w, 2), used = 0, sum = 0;

	for (size_t i = 0; i < watts->count; i++) {
		used += stretch->used_s[i];
		sum += stretch->used_s[i] * state[rate_of(i)];
	}
	for (size_t i = 0; sum > 0 && i < watts->count; i++)
		variance += sample_variance(&watts->slots[i], stretch->used_s[i] * state[rate_of(i)] / sum) /
			fmax(stretch->samples, 1) * pow((state[rate_of(i)] - sum / used) * clock, 2);
	return variance;
}

/*
 * One step of the filter: corrects the states by a power that differs from the model by off_w. is_cut: the
 * difference is limited (CUT_SD).
 */
static void correct(struct kwhy_watts_fit *fit, size_t size, const double slopes[KWHY_WATTS_STATES],
	double off_w, double noise, bool is_cut)
{
	double product[KWHY_WATTS_STATES], variance = noise;

	for (size_t i = 0; i < size; i++) {
		product[i] = 0;
		for (size_t k = 0; k < size; k++)
			product[i] += fit->covariance[i][k] * slopes[k];
	}
	for (size_t i = 0; i < size; i++)
		variance += slopes[i] * product[i];
	if (is_cut && off_w * off_w > CUT_SD * CUT_SD * variance)
		off_w = copysign(CUT_SD * sqrt(variance), off_w);
	for (size_t i = 0; i < size; i++) {
		fit->state[i] += product[i] / variance * off_w;
		for (size_t k = 0; k < size; k++)
			fit->covariance[i][k] -= product[i] * product[k] / variance;
	}
	/* rates and other powers are not below 0 */
	for (size_t i = TYPICAL; i < size; i++)
		fit->state[i] = fmax(fit->state[i], 0);
}

static void note_share(struct kwhy_watts_slot *slot, double share)
{
	double weight, off;

	slot->looks = fmin(slot->looks + 1, SAMPLE_MEMORY);
	weight = 1 / slot->looks;
	off = share - slot->mean;
	if (slot->looks > 1)
		slot->successive += weight * (off * (slot->last - slot->mean) - slot->successive);
	slot->variance += weight * ((1 - weight) * off * off - slot->variance);
	slot->mean += weight * off;
	slot->last = share;
}

/*
 * Notes how much the owners' shares scatter from look to look. The energy is divided in the ratio of sums
 * over many looks, so the effect of this look on that ratio is noted.
 */
static void note_shares(struct kwhy_watts *watts, const struct kwhy_watts_look *look)
{
	struct kwhy_watts_share shares[KWHY_WATTS_OWNERS];
	double now_w = 0, mean_w = 0;

	if (look->is_repeated || look->count > KWHY_WATTS_OWNERS || !kwhy_watts_divide(watts, look, shares))
		return;
	for (size_t i = 0; i < look->count; i++) {
		now_w += shares[i].now_w;
		mean_w += shares[i].mean_w;
	}
	for (size_t i = 0; i < look->count; i++) {
		struct kwhy_watts_slot *slot = slot_of(watts, look->holders[i].owner);

		if (slot)
			note_share(
				slot, shares[i].share + (shares[i].now_w - shares[i].share * now_w) / mean_w);
	}
}

static void add_look(struct kwhy_watts *watts, const struct kwhy_watts_look *look)
{
	struct kwhy_watts_stretch *stretch = &watts->stretch;

	stretch->length_s += look->length_s;
	stretch->power_ws += look->power_w * look->length_s;
	stretch->clock_s += clock_ghz(look) * look->length_s;
	stretch->samples += !look->is_repeated;
	for (size_t i = 0; i < look->count; i++) {
		struct kwhy_watts_slot *slot = slot_of(watts, look->holders[i].owner);
		const double keeps = exp(-look->length_s / USE_S);

		if (slot) {
			slot->used_s = slot->used_s * keeps + look->holders[i].use * look->length_s;
			slot->passed_s = slot->passed_s * keeps + look->length_s;
			slot->learnt_s += look->length_s;
		}
		*(slot ? &stretch->used_s[slot - watts->slots] : &stretch->rest_s) += look->holders[i].use *
			clock_ghz(look) * look->length_s;
	}
}

/*
 * Whether the power of a look differs so much from the mean of the stretch that the stretch ends (CHANGE,
 * CHANGE_W).
 */
static bool has_changed(const struct kwhy_watts *watts, const struct kwhy_watts_look *look)
{
	const struct kwhy_watts_stretch *stretch = &watts->stretch;
	const double mean_w = stretch->power_ws / fmax(stretch->length_s, 1e-9);

	return stretch->length_s >= STRETCH_MIN_S &&
		fabs(look->power_w - mean_w) > fmax(CHANGE * (mean_w - watts->now.state[IDLE]), CHANGE_W);
}

void kwhy_watts_learn(struct kwhy_watts *watts, const struct kwhy_watts_look *look)
{
	double slopes[KWHY_WATTS_STATES] = {[IDLE] = 1}, off_w, noise;

	if (!watts->has_begun || !(look->power_w >= 0) || !(look->length_s > 0) ||
		(look->busy != 0 && !look->has_uses))
		return;
	if (look->busy == 0) {
		watts->works_s = 0;
		end_stretch(watts);
		drift(watts, look->length_s);
		watts->now = watts->before;
		correct(&watts->now, states_of(watts), slopes, look->power_w - watts->now.state[IDLE],
			METER_SD_W * METER_SD_W / fmin(look->length_s, 1), true);
		return;
	}
	if (watts->works_s < LATE_S) {
		watts->works_s += look->length_s;
		return;
	}
	if (watts->stretch.length_s >= STRETCH_MAX_S || has_changed(watts, look))
		end_stretch(watts);
	drift(watts, look->length_s);
	add_look(watts, look);
	off_w = watts->stretch.power_ws / watts->stretch.length_s - set_slopes(watts, slopes);
	noise = noise_of(watts);
	watts->now = watts->before;
	correct(&watts->now, states_of(watts), slopes, off_w, noise, watts->stretch.length_s < STRETCH_MIN_S);
	note_shares(watts, look);
}

/* Standard deviation of the share of slot `own` due to the errors of all states. */
static double fit_sd(const struct kwhy_watts *watts, const double used[KWHY_WATTS_OWNERS], size_t own,
	double share, double sum_w)
{
	double slopes[2 * KWHY_WATTS_OWNERS], variance = 0;
	const size_t size = 2 * watts->count;

	for (size_t i = 0; i < watts->count; i++) {
		const double slope = ((i == own) - share) / sum_w;

		slopes[2 * i] = slope * used[i];
		slopes[2 * i + 1] = slope;
	}
	for (size_t i = 0; i < size; i++)
		for (size_t k = 0; k < size; k++)
			variance += slopes[i] * slopes[k] *
				watts->now.covariance[FIRST_OWNER + i][FIRST_OWNER + k];
	return sqrt(fmax(variance, 0));
}

/*
 * Sets the powers of a holder, and the standard deviation of its mean power in W due to errors that the
 * states do not have (MODEL_SD, or RATE_SD for a holder without a slot; OTHER_MODEL_SD), in out->model_sd,
 * which kwhy_watts_divide() replaces by the error of the share.
 */
static void set_power(const struct kwhy_watts *watts, const struct kwhy_watts_slot *slot, double use,
	double clock, struct kwhy_watts_share *out)
{
	const double *state = watts->now.state;
	const size_t at = slot ? (size_t)(slot - watts->slots) : 0;
	const double rate_w = slot ? state[rate_of(at)] : state[TYPICAL],
		     other_w = slot ? state[other_of(at)] : 0;

	*out = (struct kwhy_watts_share){
		.mean_use = slot && slot->passed_s > 0 ? slot->used_s / slot->passed_s : use};
	out->now_w = rate_w * use * clock + other_w;
	out->mean_w = rate_w * out->mean_use * clock + other_w;
	out->model_sd = hypot(
		(slot ? MODEL_SD : RATE_SD) * rate_w * out->mean_use * clock, OTHER_MODEL_SD * other_w);
}

bool kwhy_watts_divide(
	struct kwhy_watts *watts, const struct kwhy_watts_look *look, struct kwhy_watts_share *out)
{
	const double clock = clock_ghz(look);
	double used[KWHY_WATTS_OWNERS] = {0}, sum_w = 0, errors = 0;

	for (size_t i = 0; i < look->count; i++) {
		const struct kwhy_watts_slot *slot = slot_of(watts, look->holders[i].owner);

		set_power(watts, slot, look->holders[i].use, clock, &out[i]);
		if (slot)
			used[slot - watts->slots] = out[i].mean_use * clock;
		errors += out[i].model_sd * out[i].model_sd;
		sum_w += out[i].mean_w;
	}
	if (!watts->has_begun || !(sum_w >= METER_SD_W))
		return false;
	for (size_t i = 0; i < look->count; i++) {
		const struct kwhy_watts_slot *slot = slot_of(watts, look->holders[i].owner);
		const double share = out[i].mean_w / sum_w, own = out[i].model_sd * out[i].model_sd;
		const double left_out = (1 - share) * (1 - share) * own +
			share * share * fmax(errors - own, 0);
		const double fit = slot ? fit_sd(watts, used, (size_t)(slot - watts->slots), share, sum_w)
					: 0;

		out[i].share = share;
		out[i].model_sd = hypot(sqrt(left_out) / sum_w, fit);
		out[i].sample_sd = slot ? sqrt(sample_variance(slot, share))
					: sqrt(share * (1 - share) / SAMPLES);
	}
	return true;
}

void kwhy_watts_hand_out(struct kwhy_watts *watts, const struct kwhy_watts_look *look, double energy_j,
	struct kwhy_watts_share *shares)
{
	const double keeps = exp(-look->length_s / GIVEN_S);
	const double above_j = fmax(energy_j - fmax(watts->now.state[IDLE], 0) * look->length_s, 0);
	double modelled_j = 0, given_j = above_j, weights_j = 0;

	for (size_t i = 0; i < look->count; i++) {
		struct kwhy_watts_slot *slot = slot_of(watts, look->holders[i].owner);

		/* a holder without a slot has no earlier energies */
		shares[i].weight_j = shares[i].now_w * look->length_s;
		if (slot) {
			slot->modelled_j = shares[i].weight_j += slot->modelled_j * keeps;
			slot->given_j *= keeps;
			given_j += slot->given_j;
		}
		modelled_j += shares[i].weight_j;
	}
	for (size_t i = 0; i < look->count; i++) {
		const struct kwhy_watts_slot *slot = slot_of(watts, look->holders[i].owner);
		const double due_j = modelled_j > 0 ? given_j * shares[i].weight_j / modelled_j : 0;

		shares[i].weight_j = fmax(due_j - (slot ? slot->given_j : 0), 0);
		weights_j += shares[i].weight_j;
	}
	for (size_t i = 0; i < look->count; i++) {
		struct kwhy_watts_slot *slot = slot_of(watts, look->holders[i].owner);
		const double part = weights_j > 0 ? shares[i].weight_j / weights_j : shares[i].share;

		if (slot)
			slot->given_j += above_j * part;
		shares[i].weight_j = above_j * part + (energy_j - above_j) * shares[i].share;
	}
}

struct kwhy_watts_known kwhy_watts_known_of(const struct kwhy_watts *watts, uint32_t owner)
{
	const struct kwhy_watts_fit *fit = &watts->now;

	for (size_t i = 0; i < watts->count; i++)
		if (watts->slots[i].owner == owner)
			return (struct kwhy_watts_known){.is_known = true,
				.rate_w = fit->state[rate_of(i)],
				.rate_variance = fit->covariance[rate_of(i)][rate_of(i)],
				.other_w = fit->state[other_of(i)],
				.other_variance = fit->covariance[other_of(i)][other_of(i)]};
	return (struct kwhy_watts_known){.is_known = false};
}

bool kwhy_watts_is_settled(const struct kwhy_watts *watts, uint32_t owner)
{
	const struct kwhy_watts_known known = kwhy_watts_known_of(watts, owner);

	for (size_t i = 0; i < watts->count; i++)
		if (watts->slots[i].owner == owner && watts->slots[i].learnt_s < SETTLED_S)
			return false;
	return known.is_known && known.rate_variance < pow(SETTLED_SD * known.rate_w, 2);
}
