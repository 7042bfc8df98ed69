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

/*
 * A loader, which brings data to the device in chunks, numbered from 0. Chunk i uses slot i % slots, both of
 * page-locked host memory and of device memory.
 */
struct kwhy_transfer_loader {
	struct kwhy_transfer *transfer;
	struct kwhy_transfer_loader *next_loader; /* next loader in the engine's list */
	struct kwhy_transfer_loader_options options;
	unsigned cancels; /* transfer->cancels when the loader was made; if it is higher now, the loader was
			     cancelled */
	uint32_t slots;
	uint64_t chunk_bytes, count;
	uint64_t stride; /* distance in bytes from the start of a slot to the start of the next */
	struct kwhy_gpu_host slab;
	uint64_t device;
	/* For conversion on the device: the address of the slots for converted chunks, and the kernel. */
	uint64_t converted;
	struct kwhy_gpu_module *module;
	const struct kwhy_gpu_kernel *kernel;
	void *numbers; /* memory into which a reading function puts a chunk before the host converts it; NULL:
			  not needed */
	struct kwhy_gpu_stream *stream;
	struct kwhy_gpu_event **copied, **done; /* [slots] copied: after the copy of the slot's chunk; done:
						   after the program's work on it */
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
	 * From here on: state that the loader's lock protects. filled[slot]: number of the chunk last read
	 * into the slot, plus 1; 0: none. `issued`: number of chunks whose copies were queued. `failed`:
	 * first failure's code.
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

/*
 * Page-locked host memory that a chunk is read into. If the source itself is page-locked (options.pinned),
 * there is no such memory, and this must not be called.
 */
static inline char *kwhy_transfer_loader_slot_memory(
	const struct kwhy_transfer_loader *loader, uint64_t chunk)
{
	return (char *)loader->slab.memory + chunk % loader->slots * loader->stride;
}

/*
 * Whether no further chunk is to be read, because the loader is closed, failed or was cancelled. The caller
 * must hold the loader's lock.
 */
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

/*
 * Prepares the conversion of chunks on the device; does nothing if there is none. End with
 * kwhy_transfer_loader_end_converting(), also after a failure.
 */
KWHY_MUST_USE enum kwhy_status kwhy_transfer_loader_prepare_converting(
	struct kwhy_transfer_loader *loader, struct kwhy_error *error);
void kwhy_transfer_loader_end_converting(struct kwhy_transfer_loader *loader);

/*
 * Queues the conversion of a chunk of `floats` numbers in the engine's stream, from the chunk's slot on the
 * device to the slot for its converted form.
 */
KWHY_MUST_USE enum kwhy_status kwhy_transfer_loader_convert(
	struct kwhy_transfer_loader *loader, uint64_t chunk, uint64_t floats, struct kwhy_error *error);

#endif
