/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that programs allocate with kwhy_transfer_memory_new(). */
#include "transfer/engine.h"

#include <stdlib.h>

struct kwhy_transfer_memory {
	struct kwhy_transfer_memory *next;
	uint64_t address;
	struct kwhy_gpu_host host; /* NULL host.memory: the memory is on the device */
};

static enum kwhy_status make(struct kwhy_transfer *transfer, struct kwhy_transfer_memory *memory, int where,
	size_t bytes, struct kwhy_error *error)
{
	enum kwhy_status status = transfer->ops->enter(transfer->gpu, error);

	if (status)
		return status;
	if (where == KWHY_TRANSFER_ON_DEVICE)
		return transfer->ops->memory_new(transfer->gpu, bytes, &memory->address, error);
	status = transfer->ops->host_new(
		transfer->gpu, KWHY_GPU_HOST_PINNED, bytes, transfer->nodes.node[0], &memory->host, error);
	memory->address = kwhy_gpu_address(memory->host.memory);
	if (!status && memory->host.address != memory->address) {
		transfer->ops->host_free(transfer->gpu, &memory->host);
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"%s reaches host memory by another address than the host; use kwhy_transfer_put()",
			transfer->gpu->facts.name);
	}
	return status;
}

/* Returns the code of a failed allocation. The engine becomes failed only if the device is lost. */
static int refuse(struct kwhy_transfer *transfer, enum kwhy_status status)
{
	return status == KWHY_E_LOST ? kwhy_transfer_check(transfer, status) : kwhy_transfer_code_of(status);
}

static int memory_new(struct kwhy_transfer *transfer, int where, size_t bytes, uint64_t *out_address)
{
	struct kwhy_transfer_memory *memory;
	enum kwhy_status status;

	if (where != KWHY_TRANSFER_ON_DEVICE && where != KWHY_TRANSFER_PINNED)
		return kwhy_transfer_fail(transfer, KWHY_TRANSFER_E_INPUT,
			"there is no memory of kind %d; give KWHY_TRANSFER_ON_DEVICE or KWHY_TRANSFER_PINNED",
			where);
	memory = calloc(1, sizeof(*memory));
	if (!memory)
		return refuse(transfer, kwhy_fail_memory(&transfer->error, "a piece of memory"));
	status = make(transfer, memory, where, bytes, &transfer->error);
	if (status) {
		free(memory);
		return refuse(transfer, status);
	}
	memory->next = transfer->memory;
	transfer->memory = memory;
	*out_address = memory->address;
	return KWHY_TRANSFER_OK;
}

int kwhy_transfer_memory_new(struct kwhy_transfer *transfer, int where, size_t bytes, uint64_t *out_address)
{
	int code = kwhy_transfer_begin(transfer);

	if (code)
		return code;
	code = memory_new(transfer, where, bytes, out_address);
	kwhy_transfer_end(transfer);
	return code;
}

static void unmake(struct kwhy_transfer *transfer, struct kwhy_transfer_memory *memory)
{
	if (memory->host.memory)
		transfer->ops->host_free(transfer->gpu, &memory->host);
	else
		transfer->ops->memory_free(transfer->gpu, memory->address);
	free(memory);
}

void kwhy_transfer_memory_free(struct kwhy_transfer *transfer, uint64_t address)
{
	struct kwhy_transfer_memory **place = &transfer->memory, *memory;

	kwhy_transfer_lock_take(&transfer->lock);
	while (*place && (*place)->address != address)
		place = &(*place)->next;
	memory = *place;
	if (memory) {
		*place = memory->next;
		(void)transfer->ops->enter(transfer->gpu, &transfer->error);
		unmake(transfer, memory);
	}
	kwhy_transfer_lock_give(&transfer->lock);
}

void kwhy_transfer_memory_free_all(struct kwhy_transfer *transfer)
{
	while (transfer->memory) {
		struct kwhy_transfer_memory *memory = transfer->memory;

		transfer->memory = memory->next;
		unmake(transfer, memory);
	}
}
