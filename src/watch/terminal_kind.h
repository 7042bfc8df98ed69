/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WATCH_TERMINAL_KIND_H
#define KWHY_WATCH_TERMINAL_KIND_H

#include "base/status.h"

/*
 * Checks that there is a description of the terminal that TERM names, and that it can place text at a
 * position; if not, KWHY_E_UNSUPPORTED. It sets the environment variable TERMINFO_DIRS, unless it is set
 * already, so call it before other threads exist that may read the environment.
 */
KWHY_MUST_USE enum kwhy_status kwhy_terminal_kind_check(struct kwhy_error *error);

#endif
