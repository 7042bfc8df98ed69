/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_ENERGY_FINDINGS_H
#define KWHY_LEDGER_ENERGY_ENERGY_FINDINGS_H

#include "ledger/energy/energy_draws.h"
#include "ledger/parts.h"

/* What is known of one device's energy when its accounts are written. */
struct kwhy_energy_findings {
	const struct kwhy_recording *recording;
	uint32_t device;
	const struct kwhy_profile *profile; /* NULL: no profile */
	const struct kwhy_device_meters *meters;
	const struct kwhy_covered *covered;
	const struct kwhy_metered_total *total;
	double delay_s; /* remaining delay, in s, of the intervals in `total` against the activities' clock */
	const struct kwhy_power_classes *classes;
	const struct kwhy_powers *powers;
	const struct kwhy_apportioned *apportioned;
	const struct kwhy_energy_draws *draws;
};

/*
 * Lag of the meter in ns: its delay plus the time constant of its low-pass; 0 after deconvolution. The
 * metered intervals show events this much later than they happened.
 */
int64_t kwhy_energy_lag_ns(const struct kwhy_energy_findings *findings);

/*
 * Times of every account, idle accounts included, [account_count]. inside_ns: recorded time inside the
 * metered intervals; for the account of unrecorded time, its metered time. unrecorded_ns: time of its
 * activities outside the recorded windows.
 */
struct kwhy_account_times {
	double *inside_ns, *unrecorded_ns;
	double outside_ratio; /* mean power of idle time with a context before and after the activities,
				 divided by the idle level */
	double between_ns, between_nj; /* unrecorded time between first and last activity inside the metered
					  intervals, and its energy */
};

KWHY_MUST_USE enum kwhy_status kwhy_energy_times(struct kwhy_account_times *times,
	const struct kwhy_energy_findings *findings, const struct kwhy_device_ledger *device_ledger,
	struct kwhy_error *error);
void kwhy_account_times_done(struct kwhy_account_times *times);

/*
 * Writes gross, idle and net energy of every account in whole nanojoules, their 90 % intervals, the mean
 * powers, and the device's clean and context idle, execution idle and unmetered energy. KWHY_E_INPUT: an
 * account's power is far above the power limit, so that the power file has a wrong clock or unit.
 */
KWHY_MUST_USE enum kwhy_status kwhy_energy_write_accounts(struct kwhy_ledger *ledger,
	const struct kwhy_energy_findings *findings, const struct kwhy_account_times *times,
	struct kwhy_error *error);

/*
 * Writes the power classes of the device, their groups, and the basis of every account. Called after
 * kwhy_energy_write_accounts().
 */
KWHY_MUST_USE enum kwhy_status kwhy_energy_write_groups(
	struct kwhy_ledger *ledger, const struct kwhy_energy_findings *findings, struct kwhy_error *error);

/* Writes the ledger's energy curve: the ratio of metered to modelled energy of each interval. */
KWHY_MUST_USE enum kwhy_status kwhy_energy_write_curve(
	struct kwhy_ledger *ledger, const struct kwhy_energy_findings *findings, struct kwhy_error *error);

#endif
