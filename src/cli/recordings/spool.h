/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RECORDINGS_SPOOL_H
#define KWHY_CLI_RECORDINGS_SPOOL_H

#include "base/status.h"

#include <stddef.h>

/*
 * Makes traces that come from pipes readable several times. If a path names a pipe that is an open descriptor
 * of this process (/dev/stdin, or /dev/fd/63 for <(command) in a shell), all of it is copied to a temporary
 * file without a name in TMPDIR, and the descriptor then refers to this file. KWHY_E_INPUT: a path is another
 * pipe, such as a named one. KWHY_E_IO: copying failed.
 */
KWHY_MUST_USE enum kwhy_status kwhy_spool_pipes(char *const *paths, size_t count, struct kwhy_error *error);

#endif
