/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_ENERGY_ASSUMED_H
#define KWHY_LEDGER_ENERGY_ENERGY_ASSUMED_H

#include "ledger/parts.h"

/*
 * Sets the energies of the accounts of a device without a meter from powers that the user assumes.
 * A power is stated for work that runs alone. Concurrent work shares the device as in the fitted model
 * (ledger/energy/power_level.h). attributed_nj is the sum; measured_nj stays unknown. An account without an
 * assumed power has an unknown energy.
 */
KWHY_MUST_USE enum kwhy_status kwhy_energy_assume(struct kwhy_ledger *ledger,
	const struct kwhy_recording *recording, uint32_t device, const struct kwhy_ledger_options *options,
	struct kwhy_error *error);

#endif
