/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/apportion.h"
#include "ledger/energy/energy_findings.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/*
 * Largest plausible ratio of an account's power to the enforced power limit. A larger ratio means that the
 * power file and the trace have different clocks, or that the units of the power file are wrong.
 */
#define LIMIT_MAX 1.5

/*
 * Largest double below 2^63, so that llround() fits into an int64_t. The upper end of an interval is limited
 * to it, but is never below the energy itself.
 */
#define HIGHEST_NJ 0x1.fffffffffffffp62

struct writing {
	const struct kwhy_energy_findings *findings;
	struct kwhy_device_ledger *device_ledger;
	const struct kwhy_account_times *times;
	struct kwhy_apportioner apportioner;
	int64_t *idle_nj; /* [class_count + 2] idle energy of each power class, of idle time and of unrecorded
			     time, in this order */
	double *layers_s; /* [class_count + 2] metered seconds of each power class, of idle time and of
			     unrecorded time; each second without a context counts as the ratio of the idle
			     level without a context to that with one */
	uint32_t *members; /* indices of the accounts of the current power class */
	double *shares;	   /* weights of these accounts: their metered times in ns */
	int64_t *gross, *idle;
};

static enum kwhy_status writing_init(struct writing *writing, struct kwhy_error *error)
{
	size_t accounts = writing->device_ledger->account_count + 1;
	size_t classes = writing->findings->apportioned->class_count + 2;

	writing->idle_nj = calloc(classes, sizeof(*writing->idle_nj));
	writing->layers_s = calloc(classes, sizeof(*writing->layers_s));
	writing->members = calloc(accounts, sizeof(*writing->members));
	writing->shares = calloc(accounts, sizeof(*writing->shares));
	writing->gross = calloc(accounts, sizeof(*writing->gross));
	writing->idle = calloc(accounts, sizeof(*writing->idle));
	if (!writing->idle_nj || !writing->layers_s || !writing->members || !writing->shares ||
		!writing->gross || !writing->idle)
		return kwhy_fail_memory(error, "the ledger");
	return kwhy_apportioner_init(&writing->apportioner, accounts > classes ? accounts : classes, error);
}

static void writing_done(struct writing *writing)
{
	kwhy_apportioner_done(&writing->apportioner);
	free(writing->idle_nj);
	free(writing->layers_s);
	free(writing->members);
	free(writing->shares);
	free(writing->gross);
	free(writing->idle);
}

/*
 * Idle level without a context: inferred from the readings, else stated in the recording, else in the
 * profile. It is never above the level with a context. NAN: unknown.
 */
static double clean_level(const struct kwhy_energy_findings *findings)
{
	int64_t stated_mw = findings->recording->devices[findings->device].clean_idle_mw;
	uint32_t clean = findings->classes->clean;
	double clean_w = NAN;

	if (clean != KWHY_NONE)
		clean_w = fmax(0, findings->powers->idle_w + findings->powers->net_w[clean]);
	else if (stated_mw > 0) /* as a device always draws power, 0 W is no level */
		clean_w = (double)stated_mw * 1e-3;
	else if (findings->profile)
		clean_w = findings->profile->clean_idle_w.value;
	return isnan(clean_w) ? NAN : fmin(clean_w, findings->powers->idle_w);
}

/*
 * Divides the metered energy into clean idle, context idle and net energy. Apportions the two idle parts
 * together among the power classes, idle time and unrecorded time.
 */
static void write_layers(struct writing *writing)
{
	const struct kwhy_apportioned *apportioned = writing->findings->apportioned;
	struct kwhy_device_energy *energy = &writing->device_ledger->energy;
	double idle_w = writing->findings->powers->idle_w, clean_w = clean_level(writing->findings);
	uint32_t clean = writing->findings->classes->clean;
	double seen_s = 0, layer_s = 0;
	int64_t idle_nj;

	for (size_t c = 0; c <= apportioned->class_count + 1; c++) {
		seen_s += apportioned->base_unscaled_s[c];
		writing->layers_s[c] = apportioned->base_unscaled_s[c];
		if (c == clean && idle_w > 0)
			writing->layers_s[c] *= clean_w / idle_w;
		layer_s += writing->layers_s[c];
	}
	idle_nj = llround(idle_w * layer_s * 1e9);
	kwhy_apportion(&writing->apportioner, idle_nj, writing->layers_s, apportioned->class_count + 2,
		apportioned->class_count, writing->idle_nj);
	energy->clean_idle_measured = clean != KWHY_NONE;
	energy->clean_idle_w = clean_w;
	energy->context_idle_w = writing->findings->powers->idle_w;
	energy->clean_idle_nj = isnan(clean_w) ? KWHY_UNKNOWN_NJ : llround(clean_w * seen_s * 1e9);
	energy->context_idle_nj = isnan(clean_w) ? idle_nj : idle_nj - energy->clean_idle_nj;
	energy->net_nj = energy->measured_nj - idle_nj;
}

