/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TRANSFER_H
#define KWHY_TRANSFER_H

/*
 * libkwhy: transfers of many small pieces of data to and from a GPU, without a driver call per piece.
 *
 *	struct kwhy_transfer *transfer;
 *	char message[KWHY_TRANSFER_MESSAGE_BYTES];
 *	if (kwhy_transfer_open(NULL, &transfer, message, sizeof(message)))
 *		...
 *	for (i = 0; i < count; i++)
 *		kwhy_transfer_put(transfer, device_address[i], value[i], bytes[i]);
 *	kwhy_transfer_flush(transfer, &ticket);
 *	...
 *	kwhy_transfer_wait(transfer, ticket);
 *
 * Pieces are packed into slots of page-locked memory. Each NUMA node has a ring of slots, which are used in
 * turn; a new slot is taken from the node of the thread that adds a piece. A flush sends a slot with one or
 * two driver calls: a kernel that has the slot as its argument or reads it, one copy and a kernel that
 * scatters it, a batch of copies for large pieces, or a plain copy for a single piece. docs/transfer.md
 * describes which method is used when.
 *
 * Device addresses are uint64_t: the value of a CUdeviceptr or hipDeviceptr_t or, on the host back end, of a
 * pointer. Sizes are in bytes.
 *
 * Order: slots run one after another in the engine's stream. A flush, or a full slot of gets, sends the open
 * slot of puts before that of gets. If several puts, or several gets, write to the same bytes, the last one
 * wins. A kwhy_transfer_get() and a kwhy_transfer_get_pinned() must not write to the same bytes.
 *
 * Threads: any thread may call any function at any time except kwhy_transfer_close(); pieces of several
 * threads share slots and flushes. A call that waits blocks all other calls except kwhy_transfer_cancel().
 * Only one thread may use a loader. On CUDA and HIP a call leaves the device's primary context current.
 * Signal handlers and children after fork() must not call the library.
 *
 * Errors: a call that fails returns a code and stores a message for kwhy_transfer_message(). After the device
 * has failed, every later call returns KWHY_TRANSFER_E_DEVICE, and no call waits.
 *
 * Nothing here prints, exits or changes a setting of a device.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef KWHY_API
#if defined(__GNUC__)
#define KWHY_API __attribute__((visibility("default")))
#else
#define KWHY_API
#endif
#endif

#define KWHY_TRANSFER_OK 0
#define KWHY_TRANSFER_E_INPUT 1 /* an argument is wrong */
#define KWHY_TRANSFER_E_IO 2	/* a loader's reader, or the function that works on chunks, failed */
#define KWHY_TRANSFER_E_MEMORY 3
#define KWHY_TRANSFER_E_UNSUPPORTED 4 /* this machine cannot do it */
#define KWHY_TRANSFER_E_DEVICE 5      /* a call of the driver failed; the engine can only be closed */
#define KWHY_TRANSFER_FULL 6	      /* refuse_full is set and no slot has space; the piece was not added */
#define KWHY_TRANSFER_CANCELLED 7     /* cancelled by kwhy_transfer_cancel() */
#define KWHY_TRANSFER_END 8	      /* the loader has no further chunk */

/*
 * Largest size of a message in bytes. A message is one sentence that says what failed, why, and what to do.
 */
#define KWHY_TRANSFER_MESSAGE_BYTES 720

struct kwhy_transfer;

#define KWHY_TRANSFER_CUDA 0
#define KWHY_TRANSFER_HIP 1
#define KWHY_TRANSFER_HOST 2 /* host memory, with one thread per stream; runs without a GPU */

/* Values of `way`: how a flush moves its pieces. */
#define KWHY_TRANSFER_CHOOSE 0 /* the fastest method for the sizes, by struct kwhy_transfer_limits */
#define KWHY_TRANSFER_PACKED 1 /* one copy of the slot, and a kernel on the device to scatter or gather */
#define KWHY_TRANSFER_MAPPED 2 /* a kernel that accesses host memory itself */
#define KWHY_TRANSFER_BATCH 3  /* one driver call copies all pieces; as CHOOSE if the driver lacks it */
#define KWHY_TRANSFER_INLINE 4 /* a kernel gets the slot as its argument; for more than 4 KiB: as CHOOSE */

/*
 * The sizes from which one method is faster than another on this machine; `kwhy bench transfer --header`
 * measures and writes them. A field that is 0 stands for the default in its comment, which was measured on an
 * H200 with PCIe 5. A batch is moved by copy engines and leaves the multiprocessors to other work; the kernel
 * of the other methods occupies some of them while it moves the pieces.
 */
