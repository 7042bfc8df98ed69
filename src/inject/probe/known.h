/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_KNOWN_H
#define KWHY_INJECT_PROBE_KNOWN_H

#include "inject/probe/accounts.h"

/*
 * Reads from a file, which the launcher writes, the kernels whose power an earlier recording contains. Each
 * line has the half-width of the power's 90 % interval divided by the power, the number of blocks of the
 * grid, the number of threads of a block and the mangled name, separated by tabs. If the first is at most
 * `within`, the kernel's account counts as known and is not probed. Malformed lines are skipped. `path` NULL:
 * there is no file.
 */
void kwhy_probe_accounts_read_known(struct kwhy_probe_accounts *accounts, const char *path, double within);

/* Time at which the process started, on CLOCK_MONOTONIC. If it cannot be read, the current time. */
int64_t kwhy_probe_process_begun(void);

#endif
