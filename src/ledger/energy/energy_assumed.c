/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/energy_assumed.h"

#include "ledger/energy/power_level.h"
#include "ledger/saturate.h"
#include "model/counter.h"

#include <math.h>
#include <stdlib.h>

/* Rounds to whole nJ; energies of 2^62 nJ and more become INT64_MAX / 2. */
static int64_t limited_nj(double energy_nj)
{
	return energy_nj < 0x1p62 ? llround(energy_nj) : INT64_MAX / 2;
}

static double power_of(
	const struct kwhy_assumed_powers *assumed, const struct kwhy_account *account, uint8_t copy_kind)
{
	bool idle = kwhy_category_is_idle(account->category);
	double power_w = assumed->category_w[idle ? KWHY_CATEGORY_IDLE : account->category];

	if (account->category == KWHY_CATEGORY_COPY && !isnan(assumed->copy_w[copy_kind]))
		power_w = assumed->copy_w[copy_kind];
	return isnan(power_w) ? assumed->all_w : power_w;
}

static double idle_power(const struct kwhy_assumed_powers *assumed)
{
	double power_w = assumed->category_w[KWHY_CATEGORY_IDLE];

	return isnan(power_w) ? assumed->all_w : power_w;
}

/*
 * Direction (enum kwhy_copy_kind) of each account's copies, taken from the account's first copy. All copies
 * of an account have the same direction, unless a person gave one name to copies of several directions. The
 * caller frees the array. NULL: out of memory.
 */
static uint8_t *copy_kinds(
	const struct kwhy_device_ledger *device_ledger, const struct kwhy_activities *rows, uint32_t device)
{
	uint8_t *kinds = calloc(device_ledger->account_count + 1, sizeof(*kinds));

	for (size_t i = rows->first[device + 1]; kinds && i-- > rows->first[device];)
		if (rows->kind[i] == KWHY_ACTIVITY_COPY)
			kinds[device_ledger->account_of[i - rows->first[device]]] = rows->copy_kind[i];
	return kinds;
}

/*
 * Weighted times of each account in ns. At each moment, the accounts whose work runs share the device's
 * power, with shares from 0 to 1. net_ns is the integral over time of an account's share of the power above
 * idle, base_ns that of its share of the idle power.
 */
struct shared_times {
	double *net_ns, *base_ns;
};

/*
 * Sums the weighted times of all accounts. In `levels`, each account is a power class of its own; price_all()
 * writes the power classes of the ledger later.
 */
static enum kwhy_status sum_levels(struct shared_times *times, struct kwhy_power_levels *levels,
	const struct kwhy_recording *recording, uint32_t device, struct kwhy_error *error)
{
	struct kwhy_sweep sweep;
	struct kwhy_sweep_interval stretch;
	int ended;

	kwhy_sweep_init(&sweep, recording, device, KWHY_UNKNOWN_TIME, KWHY_UNKNOWN_TIME, NULL, 0);
	while ((ended = kwhy_sweep_next(&sweep, &stretch, error)) == 0) {
		const double length_ns = (double)(stretch.end_ns - stretch.start_ns);

		kwhy_power_levels_follow(levels, &stretch);
		kwhy_power_levels_weigh(levels, true, false);
		for (size_t i = 0; i < levels->active_count; i++) {
			const uint32_t account = levels->active[i];

			times->net_ns[account] += levels->net[account] * length_ns;
			times->base_ns[account] += levels->base[account] * length_ns;
		}
	}
	kwhy_sweep_done(&sweep);
	return ended < 0 ? error->status : KWHY_OK;
}

/*
 * Computes the weighted times of the accounts of activities. Concurrent activities share the power as in the
 * model by which metered energy is divided (power_level.h).
 */
static enum kwhy_status share_times(struct shared_times *times, struct kwhy_device_ledger *device_ledger,
	const struct kwhy_recording *recording, uint32_t device, uint32_t sm_count, struct kwhy_error *error)
{
	const size_t count = device_ledger->account_count;
	struct kwhy_power_classes classes = {
		.priors = calloc(count + 1, sizeof(*classes.priors)), .count = count, .clean = KWHY_NONE};
	struct kwhy_power_levels levels = {0};
	enum kwhy_status status = KWHY_OK;

	times->net_ns = calloc(count + 1, sizeof(*times->net_ns));
	times->base_ns = calloc(count + 1, sizeof(*times->base_ns));
	if (!classes.priors || !times->net_ns || !times->base_ns)
		status = kwhy_fail_memory(error, "assumed powers");
	for (size_t i = 0; !status && i < count; i++) {
		const uint32_t category = device_ledger->accounts[i].category;

		classes.priors[i].beside = category == KWHY_CATEGORY_COPY || category == KWHY_CATEGORY_MEMSET;
		device_ledger->accounts[i].power_class = (uint32_t)i;
	}
	if (!status)
		status = kwhy_power_levels_init(
			&levels, device_ledger, &classes, recording, device, sm_count, error);
	if (!status)
		status = sum_levels(times, &levels, recording, device, error);
	for (size_t i = 0; i < count; i++)
		device_ledger->accounts[i].power_class = KWHY_NONE;
	kwhy_power_levels_done(&levels);
	free(classes.priors);
	return status;
}

