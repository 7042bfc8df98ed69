/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_OVERWRITE_H
#define KWHY_CLI_OVERWRITE_H

#include "cli/options.h"

/*
 * Checks, before anything is read or written, that no output of a command is one of its inputs: a file that
 * an option names as input, an operand, or a trace in a folder that is an operand. Links are followed.
 * `target` is the options struct. KWHY_E_USAGE: an input would be replaced. Paths at which there is no file
 * are accepted.
 */
KWHY_MUST_USE enum kwhy_status kwhy_overwrite_check(const struct kwhy_option *options, const void *target,
	char *const *operands, size_t operand_count, struct kwhy_error *error);

#endif
