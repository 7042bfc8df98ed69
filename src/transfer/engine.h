/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TRANSFER_ENGINE_H
#define KWHY_TRANSFER_ENGINE_H

#include "base/status.h"
#include "gpu/gpu.h"
#include "kwhy/transfer.h"
#include "transfer/kernels.h"
#include "transfer/lock.h"
#include "transfer/mark.h"
#include "transfer/nodes.h"
#include "transfer/slot.h"

#include <pthread.h>
#include <stdatomic.h>

/*
 * The state behind kwhy/transfer.h. Functions here return its codes (KWHY_TRANSFER_*), and are called with
 * the lock held unless they say otherwise.
 */

/* The slots on one NUMA node, used in turn; slots[at] is the open one or the next to open. */
struct kwhy_transfer_node_ring {
	struct kwhy_transfer_slot *slots;
	uint32_t at;
	uint32_t under_way; /* slots sent and not yet reclaimed: those before `at` */
};

/*
 * The slots of one direction: a ring on each NUMA node. Only one slot is open at a time, and threads of all
 * nodes fill it, so that pieces keep their order. It lies on the node of the thread that opened it.
 */
struct kwhy_transfer_ring {
	enum kwhy_transfer_operation direction;
	struct kwhy_transfer_node_ring node_rings[KWHY_TRANSFER_NODES_MAX];
	uint32_t count;			      /* slots of each node's ring */
	struct kwhy_transfer_node_ring *open; /* ring whose slots[at] is open; NULL: no slot is open */
};

/* State of one call that moves pieces. */
struct kwhy_transfer_call {
	unsigned cancels; /* number of cancellations when the call began */
	uint32_t home;	  /* ring of the thread's node; KWHY_TRANSFER_NO_HOME: not determined yet */
};

#define KWHY_TRANSFER_NO_HOME UINT32_MAX

/* How many of the latest tickets are kept. A wait for an older one waits for the oldest that is kept. */
enum { KWHY_TRANSFER_TICKETS_KEPT = 256 };

struct kwhy_transfer_memory; /* see memory.c */

struct kwhy_transfer {
	struct kwhy_gpu *gpu;
	const struct kwhy_gpu_ops *ops;
	struct kwhy_gpu_module *module;
	const struct kwhy_gpu_kernel *move, *move_in_order;
	const struct kwhy_gpu_kernel *move_packet, *move_short_packet; /* NULL: not on this device */
	const struct kwhy_gpu_kernel *call;			       /* host back end only */
	struct kwhy_gpu_stream *stream;
	bool made_stream;		      /* the engine frees the stream */
	bool has_batch;			      /* the stream supports batched copies */
	struct kwhy_transfer_options options; /* complete: 0 no longer stands for a default */
	struct kwhy_transfer_nodes nodes;     /* nodes of the rings; the first is nearest to the device */

	struct kwhy_transfer_lock lock;			     /* protects all fields below */
	struct kwhy_gpu_host slabs[KWHY_TRANSFER_NODES_MAX]; /* slots of both directions */
	uint64_t staging[KWHY_TRANSFER_NODES_MAX];
	struct kwhy_transfer_ring rings[KWHY_TRANSFER_OPERATION_COUNT];
	struct kwhy_gpu_copy *copies;	      /* space for the batch of one slot */
	struct kwhy_transfer_extent *extents; /* space for finding overlaps in one slot */
	struct kwhy_transfer_memory *memory;
	struct kwhy_transfer_counts counts;
	struct kwhy_gpu_host mark;	    /* see mark.h */
	uint64_t arrived;		    /* device address of a kernel's block counter */
	struct kwhy_transfer_packet packet; /* argument of the next launch */
	uint64_t flushed;		    /* tickets issued so far */
	uint64_t sent, reached;		    /* slots sent so far; number of the last one known to have run */
	uint64_t sent_by[KWHY_TRANSFER_TICKETS_KEPT]; /* slots sent up to each kept ticket; index: ticket
							 modulo size */
	int failed; /* permanently KWHY_TRANSFER_E_DEVICE after the device has failed; 0: it has not */
	struct kwhy_error error;

	atomic_uint cancels;
	pthread_mutex_t loaders_lock;
	struct kwhy_transfer_loader *loaders;
};

/* The KWHY_TRANSFER_* code of a status. */
int kwhy_transfer_code_of(enum kwhy_status status);

/* Sets the engine's message and returns the code. */
int kwhy_transfer_fail(struct kwhy_transfer *transfer, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Returns the code of a status whose message is in transfer->error. After a failure of the device the engine
 * fails permanently.
 */
int kwhy_transfer_check(struct kwhy_transfer *transfer, enum kwhy_status status);

/* As kwhy_transfer_check(), called without the lock and with the message in `error`. */
int kwhy_transfer_check_unlocked(
	struct kwhy_transfer *transfer, enum kwhy_status status, const struct kwhy_error *error);

/* Takes the lock. If the device has failed it returns that code and does not hold the lock. */
int kwhy_transfer_begin(struct kwhy_transfer *transfer);
void kwhy_transfer_end(struct kwhy_transfer *transfer);

/*
 * Sets the GPU current. Needed before driver calls, since the thread may have made none yet or may have
 * switched to another device.
 */
int kwhy_transfer_enter(struct kwhy_transfer *transfer);

/* Sends the open slot if it is not empty. */
int kwhy_transfer_send(struct kwhy_transfer *transfer, struct kwhy_transfer_ring *ring);

/*
 * Gets the slot for further pieces: the open one, or else one of the call's home ring. If that ring is full
 * it waits, or returns KWHY_TRANSFER_FULL.
 */
int kwhy_transfer_slot_open(struct kwhy_transfer *transfer, struct kwhy_transfer_ring *ring,
	struct kwhy_transfer_call *call, struct kwhy_transfer_slot **out);

/* Whether `bytes` fit, without waiting, into the open slot and those that the call can open now. */
int kwhy_transfer_has_space(struct kwhy_transfer *transfer, struct kwhy_transfer_ring *ring,
	struct kwhy_transfer_call *call, uint64_t bytes, bool *out);

/* Waits until all slots of tickets up to this one have run, and delivers fetched pieces. */
int kwhy_transfer_reach(struct kwhy_transfer *transfer, uint64_t ticket);

/* As kwhy_transfer_open(), on these nodes; `nodes` NULL: those of this machine. */
int kwhy_transfer_open_on(const struct kwhy_transfer_options *options,
	const struct kwhy_transfer_nodes *nodes, struct kwhy_transfer **out, char *message,
	size_t message_bytes);

/* Allocate and free the rings and their memory. */
enum kwhy_status kwhy_transfer_rings_new(struct kwhy_transfer *transfer, struct kwhy_error *error);
void kwhy_transfer_rings_free(struct kwhy_transfer *transfer);

void kwhy_transfer_memory_free_all(struct kwhy_transfer *transfer);

/* Wakes loaders so that they notice a cancellation. Called without the lock. */
void kwhy_transfer_loaders_wake(struct kwhy_transfer *transfer);

#endif
