/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RECORDINGS_SPOOL_H
#define KWHY_CLI_RECORDINGS_SPOOL_H

#include "base/status.h"

#include <stddef.h>

/*
 * Makes pipes among traces readable several times. A pipe that is an open file of this process (/dev/stdin,
 * or /dev/fd/63 for <(command) in a shell) is copied to a temporary file without a name in TMPDIR; from
 * then on the pipe's descriptor refers to this file. KWHY_E_INPUT: a trace is a pipe that is not an open
 * file of this process, such as a named pipe.
 */
KWHY_MUST_USE enum kwhy_status kwhy_spool_pipes(char *const *paths, size_t count, struct kwhy_error *error);

#endif
