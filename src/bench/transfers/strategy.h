/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_TRANSFERS_STRATEGY_H
#define KWHY_BENCH_TRANSFERS_STRATEGY_H

#include "bench/transfers/buffers.h"
#include "model/transfers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kwhy_bench_work;

/* The bit of a direction or a clock in a strategy's masks. */
#define KWHY_BENCH_BIT(value) (1u << (value))

/*
 * One method of moving bytes; a row of a constant table. A measurement calls prepare() for one size, issue()
 * for each transfer, and release(). A function pointer is NULL if there is nothing to do.
 */
struct kwhy_bench_strategy {
	const char *id, *title;
	const char *memory;  /* kind of host memory, such as "pageable" or "pinned" */
	unsigned directions; /* bits KWHY_BENCH_BIT() of enum kwhy_transfer_direction */
	unsigned clocks;     /* bits KWHY_BENCH_BIT() of enum kwhy_transfer_clock: how it can be timed */
	bool is_of_pieces;   /* moves many separate pieces; false: it moves one contiguous range */
	/*
	 * the strategy moves no bytes over the link: it is a cost or a use of data with which transfers are
	 * compared
	 */
	bool is_not_a_transfer;
	/*
	 * the strategy only moves bytes unchanged, so it is compared with others to find the fastest method
	 */
	bool is_plain;
	bool only_if_asked;
	/*
	 * true: the time by the host's clock ends when issue() returns, without waiting for the device. It is
	 * set for synchronous copies, after whose call the host may use its memory again.
	 */
	bool returns_done;
	uint64_t least_bytes, most_bytes; /* range of sizes that are measured; 0: no limit */
	uint64_t step_bytes;		  /* sizes must be multiples of this; 0: any size */
	uint32_t most_pieces;		  /* largest number of pieces; 0: no limit */
	/*
	 * Prepares the transfer; not timed. KWHY_E_UNSUPPORTED: this machine cannot run the strategy, which
	 * is then left out; the message says why.
	 */
	enum kwhy_status (*prepare)(struct kwhy_bench_work *work, struct kwhy_error *error);
	/* Undoes what a transfer changed, before each sample that is timed on the host; not timed. */
	enum kwhy_status (*rewind)(struct kwhy_bench_work *work, struct kwhy_error *error);
	/* Does one transfer, or queues it on the first stream_count streams of work->buffers. */
	enum kwhy_status (*issue)(struct kwhy_bench_work *work, struct kwhy_error *error);
	/*
	 * Does the host's part of a transfer after its end on the device; timed, if the clock is the host's.
	 */
	enum kwhy_status (*finish)(struct kwhy_bench_work *work, struct kwhy_error *error);
	/* Compares the received bytes with those sent. The sinks were overwritten before the transfer. */
	enum kwhy_status (*verify)(struct kwhy_bench_work *work, bool *out_same, struct kwhy_error *error);
	void (*release)(struct kwhy_bench_work *work);
	intptr_t variant; /* parameter of functions that several strategies share; each says what it means */
};

/* A strategy that is prepared for one size. */
struct kwhy_bench_work {
	struct kwhy_bench_buffers *buffers;
	const struct kwhy_bench_strategy *strategy;
	enum kwhy_transfer_direction direction;
	uint64_t bytes;
	uint32_t pieces;
	/*
	 * size of a piece in bytes, and distance in bytes from the start of a piece to the start of the next
	 */
	uint64_t piece_bytes, stride;
	/* issue() uses the first stream_count streams; 1 unless prepare() changes it */
	uint32_t stream_count;
	struct kwhy_gpu_copy to_device, to_host;
	uint64_t first; /* offset in the pattern of the first byte that is moved */
	/*
	 * Addresses by which kernels access host memory: mapped_sink for the sink, mapped_packet for the
	 * packet of packed pieces (pieces.c), and mapped_end for that of source and sink which is on the
	 * host.
	 */
	uint64_t mapped_sink, mapped_packet, mapped_end;
	double link_bytes;
	struct kwhy_gpu_graph *graph;
	void *own; /* the strategy's own data, from prepare() until release() */
};

/* The strategy with this index, counted over all tables; NULL: the index is too high. */
const struct kwhy_bench_strategy *kwhy_bench_strategy_at(size_t index);

/* The strategy with this id; NULL: there is no such strategy. */
const struct kwhy_bench_strategy *kwhy_bench_strategy_find(const char *id);

/* Whether the strategy can move this size and number of pieces in this direction. */
bool kwhy_bench_strategy_takes(const struct kwhy_bench_strategy *strategy,
	enum kwhy_transfer_direction direction, uint64_t bytes, uint32_t pieces);

/* Tables of strategies. Each ends with a row whose id is NULL. */
extern const struct kwhy_bench_strategy kwhy_bench_copies[], kwhy_bench_kernels[], kwhy_bench_piecewise[],
	kwhy_bench_compression[], kwhy_bench_overlaps[], kwhy_bench_narrowings[], kwhy_bench_loaders[];

/*
 * verify() of most strategies: compares the sinks of a transfer with the pattern. Piece i lies at the offset
 * i * stride of the sink and of the pattern.
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_verify_sinks(
	struct kwhy_bench_work *work, bool *out_same, struct kwhy_error *error);
/*
 * Whether the device's counter (work->buffers->counter) holds the sum that kwhy_transfer_read() computes if
 * it reads the source once.
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_verify_sum(
	struct kwhy_bench_work *work, bool *out_same, struct kwhy_error *error);
/* Overwrites the sinks so that they differ from the pattern. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_spoil_sinks(struct kwhy_bench_work *work, struct kwhy_error *error);

/*
 * Makes the buffers of a copy of `bytes` bytes between host memory of the kind `memory` and device memory,
 * and stores the copy in work->to_host (if `to_host`) or work->to_device.
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_copy_prepare(struct kwhy_bench_work *work,
	enum kwhy_bench_memory memory, bool to_host, uint64_t bytes, struct kwhy_error *error);

/* Records what `issue` queues on the first stream as the work's graph, by kwhy_gpu_capture(). */
KWHY_MUST_USE enum kwhy_status kwhy_bench_capture(struct kwhy_bench_work *work,
	enum kwhy_status (*issue)(struct kwhy_bench_work *work, struct kwhy_error *error),
	struct kwhy_error *error);
/* issue() and release() of strategies that launch the recorded graph. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_graph_issue(struct kwhy_bench_work *work, struct kwhy_error *error);
void kwhy_bench_graph_release(struct kwhy_bench_work *work);

/*
 * Bytes from the start of one piece to the start of the next. It is a multiple of 16 with a gap after each
 * piece; for a single piece it is the piece's size.
 */
uint64_t kwhy_bench_stride(uint64_t piece_bytes, uint32_t pieces);

/*
 * Fork: later work on the second to the last of the stream_count streams waits for what was queued on the
 * first before. Join: later work on the first waits for what was queued on the others before.
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_fork(struct kwhy_bench_work *work, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_bench_join(struct kwhy_bench_work *work, struct kwhy_error *error);

/* Issues one transfer between a fork and a join. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_issue(struct kwhy_bench_work *work, struct kwhy_error *error);

#endif
