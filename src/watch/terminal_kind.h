/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WATCH_TERMINAL_KIND_H
#define KWHY_WATCH_TERMINAL_KIND_H

#include "base/status.h"

/*
 * Whether what TERM names is known here and can place text; KWHY_E_UNSUPPORTED: it is not. Sets TERMINFO_DIRS
 * where it is not set: to be called before there are other threads, which may read the environment.
 */
KWHY_MUST_USE enum kwhy_status kwhy_terminal_kind_check(struct kwhy_error *error);

#endif
