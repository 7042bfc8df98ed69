/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TRANSFER_MARK_H
#define KWHY_TRANSFER_MARK_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The mark shows which slots have run in the engine's stream. It is a word of page-locked memory to which a
 * kernel writes the number of its slot when it ends. Slots are numbered in the order of sending and run in
 * this order, so all slots up to the number in the mark have run. The host reads the word without a driver
 * call; an event would need one call to record it and one to query it. These functions need the engine's
 * lock.
 */

struct kwhy_transfer;

/*
 * Argument of a kernel: the mark's address, the number to write, and the address of the count of blocks that
 * have ended. kernels/move.cu has the same struct.
 */
struct kwhy_transfer_mark {
	uint64_t done, number, arrived;
};

enum kwhy_status kwhy_transfer_mark_new(struct kwhy_transfer *transfer, struct kwhy_error *error);
void kwhy_transfer_mark_free(struct kwhy_transfer *transfer);

/*
 * Makes the argument of a kernel that is the last work of slot `number`. If further work of its slot follows
 * the kernel, pass the number of the slot before, which has run by then in any case.
 */
struct kwhy_transfer_mark kwhy_transfer_mark_at(const struct kwhy_transfer *transfer, uint64_t number);

/*
 * Reads the mark: all slots up to the returned number have run. A slot whose last work is no kernel does not
 * raise the mark to its own number; its event shows whether it has run.
 */
uint64_t kwhy_transfer_mark_read(const struct kwhy_transfer *transfer);

/* Waits until the mark has reached this number or the device has failed. Returns KWHY_TRANSFER_*. */
int kwhy_transfer_mark_wait(struct kwhy_transfer *transfer, uint64_t number);

/*
 * Asks the driver whether the device has failed: its kernels would then never write the mark, and a wait
 * would never end. Returns KWHY_TRANSFER_*.
 */
int kwhy_transfer_mark_check(struct kwhy_transfer *transfer);

#endif
