/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ACCOUNT_NAME_H
#define KWHY_LEDGER_ACCOUNT_NAME_H

#include "model/recording.h"

#include <stdbool.h>

/* Size of any of the names below, with its NUL. */
#define KWHY_ACCOUNT_NAME_BYTES 96

/*
 * Whether a profiler made the name of a copy or memset from its direction and memories, so that it adds
 * nothing to the columns: an empty name, "Memcpy HtoD (Pageable -> Device)", "[CUDA memset]",
 * "CopyHostToDevice" and the like. Any other name was given by a person.
 */
bool kwhy_account_name_is_generated(const char *name);

/*
 * Names such as "h2d pageable->device 4-8 KiB", "memset device 512 B-1 KiB" and "h2d of unknown size". A size
 * class includes its lower end and not its upper one. Units are binary.
 */
void kwhy_account_name_copy(
	char out[KWHY_ACCOUNT_NAME_BYTES], const struct kwhy_activities *rows, size_t row);
void kwhy_account_name_memset(
	char out[KWHY_ACCOUNT_NAME_BYTES], const struct kwhy_activities *rows, size_t row);

#endif
