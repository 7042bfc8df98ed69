/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_MODEL_POWER_H
#define KWHY_LEDGER_ENERGY_MODEL_POWER_H

#include "base/status.h"
#include "model/ledger.h"

/*
 * Writes the mean power of each device by the ledger (idle power plus the powers of what ran), in at most
 * `bins` equal intervals over its span: an array of one curve for each device, in the ledger's arena. A
 * device without known energy has an empty curve. Concurrent kernels share the multiprocessors as they do in
 * the ledger.
 */
KWHY_MUST_USE enum kwhy_status kwhy_ledger_model_power(struct kwhy_ledger *ledger,
	const struct kwhy_recording *recording, size_t bins, struct kwhy_power_curve **out,
	struct kwhy_error *error);

#endif
