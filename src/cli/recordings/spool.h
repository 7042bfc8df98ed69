/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RECORDINGS_SPOOL_H
#define KWHY_CLI_RECORDINGS_SPOOL_H

#include "base/status.h"

#include <stddef.h>

/*
 * Lets readers open a trace several times even if it is a pipe. Each pipe among the paths that is an open
 * file of this process (/dev/stdin, /dev/fd/63 of <(command)) is copied to a temporary file without a name
 * in TMPDIR. After that, the pipe's descriptor refers to this file. KWHY_E_INPUT: a pipe that has a name of
 * its own.
 */
KWHY_MUST_USE enum kwhy_status kwhy_spool_pipes(char *const *paths, size_t count, struct kwhy_error *error);

#endif