struct kwhy_transfer_limits {
	uint64_t put_packed_bytes; /* puts use one copy if the flush has at least this many bytes, else mapped
				      reads; default 64 KiB */
	uint64_t get_packed_bytes; /* gets use one copy if the flush has at least this many bytes, else mapped
				      writes; default 64 KiB */
	uint64_t batch_bytes;  /* mean size of the pieces, in bytes, from which a batch is used; default 128
				  KiB */
	uint64_t inline_bytes; /* largest size of the list of pieces and their data, in bytes, for which both
				  are passed as a kernel's argument; default 4 KiB */
};

/*
 * Set `size` to sizeof(struct kwhy_transfer_options). Every other field may be 0, which selects its
 * default.
 */
struct kwhy_transfer_options {
	size_t size;
	int32_t backend;
	int32_t way;
	const char *device; /* number of the device in CUDA or HIP, "0", or its PCI address; NULL: the first
			       device */
	void *stream; /* a CUstream or hipStream_t of that device, which the caller owns; NULL: the engine
			 makes one. Name the default streams as CU_STREAM_LEGACY and CU_STREAM_PER_THREAD */
	uint64_t slot_bytes; /* capacity of a slot, in bytes of pieces; 0: 256 KiB */
	uint32_t slots;	     /* number of slots for each direction and NUMA node; 0: 8 */
	uint32_t pieces;     /* largest number of pieces in a slot; 0: 4096 */
	int32_t refuse_full; /* 1: calls return KWHY_TRANSFER_FULL instead of waiting for a slot */
	int32_t disjoint; /* 1: the caller guarantees that the puts of a flush do not overlap, and the engine
			     does not check */
	int32_t numa;	  /* 0: rings of slots on each NUMA node, on at most 8; N above 0: rings on node N - 1
			     only */
	struct kwhy_transfer_limits limits;
};

/*
 * Opens an engine: a struct kwhy_transfer with its stream and its rings of slots. `options` NULL: all
 * defaults. `message` may be NULL. Takes 10 to 300 ms, mostly for the context and the kernels.
 */
KWHY_API int kwhy_transfer_open(const struct kwhy_transfer_options *options, struct kwhy_transfer **out,
	char *message, size_t message_bytes);

/*
 * Closes an engine after its flushed pieces have arrived. Pieces put or requested since the last flush are
 * dropped. Memory from kwhy_transfer_memory_new() is freed. NULL is allowed.
 */
KWHY_API void kwhy_transfer_close(struct kwhy_transfer *transfer);

/* Copies the message of the engine's last failed call, of any thread. */
KWHY_API void kwhy_transfer_message(struct kwhy_transfer *transfer, char *message, size_t message_bytes);

/*
 * With the next flush, copies `bytes` bytes from `from` to device address `to`. `from` may be changed as soon
 * as the call returns. A slot that is full is sent at once; a piece larger than a slot is split. Only sending
 * calls the driver; nothing is allocated.
 */
KWHY_API int kwhy_transfer_put(struct kwhy_transfer *transfer, uint64_t to, const void *from, size_t bytes);

/*
 * As kwhy_transfer_put(), but without copying `from` into a slot. `from` is page-locked memory that the
 * device accesses at the same address (kwhy_transfer_memory_new(), cudaHostAlloc()), and must stay unchanged
 * until kwhy_transfer_wait() has returned for the flush. At most 4 GiB - 1 bytes.
 */
KWHY_API int kwhy_transfer_put_pinned(
	struct kwhy_transfer *transfer, uint64_t to, const void *from, size_t bytes);

/*
 * With the next flush, copies `bytes` bytes from device address `from` to `to`, which may be any host memory.
 * The bytes are there after kwhy_transfer_wait() has returned for that flush, not earlier. A slot that is
 * full is sent at once. Only sending calls the driver; nothing is allocated.
 */
KWHY_API int kwhy_transfer_get(struct kwhy_transfer *transfer, void *to, uint64_t from, size_t bytes);

/*
 * As kwhy_transfer_get(), but the device writes directly to `to`, page-locked memory that it accesses at the
 * same address as the host. At most 4 GiB - 1 bytes.
 */
KWHY_API int kwhy_transfer_get_pinned(struct kwhy_transfer *transfer, void *to, uint64_t from, size_t bytes);

struct kwhy_transfer_part {
	uint64_t device;
	void *host;
	uint64_t bytes;
};

