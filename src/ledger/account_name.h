/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ACCOUNT_NAME_H
#define KWHY_LEDGER_ACCOUNT_NAME_H

#include "model/recording.h"

#include <stdbool.h>

/* Capacity in bytes, with the NUL, of the names that the functions below write. */
#define KWHY_ACCOUNT_NAME_BYTES 96

/*
 * Whether a profiler made the name of a copy or memset from its direction and memory kinds, so that the
 * name adds nothing to those columns. Such names are "", "Memcpy HtoD (Pageable -> Device)", "[CUDA
 * memset]", "CopyHostToDevice" and the like. Any other name was given by a person.
 */
bool kwhy_account_name_is_generated(const char *name);

/*
 * Writes a name such as "h2d pageable->device 4-8 KiB", "memset device 512 B-1 KiB" or "h2d of unknown size".
 * A size class includes its lower end but not its upper one. KiB and larger units are binary.
 */
void kwhy_account_name_copy(
	char out[KWHY_ACCOUNT_NAME_BYTES], const struct kwhy_activities *rows, size_t row);
void kwhy_account_name_memset(
	char out[KWHY_ACCOUNT_NAME_BYTES], const struct kwhy_activities *rows, size_t row);

#endif
