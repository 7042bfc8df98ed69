/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TRANSFER_H
#define KWHY_TRANSFER_H

/*
 * libkwhy: data to and from a GPU without a driver call per piece.
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
 * Pieces are packed into slots of page-locked memory, a ring of them on each NUMA node: the slot that a
 * thread opens lies on its own. A flush sends a slot by one
 * or two calls of the driver: a kernel that has it as its argument, or reads it, one copy and a kernel that
 * scatters it, a batch of copies where pieces are large, or a plain copy where there is but one.
 * docs/transfer.md says when.
 *
 * Device addresses are uint64_t as the device has them (CUdeviceptr, hipDeviceptr_t; on the host back end a
 * pointer's value); sizes are bytes.
 *
 * Order: slots run one after another in the engine's stream. A flush, and a slot of gets that is full, sends
 * the open slot of puts before that of gets. Where puts, or gets, write to the same bytes, the later one
 * wins; not so between kwhy_transfer_get() and kwhy_transfer_get_pinned(), which must not.
 *
 * Threads: any thread may call anything at any time but kwhy_transfer_close(); pieces of several threads
 * share slots and flushes. A call that waits keeps other calls waiting, kwhy_transfer_cancel() excepted. A
 * loader is one thread's. On CUDA and HIP a call leaves the device's primary context current. Not for signal
 * handlers, and not for a child after fork().
 *
 * Errors: a call that fails returns a code and leaves words for kwhy_transfer_message(). Once the device has
 * failed, every later call says so and nothing waits any more.
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
#define KWHY_TRANSFER_E_INPUT 1 /* a value that was given is wrong */
#define KWHY_TRANSFER_E_IO 2	/* a reader failed */
#define KWHY_TRANSFER_E_MEMORY 3
#define KWHY_TRANSFER_E_UNSUPPORTED 4 /* this machine cannot do it */
#define KWHY_TRANSFER_E_DEVICE 5      /* the device has failed: only closing makes sense */
#define KWHY_TRANSFER_FULL 6 /* the ring is full and the engine was told not to wait: nothing was taken */
#define KWHY_TRANSFER_CANCELLED 7 /* by kwhy_transfer_cancel() */
#define KWHY_TRANSFER_END 8	  /* a loader has no more */

/* Room that any message needs: one sentence with what, why and the cure. */
#define KWHY_TRANSFER_MESSAGE_BYTES 720

struct kwhy_transfer;

#define KWHY_TRANSFER_CUDA 0
#define KWHY_TRANSFER_HIP 1
#define KWHY_TRANSFER_HOST 2 /* memory of this machine, a thread a stream: runs without a GPU */

/* How a flush moves its pieces. */
#define KWHY_TRANSFER_CHOOSE 0 /* by the limits below */
#define KWHY_TRANSFER_PACKED 1 /* one copy of the slot, and a kernel at the device's end of it */
#define KWHY_TRANSFER_MAPPED 2 /* a kernel that reaches host memory itself */
#define KWHY_TRANSFER_BATCH 3  /* a copy a piece by one call; where the driver has none: as CHOOSE */
#define KWHY_TRANSFER_INLINE 4 /* a kernel whose argument the slot is, of 4 KiB; if larger: as CHOOSE */

/*
 * The sizes from which one method is faster than another on this machine; `kwhy bench transfer --header` measures and writes them.
 * 0: the default beside it, of an H200 with PCIe 5. A batch leaves the multiprocessors to other work, a
 * kernel takes some for as long as the link needs.
 */
struct kwhy_transfer_limits {
	uint64_t put_packed_bytes; /* a flush of so many takes the copy instead of mapped reads: 64 KiB */
	uint64_t get_packed_bytes; /* the same for gets: 64 KiB */
	uint64_t batch_bytes;	   /* pieces of this many on the mean go by the batch: 128 KiB */
	uint64_t inline_bytes;	   /* list and data up to this many are a kernel's argument: 4 KiB */
};

/*
 * Set `size` to sizeof(struct kwhy_transfer_options), without which it is refused, and all else that is not
 * wanted to 0.
 */
struct kwhy_transfer_options {
	size_t size;
	int32_t backend;
	int32_t way;
	const char *device; /* as its library counts, "0", or a PCI address; NULL: the first */
	void *stream;	    /* the caller's own CUstream or hipStream_t of that device; NULL: one is made. The
			       default streams are CU_STREAM_LEGACY and CU_STREAM_PER_THREAD */
	uint64_t slot_bytes; /* of pieces in a slot; 0: 256 KiB */
	uint32_t slots;	     /* a direction and node; 0: 8 */
	uint32_t pieces;     /* at most in a slot; 0: 4096 */
	int32_t refuse_full; /* 1: KWHY_TRANSFER_FULL instead of waiting for a slot */
	int32_t disjoint; /* 1: no puts of a flush overlap, by the caller's word; they are then not compared
			   */
	int32_t numa; /* 1 + the node for one ring alone, which must be there; 0: one on each, of 8 at most */
	struct kwhy_transfer_limits limits;
};