/*
 * Put or get many pieces in one call, which costs less than a call for each. `pinned` 1: as
 * kwhy_transfer_put_pinned() and kwhy_transfer_get_pinned(); 0: as kwhy_transfer_put() and
 * kwhy_transfer_get(). *out_taken is the number of pieces that were taken, from the first on, also if the
 * call fails; out_taken may be NULL.
 */
KWHY_API int kwhy_transfer_put_many(struct kwhy_transfer *transfer, const struct kwhy_transfer_part *parts,
	size_t count, int pinned, size_t *out_taken);
KWHY_API int kwhy_transfer_get_many(struct kwhy_transfer *transfer, const struct kwhy_transfer_part *parts,
	size_t count, int pinned, size_t *out_taken);

/* Formats of numbers on the device. Conversion rounds to nearest, ties to even. */
#define KWHY_TRANSFER_F32 0
#define KWHY_TRANSFER_F16 1 /* values that round to more than 65504 become infinite */
#define KWHY_TRANSFER_BF16 2
#define KWHY_TRANSFER_I8 3 /* value / scale, clamped to -127 to 127; not-a-number becomes 0 */

/* Bytes of one number; 0: unknown format. */
KWHY_API size_t kwhy_transfer_format_bytes(int format);

/*
 * Converts numbers on the CPU. `scale` is used for KWHY_TRANSFER_I8 only, where it must be above 0.
 * KWHY_TRANSFER_E_INPUT: a wrong format or scale, or `to` is not aligned to its numbers.
 */
KWHY_API int kwhy_transfer_convert(void *to, const float *from, size_t count, int format, float scale);

/* As kwhy_transfer_put() for `count` numbers, which are converted while they are copied into the slot. */
KWHY_API int kwhy_transfer_put_numbers(struct kwhy_transfer *transfer, uint64_t to, const float *from,
	size_t count, int format, float scale);

/*
 * Sends the pieces put and requested since the last flush. Returns before they have arrived. `out_ticket` may
 * be NULL.
 */
KWHY_API int kwhy_transfer_flush(struct kwhy_transfer *transfer, uint64_t *out_ticket);

/*
 * Waits until the pieces of the flush with this ticket, and of all earlier flushes, have arrived, and copies
 * the data of their gets to host memory. KWHY_TRANSFER_E_INPUT: there is no such ticket.
 */
KWHY_API int kwhy_transfer_wait(struct kwhy_transfer *transfer, uint64_t ticket);

/*
 * Drops the pieces that were not sent, and ends loaders: their later calls return KWHY_TRANSFER_CANCELLED.
 * Waiting calls return KWHY_TRANSFER_CANCELLED as soon as the work already queued on the device has run. The
 * engine can be used again afterwards.
 */
KWHY_API void kwhy_transfer_cancel(struct kwhy_transfer *transfer);

/* The engine's stream (CUstream, hipStream_t), for queuing work after a flush without waiting for it. */
KWHY_API void *kwhy_transfer_stream(struct kwhy_transfer *transfer);

#define KWHY_TRANSFER_ON_DEVICE 0
#define KWHY_TRANSFER_PINNED \
	1 /* page-locked host memory near the device, which accesses it at the same address */

/*
 * Allocates device or page-locked memory, for programs that have no other allocator for it. Takes as long as
 * the driver's allocation, so do not call it in a hot path.
 */
KWHY_API int kwhy_transfer_memory_new(
	struct kwhy_transfer *transfer, int where, size_t bytes, uint64_t *out_address);
KWHY_API void kwhy_transfer_memory_free(struct kwhy_transfer *transfer, uint64_t address);

/* Counts since the engine was opened. */
struct kwhy_transfer_counts {
	size_t size;		/* size of this struct, set by the caller */
	uint64_t pieces, bytes; /* pieces of puts and gets, and their bytes */
	uint64_t flushes;
	uint64_t driver_calls; /* calls of the driver to send slots: copies, kernels, events */
	uint64_t waits; /* number of waits for a slot to have run, for a ticket or for space, including those
			   that returned at once */
	uint64_t packed, mapped, batched, plain; /* number of slots sent, by method */
	uint64_t overlapping; /* slots whose puts overlapped, so that they were moved one after another */
	uint64_t inlined;     /* slots sent with method KWHY_TRANSFER_INLINE */
};

KWHY_API int kwhy_transfer_counts(struct kwhy_transfer *transfer, struct kwhy_transfer_counts *out);

/* Loaders: large data are read ahead, sent in chunks, and processed while the next chunks arrive. */

/*
 * Fills `to` with `bytes` of the data from `offset` on; returns 0. Any other value ends the loader with
 * KWHY_TRANSFER_E_IO. Called by the loader's own thread, in order.
 */
