/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_CLEAN_IDLE_H
#define KWHY_LEDGER_ENERGY_CLEAN_IDLE_H

#include "ledger/energy/coverage.h"
#include "model/ledger.h"

/*
 * kwhy_ledger_clean() finds the time in which a device had no context (docs/adr/0018). No call or record
 * tells it well enough: a context is made in calls that are not recorded, a tenth of a second before the
 * first that is, and the device stays at its level for more than a second after the last one has gone. The
 * samples show it as a step of a third, so it is taken from them, where nothing can have run: before the
 * first and after the last activity. Without such a step, with unrecorded time or without samples there is
 * none.
 *
 * It also finds a device that had not become idle when a program began: when the last context has gone
 * clocks stay up for 1 to 2 s, and it draws more than with one (docs/adr/0027).
 */

/*
 * Where the level changes: what the samples show meanwhile is of neither level. out[] holds up to
 * KWHY_UNSETTLED_MAX; gives their number.
 */
enum { KWHY_UNSETTLED_MAX = 2 * KWHY_CLEAN_STRETCHES_MAX + 2 };
size_t kwhy_clean_unsettled(
	const struct kwhy_device_ledger *device_ledger, struct kwhy_window out[KWHY_UNSETTLED_MAX]);

#endif
