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
	double delay_s; /* part of the meter's delay that the time stamps in `total` still contain */
	const struct kwhy_power_classes *classes;
	const struct kwhy_powers *powers;
	const struct kwhy_apportioned *apportioned;
	const struct kwhy_energy_draws *draws;
};

/*
 * Lag of the meter in ns: its delay plus the time constant of its low-pass. Events appear in an interval
 * later than they happened, by this lag.
 */
int64_t kwhy_energy_lag_ns(const struct kwhy_energy_findings *findings);

/*
 * Times of every account, idle accounts included, [account_count]: its recorded time inside the metered
 * intervals, and its unrecorded time.
 */
struct kwhy_account_times {
	double *inside_ns, *unrecorded_ns;
	double outside_ratio; /* ratio of the mean power before and after the activities to the idle level */
	double between_ns,
		between_nj; /* metered unrecorded time between first and last activity, and its energy */
};

KWHY_MUST_USE enum kwhy_status kwhy_energy_times(struct kwhy_account_times *times,
	const struct kwhy_energy_findings *findings, const struct kwhy_device_ledger *device_ledger,
	struct kwhy_error *error);
void kwhy_account_times_done(struct kwhy_account_times *times);

/*
 * Writes the gross, idle and net energy of every account in whole nanojoules, their 90 % intervals, the
 * mean powers, and the device's clean and context idle energy.
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
