/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_HOST_ENGINE_H
#define KWHY_TESTS_HOST_ENGINE_H

#include "cmocka_all.h"
#include "kwhy/transfer.h"

/*
 * Calls of a transfer engine on the host back end; a call that fails fails the test. A device address is a
 * pointer there.
 */

static inline void succeeds(struct kwhy_transfer *transfer, int code)
{
	char message[KWHY_TRANSFER_MESSAGE_BYTES];

	if (!code)
		return;
	kwhy_transfer_message(transfer, message, sizeof(message));
	fail_msg("%d: %s", code, message);
}

static inline uint64_t address(const void *memory)
{
	return (uint64_t)(uintptr_t)memory;
}

static inline char *memory_new(struct kwhy_transfer *transfer, int where, size_t bytes)
{
	uint64_t memory;

	succeeds(transfer, kwhy_transfer_memory_new(transfer, where, bytes, &memory));
	return (char *)(uintptr_t)memory;
}

static inline char *device_memory(struct kwhy_transfer *transfer, size_t bytes)
{
	return memory_new(transfer, KWHY_TRANSFER_ON_DEVICE, bytes);
}

static inline void flush_and_wait(struct kwhy_transfer *transfer)
{
	uint64_t ticket;

	succeeds(transfer, kwhy_transfer_flush(transfer, &ticket));
	succeeds(transfer, kwhy_transfer_wait(transfer, ticket));
}

#endif
