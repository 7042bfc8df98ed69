/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_ENERGY_ASSUMED_H
#define KWHY_LEDGER_ENERGY_ENERGY_ASSUMED_H

#include "ledger/parts.h"

/*
 * Sets the energies of the accounts of a device without a meter from powers that the user assumes. A power is
 * stated for work that runs alone. Concurrent work shares the device as in the fitted model
 * (ledger/energy/power_level.h). The sum is attributed_nj; measured_nj stays unknown. Accounts without an
 * assumed power, and the account of unrecorded time, keep an unknown energy. KWHY_E_INPUT: an assumed power
 * is negative or above KWHY_POWER_MAX_W.
 */
KWHY_MUST_USE enum kwhy_status kwhy_energy_assume(struct kwhy_ledger *ledger,
	const struct kwhy_recording *recording, uint32_t device, const struct kwhy_ledger_options *options,
	struct kwhy_error *error);

#endif