static bool is_idle(const struct kwhy_account *account)
{
	return account->is_probing_idle || (kwhy_category_is_idle(account->category) && !account->is_clean);
}

/*
 * Lists the accounts of a power class, with their metered times, in `members` and `shares`. Class class_count
 * stands for the accounts of idle time with a context. Returns the number of accounts.
 */
static size_t list_members(struct writing *writing, size_t class)
{
	const struct kwhy_device_ledger *device_ledger = writing->device_ledger;
	bool idle = class == writing->findings->apportioned->class_count;
	size_t count = 0;

	for (size_t i = 0; i < device_ledger->account_count; i++) {
		const struct kwhy_account *account = &device_ledger->accounts[i];

		if (idle ? !is_idle(account) : account->power_class != class)
			continue;
		writing->members[count] = (uint32_t)i;
		writing->shares[count] = writing->times->inside_ns[i];
		writing->gross[count] = writing->idle[count] = 0;
		count++;
	}
	return count;
}

/*
 * Writes the 90 % interval of an account's gross energy, from that of its power class. If the class has
 * several accounts (`pooled`), its energy is divided among them by time, so that an account's own power is
 * known only to the standard deviation of the prior; the interval is widened by this and, always, by the
 * uncertainty of the metered total.
 */
static void write_interval(
	const struct writing *writing, struct kwhy_account *account, size_t class, bool pooled)
{
	const struct kwhy_energy_draws *draws = writing->findings->draws;
	double apportioned = (double)writing->findings->apportioned->gross_nj[class];
	double gross = (double)account->gross_nj, below = 0, above = 0;
	double sampling = writing->findings->total->sampling_ratio;

	if (apportioned > 0) {
		below = 1 - draws->low_nj[class] / apportioned;
		above = draws->high_nj[class] / apportioned - 1;
	}
	if (pooled && gross > 0) {
		double net_ratio = fmax(0, 1 - (double)account->idle_nj / gross);
		double own = 1.645 * writing->findings->classes->priors[class].sd * net_ratio;

		below = fmin(hypot(below, own), net_ratio > 0 ? fmax(below, net_ratio) : below);
		above = hypot(above, own);
	}
	below = fmin(hypot(below, sampling), fmax(below, 1));
	above = hypot(above, sampling);
	account->low_nj = llround(gross * (1 - below));
	account->high_nj = llround(fmin(gross * (1 + above), HIGHEST_NJ));
}

/*
 * Multiplies the weight of idle time before and after the activities by outside_ratio, which is above 1 if
 * idle was elevated there.
 */
static void weigh_outside(struct writing *writing, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct kwhy_account *account = &writing->device_ledger->accounts[writing->members[i]];

		if (account->category == KWHY_CATEGORY_OUTSIDE && !account->is_clean)
			writing->shares[i] *= writing->times->outside_ratio;
	}
}

/*
 * Writes the mean power over the account's metered time, inside_ns. The account of time before and after the
 * activities also gets inside_ns as its time: its former time is that of all meters of the recording, of
 * which the chosen meter may cover less.
 */
static void write_power(struct kwhy_account *account, double inside_ns)
{
	if (!(inside_ns > 0))
		return;
	account->mean_power_mw = llround((double)account->gross_nj / inside_ns * 1e3);
	if (account->category == KWHY_CATEGORY_OUTSIDE)
		account->time_ns = llround(inside_ns);
}

static void write_class(struct writing *writing, size_t class)
{
	size_t count = list_members(writing, class);
	int64_t gross_nj = writing->findings->apportioned->gross_nj[class];
	bool pooled = class < writing->findings->apportioned->class_count &&
		writing->findings->classes->priors[class].account_count > 1;

	if (count == 0)
		return;
	kwhy_apportion(&writing->apportioner, writing->idle_nj[class], writing->shares, count, count - 1,
		writing->idle);
	weigh_outside(writing, count);
	kwhy_apportion(&writing->apportioner, gross_nj, writing->shares, count, count - 1, writing->gross);
	for (size_t i = 0; i < count; i++) {
		struct kwhy_account *account = &writing->device_ledger->accounts[writing->members[i]];

		account->gross_nj = writing->gross[i];
		account->idle_nj = writing->idle[i];
		account->net_nj = account->gross_nj - account->idle_nj;
		write_power(account, writing->times->inside_ns[writing->members[i]]);
		if (kwhy_category_is_idle(account->category) && account->category != KWHY_CATEGORY_OUTSIDE)
			writing->device_ledger->energy.execution_idle_nj += account->gross_nj;
		write_interval(writing, account, class, pooled);
	}
}

