/* SPDX-License-Identifier: Apache-2.0 */
#include "owners/sharing.h"

#include "owners/holders.h"

#include <math.h>

#define PERCENT 100.0
#define PERMILLE 1000.0
/*
 * The power of an owner is stored again if its rate differs from the stored rate by more than the share
 * STORED_RATE of the stored rate, or if its other power or the standard deviation of its rate differs from
 * the stored value by more than the share STORED_SD of the stored value.
 */
#define STORED_RATE 0.02
#define STORED_SD 0.2

/* A window in the form that the filter (owners/watts.h) takes. */
struct seen {
	struct kwhy_watts_look look;
	struct kwhy_watts_holder holders[KWHY_HOLDERS_MAX];
};

static void see(
	const struct kwhy_share_window *window, const struct kwhy_sharing_look *look, struct seen *out)
{
	const double length_s = (double)window->length_ns * 1e-9;

	out->look = (struct kwhy_watts_look){
		.power_w = window->length_ns > 0 ? (double)window->energy_nj * 1e-9 / length_s : NAN,
		.low_w = window->low_w,
		.length_s = length_s,
		.clock_hz = look->clock_hz,
		.busy = window->busy_permille < 0 ? NAN : (double)window->busy_permille / PERMILLE,
		.has_uses = look->has_uses,
		.is_repeated = look->is_repeated,
		.holders = out->holders,
		.count = window->holder_count};
	for (size_t i = 0; i < window->holder_count; i++)
		out->holders[i] = (struct kwhy_watts_holder){
			window->holders[i].owner, window->holders[i].busy_percent / PERCENT};
}

/*
 * Finds the account of an owner. At the first call for an owner it also reads from the file what earlier
 * servers learnt of the owner's power.
 */
static enum kwhy_status account_of(struct kwhy_sharing *sharing, uint32_t owner,
	struct kwhy_owner_account **out, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_accounts_account(sharing->accounts, owner, sharing->meter, out, error);
	struct kwhy_owner_account *account = *out;
	size_t count;

	if (status || account->is_looked_up)
		return status;
	account->is_looked_up = true;
	if (!sharing->store)
		return KWHY_OK;
	status = kwhy_store_find_power(sharing->store,
		&kwhy_accounts_rows(sharing->accounts, &count)[owner].owner, sharing->meter_key,
		&account->power, error);
	account->stored_power = account->power;
	return status;
}

/* Gives the filter the holders of the device, and what the accounts have of the power of each holder. */
static enum kwhy_status list(struct kwhy_sharing *sharing, const struct seen *seen, struct kwhy_error *error)
{
	struct kwhy_watts_known known[KWHY_HOLDERS_MAX];

	for (size_t i = 0; i < seen->look.count; i++) {
		struct kwhy_owner_account *account;
		enum kwhy_status status = account_of(sharing, seen->holders[i].owner, &account, error);

		if (status)
			return status;
		known[i] = account->power;
	}
	kwhy_watts_list(&sharing->watts, &seen->look, known);
	return KWHY_OK;
}

static enum kwhy_status add(struct kwhy_sharing *sharing, const struct kwhy_share_of *of,
	const struct kwhy_bounds_errors *errors, struct kwhy_error *error)
{
	struct kwhy_owner_account *account;
	struct kwhy_share share = of->share;
	enum kwhy_status status = kwhy_accounts_account(
		sharing->accounts, of->owner, sharing->meter, &account, error);

	if (status)
		return status;
	kwhy_bounds_add(&account->bounds, errors, &share);
	return kwhy_accounts_add(sharing->accounts, of->owner, sharing->meter, &share, error);
}

enum kwhy_status kwhy_sharing_divide(struct kwhy_sharing *sharing, const struct kwhy_share_window *window,
	const struct kwhy_sharing_look *look, struct kwhy_error *error)
{
	struct kwhy_share_window modelled = *window;
	struct kwhy_share_of shares[KWHY_HOLDERS_MAX];
	struct kwhy_watts_share powers[KWHY_HOLDERS_MAX];
	double weights[KWHY_HOLDERS_MAX], mean_percent[KWHY_HOLDERS_MAX];
	struct seen seen;
	enum kwhy_status status;
	size_t count;

	see(window, look, &seen);
	status = list(sharing, &seen, error);
	if (!status && window->holder_count > 1 && kwhy_watts_divide(&sharing->watts, &seen.look, powers)) {
		kwhy_watts_hand_out(&sharing->watts, &seen.look, (double)window->energy_nj * 1e-9, powers);
		for (size_t i = 0; i < window->holder_count; i++) {
			weights[i] = powers[i].weight_j;
			mean_percent[i] = powers[i].mean_use * PERCENT;
		}
		modelled.weights = weights;
		modelled.mean_percent = mean_percent;
	}
	count = kwhy_share_divide(&modelled, shares);
	for (size_t i = 0; !status && i < count; i++) {
		const bool is_modelled = shares[i].rule == KWHY_SHARE_BY_POWER;
		const struct kwhy_bounds_errors errors = {.device_nj = (double)window->energy_nj,
			.model_sd = is_modelled ? powers[i].model_sd : 0,
			.sample_sd = is_modelled ? powers[i].sample_sd : 0,
			.is_repeated = look->is_repeated};

		status = add(sharing, &shares[i], is_modelled ? &errors : NULL, error);
	}
	return status;
}

static bool is_other(double a, double b, double ratio)
{
	return fabs(a - b) > ratio * fabs(b);
}

/*
 * Writes the power that the filter has learnt of each holder into the holder's account, and marks it to be
 * stored (is_power_new) if it differs enough from what was stored (STORED_RATE, STORED_SD).
 */
static enum kwhy_status keep(struct kwhy_sharing *sharing, const struct seen *seen, struct kwhy_error *error)
{
	for (size_t i = 0; i < seen->look.count; i++) {
		const struct kwhy_watts_known known = kwhy_watts_known_of(
			&sharing->watts, seen->holders[i].owner);
		struct kwhy_owner_account *account;
		enum kwhy_status status;

		if (!known.is_known)
			continue;
		status = kwhy_accounts_account(
			sharing->accounts, seen->holders[i].owner, sharing->meter, &account, error);
		if (status)
			return status;
		account->power = known;
		account->is_power_new = !account->stored_power.is_known ||
			is_other(known.rate_w, account->stored_power.rate_w, STORED_RATE) ||
			is_other(known.other_w, account->stored_power.other_w, STORED_SD) ||
			is_other(sqrt(known.rate_variance), sqrt(account->stored_power.rate_variance),
				STORED_SD);
	}
	return KWHY_OK;
}

enum kwhy_status kwhy_sharing_learn(struct kwhy_sharing *sharing, const struct kwhy_share_window *window,
	const struct kwhy_sharing_look *look, struct kwhy_error *error)
{
	struct seen seen;
	enum kwhy_status status;

	if (!window->holder_count)
		return KWHY_OK;
	see(window, look, &seen);
	status = list(sharing, &seen, error);
	if (status)
		return status;
	kwhy_watts_learn(&sharing->watts, &seen.look);
	return keep(sharing, &seen, error);
}
