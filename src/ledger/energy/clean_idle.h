/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_CLEAN_IDLE_H
#define KWHY_LEDGER_ENERGY_CLEAN_IDLE_H

#include "ledger/energy/coverage.h"
#include "model/ledger.h"

/*
 * kwhy_ledger_clean() finds the time in which a device had no context (docs/adr/0018). The recorded calls do
 * not show that time well enough: a context is made in calls that are not recorded, a tenth of a second
 * before the first recorded call. After the last context is destroyed, the device keeps its power for more
 * than a second. Power samples show both changes as a step of about a third of the power. The function
 * searches for such steps before the first and after the last activity, where no activity can have run. If
 * there is no step, if only windows were recorded, or if there are no samples, a context is assumed at all
 * times.
 *
 * The function also finds elevated idle: after the last context of an earlier program is destroyed, the
 * clocks stay up for 1 to 2 s, and the device draws more than when it idles with a context (docs/adr/0027).
 */

/*
 * Finds times at which samples show neither idle level, because the power changes from one to the other or
 * idle is elevated. Writes up to KWHY_UNSETTLED_MAX windows to out[] and returns their number.
 */
enum { KWHY_UNSETTLED_MAX = 2 * KWHY_CLEAN_STRETCHES_MAX + 2 };
size_t kwhy_clean_unsettled(
	const struct kwhy_device_ledger *device_ledger, struct kwhy_window out[KWHY_UNSETTLED_MAX]);

#endif
