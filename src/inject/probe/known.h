/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_KNOWN_H
#define KWHY_INJECT_PROBE_KNOWN_H

#include "inject/probe/accounts.h"

/*
 * Reads the accounts whose power an earlier recording contains from a file that the launcher writes. Each
 * line has a half-width as a ratio, the blocks of the grid, the threads of a block and the name, separated by
 * tabs. Accounts with a half-width of at most `within` count as known. Malformed lines are skipped. `path`
 * NULL: there is no file.
 */
void kwhy_probe_accounts_read_known(struct kwhy_probe_accounts *accounts, const char *path, double within);

/* Start of the process on CLOCK_MONOTONIC; the current time if it cannot be read. */
int64_t kwhy_probe_process_begun(void);

#endif
