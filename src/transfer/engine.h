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
 * The transfer engine, struct kwhy_transfer, whose public interface is kwhy/transfer.h. Functions here that
 * return int return that header's codes (KWHY_TRANSFER_*), and are called with the engine's lock held, unless
 * they say otherwise.
 */

/*
 * The slots of one direction on one NUMA node, used in turn. slots[at] is the slot that is open or will be
 * opened next.
 */
struct kwhy_transfer_node_ring {
	struct kwhy_transfer_slot *slots;
	uint32_t at;
	uint32_t under_way; /* number of slots directly before `at` that were sent and not yet emptied, as
			       they are not known to have run */
};

/*
 * The slots of one direction: a ring on each NUMA node. At most one slot of the direction is open at a time,
 * on the node of the thread that opened it. Threads of all nodes add pieces to it, so that pieces keep their
 * order.
 */
struct kwhy_transfer_ring {
	enum kwhy_transfer_operation direction;
	struct kwhy_transfer_node_ring node_rings[KWHY_TRANSFER_NODES_MAX];
	uint32_t count; /* number of slots in each node's ring */
	/*
	 * the one of node_rings whose slots[at] is being filled: a call began it, and it has not been sent
	 * yet; NULL: none is being filled
	 */
	struct kwhy_transfer_node_ring *open;
};

/* State of one call of the public interface that puts or gets pieces. */
struct kwhy_transfer_call {
	unsigned cancels; /* transfer->cancels when the call began: a wait of this call ends if a cancellation
			     has raised it */
	/* index of the ring on the node of the calling thread; KWHY_TRANSFER_NO_HOME: not determined yet */
	uint32_t home;
};

#define KWHY_TRANSFER_NO_HOME UINT32_MAX

/*
 * A flush returns a ticket, by which its transfers are waited for. The engine remembers this many of the
 * latest tickets; a wait for an older ticket waits for the oldest remembered one.
 */
enum { KWHY_TRANSFER_TICKETS_KEPT = 256 };

struct kwhy_transfer_memory; /* memory allocated for programs; see memory.c */

struct kwhy_transfer {
	struct kwhy_gpu *gpu;
	const struct kwhy_gpu_ops *ops;
	struct kwhy_gpu_module *module;
	const struct kwhy_gpu_kernel *move, *move_in_order;
	/*
	 * kernels of the inline method, which have list and data as their argument; NULL: the method is not
	 * possible on this device
	 */
	const struct kwhy_gpu_kernel *move_packet, *move_short_packet;
	const struct kwhy_gpu_kernel
		*call; /* kernel that calls a C function, on the host back end; NULL on others */
	struct kwhy_gpu_stream *stream;
	bool made_stream;		      /* whether the engine made the stream and frees it */
	bool has_batch;			      /* whether the stream supports batched copies */
	struct kwhy_transfer_options options; /* the options, with 0 replaced by the defaults */
	struct kwhy_transfer_nodes nodes; /* the nodes that have rings; the first is nearest to the device */

	struct kwhy_transfer_lock lock; /* protects all fields below, up to `error` */
	struct kwhy_gpu_host
		slabs[KWHY_TRANSFER_NODES_MAX]; /* [nodes] page-locked memory of the slots of both directions;
						   staging[nodes]: address of its counterpart on the device */
	uint64_t staging[KWHY_TRANSFER_NODES_MAX];
	struct kwhy_transfer_ring rings[KWHY_TRANSFER_OPERATION_COUNT];
	struct kwhy_gpu_copy *copies;	      /* space for the copies of one slot's batch */
	struct kwhy_transfer_extent *extents; /* space for searching overlaps in one slot */
	struct kwhy_transfer_memory *memory;
	struct kwhy_transfer_counts counts;
	struct kwhy_gpu_host mark; /* memory of the mark, which shows how far the stream has come (mark.h) */
	uint64_t arrived;	   /* device address of the counter of blocks that have ended */
	struct kwhy_transfer_packet packet; /* argument of the next launch by the inline method */
	uint64_t flushed;		    /* number of tickets issued so far */
	/*
	 * sent: number of slots that were sent so far, which is also the number of the last one; reached:
	 * number of the last slot that is known to have run, as all slots before it have
	 */
	uint64_t sent, reached;
	/* [ticket % KWHY_TRANSFER_TICKETS_KEPT] value of `sent` when the ticket was issued */
	uint64_t sent_by[KWHY_TRANSFER_TICKETS_KEPT];
	/* KWHY_TRANSFER_E_DEVICE, which stays, once a driver call has failed; 0: none has failed */
	int failed;
	struct kwhy_error error;

