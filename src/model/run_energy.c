/* SPDX-License-Identifier: Apache-2.0 */
#include "model/run_energy.h"

#include <math.h>

/* Length of the overlap of the run with the metered window; 0 or less: they do not overlap. */
static int64_t seen_ns(const struct kwhy_device_ledger *device_ledger)
{
	const struct kwhy_device_energy *energy = &device_ledger->energy;
	int64_t from_ns = energy->start_ns > device_ledger->time.first_ns ? energy->start_ns
									  : device_ledger->time.first_ns;
	int64_t to_ns = energy->end_ns < device_ledger->time.last_ns ? energy->end_ns
								     : device_ledger->time.last_ns;

	return to_ns - from_ns;
}

/* Gross energy of an account. It is 0 if unknown, so that sums leave it out. */
static double gross_nj(const struct kwhy_account *account)
{
	return account->gross_nj == KWHY_UNKNOWN_NJ ? 0 : (double)account->gross_nj;
}

/*
 * Energy of the run's unrecorded time, computed from the mean power of the metered part of that time; 0 if
 * all was recorded; NAN: no reading lies in the unrecorded time.
 */
static double between_nj(const struct kwhy_device_ledger *device_ledger)
{
	double metered_ns = (double)device_ledger->energy.between_ns;

	if (device_ledger->time.unrecorded_ns <= 0)
		return 0;
	return metered_ns > 0 ? (double)device_ledger->energy.between_nj *
			fmax(1, (double)device_ledger->time.unrecorded_ns / metered_ns)
			      : NAN;
}

/*
 * Half-width of the 90 % interval of the energy that was metered before and after the run. It adds to the
 * uncertainty of the run's energy, which is computed as all metered energy less that energy.
 */
static double outside_half_nj(const struct kwhy_device_ledger *device_ledger)
{
	double half_nj = 0;

	for (size_t i = 0; i < device_ledger->account_count; i++) {
		const struct kwhy_account *account = &device_ledger->accounts[i];

		if (account->category == KWHY_CATEGORY_OUTSIDE && account->low_nj != KWHY_UNKNOWN_NJ &&
			account->high_nj != KWHY_UNKNOWN_NJ)
			half_nj = hypot(half_nj, ((double)account->high_nj - (double)account->low_nj) / 2);
	}
	return half_nj;
}

/*
 * Highest power, in W, that the device is known to have drawn: the highest power sample or, without samples,
 * the highest mean power of an account. NAN: neither is known.
 */
static double highest_w(const struct kwhy_device_ledger *device_ledger)
{
	double most_w = device_ledger->energy.highest_sample_w;

	if (!isnan(most_w))
		return most_w;
	for (size_t i = 0; i < device_ledger->account_count; i++)
		if (device_ledger->accounts[i].mean_power_mw >= 0)
			most_w = fmax(most_w, (double)device_ledger->accounts[i].mean_power_mw * 1e-3);
	return most_w;
}

/*
 * Sets the interval of the run's energy. The power in unmetered time may be anything from the idle level to
 * the highest known power; its interval is the central 90 % of a uniform distribution between these, extended
 * to include the estimate.
 */
static void set_interval(struct kwhy_run_energy *run, const struct kwhy_device_ledger *device_ledger)
{
	const struct kwhy_device_energy *energy = &device_ledger->energy;
	double unseen_ns = (double)energy->edge_ns;
	double half_nj = hypot(outside_half_nj(device_ledger), energy->sampling_ratio * run->recorded_nj);
	double range_nj = (highest_w(device_ledger) - energy->context_idle_w) * unseen_ns;
	double above_idle_nj = run->unmetered_nj - energy->context_idle_w * unseen_ns;

	run->below_nj = run->above_nj = energy->modelled ? NAN : half_nj;
	if (!(unseen_ns > 0))
		return;
	run->below_nj = hypot(run->below_nj, fmax(above_idle_nj - 0.05 * range_nj, 0.05 * range_nj));
	run->above_nj = hypot(run->above_nj, fmax(0.95 * range_nj - above_idle_nj, 0.05 * range_nj));
}

struct kwhy_run_energy kwhy_run_energy_of(const struct kwhy_device_ledger *device_ledger)
{
	const struct kwhy_device_energy *energy = &device_ledger->energy;
	struct kwhy_run_energy run = {NAN, NAN, NAN, NAN, NAN, NAN};

	if (!kwhy_device_was_active(&device_ledger->time))
		return (struct kwhy_run_energy){0};
	if (!energy->known || seen_ns(device_ledger) <= 0)
		return run;
	run.recorded_unmetered_nj = energy->edge_nj == KWHY_UNKNOWN_NJ ? 0 : (double)energy->edge_nj;
	run.recorded_nj = (double)energy->attributed_nj + run.recorded_unmetered_nj;
	for (size_t i = 0; i < device_ledger->account_count; i++) {
		const struct kwhy_account *account = &device_ledger->accounts[i];

		if (account->category == KWHY_CATEGORY_OUTSIDE ||
			account->category == KWHY_CATEGORY_PROBING ||
			account->category == KWHY_CATEGORY_UNRECORDED)
			run.recorded_nj -= gross_nj(account);
	}
	run.run_nj = run.recorded_nj + between_nj(device_ledger);
	if (isnan(run.run_nj))
		return run;
	run.unmetered_nj = run.recorded_unmetered_nj;
	if (device_ledger->time.unrecorded_ns > 0)
		run.unmetered_nj += between_nj(device_ledger) - (double)energy->between_nj;
	set_interval(&run, device_ledger);
	return run;
}