typedef int kwhy_transfer_reader(void *context, void *to, uint64_t offset, size_t bytes);

/*
 * Set `size` to the size of this struct. A field that you do not need may be 0, which selects its default if
 * it has one.
 */
struct kwhy_transfer_loader_options {
	size_t size;
	uint64_t bytes;	      /* size of all the data before any conversion, above 0 */
	uint64_t chunk_bytes; /* 0: from kwhy_transfer_chunk_bytes() if copy_s and compute_s are known, else 4
				 MiB */
	uint32_t slots;	  /* number of chunks for which there is memory, so at most this many are being read,
			     copied or processed at the same time; 0: 4 */
	const void *from; /* the data in memory; NULL: `read` supplies them */
	kwhy_transfer_reader *read;
	void *context;
	int32_t pinned; /* 1: `from` is page-locked, as for kwhy_transfer_put_pinned(), and is sent without a
			   copy */
	int32_t format; /* format that floats are converted to; KWHY_TRANSFER_F32: bytes are sent unchanged */
	float scale;	/* scale of KWHY_TRANSFER_I8 */
	int32_t on_device; /* 1: floats are sent unchanged and converted on the device; 0: they are converted
			      on the host, which is not possible if `pinned` is 1 */
	double copy_s,
		compute_s; /* expected times in s of copying and of processing all the data; 0: unknown */
	uint32_t threads;  /* number of threads that copy or convert `from`; 0: 1 thread. `read` is always
			      called by 1 thread */
};

/*
 * Returns the best size of a chunk, a multiple of 64 KiB. The time of n chunks, T(n) = max(copy, compute) +
 * min(copy, compute) / n + n * overhead, is least at n = sqrt(min(copy, compute) / overhead). Returns `bytes`
 * if a time is not above 0.
 */
KWHY_API uint64_t kwhy_transfer_chunk_bytes(
	uint64_t bytes, double copy_s, double compute_s, double overhead_s);

struct kwhy_transfer_loader;

/* Opens a loader, which begins to read ahead. Close it before the engine. */
KWHY_API int kwhy_transfer_loader_open(struct kwhy_transfer *transfer,
	const struct kwhy_transfer_loader_options *options, struct kwhy_transfer_loader **out);

struct kwhy_transfer_chunk {
	size_t size;	 /* size of this struct, set by the caller */
	uint64_t offset; /* position in the data before any conversion */
	uint64_t bytes;	 /* size on the device */
	uint64_t device; /* device address, valid until kwhy_transfer_loader_done() */
	void *stream; /* stream whose later work runs after the chunk has arrived; NULL on the host back end
		       */
};

/*
 * Gives the next chunk, in order. The call does not wait until the chunk has arrived, but work that is
 * queued later in the chunk's stream runs only after that. KWHY_TRANSFER_END: there are no more chunks.
 */
KWHY_API int kwhy_transfer_loader_next(struct kwhy_transfer_loader *loader, struct kwhy_transfer_chunk *out);
/* Waits until the chunk has arrived, for work that is not queued in its stream. */
KWHY_API int kwhy_transfer_loader_arrived(
	struct kwhy_transfer_loader *loader, const struct kwhy_transfer_chunk *chunk);
/*
 * Reports that the program has queued all its work on the chunk in the chunk's stream; the chunk may be
 * overwritten when that work has run. Call it for each chunk, in the order of kwhy_transfer_loader_next().
 */
KWHY_API int kwhy_transfer_loader_done(
	struct kwhy_transfer_loader *loader, const struct kwhy_transfer_chunk *chunk);
/*
 * Closes the loader, which need not have given its last chunk. Waits for copies and work that were queued.
 * NULL is allowed.
 */
KWHY_API void kwhy_transfer_loader_close(struct kwhy_transfer_loader *loader);

/*
 * A program's function that queues its work on a chunk in chunk->stream and returns 0. Any other value ends
 * the loader with KWHY_TRANSFER_E_IO. On the host back end the function does the work itself, and the thread
 * that acts as the stream calls it in order.
 */
typedef int kwhy_transfer_compute(void *context, const struct kwhy_transfer_chunk *chunk);

/*
 * Loads all the data and calls `compute` for each chunk, in order; returns when all chunks have been
 * processed.
 */
KWHY_API int kwhy_transfer_stream_through(struct kwhy_transfer *transfer,
	const struct kwhy_transfer_loader_options *options, kwhy_transfer_compute *compute, void *context);

#ifdef __cplusplus
}
#endif

#endif
