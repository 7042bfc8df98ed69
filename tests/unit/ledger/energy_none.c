/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/parts.h"

#include <math.h>

/* Time and accounts are tested apart from the energy: here nothing is metered. */

enum kwhy_status kwhy_ledger_energy(struct kwhy_ledger *ledger, const struct kwhy_recording *recording,
	uint32_t device, const struct kwhy_ledger_options *options, struct kwhy_error *error)
{
	(void)recording;
	(void)options;
	(void)error;
	ledger->devices[device].energy.measured_nj = KWHY_UNKNOWN_NJ;
	ledger->devices[device].energy.attributed_nj = KWHY_UNKNOWN_NJ;
	return KWHY_OK;
}

double kwhy_ledger_activity_nj(
	const struct kwhy_ledger *ledger, const struct kwhy_recording *recording, size_t activity)
{
	(void)ledger;
	(void)recording;
	(void)activity;
	return NAN;
}

double kwhy_ledger_idle_nj(
	const struct kwhy_ledger *ledger, uint32_t device, int64_t start_ns, int64_t end_ns)
{
	(void)ledger;
	(void)device;
	(void)start_ns;
	(void)end_ns;
	return NAN;
}
