/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_KNOWN_H
#define KWHY_INJECT_PROBE_KNOWN_H

#include "inject/probe/accounts.h"

/*
 * Accounts whose power an earlier recording tells, as the launcher lists them in a file: lines of a
 * half-width as a ratio, the blocks of the grid, the threads of a block and the name, with tabs between.
 * Those at or below `within` count as known. What is no such line is left out; NULL: there is no file.
 */
void kwhy_probe_accounts_read_known(struct kwhy_probe_accounts *accounts, const char *path, double within);

/* When the process began, on CLOCK_MONOTONIC; where that cannot be read: now. */
int64_t kwhy_probe_process_begun(void);

#endif
