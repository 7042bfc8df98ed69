/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_POWER_WINDOWS_H
#define KWHY_IMPORT_POWER_WINDOWS_H

#include "import/power/log.h"
#include "import/power/window.h"

/*
 * Converts energies of windows to readings of a counter that is 0 at the start of the first window. Windows
 * in logs of Zeus must be adjacent: the energy between two windows is unknown, so gaps of more than a
 * hundredth of the total time are refused. If a log of CodeCarbon has several runs, the run that overlaps
 * `work_unix` is used. All times must be Unix times.
 */
KWHY_MUST_USE enum kwhy_status kwhy_power_windows_unroll(
	struct kwhy_power_log *log, const struct kwhy_power_window *work_unix, struct kwhy_error *error);

#endif
