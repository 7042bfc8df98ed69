/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ACCOUNT_NAME_H
#define KWHY_LEDGER_ACCOUNT_NAME_H

#include "model/recording.h"

#include <stdbool.h>

/* Space for any of the names below, with its NUL. */
#define KWHY_ACCOUNT_NAME_BYTES 96

/*
 * Whether a profiler made the name of this copy or memset from its direction and memories, so that it
 * says nothing that the columns do not: empty, "Memcpy HtoD (Pageable -> Device)", "[CUDA memset]",
 * "CopyHostToDevice" and the like. Any other name was given by a person.
 */
bool kwhy_account_name_is_generated(const char *name);

/*
 * "h2d pageable->device 4-8 KiB", "memset device 512 B-1 KiB", "h2d of unknown size". A class of sizes
 * holds its lower end and not its upper one; units are binary and say so.
 */
void kwhy_account_name_copy(
	char out[KWHY_ACCOUNT_NAME_BYTES], const struct kwhy_activities *rows, size_t row);
void kwhy_account_name_memset(
	char out[KWHY_ACCOUNT_NAME_BYTES], const struct kwhy_activities *rows, size_t row);

#endif
