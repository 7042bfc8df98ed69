/* SPDX-License-Identifier: Apache-2.0 */
#include "transfer/mark.h"

#include "transfer/engine.h"

#include <sched.h>

/*
 * PLACE_BYTES: bytes allocated for the mark's word of 8 bytes, and for the counter of blocks, so that each
 * has cache lines of its own. READS: how often a wait reads the word between two checks whether the device
 * has failed.
 */
enum { PLACE_BYTES = 256, READS = 10000 };

enum kwhy_status kwhy_transfer_mark_new(struct kwhy_transfer *transfer, struct kwhy_error *error)
{
	const struct kwhy_gpu_ops *ops = transfer->ops;
	enum kwhy_status status = ops->host_new(transfer->gpu, KWHY_GPU_HOST_PINNED, PLACE_BYTES,
		transfer->nodes.node[0], &transfer->mark, error);

	if (!status && !transfer->mark.address)
		status = kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"%s does not reach page-locked host memory, which the transfer engine needs; use "
			"another GPU",
			transfer->gpu->facts.name);
	if (status)
		return status;
	atomic_init((_Atomic uint64_t *)transfer->mark.memory, 0);
	status = ops->memory_new(transfer->gpu, PLACE_BYTES, &transfer->arrived, error);
	if (!status)
		status = ops->fill(transfer->gpu, transfer->stream, transfer->arrived, 0, PLACE_BYTES, error);
	return status;
}

void kwhy_transfer_mark_free(struct kwhy_transfer *transfer)
{
	transfer->ops->memory_free(transfer->gpu, transfer->arrived);
	transfer->ops->host_free(transfer->gpu, &transfer->mark);
}

struct kwhy_transfer_mark kwhy_transfer_mark_at(const struct kwhy_transfer *transfer, uint64_t number)
{
	return (struct kwhy_transfer_mark){transfer->mark.address, number, transfer->arrived};
}

uint64_t kwhy_transfer_mark_read(const struct kwhy_transfer *transfer)
{
	return atomic_load_explicit((_Atomic uint64_t *)transfer->mark.memory, memory_order_acquire);
}

int kwhy_transfer_mark_check(struct kwhy_transfer *transfer)
{
	int code = kwhy_transfer_enter(transfer);
	bool reached;

	if (code)
		return code;
	return kwhy_transfer_check(transfer,
		transfer->ops->event_reached(transfer->gpu, transfer->rings[0].node_rings[0].slots[0].event,
			&reached, &transfer->error));
}

int kwhy_transfer_mark_wait(struct kwhy_transfer *transfer, uint64_t number)
{
	int code = KWHY_TRANSFER_OK;

	for (uint32_t reads = 1; kwhy_transfer_mark_read(transfer) < number && !code; reads++)
		if (reads % READS == 0) {
			code = kwhy_transfer_mark_check(transfer);
			sched_yield();
		}
	return code;
}
