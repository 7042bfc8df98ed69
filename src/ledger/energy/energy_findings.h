/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_ENERGY_FINDINGS_H
#define KWHY_LEDGER_ENERGY_ENERGY_FINDINGS_H

#include "ledger/energy/energy_draws.h"
#include "ledger/parts.h"

/* Everything known of one device's energy when its accounts are written. */
struct kwhy_energy_findings {
	const struct kwhy_recording *recording;
	uint32_t device;
	const struct kwhy_profile *profile; /* NULL: none */
	const struct kwhy_device_meters *meters;
	const struct kwhy_covered *covered;
	const struct kwhy_metered_total *total;
	double delay_s; /* of its intervals */
	const struct kwhy_power_classes *classes;
	const struct kwhy_powers *powers;
	const struct kwhy_apportioned *apportioned;
	const struct kwhy_energy_draws *draws;
};

/* By how much what an interval tells of is earlier than it: the delay and the low-pass of its meter. */
int64_t kwhy_energy_lag_ns(const struct kwhy_energy_findings *findings);

/*
 * Time of every account, [account_count]: in known time inside the metered intervals, idle accounts among
 * them, and in unrecorded time.
 */
struct kwhy_account_times {
	double *inside_ns, *unrecorded_ns;
	double outside_ratio; /* what time before and after the activities draws over the idle level; 1: that
			       */
	double between_ns, between_nj; /* of unrecorded time that is metered, what lies in the run */
};

KWHY_MUST_USE enum kwhy_status kwhy_energy_times(struct kwhy_account_times *times,
	const struct kwhy_energy_findings *findings, const struct kwhy_device_ledger *device_ledger,
	struct kwhy_error *error);
void kwhy_account_times_done(struct kwhy_account_times *times);

/* Gross, idle and net of every account, their intervals, mean powers and layers, in whole nanojoules. */
KWHY_MUST_USE enum kwhy_status kwhy_energy_write_accounts(struct kwhy_ledger *ledger,
	const struct kwhy_energy_findings *findings, const struct kwhy_account_times *times,
	struct kwhy_error *error);

/* Classes, groups, and the basis of every account. After the accounts. */
KWHY_MUST_USE enum kwhy_status kwhy_energy_write_groups(
	struct kwhy_ledger *ledger, const struct kwhy_energy_findings *findings, struct kwhy_error *error);

/* Metered over modelled by interval. */
KWHY_MUST_USE enum kwhy_status kwhy_energy_write_curve(
	struct kwhy_ledger *ledger, const struct kwhy_energy_findings *findings, struct kwhy_error *error);

#endif