/* `options` NULL: all default. `message` may be NULL. Takes 10 to 300 ms, mostly for a context and kernels.
 */
KWHY_API int kwhy_transfer_open(const struct kwhy_transfer_options *options, struct kwhy_transfer **out,
	char *message, size_t message_bytes);

/*
 * Waits for what was flushed, which still arrives; what was put or asked for since the last flush is dropped.
 * Memory of kwhy_transfer_memory_new() goes with it. NULL is allowed.
 */
KWHY_API void kwhy_transfer_close(struct kwhy_transfer *transfer);

/* What the last failed call of this engine said, of whichever thread. */
KWHY_API void kwhy_transfer_message(struct kwhy_transfer *transfer, char *message, size_t message_bytes);

/*
 * Puts `bytes` from `from` at device address `to` with the next flush. `from` may be changed as soon as the
 * call returns. A full slot is flushed; a piece beyond a slot goes in several. No driver call but for a
 * flush, no allocation.
 */
KWHY_API int kwhy_transfer_put(struct kwhy_transfer *transfer, uint64_t to, const void *from, size_t bytes);

/*
 * As kwhy_transfer_put(), but `from` is not copied: it is page-locked memory that the device reaches at the
 * same address (kwhy_transfer_memory_new(), cudaHostAlloc()), and must stay until the flush has been waited
 * for. At most 4 GiB - 1 bytes.
 */
KWHY_API int kwhy_transfer_put_pinned(
	struct kwhy_transfer *transfer, uint64_t to, const void *from, size_t bytes);

/*
 * Fetches `bytes` from device address `from` with the next flush; they are at `to`, any memory, once that
 * flush has been waited for, not before. No driver call but for a flush, no allocation.
 */
KWHY_API int kwhy_transfer_get(struct kwhy_transfer *transfer, void *to, uint64_t from, size_t bytes);

/*
 * As kwhy_transfer_get(), straight to page-locked memory that the device reaches at the same address. At most
 * 4 GiB - 1 bytes.
 */
KWHY_API int kwhy_transfer_get_pinned(struct kwhy_transfer *transfer, void *to, uint64_t from, size_t bytes);

struct kwhy_transfer_part {
	uint64_t device;
	void *host;
	uint64_t bytes;
};

/*
 * Many at once, for less than as many calls. `pinned` 1: as kwhy_transfer_put_pinned() and _get_pinned(), 0:
 * as the others. `out_taken`, which may be NULL, gets how many were taken where a call fails between them.
 */
KWHY_API int kwhy_transfer_put_many(struct kwhy_transfer *transfer, const struct kwhy_transfer_part *parts,
	size_t count, int pinned, size_t *out_taken);
KWHY_API int kwhy_transfer_get_many(struct kwhy_transfer *transfer, const struct kwhy_transfer_part *parts,
	size_t count, int pinned, size_t *out_taken);

/* Numbers that are kept as such on the device. Rounded to nearest, ties to even. */
#define KWHY_TRANSFER_F32 0
#define KWHY_TRANSFER_F16 1 /* beyond 65504: infinite */
#define KWHY_TRANSFER_BF16 2
#define KWHY_TRANSFER_I8 3 /* value / scale, held within -127 and 127; not-a-number: 0 */

/* Bytes of one number; 0: there is no such format. */
KWHY_API size_t kwhy_transfer_format_bytes(int format);

/* On this CPU. `scale` is of KWHY_TRANSFER_I8 alone, above 0. */
KWHY_API int kwhy_transfer_convert(void *to, const float *from, size_t count, int format, float scale);

/* As kwhy_transfer_put() of `count` numbers, which are converted on their way into the slot. */
KWHY_API int kwhy_transfer_put_numbers(struct kwhy_transfer *transfer, uint64_t to, const float *from,
	size_t count, int format, float scale);

/* Sends what was put and asked for since. Returns before it has arrived. `out_ticket` may be NULL. */
KWHY_API int kwhy_transfer_flush(struct kwhy_transfer *transfer, uint64_t *out_ticket);

/* Until that flush and all before it have arrived, and their gets are in place. */
KWHY_API int kwhy_transfer_wait(struct kwhy_transfer *transfer, uint64_t ticket);

/*
 * Drops what was not flushed. Loaders end; what waits returns KWHY_TRANSFER_CANCELLED as soon as what the
 * device has already been given has run. Then the engine goes on as new.
 */
KWHY_API void kwhy_transfer_cancel(struct kwhy_transfer *transfer);

/* The engine's stream, for work that is to come after a flush without waiting: CUstream, hipStream_t. */
KWHY_API void *kwhy_transfer_stream(struct kwhy_transfer *transfer);

#define KWHY_TRANSFER_ON_DEVICE 0
#define KWHY_TRANSFER_PINNED \
	1 /* on the host, page-locked, near the device; reached by it at the same address */

