/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_POWER_WINDOWS_H
#define KWHY_IMPORT_POWER_WINDOWS_H

#include "import/power/log.h"
#include "import/power/window.h"

/*
 * Converts energies of windows to readings of a counter that was 0 when the first window began. Windows of
 * Zeus must follow one another: energy between two windows is unmetered, and more than a hundredth of it is
 * refused. Of CodeCarbon's runs the one that overlaps `work_unix` counts. Called when times are Unix times.
 */
KWHY_MUST_USE enum kwhy_status kwhy_power_windows_unroll(
	struct kwhy_power_log *log, const struct kwhy_power_window *work_unix, struct kwhy_error *error);

#endif
