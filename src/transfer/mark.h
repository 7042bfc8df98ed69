/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TRANSFER_MARK_H
#define KWHY_TRANSFER_MARK_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * How far the engine's stream has come: a word of page-locked memory to which a kernel, at its end, writes
 * the number of its slot. Slots run in the order of their numbers, so all up to that one have run. The host
 * reads it without the driver, where an event costs a call to record and one to ask for. With the engine's
 * lock held.
 */

struct kwhy_transfer;

/* A kernel's argument; kernels/move.cu has the same. */
struct kwhy_transfer_mark {
	uint64_t done, number, arrived;
};

enum kwhy_status kwhy_transfer_mark_new(struct kwhy_transfer *transfer, struct kwhy_error *error);
void kwhy_transfer_mark_free(struct kwhy_transfer *transfer);

/* For a kernel that ends the slot of that number; of one that does not, for the slot before. */
struct kwhy_transfer_mark kwhy_transfer_mark_at(const struct kwhy_transfer *transfer, uint64_t number);

/* The number of a slot that has run with all before it; what events tell does not count. */
uint64_t kwhy_transfer_mark_read(const struct kwhy_transfer *transfer);

/* Until a kernel has written this number, or the device has failed. Yields KWHY_TRANSFER_*. */
int kwhy_transfer_mark_wait(struct kwhy_transfer *transfer, uint64_t number);

/* Asks the driver whether the device is well: one that is not never writes. Yields KWHY_TRANSFER_*. */
int kwhy_transfer_mark_check(struct kwhy_transfer *transfer);

#endif
