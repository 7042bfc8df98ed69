/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_ANALYSE_ASSUMED_POWERS_H
#define KWHY_ANALYSE_ASSUMED_POWERS_H

#include "base/status.h"
#include "ledger/ledger_new.h"

/*
 * Reads gross powers in watts: "150" for all activities, or "compute=76.2,h2d=56.5,..." by category, copy
 * direction and "idle". KWHY_E_USAGE: the text has neither form.
 */
KWHY_MUST_USE enum kwhy_status kwhy_assumed_powers_read(
	const char *spec, struct kwhy_assumed_powers *out, struct kwhy_error *error);

#endif