static void shared_times_done(struct shared_times *times)
{
	free(times->net_ns);
	free(times->base_ns);
}

/*
 * Computes an account's energy from its weighted times. power_w is the power of its work when it runs alone;
 * while other work runs at the same time, the account has only a share of that. idle_w is NAN if no idle
 * power was assumed; then idle and net energy stay unknown.
 */
static void price(struct kwhy_account *account, double power_w, double idle_w, double net_ns, double base_ns)
{
	const double floor_w = isnan(idle_w) ? 0 : idle_w;
	const double gross = fmax(0, (power_w - floor_w) * net_ns + floor_w * base_ns);

	account->basis = KWHY_BASIS_MODELLED;
	account->gross_nj = limited_nj(gross);
	account->mean_power_mw = account->time_ns > 0 ? llround(gross / (double)account->time_ns * 1e3)
						      : llround(power_w * 1e3);
	if (isnan(idle_w))
		return;
	account->idle_nj = limited_nj(fmin(floor_w * base_ns, gross));
	account->net_nj = account->gross_nj - account->idle_nj;
}

static void unknown_layers(struct kwhy_device_energy *energy, double idle_w)
{
	energy->known = energy->modelled = true;
	energy->source = "modelled";
	energy->attributed_nj = 0;
	energy->edge_nj = 0;
	energy->execution_idle_nj = 0;
	energy->context_idle_w = idle_w;
}

static void add_class(struct kwhy_device_ledger *device_ledger, struct kwhy_account *account, double power_w)
{
	account->power_class = (uint32_t)device_ledger->class_count;
	device_ledger->classes[device_ledger->class_count++] = (struct kwhy_power_class){
		.power_w = power_w, .low_w = NAN, .high_w = NAN, .prior_power_w = power_w, .spread = NAN};
}

static void price_all(struct kwhy_device_ledger *device_ledger, const struct kwhy_assumed_powers *assumed,
	const uint8_t *kinds, const struct shared_times *times)
{
	struct kwhy_device_energy *energy = &device_ledger->energy;
	double idle_w = idle_power(assumed);

	for (size_t i = 0; i < device_ledger->account_count; i++) {
		struct kwhy_account *account = &device_ledger->accounts[i];
		double power_w = power_of(assumed, account, kinds[i]), time_ns = (double)account->time_ns;

		if (isnan(power_w) || account->category == KWHY_CATEGORY_UNRECORDED)
			continue;
		if (!energy->known)
			unknown_layers(energy, idle_w);
		if (account->is_probing_idle || kwhy_category_is_idle(account->category)) {
			price(account, power_w, idle_w, time_ns, time_ns);
		} else {
			price(account, power_w, idle_w, times->net_ns[i], times->base_ns[i]);
			add_class(device_ledger, account, power_w);
		}
		if (kwhy_category_is_idle(account->category) && !account->is_probing_idle)
			energy->execution_idle_nj = kwhy_saturate_add(
				energy->execution_idle_nj, account->gross_nj);
		energy->attributed_nj = kwhy_saturate_add(energy->attributed_nj, account->gross_nj);
	}
}

static bool is_possible(double power_w)
{
	return isnan(power_w) || (power_w >= 0 && power_w <= KWHY_POWER_MAX_W);
}

static bool are_possible(const struct kwhy_assumed_powers *assumed)
{
	bool possible = is_possible(assumed->all_w);

	for (int i = 0; i < KWHY_CATEGORY_COUNT; i++)
		possible &= is_possible(assumed->category_w[i]);
	for (int i = 0; i < KWHY_COPY_KIND_COUNT; i++)
		possible &= is_possible(assumed->copy_w[i]);
	return possible;
}

enum kwhy_status kwhy_energy_assume(struct kwhy_ledger *ledger, const struct kwhy_recording *recording,
	uint32_t device, const struct kwhy_ledger_options *options, struct kwhy_error *error)
{
	struct kwhy_device_ledger *device_ledger = &ledger->devices[device];
	struct shared_times times = {0};
	enum kwhy_status status;
	uint8_t *kinds;

	if (!are_possible(&options->assumed))
		return kwhy_fail(error, KWHY_E_INPUT,
			"an assumed power is negative or more than any device draws; give watts");
	device_ledger->classes = kwhy_arena_alloc(
		&ledger->arena, device_ledger->account_count + 1, sizeof(*device_ledger->classes));
	kinds = copy_kinds(device_ledger, &recording->activities, device);
	status = device_ledger->classes && kinds ? KWHY_OK : kwhy_fail_memory(error, "assumed powers");
	if (!status)
		status = share_times(&times, device_ledger, recording, device,
			kwhy_power_sm_count(recording, device, options->profile), error);
	if (!status)
		price_all(device_ledger, &options->assumed, kinds, &times);
	device_ledger->energy.start_ns = device_ledger->time.first_ns;
	device_ledger->energy.end_ns = device_ledger->time.last_ns;
	device_ledger->energy.metered_ns = device_ledger->energy.end_ns - device_ledger->energy.start_ns -
		device_ledger->time.unrecorded_ns;
	shared_times_done(&times);
	free(kinds);
	return status;
}