/* Writes the energy of the account of unrecorded time: metered time in which it is unknown what ran. */
static void write_unrecorded(struct writing *writing)
{
	const struct kwhy_apportioned *apportioned = writing->findings->apportioned;
	const struct kwhy_energy_draws *draws = writing->findings->draws;
	size_t unrecorded = apportioned->class_count + 1;

	writing->device_ledger->energy.between_nj = llround(fmin(writing->times->between_nj, 0x1p62));
	writing->device_ledger->energy.between_ns = llround(fmin(writing->times->between_ns, 0x1p62));
	for (size_t i = 0; i < writing->device_ledger->account_count; i++) {
		struct kwhy_account *account = &writing->device_ledger->accounts[i];
		double inside_ns = writing->times->inside_ns[i];

		if (account->category != KWHY_CATEGORY_UNRECORDED)
			continue;
		account->gross_nj = apportioned->gross_nj[unrecorded];
		account->idle_nj = writing->idle_nj[unrecorded];
		account->net_nj = account->gross_nj - account->idle_nj;
		account->low_nj = llround(draws->unrecorded_low_nj);
		account->high_nj = llround(fmin(draws->unrecorded_high_nj, HIGHEST_NJ));
		account->basis = KWHY_BASIS_DATA;
		if (inside_ns > 0)
			account->mean_power_mw = llround((double)account->gross_nj / inside_ns * 1e3);
	}
}

/*
 * Time in ns of the run (from the start of its first activity to the end of its last) that lies outside the
 * metered intervals.
 */
static double unmetered_ns(const struct writing *writing)
{
	const struct kwhy_metered_total *total = writing->findings->total;
	const struct kwhy_device_time *time = &writing->device_ledger->time;
	const double lag_ns = (double)kwhy_energy_lag_ns(writing->findings);
	double rest_ns = (double)time->last_ns - (double)time->first_ns;

	for (size_t i = 0; i < total->count; i++) {
		double from_ns = fmax((double)total->intervals[i].start_ns - lag_ns, (double)time->first_ns);
		double to_ns = fmin((double)total->intervals[i].end_ns - lag_ns, (double)time->last_ns);

		rest_ns -= fmax(0, to_ns - from_ns);
	}
	return fmax(0, rest_ns);
}

/*
 * Mean power of a power class over its metered time, inside_ns; if that is 0, the fitted power. Class
 * class_count is idle time.
 */
static double mean_power_w(const struct writing *writing, size_t class, double inside_ns)
{
	const struct kwhy_powers *powers = writing->findings->powers;
	bool idle = class == writing->findings->apportioned->class_count;

	if (inside_ns > 0)
		return (double)writing->findings->apportioned->gross_nj[class] / inside_ns;
	return powers->idle_w + (idle ? 0 : powers->net_w[class]);
}

/*
 * Estimates the energy of the recorded but unmetered time of the run (edge_nj, edge_ns): for each power
 * class, the time of its accounts outside the metered intervals times its mean power. Time before and after
 * the run adds no energy.
 */
static void write_edges(struct writing *writing)
{
	const struct kwhy_account_times *times = writing->times;
	double rest_ns = unmetered_ns(writing), edge_nj = 0, modelled_nj = 0, unseen_ns = 0;

	for (size_t c = 0; c <= writing->findings->apportioned->class_count; c++) {
		size_t count = list_members(writing, c);
		double inside_ns = 0, outside_ns = 0;

		for (size_t i = 0; i < count; i++) {
			const struct kwhy_account *account = &writing->device_ledger
								      ->accounts[writing->members[i]];

			inside_ns += writing->shares[i];
			if (account->category != KWHY_CATEGORY_OUTSIDE &&
				account->category != KWHY_CATEGORY_PROBING)
				outside_ns += fmax(0,
					(double)account->time_ns - writing->shares[i] -
						times->unrecorded_ns[writing->members[i]]);
		}
		/*
		 * Metered idle time is counted as the meter's low-pass shows it, shifted and blurred. Total
		 * idle time minus metered idle time, outside_ns, may thus be longer than the unmetered time
		 * of the run.
		 */
		if (c == writing->findings->apportioned->class_count)
			outside_ns = fmin(outside_ns, rest_ns);
		edge_nj += outside_ns * mean_power_w(writing, c, inside_ns);
		modelled_nj += outside_ns * mean_power_w(writing, c, 0);
		unseen_ns += outside_ns;
	}
	writing->device_ledger->curve.unmetered_scale = modelled_nj > 0 ? edge_nj / modelled_nj : 1;
	/* time of kwhy probe is not part of the run, so it is no unmetered time of the run either */
	if (writing->device_ledger->time.probing_ns > 0)
		rest_ns = fmin(rest_ns, unseen_ns);
	writing->device_ledger->energy.edge_nj = llround(fmin(edge_nj, 0x1p62));
	writing->device_ledger->energy.edge_ns = llround(fmin(rest_ns, 0x1p62));
}

