/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_TRANSFERS_STRATEGY_H
#define KWHY_BENCH_TRANSFERS_STRATEGY_H

#include "bench/transfers/buffers.h"
#include "model/transfers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kwhy_bench_work;

/* Bits of directions and clocks that a strategy has. */
#define KWHY_BENCH_BIT(value) (1u << (value))

/*
 * One way of moving bytes: a row of a constant table. A measurement prepares it for a size, issues it as
 * often as its clock wants, and releases it. Functions may be NULL where there is nothing to do.
 */
struct kwhy_bench_strategy {
	const char *id, *title;
	const char *memory;	/* on the host: "pageable", "pinned", ... */
	unsigned directions;	/* bits of enum kwhy_transfer_direction */
	unsigned clocks;	/* bits of enum kwhy_transfer_clock */
	bool is_of_pieces;	/* moves many pieces that lie apart; else one stretch */
	bool is_not_a_transfer; /* a cost or a use that others are compared with */
	bool is_plain;		/* brings the bytes as they are and does nothing else: such ones compete */
	bool only_if_asked;
	bool returns_done; /* timed until issue() returns: of a pageable copy to the device, when
			    * the host may overwrite the bytes */
	uint64_t least_bytes, most_bytes; /* of what it makes sense for; 0: any */
	uint64_t step_bytes;		  /* sizes are multiples of it; 0: any */
	uint32_t most_pieces;		  /* 0: any */
	/*
	 * Makes ready what is not to be timed. KWHY_E_UNSUPPORTED: this machine cannot do it, and says why;
	 * then the strategy is left out.
	 */
	enum kwhy_status (*prepare)(struct kwhy_bench_work *work, struct kwhy_error *error);
	/* Untimed, before each sample of the host's clock: puts back what a transfer changes. */
	enum kwhy_status (*rewind)(struct kwhy_bench_work *work, struct kwhy_error *error);
	/* One transfer: does it or queues it on the work's streams. */
	enum kwhy_status (*issue)(struct kwhy_bench_work *work, struct kwhy_error *error);
	/* What the host does once the queue is empty. */
	enum kwhy_status (*finish)(struct kwhy_bench_work *work, struct kwhy_error *error);
	/* Whether what came is what went; the sinks were spoilt before. */
	enum kwhy_status (*verify)(struct kwhy_bench_work *work, bool *out_same, struct kwhy_error *error);
	void (*release)(struct kwhy_bench_work *work);
	intptr_t variant; /* what several rows of one kind differ in */
};

/* A strategy at work on one size. */
struct kwhy_bench_work {
	struct kwhy_bench_buffers *buffers;
	const struct kwhy_bench_strategy *strategy;
	enum kwhy_transfer_direction direction;
	uint64_t bytes;
	uint32_t pieces;
	uint64_t piece_bytes, stride; /* of pieces: where the next begins */
	uint32_t stream_count;	      /* that issue() uses, from the first; 1 unless prepare() says else */
	struct kwhy_gpu_copy to_device, to_host;
	uint64_t first; /* byte of the pattern that is moved first */
	/* Host memory as kernels reach it: what they write, packets, where pieces lie. */
	uint64_t mapped_sink, mapped_packet, mapped_end;
	double link_bytes;
	struct kwhy_gpu_graph *graph;
	void *own; /* of the strategy, from prepare() to release() */
};

/* All of them, one after another; NULL: there are no more. */
const struct kwhy_bench_strategy *kwhy_bench_strategy_at(size_t index);

/* NULL: there is none of that name. */
const struct kwhy_bench_strategy *kwhy_bench_strategy_find(const char *id);

/* Whether it can be asked for this. */
bool kwhy_bench_strategy_takes(const struct kwhy_bench_strategy *strategy,
	enum kwhy_transfer_direction direction, uint64_t bytes, uint32_t pieces);

/* Families of rows, each ended by one without an id. */
extern const struct kwhy_bench_strategy kwhy_bench_copies[], kwhy_bench_kernels[], kwhy_bench_piecewise[],
	kwhy_bench_compression[], kwhy_bench_overlaps[], kwhy_bench_narrowings[], kwhy_bench_loaders[];

/* For several strategies: checks of sinks that hold the pattern, pieces at their strides. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_verify_sinks(
	struct kwhy_bench_work *work, bool *out_same, struct kwhy_error *error);
/* Whether the device's counter holds the sum of what was read: that of the source, once. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_verify_sum(
	struct kwhy_bench_work *work, bool *out_same, struct kwhy_error *error);
/* Makes the sinks differ from the pattern. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_spoil_sinks(struct kwhy_bench_work *work, struct kwhy_error *error);

/* The copy of `bytes` that way, between memory of that kind on the host and the device's own. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_copy_prepare(struct kwhy_bench_work *work,
	enum kwhy_bench_memory memory, bool to_host, uint64_t bytes, struct kwhy_error *error);

/* kwhy_gpu_capture() of what `issue` queues on the first stream, as the work's graph. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_capture(struct kwhy_bench_work *work,
	enum kwhy_status (*issue)(struct kwhy_bench_work *work, struct kwhy_error *error),
	struct kwhy_error *error);
/* To be issued and released: that graph. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_graph_issue(struct kwhy_bench_work *work, struct kwhy_error *error);
void kwhy_bench_graph_release(struct kwhy_bench_work *work);

/* How far apart pieces begin: at multiples of 16 bytes, with a gap; one piece alone: its size. */
uint64_t kwhy_bench_stride(uint64_t piece_bytes, uint32_t pieces);

/* The streams beside the first begin when it is as far as now; it goes on when they are as far as now. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_fork(struct kwhy_bench_work *work, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_bench_join(struct kwhy_bench_work *work, struct kwhy_error *error);

/* One transfer between the two. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_issue(struct kwhy_bench_work *work, struct kwhy_error *error);

#endif
