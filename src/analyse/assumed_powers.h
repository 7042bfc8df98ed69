/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_ANALYSE_ASSUMED_POWERS_H
#define KWHY_ANALYSE_ASSUMED_POWERS_H

#include "base/status.h"
#include "ledger/ledger_new.h"

/*
 * Reads powers in watts, idle power included: "150" for everything, or pairs such as "compute=76.2,h2d=56.5"
 * by category ("idle" for all idle time) and by direction of copies. KWHY_E_USAGE: the text has neither form.
 */
KWHY_MUST_USE enum kwhy_status kwhy_assumed_powers_read(
	const char *spec, struct kwhy_assumed_powers *out, struct kwhy_error *error);

#endif
