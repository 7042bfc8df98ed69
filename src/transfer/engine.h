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

/* The slots that lie on one node, used in turn; slots[at] is the open one or the next to open. */
struct kwhy_transfer_node_ring {
	struct kwhy_transfer_slot *slots;
	uint32_t at;
	uint32_t under_way; /* sent and not yet back: those before `at` */
};

/*
 * The slots of one direction: a ring on each NUMA node. One slot is open at a time, which threads of all
 * nodes fill, so that pieces keep their order; it lies on the node of the thread that opened it.
 */
struct kwhy_transfer_ring {
	enum kwhy_transfer_operation direction;
	struct kwhy_transfer_node_ring node_rings[KWHY_TRANSFER_NODES_MAX];
	uint32_t count;			      /* of slots in each */
	struct kwhy_transfer_node_ring *open; /* whose slots[at] is open; NULL: none is */
};

/* A call that moves pieces. */
struct kwhy_transfer_call {
	unsigned cancels; /* what their number was when it began */
	uint32_t home;	  /* of its thread's node, once that was asked for; KWHY_TRANSFER_NO_HOME */
};

#define KWHY_TRANSFER_NO_HOME UINT32_MAX

/* Who waits for an older ticket than this many waits for the oldest of these. */
enum { KWHY_TRANSFER_TICKETS_KEPT = 256 };

struct kwhy_transfer_memory; /* see memory.c */

struct kwhy_transfer {
	struct kwhy_gpu *gpu;
	const struct kwhy_gpu_ops *ops;
	struct kwhy_gpu_module *module;
	const struct kwhy_gpu_kernel *move, *move_in_order;
	const struct kwhy_gpu_kernel *move_packet, *move_short_packet; /* NULL: not on this device */
	const struct kwhy_gpu_kernel *call;			       /* on the host back end alone */
	struct kwhy_gpu_stream *stream;
	bool made_stream;		      /* ours to free */
	bool has_batch;			      /* in that stream */
	struct kwhy_transfer_options options; /* none is 0 but by its meaning */
	struct kwhy_transfer_nodes nodes;     /* of the rings; the first is nearest to the device */

	struct kwhy_transfer_lock lock;			     /* of all below */
	struct kwhy_gpu_host slabs[KWHY_TRANSFER_NODES_MAX]; /* of both directions */
	uint64_t staging[KWHY_TRANSFER_NODES_MAX];
	struct kwhy_transfer_ring rings[KWHY_TRANSFER_OPERATION_COUNT];
	struct kwhy_gpu_copy *copies;	      /* room for a batch of a slot */
	struct kwhy_transfer_extent *extents; /* and to look for overlaps */
	struct kwhy_transfer_memory *memory;
	struct kwhy_transfer_counts counts;
	struct kwhy_gpu_host mark;		      /* see mark.h */
	uint64_t arrived;			      /* of a kernel's blocks, on the device */
	struct kwhy_transfer_packet packet;	      /* to be launched with */
	uint64_t flushed;			      /* tickets given so far */
	uint64_t sent, reached;			      /* slots sent so far, and of those waited for */
	uint64_t sent_by[KWHY_TRANSFER_TICKETS_KEPT]; /* by the last tickets and before; ticket % so many */
	int failed; /* KWHY_TRANSFER_E_DEVICE once the device has failed, permanently */
	struct kwhy_error error;

	atomic_uint cancels;
	pthread_mutex_t loaders_lock;
	struct kwhy_transfer_loader *loaders;
};

/* KWHY_TRANSFER_* of a status. */
int kwhy_transfer_code_of(enum kwhy_status status);

/* Sets the words and yields the code. */
int kwhy_transfer_fail(struct kwhy_transfer *transfer, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* A failure of the device in transfer->error poisons the engine. Yields the code. */
int kwhy_transfer_check(struct kwhy_transfer *transfer, enum kwhy_status status);

/* The same without the lock, with the words elsewhere. */
int kwhy_transfer_check_unlocked(
	struct kwhy_transfer *transfer, enum kwhy_status status, const struct kwhy_error *error);

/* Takes the lock; not where the device has failed, for which it yields the code. */
int kwhy_transfer_begin(struct kwhy_transfer *transfer);
void kwhy_transfer_end(struct kwhy_transfer *transfer);

/* Before calls of the driver: this thread may not have made any yet, or turned to another device since. */
int kwhy_transfer_enter(struct kwhy_transfer *transfer);

/* Sends an open slot, if it holds anything. */
int kwhy_transfer_send(struct kwhy_transfer *transfer, struct kwhy_transfer_ring *ring);

/*
 * The slot to put pieces into: the open one, else one of the call's home. Waits where the ring there is full,
 * or yields KWHY_TRANSFER_FULL.
 */
int kwhy_transfer_slot_open(struct kwhy_transfer *transfer, struct kwhy_transfer_ring *ring,
	struct kwhy_transfer_call *call, struct kwhy_transfer_slot **out);

/* Whether `bytes` fit without waiting into the open slot and those that the call can open now. */
int kwhy_transfer_has_space(struct kwhy_transfer *transfer, struct kwhy_transfer_ring *ring,
	struct kwhy_transfer_call *call, uint64_t bytes, bool *out);

/* Until all slots of tickets up to this one have run; what was fetched is put in place. */
int kwhy_transfer_reach(struct kwhy_transfer *transfer, uint64_t ticket);

/* kwhy_transfer_open() on these nodes; `nodes` NULL: those of this machine. */
int kwhy_transfer_open_on(const struct kwhy_transfer_options *options,
	const struct kwhy_transfer_nodes *nodes, struct kwhy_transfer **out, char *message,
	size_t message_bytes);

/* Makes and frees what the rings are. */
enum kwhy_status kwhy_transfer_rings_new(struct kwhy_transfer *transfer, struct kwhy_error *error);
void kwhy_transfer_rings_free(struct kwhy_transfer *transfer);

void kwhy_transfer_memory_free_all(struct kwhy_transfer *transfer);

/* Loaders look for a cancellation. Without the lock. */
void kwhy_transfer_loaders_wake(struct kwhy_transfer *transfer);

#endif