/*
 * Highest reading in W from the first to the last metered interval, by the best power meter that has readings
 * there; NAN: none has.
 */
static double highest_sample(const struct kwhy_energy_findings *findings)
{
	const struct kwhy_meter_list powers = kwhy_meters_ranked(KWHY_METER_OF_DEVICE, KWHY_METER_POWERS);
	const struct kwhy_metered_total *total = findings->total;
	int64_t start_ns = total->intervals[0].start_ns, end_ns = total->intervals[total->count - 1].end_ns;
	double highest_w = NAN;

	for (size_t m = 0; m < powers.count && isnan(highest_w); m++) {
		const struct kwhy_power_series *series = findings->meters->series[powers.items[m]];

		for (size_t i = 0; series && i < series->count; i++)
			if (series->time_ns[i] >= start_ns && series->time_ns[i] <= end_ns)
				highest_w = fmax(highest_w, (double)series->value[i] * 1e-3);
	}
	return highest_w;
}

/*
 * Mean power of an account at the lower end of its 90 % interval. An account is marked as above a limit only
 * if this power is above the limit.
 */
static double sure_power_w(const struct kwhy_account *account)
{
	const double power_w = (double)account->mean_power_mw * 1e-3;

	return account->low_nj != KWHY_UNKNOWN_NJ && account->gross_nj > 0
		? power_w * (double)account->low_nj / (double)account->gross_nj
		: power_w;
}

static enum kwhy_status check_power(
	struct writing *writing, struct kwhy_account *account, struct kwhy_error *error)
{
	const struct kwhy_device *device = &writing->findings->recording->devices[writing->findings->device];
	double highest_w = writing->device_ledger->energy.highest_sample_w;
	double power_w = (double)account->mean_power_mw * 1e-3, limit_w = (double)device->limit_mw * 1e-3,
	       least_w = (double)account->low_nj / (double)account->time_ns, sure_w = sure_power_w(account);

	if (account->mean_power_mw < 0)
		return KWHY_OK;
	account->above_samples = sure_w > highest_w;
	account->above_limit = device->limit_mw > 0 && sure_w > limit_w;
	/*
	 * the account of unrecorded time gets the energy that the other accounts leave, which may be far too
	 * high if the energies of the other accounts are uncertain
	 */
	if (!account->above_limit || !(least_w > LIMIT_MAX * limit_w) ||
		account->category == KWHY_CATEGORY_UNRECORDED)
		return KWHY_OK;
	/*
	 * If the trace itself contains all readings, their clock is right. Then the run was too short for the
	 * meter, and only the idle part of the account's energy is sure.
	 */
	if (writing->findings->recording->power_file_count == 0) {
		account->low_nj = account->idle_nj < account->low_nj ? account->idle_nj : account->low_nj;
		return KWHY_OK;
	}
	return kwhy_fail(error, KWHY_E_INPUT,
		"%.60s would have drawn %.0f W on device %" PRId32
		", whose power limit is %.0f W; the power file has another clock or other units than the "
		"trace",
		account->name, power_w, device->index, limit_w);
}

enum kwhy_status kwhy_energy_write_accounts(struct kwhy_ledger *ledger,
	const struct kwhy_energy_findings *findings, const struct kwhy_account_times *times,
	struct kwhy_error *error)
{
	struct writing writing = {
		.findings = findings,
		.device_ledger = &ledger->devices[findings->device],
		.times = times,
	};
	enum kwhy_status status = writing_init(&writing, error);

	if (!status) {
		writing.device_ledger->energy.execution_idle_nj = 0;
		writing.device_ledger->energy.highest_sample_w = highest_sample(findings);
		write_layers(&writing);
		for (size_t c = 0; c <= findings->apportioned->class_count; c++)
			write_class(&writing, c);
		write_unrecorded(&writing);
		write_edges(&writing);
	}
	for (size_t i = 0; !status && i < writing.device_ledger->account_count; i++)
		status = check_power(&writing, &writing.device_ledger->accounts[i], error);
	writing_done(&writing);
	return status;
}
