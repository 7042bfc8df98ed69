/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TRANSFER_LOADER_H
#define KWHY_TRANSFER_LOADER_H

#include "transfer/engine.h"

struct kwhy_transfer_loader;

/* A thread that reads every (threads of the loader)th chunk. */
struct kwhy_transfer_loader_reader {
	struct kwhy_transfer_loader *loader;
	uint32_t first;
	pthread_t thread;
};

/* A loader; chunks are numbered from 0, chunk i has the slot i % slots on either side. */
struct kwhy_transfer_loader {
	struct kwhy_transfer *transfer;
	struct kwhy_transfer_loader *next_loader; /* the engine's list */
	struct kwhy_transfer_loader_options options;
	unsigned cancels; /* of the engine, when it began */
	uint32_t slots;
	uint64_t chunk_bytes, count;
	uint64_t stride; /* of slots */
	struct kwhy_gpu_host slab;
	uint64_t device;
	/* Where chunks are converted on the device: a place for each slot, and the kernel. */
	uint64_t converted;
	struct kwhy_gpu_module *module;
	const struct kwhy_gpu_kernel *kernel;
	void *numbers; /* a chunk before conversion */
	struct kwhy_gpu_stream *stream;
	struct kwhy_gpu_event **copied, **done; /* one a slot */
	struct kwhy_transfer_loader_reader *readers;
	uint32_t reader_count, readers_begun;

	/* The caller's thread alone: chunks given, and finished with. */
	uint64_t given, finished;

	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* All threads: which chunk, plus 1, was read into a slot last, and of how many the copies are queued.
	 */
	uint64_t *filled;
	uint64_t issued;
	int failed;
	bool ending;
};

/* Whether chunks are converted on their way into slots, or on the device. */
static inline bool kwhy_transfer_loader_converts(const struct kwhy_transfer_loader *loader, bool on_device)
{
	return loader->options.format != KWHY_TRANSFER_F32 && (loader->options.on_device != 0) == on_device;
}

/* Bytes of a chunk as it is read. */
size_t kwhy_transfer_loader_bytes_of(const struct kwhy_transfer_loader *loader, uint64_t chunk);

/* Where a chunk is read to; there is none for data that is page-locked already. */
static inline char *kwhy_transfer_loader_slot_memory(
	const struct kwhy_transfer_loader *loader, uint64_t chunk)
{
	return (char *)loader->slab.memory + chunk % loader->slots * loader->stride;
}

/* Whether nothing more is read. The lock is held. */
static inline bool kwhy_transfer_loader_is_over(const struct kwhy_transfer_loader *loader)
{
	return loader->ending || loader->failed || atomic_load(&loader->transfer->cancels) != loader->cancels;
}

/* Fills slots from now on, in threads of its own; goes with kwhy_transfer_loader_end_reading(), which waits
 * for them, also where this failed. */
KWHY_MUST_USE enum kwhy_status kwhy_transfer_loader_start_reading(
	struct kwhy_transfer_loader *loader, struct kwhy_error *error);
void kwhy_transfer_loader_end_reading(struct kwhy_transfer_loader *loader);

/* What conversion on the device needs; goes with kwhy_transfer_loader_end_converting(). */
KWHY_MUST_USE enum kwhy_status kwhy_transfer_loader_prepare_converting(
	struct kwhy_transfer_loader *loader, struct kwhy_error *error);
void kwhy_transfer_loader_end_converting(struct kwhy_transfer_loader *loader);

/* Queues it in the engine's stream: `floats` of them from the chunk's slot to its other place. */
KWHY_MUST_USE enum kwhy_status kwhy_transfer_loader_convert(
	struct kwhy_transfer_loader *loader, uint64_t chunk, uint64_t floats, struct kwhy_error *error);

#endif
