/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TRANSFER_MARK_H
#define KWHY_TRANSFER_MARK_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The progress of the engine's stream: a word of page-locked memory to which a kernel, at its end, writes the
 * number of its slot. Slots run in the order of their numbers, so all up to that one have run. The host reads
 * the word without the driver, whereas an event takes one call to record and one to query. Needs the engine's
 * lock.
 */

struct kwhy_transfer;

/* Argument of a kernel; kernels/move.cu has the same struct. */
struct kwhy_transfer_mark {
	uint64_t done, number, arrived;
};

enum kwhy_status kwhy_transfer_mark_new(struct kwhy_transfer *transfer, struct kwhy_error *error);
void kwhy_transfer_mark_free(struct kwhy_transfer *transfer);

/*
 * The mark for a kernel that ends slot `number`; for a kernel that does not end its slot, pass the number
 * before.
 */
struct kwhy_transfer_mark kwhy_transfer_mark_at(const struct kwhy_transfer *transfer, uint64_t number);

/*
 * The number of the last slot whose kernel has written its mark; all slots before it have run, too. Slots
 * that only events report do not count.
 */
uint64_t kwhy_transfer_mark_read(const struct kwhy_transfer *transfer);

/* Waits until a kernel has written this number or the device has failed. Returns KWHY_TRANSFER_*. */
int kwhy_transfer_mark_wait(struct kwhy_transfer *transfer, uint64_t number);

/*
 * Asks the driver whether the device has failed, since a failed device never writes the mark. Returns
 * KWHY_TRANSFER_*.
 */
int kwhy_transfer_mark_check(struct kwhy_transfer *transfer);

#endif
