/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RECORDINGS_SPOOL_H
#define KWHY_CLI_RECORDINGS_SPOOL_H

#include "base/status.h"

#include <stddef.h>

/*
 * Readers open a trace several times, which a pipe does not allow. The bytes of each pipe among the paths
 * that is an open file of this process (/dev/stdin, /dev/fd/63 of <(command)) go to a temporary file in
 * TMPDIR, without a name, that takes the pipe's place. KWHY_E_INPUT: a pipe that has a name of its own.
 */
KWHY_MUST_USE enum kwhy_status kwhy_spool_pipes(char *const *paths, size_t count, struct kwhy_error *error);

#endif
