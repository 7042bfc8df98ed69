/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WATCH_TERMINAL_KIND_H
#define KWHY_WATCH_TERMINAL_KIND_H

#include "base/status.h"

/*
 * Checks that the terminal named by TERM is known and can position text. KWHY_E_UNSUPPORTED: it is unknown or
 * cannot. Sets the environment variable TERMINFO_DIRS where it is not set, so call it before other threads
 * exist that may read the environment.
 */
KWHY_MUST_USE enum kwhy_status kwhy_terminal_kind_check(struct kwhy_error *error);

#endif
