/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_POWER_WINDOWS_H
#define KWHY_IMPORT_POWER_WINDOWS_H

#include "import/power/log.h"
#include "import/power/window.h"

/*
 * Replaces the windows of a log by readings of an energy counter that is 0 at the start of the first window;
 * a log of single readings stays as it is. Windows of Zeus must follow each other closely: a log whose gaps
 * between windows, where the energy is unknown, exceed a hundredth of the time is refused. If a log of
 * CodeCarbon has several runs, the one that overlaps `work_unix` is used. All times must be Unix times.
 */
KWHY_MUST_USE enum kwhy_status kwhy_power_windows_unroll(
	struct kwhy_power_log *log, const struct kwhy_power_window *work_unix, struct kwhy_error *error);

#endif
