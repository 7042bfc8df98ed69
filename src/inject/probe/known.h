/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_KNOWN_H
#define KWHY_INJECT_PROBE_KNOWN_H

#include "inject/probe/accounts.h"

/*
 * Reads the accounts whose power an earlier recording contains, from a file that the launcher writes. Each
 * line has the half-width of the power's interval as a ratio, the blocks of the grid, the threads of a block
 * and the name, separated by tabs. If the half-width is at most `within`, the account counts as known.
 * Malformed lines are skipped. `path` NULL: there is no file.
 */
void kwhy_probe_accounts_read_known(struct kwhy_probe_accounts *accounts, const char *path, double within);

/* Time at which the process started, on CLOCK_MONOTONIC. If it cannot be read, the current time. */
int64_t kwhy_probe_process_begun(void);

#endif