	atomic_uint cancels;
	pthread_mutex_t loaders_lock;
	struct kwhy_transfer_loader *loaders;
};

/* Converts a status to a code KWHY_TRANSFER_*. */
int kwhy_transfer_code_of(enum kwhy_status status);

/* Sets the engine's message and returns `code`. */
int kwhy_transfer_fail(struct kwhy_transfer *transfer, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Takes the status of a driver call, whose message is in transfer->error. If it is a failure, the engine is
 * failed from then on (transfer->failed). Returns KWHY_TRANSFER_OK, or KWHY_TRANSFER_E_DEVICE once the engine
 * has failed.
 */
int kwhy_transfer_check(struct kwhy_transfer *transfer, enum kwhy_status status);

/*
 * Does the same as kwhy_transfer_check(), but is called without the lock and takes the message from `error`.
 */
int kwhy_transfer_check_unlocked(
	struct kwhy_transfer *transfer, enum kwhy_status status, const struct kwhy_error *error);

/* Takes the lock. If the engine has failed, returns KWHY_TRANSFER_E_DEVICE without holding the lock. */
int kwhy_transfer_begin(struct kwhy_transfer *transfer);
void kwhy_transfer_end(struct kwhy_transfer *transfer);

/*
 * Makes the GPU's context current in the calling thread. This is needed before calls of the driver, because
 * the thread may have made none yet, or may use another device.
 */
int kwhy_transfer_enter(struct kwhy_transfer *transfer);

/* Sends the ring's open slot if it has any pieces. */
int kwhy_transfer_send(struct kwhy_transfer *transfer, struct kwhy_transfer_ring *ring);

/*
 * Gets the open slot or, if none is open, opens the next slot on the calling thread's node. If all slots
 * there are sent and have not run, waits for one to run or, if the options say so (refuse_full), returns
 * KWHY_TRANSFER_FULL.
 */
int kwhy_transfer_slot_open(struct kwhy_transfer *transfer, struct kwhy_transfer_ring *ring,
	struct kwhy_transfer_call *call, struct kwhy_transfer_slot **out);

/*
 * Gets whether `bytes` bytes fit, without waiting, into the open slot and into the slots that this call can
 * open now.
 */
int kwhy_transfer_has_space(struct kwhy_transfer *transfer, struct kwhy_transfer_ring *ring,
	struct kwhy_transfer_call *call, uint64_t bytes, bool *out);

/*
 * Waits until all slots that were sent before this ticket was issued have run, and copies the pieces that
 * their gets fetched to their destinations.
 */
int kwhy_transfer_reach(struct kwhy_transfer *transfer, uint64_t ticket);

/*
 * Does the same as kwhy_transfer_open(), with rings on these nodes or, if `nodes` is NULL, on those of this
 * machine.
 */
int kwhy_transfer_open_on(const struct kwhy_transfer_options *options,
	const struct kwhy_transfer_nodes *nodes, struct kwhy_transfer **out, char *message,
	size_t message_bytes);

/* Allocate the rings with their memory, and free them. */
enum kwhy_status kwhy_transfer_rings_new(struct kwhy_transfer *transfer, struct kwhy_error *error);
void kwhy_transfer_rings_free(struct kwhy_transfer *transfer);

void kwhy_transfer_memory_free_all(struct kwhy_transfer *transfer);

/*
 * Wakes threads that wait in calls of loaders, so that they notice a cancellation. It is called without the
 * engine's lock.
 */
void kwhy_transfer_loaders_wake(struct kwhy_transfer *transfer);

#endif