/* Memory for programs that have no other calls for it; as slow as the driver's, so not for a hot path. */
KWHY_API int kwhy_transfer_memory_new(
	struct kwhy_transfer *transfer, int where, size_t bytes, uint64_t *out_address);
KWHY_API void kwhy_transfer_memory_free(struct kwhy_transfer *transfer, uint64_t address);

/* Since opening. */
struct kwhy_transfer_counts {
	size_t size;		/* set by the caller */
	uint64_t pieces, bytes; /* put and got */
	uint64_t flushes;
	uint64_t driver_calls;			 /* of flushes: copies, kernels, events */
	uint64_t waits;				 /* for a slot, by a ticket or a full ring, run or not */
	uint64_t packed, mapped, batched, plain; /* slots sent, by way */
	uint64_t overlapping;			 /* slots whose puts had to go one after another */
	uint64_t inlined;			 /* slots sent, as those above */
};

KWHY_API int kwhy_transfer_counts(struct kwhy_transfer *transfer, struct kwhy_transfer_counts *out);

/*
 * Streams: large data read ahead, sent in chunks, and worked on while the next ones come.
 */

/*
 * Fills `to` with the `bytes` at `offset` of the data; returns 0, else the loader ends with
 * KWHY_TRANSFER_E_IO. Called by the loader's own thread, in order.
 */
typedef int kwhy_transfer_reader(void *context, void *to, uint64_t offset, size_t bytes);

/* `size` and what is not wanted: as in struct kwhy_transfer_options. */
struct kwhy_transfer_loader_options {
	size_t size;
	uint64_t bytes;	      /* of all the data as it is read, above 0 */
	uint64_t chunk_bytes; /* 0: by kwhy_transfer_chunk_bytes() from the times below, else 4 MiB */
	uint32_t slots;	      /* chunks under way; 0: 4 */
	const void *from;     /* the data, if it is in memory; else */
	kwhy_transfer_reader *read;
	void *context;
	int32_t pinned; /* 1: `from` is page-locked, as for kwhy_transfer_put_pinned(): sent from where it is
			 */
	int32_t format; /* what floats become; KWHY_TRANSFER_F32: bytes stay as they are */
	float scale;	/* of KWHY_TRANSFER_I8 */
	int32_t on_device; /* 1: floats are sent as they are, also page-locked ones, and converted there */
	double copy_s, compute_s; /* expected of all the data; 0: unknown */
	uint32_t threads;	  /* that copy `from` into slots, or convert it; 0: 1. A reader has 1 */
};

/*
 * T(n) = max(copy, compute) + min(copy, compute) / n + n * overhead for n chunks is least at
 * n = sqrt(min / overhead): yields the bytes of a chunk then, a multiple of 64 KiB; `bytes` where a time is
 * not above 0.
 */
KWHY_API uint64_t kwhy_transfer_chunk_bytes(
	uint64_t bytes, double copy_s, double compute_s, double overhead_s);

struct kwhy_transfer_loader;

/* Begins to read ahead. End it before the engine. */
KWHY_API int kwhy_transfer_loader_open(struct kwhy_transfer *transfer,
	const struct kwhy_transfer_loader_options *options, struct kwhy_transfer_loader **out);

struct kwhy_transfer_chunk {
	size_t size;	 /* set by the caller */
	uint64_t offset; /* in the data as it is read */
	uint64_t bytes;	 /* as they are on the device */
	uint64_t device; /* where; until the chunk is done */
	void *stream;	 /* work queued here runs when the chunk has arrived; NULL on the host back end */
};

/* The next chunk, in order; does not wait for its arrival, which the stream does. KWHY_TRANSFER_END: no more.
 */
KWHY_API int kwhy_transfer_loader_next(struct kwhy_transfer_loader *loader, struct kwhy_transfer_chunk *out);
/* Waits until it is there, for work that is not queued in its stream. */
KWHY_API int kwhy_transfer_loader_arrived(
	struct kwhy_transfer_loader *loader, const struct kwhy_transfer_chunk *chunk);
/* The chunk may be overwritten when all work queued in its stream so far has run. In the order of next(). */
KWHY_API int kwhy_transfer_loader_done(
	struct kwhy_transfer_loader *loader, const struct kwhy_transfer_chunk *chunk);
/* Ends it, early too; waits for what is under way. NULL is allowed. */
KWHY_API void kwhy_transfer_loader_close(struct kwhy_transfer_loader *loader);

/*
 * Queues the work on a chunk in chunk->stream; returns 0, else the stream ends with KWHY_TRANSFER_E_IO. On
 * the host back end it does the work itself, called by the stream's thread in order.
 */
typedef int kwhy_transfer_compute(void *context, const struct kwhy_transfer_chunk *chunk);

/* A loader from beginning to end: returns when all is loaded and worked on. */
KWHY_API int kwhy_transfer_stream_through(struct kwhy_transfer *transfer,
	const struct kwhy_transfer_loader_options *options, kwhy_transfer_compute *compute, void *context);

#ifdef __cplusplus
}
#endif

#endif
