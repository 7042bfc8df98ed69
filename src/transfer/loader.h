/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TRANSFER_LOADER_H
#define KWHY_TRANSFER_LOADER_H

#include "transfer/engine.h"

struct kwhy_transfer_loader;

/* A thread that reads chunks `first`, first + reader_count, and so on. */
struct kwhy_transfer_loader_reader {
	struct kwhy_transfer_loader *loader;
	uint32_t first;
	pthread_t thread;
};

/* A loader. Chunks are numbered from 0; chunk i uses slot i % slots on the host and on the device. */
struct kwhy_transfer_loader {
	struct kwhy_transfer *transfer;
	struct kwhy_transfer_loader *next_loader; /* next in the engine's list */
	struct kwhy_transfer_loader_options options;
	unsigned cancels; /* the engine's cancellations when the loader was made */
	uint32_t slots;
	uint64_t chunk_bytes, count;
	uint64_t stride; /* bytes from one slot to the next */
	struct kwhy_gpu_host slab;
	uint64_t device;
	/* For conversion on the device: address of the converted slots, and the kernel. */
	uint64_t converted;
	struct kwhy_gpu_module *module;
	const struct kwhy_gpu_kernel *kernel;
	void *numbers; /* a chunk before its conversion on the host */
	struct kwhy_gpu_stream *stream;
	struct kwhy_gpu_event **copied, **done; /* one a slot */
	struct kwhy_transfer_loader_reader *readers;
	uint32_t reader_count, readers_begun;

	/* Used by the caller's thread only: chunks handed out, and chunks that the caller has finished. */
	uint64_t given, finished;

	pthread_mutex_t lock;
	pthread_cond_t changed;
	/*
	 * Shared by all threads: filled[slot] is 1 plus the chunk that was last read into the slot; `issued`
	 * counts chunks whose copies are queued.
	 */
	uint64_t *filled;
	uint64_t issued;
	int failed;
	bool ending;
};

/* Whether chunks are converted on the device (`on_device`) or while they are read into slots. */
static inline bool kwhy_transfer_loader_converts(const struct kwhy_transfer_loader *loader, bool on_device)
{
	return loader->options.format != KWHY_TRANSFER_F32 && (loader->options.on_device != 0) == on_device;
}

/* Bytes of a chunk before conversion on the device. */
size_t kwhy_transfer_loader_bytes_of(const struct kwhy_transfer_loader *loader, uint64_t chunk);

/* Host memory that a chunk is read into; unused for data that is page-locked already. */
static inline char *kwhy_transfer_loader_slot_memory(
	const struct kwhy_transfer_loader *loader, uint64_t chunk)
{
	return (char *)loader->slab.memory + chunk % loader->slots * loader->stride;
}

/* Whether reading has ended, failed or been cancelled. The lock is held. */
static inline bool kwhy_transfer_loader_is_over(const struct kwhy_transfer_loader *loader)
{
	return loader->ending || loader->failed || atomic_load(&loader->transfer->cancels) != loader->cancels;
}

/*
 * Starts the threads that fill slots. Always call kwhy_transfer_loader_end_reading() afterwards, also after a
 * failure; it waits for the threads.
 */
KWHY_MUST_USE enum kwhy_status kwhy_transfer_loader_start_reading(
	struct kwhy_transfer_loader *loader, struct kwhy_error *error);
void kwhy_transfer_loader_end_reading(struct kwhy_transfer_loader *loader);

/* Prepares conversion on the device. End with kwhy_transfer_loader_end_converting(). */
KWHY_MUST_USE enum kwhy_status kwhy_transfer_loader_prepare_converting(
	struct kwhy_transfer_loader *loader, struct kwhy_error *error);
void kwhy_transfer_loader_end_converting(struct kwhy_transfer_loader *loader);

/*
 * Queues the conversion of a chunk's `floats` numbers in the engine's stream, from its slot to the converted
 * slot.
 */
KWHY_MUST_USE enum kwhy_status kwhy_transfer_loader_convert(
	struct kwhy_transfer_loader *loader, uint64_t chunk, uint64_t floats, struct kwhy_error *error);

#endif
