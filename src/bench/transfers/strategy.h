/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_TRANSFERS_STRATEGY_H
#define KWHY_BENCH_TRANSFERS_STRATEGY_H

#include "bench/transfers/buffers.h"
#include "model/transfers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kwhy_bench_work;

/* The bit of a direction or a clock in the masks of a strategy. */
#define KWHY_BENCH_BIT(value) (1u << (value))

/*
 * One method of moving bytes, a row of a constant table. A measurement prepares it for a size, issues it as
 * often as its clock requires, and releases it. Functions may be NULL where there is nothing to do.
 */
struct kwhy_bench_strategy {
	const char *id, *title;
	const char *memory;	/* kind of host memory: "pageable", "pinned", ... */
	unsigned directions;	/* bits of enum kwhy_transfer_direction */
	unsigned clocks;	/* bits of enum kwhy_transfer_clock */
	bool is_of_pieces;	/* moves many separate pieces; false: one contiguous range */
	bool is_not_a_transfer; /* a cost or a use of data that transfers are compared with */
	bool is_plain;		/* only brings unchanged bytes, so it competes for the fastest method */
	bool only_if_asked;
	bool returns_done; /* timed until issue() returns; for a pageable copy to the device that is when the
			      host may overwrite the bytes */
	uint64_t least_bytes, most_bytes; /* useful sizes; 0: no limit */
	uint64_t step_bytes;		  /* sizes must be multiples of it; 0: any size */
	uint32_t most_pieces;		  /* 0: no limit */
	/*
	 * Untimed preparation. KWHY_E_UNSUPPORTED: this machine cannot run the strategy, for the reason in
	 * the message; it is then left out.
	 */
	enum kwhy_status (*prepare)(struct kwhy_bench_work *work, struct kwhy_error *error);
	/* Untimed, before each sample of the host's clock: restores what a transfer changed. */
	enum kwhy_status (*rewind)(struct kwhy_bench_work *work, struct kwhy_error *error);
	/* Does one transfer, or queues it on the work's streams. */
	enum kwhy_status (*issue)(struct kwhy_bench_work *work, struct kwhy_error *error);
	/* The host's part of a transfer, after the queue is empty. */
	enum kwhy_status (*finish)(struct kwhy_bench_work *work, struct kwhy_error *error);
	/* Whether the received bytes are those sent; the sinks were overwritten before. */
	enum kwhy_status (*verify)(struct kwhy_bench_work *work, bool *out_same, struct kwhy_error *error);
	void (*release)(struct kwhy_bench_work *work);
	intptr_t variant; /* distinguishes rows that share functions */
};

/* A strategy prepared for one size. */
struct kwhy_bench_work {
	struct kwhy_bench_buffers *buffers;
	const struct kwhy_bench_strategy *strategy;
	enum kwhy_transfer_direction direction;
	uint64_t bytes;
	uint32_t pieces;
	uint64_t piece_bytes, stride; /* from the start of a piece to that of the next */
	uint32_t stream_count; /* streams that issue() uses, the first among them; 1 unless prepare() changes
				  it */
	struct kwhy_gpu_copy to_device, to_host;
	uint64_t first; /* offset in the pattern of the first byte that is moved */
	/*
	 * Addresses for kernels of host memory: the sink, the packet, and the end of the transfer that lies
	 * on the host.
	 */
	uint64_t mapped_sink, mapped_packet, mapped_end;
	double link_bytes;
	struct kwhy_gpu_graph *graph;
	void *own; /* data of the strategy, from prepare() to release() */
};

/* The strategy with this index over all tables; NULL: the index is past the last one. */
const struct kwhy_bench_strategy *kwhy_bench_strategy_at(size_t index);

/* The strategy with this id; NULL: there is no such strategy. */
const struct kwhy_bench_strategy *kwhy_bench_strategy_find(const char *id);

/* Whether the strategy supports this direction, size and number of pieces. */
bool kwhy_bench_strategy_takes(const struct kwhy_bench_strategy *strategy,
	enum kwhy_transfer_direction direction, uint64_t bytes, uint32_t pieces);

/* Tables of strategies, each ended by a row without an id. */
extern const struct kwhy_bench_strategy kwhy_bench_copies[], kwhy_bench_kernels[], kwhy_bench_piecewise[],
	kwhy_bench_compression[], kwhy_bench_overlaps[], kwhy_bench_narrowings[], kwhy_bench_loaders[];

/* Checks sinks that hold the pattern, with pieces at their strides. Shared by several strategies. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_verify_sinks(
	struct kwhy_bench_work *work, bool *out_same, struct kwhy_error *error);
/* Whether the device's counter holds the sum of the source read once. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_verify_sum(
	struct kwhy_bench_work *work, bool *out_same, struct kwhy_error *error);
/* Makes the sinks differ from the pattern. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_spoil_sinks(struct kwhy_bench_work *work, struct kwhy_error *error);

/* Prepares the copy of `bytes` in one direction between host memory of a kind and device memory. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_copy_prepare(struct kwhy_bench_work *work,
	enum kwhy_bench_memory memory, bool to_host, uint64_t bytes, struct kwhy_error *error);

/* Captures what `issue` queues on the first stream as the work's graph, by kwhy_gpu_capture(). */
KWHY_MUST_USE enum kwhy_status kwhy_bench_capture(struct kwhy_bench_work *work,
	enum kwhy_status (*issue)(struct kwhy_bench_work *work, struct kwhy_error *error),
	struct kwhy_error *error);
/* issue() and release() of strategies that launch the captured graph. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_graph_issue(struct kwhy_bench_work *work, struct kwhy_error *error);
void kwhy_bench_graph_release(struct kwhy_bench_work *work);

/*
 * Bytes from the start of a piece to that of the next: a multiple of 16 bytes with a gap; for one piece its
 * size.
 */
uint64_t kwhy_bench_stride(uint64_t piece_bytes, uint32_t pieces);

/*
 * Fork: the work's other streams wait until the first has reached this point. Join: the first stream waits
 * for the others.
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_fork(struct kwhy_bench_work *work, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_bench_join(struct kwhy_bench_work *work, struct kwhy_error *error);

/* Issues one transfer between a fork and a join. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_issue(struct kwhy_bench_work *work, struct kwhy_error *error);

#endif
