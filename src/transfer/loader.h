/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TRANSFER_LOADER_H
#define KWHY_TRANSFER_LOADER_H

#include "transfer/engine.h"

struct kwhy_transfer_loader;

/* A thread that reads the chunks `first`, first + reader_count, first + 2 reader_count, and so on. */
struct kwhy_transfer_loader_reader {
	struct kwhy_transfer_loader *loader;
	uint32_t first;
	pthread_t thread;
};

/* A loader. Chunks are numbered from 0. Chunk i uses slot i % slots in host memory and in device memory. */
struct kwhy_transfer_loader {
	struct kwhy_transfer *transfer;
	struct kwhy_transfer_loader *next_loader; /* next loader in the engine's list */
	struct kwhy_transfer_loader_options options;
	unsigned cancels; /* number of cancellations of transfers when the loader was made */
	uint32_t slots;
	uint64_t chunk_bytes, count;
	uint64_t stride; /* distance in bytes from the start of a slot to the start of the next */
	struct kwhy_gpu_host slab;
	uint64_t device;
	/* For conversion on the device: the address of the slots for converted chunks, and the kernel. */
	uint64_t converted;
	struct kwhy_gpu_module *module;
	const struct kwhy_gpu_kernel *kernel;
	void *numbers; /* for conversion on the host: space for a chunk before it is converted */
	struct kwhy_gpu_stream *stream;
	struct kwhy_gpu_event **copied, **done; /* one event for each slot */
	struct kwhy_transfer_loader_reader *readers;
	uint32_t reader_count, readers_begun;

	/*
	 * given: number of chunks that were handed to the caller; finished: number of these that the caller
	 * has finished. Only the caller's thread uses these counts.
	 */
	uint64_t given, finished;

	pthread_mutex_t lock;
	pthread_cond_t changed;
	/*
	 * State that all threads share. filled[slot] is 1 plus the number of the chunk last read into the
	 * slot. `issued`: how many chunks have queued copies.
	 */
	uint64_t *filled;
	uint64_t issued;
	int failed;
	bool ending;
};

/*
 * Whether chunks are converted in the given place: on the device (on_device true), or on the host while they
 * are read into slots.
 */
static inline bool kwhy_transfer_loader_converts(const struct kwhy_transfer_loader *loader, bool on_device)
{
	return loader->options.format != KWHY_TRANSFER_F32 && (loader->options.on_device != 0) == on_device;
}

/* Bytes of a chunk before its conversion. */
size_t kwhy_transfer_loader_bytes_of(const struct kwhy_transfer_loader *loader, uint64_t chunk);

/* Host memory that a chunk is read into. It is not used for data that is page-locked already. */
static inline char *kwhy_transfer_loader_slot_memory(
	const struct kwhy_transfer_loader *loader, uint64_t chunk)
{
	return (char *)loader->slab.memory + chunk % loader->slots * loader->stride;
}

/* Whether reading has ended, has failed or was cancelled. The caller must hold the lock. */
static inline bool kwhy_transfer_loader_is_over(const struct kwhy_transfer_loader *loader)
{
	return loader->ending || loader->failed || atomic_load(&loader->transfer->cancels) != loader->cancels;
}

/*
 * Starts the threads that read chunks into slots. kwhy_transfer_loader_end_reading() waits for them and must
 * be called afterwards, also after a failure.
 */
KWHY_MUST_USE enum kwhy_status kwhy_transfer_loader_start_reading(
	struct kwhy_transfer_loader *loader, struct kwhy_error *error);
void kwhy_transfer_loader_end_reading(struct kwhy_transfer_loader *loader);

/* Prepares the conversion of chunks on the device. End with kwhy_transfer_loader_end_converting(). */
KWHY_MUST_USE enum kwhy_status kwhy_transfer_loader_prepare_converting(
	struct kwhy_transfer_loader *loader, struct kwhy_error *error);
void kwhy_transfer_loader_end_converting(struct kwhy_transfer_loader *loader);

/*
 * Queues the conversion of a chunk of `floats` numbers in the engine's stream, from the chunk's slot to the
 * slot for its converted form.
 */
KWHY_MUST_USE enum kwhy_status kwhy_transfer_loader_convert(
	struct kwhy_transfer_loader *loader, uint64_t chunk, uint64_t floats, struct kwhy_error *error);

#endif
