/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/energy_assumed.h"

#include "ledger/saturate.h"
#include "model/counter.h"

#include <math.h>
#include <stdlib.h>

/* Energy in nJ of watts over nanoseconds, limited to the largest energy that a ledger may have. */
static int64_t energy_nj(double power_w, int64_t time_ns)
{
	double energy = power_w * (double)time_ns;

	return energy < 0x1p62 ? llround(energy) : INT64_MAX / 2;
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
 * Direction of each account's copies, taken from its first copy. All copies of an account have the same
 * direction, unless a person gave one name to copies of several directions.
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

static void price(struct kwhy_account *account, double power_w, double idle_w)
{
	account->basis = KWHY_BASIS_MODELLED;
	account->gross_nj = energy_nj(power_w, account->time_ns);
	account->mean_power_mw = llround(power_w * 1e3);
	if (isnan(idle_w))
		return;
	account->idle_nj = energy_nj(fmin(idle_w, power_w), account->time_ns);
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

static void price_all(struct kwhy_device_ledger *device_ledger, const struct kwhy_assumed_powers *assumed,
	const uint8_t *kinds)
{
	struct kwhy_device_energy *energy = &device_ledger->energy;
	double idle_w = idle_power(assumed);

	for (size_t i = 0; i < device_ledger->account_count; i++) {
		struct kwhy_account *account = &device_ledger->accounts[i];
		double power_w = power_of(assumed, account, kinds[i]);

		if (isnan(power_w) || account->category == KWHY_CATEGORY_UNRECORDED)
			continue;
		if (!energy->known)
			unknown_layers(energy, idle_w);
		price(account, power_w, idle_w);
		energy->attributed_nj = kwhy_saturate_add(energy->attributed_nj, account->gross_nj);
		if (kwhy_category_is_idle(account->category))
			energy->execution_idle_nj = kwhy_saturate_add(
				energy->execution_idle_nj, account->gross_nj);
		if (kwhy_category_is_idle(account->category))
			continue;
		account->power_class = (uint32_t)device_ledger->class_count;
		device_ledger->classes[device_ledger->class_count++] = (struct kwhy_power_class){
			.power_w = power_w,
			.low_w = NAN,
			.high_w = NAN,
			.prior_power_w = power_w,
			.spread = NAN};
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
	uint32_t device, const struct kwhy_assumed_powers *assumed, struct kwhy_error *error)
{
	struct kwhy_device_ledger *device_ledger = &ledger->devices[device];
	uint8_t *kinds;

	if (!are_possible(assumed))
		return kwhy_fail(error, KWHY_E_INPUT,
			"an assumed power is negative or more than any device draws; give watts");
	device_ledger->classes = kwhy_arena_alloc(
		&ledger->arena, device_ledger->account_count + 1, sizeof(*device_ledger->classes));
	kinds = copy_kinds(device_ledger, &recording->activities, device);
	if (!device_ledger->classes || !kinds) {
		free(kinds);
		return kwhy_fail_memory(error, "assumed powers");
	}
	price_all(device_ledger, assumed, kinds);
	device_ledger->energy.start_ns = device_ledger->time.first_ns;
	device_ledger->energy.end_ns = device_ledger->time.last_ns;
	device_ledger->energy.metered_ns = device_ledger->energy.end_ns - device_ledger->energy.start_ns -
		device_ledger->time.unrecorded_ns;
	free(kinds);
	return KWHY_OK;
}
