/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_RANKS_H
#define KWHY_BENCH_PAIRS_RANKS_H

#include "bench/pairs/batch.h"
#include "bench/pairs/clocks.h"
#include "bench/pairs/plan.h"
#include "bench/pairs/rank_calls.h"
#include "bench/transfers/sensors.h"

/*
 * Pairs of GPUs that belong to different processes, one GPU a process. Rank 0 decides what is measured next
 * and keeps the results. The rank that queues the work "leads": it takes the samples, and asks the other end,
 * or all others, for their part, which is to overwrite their sinks, to receive, and to check the received
 * bytes. GPUs of processes on one host reach each other's memory by handles (gpu.h); all can use NCCL and
 * sockets.
 */

/* What a rank reports about itself once, at the start. */
struct kwhy_pair_rank_facts {
	char name[96], pci_address[16], driver_api[16], driver[32], nccl[16];
	char host[64], settings[200], no_nccl[200];
	int64_t process;
	uint64_t memory_bytes;
	int32_t numa_node, architecture;
	uint32_t sm_count, seed;
	uint32_t shares; /* 1: the handles below are valid */
	struct kwhy_gpu_shared source, sink, flags;
};

/* Offset of the clocks of a rank's host from those of rank 0, in nanoseconds. */
struct kwhy_pair_offset {
	int64_t at_mono_ns; /* when it was measured, on rank 0's monotonic clock */
	double unix_ns, mono_ns, half_width_ns;
};

struct kwhy_pair_ranks {
	struct kwhy_pair_calls calls;
	struct kwhy_pair_testbed *testbed;
	struct kwhy_bench_sensors sensors; /* sensors of this rank's GPU */
	struct kwhy_pair_rank_facts facts[KWHY_PAIR_GPUS_MAX];
	struct kwhy_bench_buffers gpu_buffers[KWHY_PAIR_GPUS_MAX]; /* entries of the other ranks */
	struct kwhy_pair_config requested; /* led by another rank; `part` is our work for it */
	struct kwhy_pair_work part;
	struct kwhy_pair_marks begin, end;
	unsigned char *socket_source, *socket_sink;				     /* NULL: not made yet */
	struct kwhy_pair_offset first[KWHY_PAIR_GPUS_MAX], last[KWHY_PAIR_GPUS_MAX]; /* in rank 0 only */
	double clock_s;
	bool done, is_lost, has_learned, has_marked[2]; /* has_marked: at the start, at the end */
};

#define KWHY_PAIR_SOCKET_BYTES_MAX (UINT64_C(64) << 20)

/* Connects to the other ranks. End with kwhy_pair_ranks_close(). */
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_open(
	const struct kwhy_rank_link_request *request, struct kwhy_pair_ranks **out, struct kwhy_error *error);
/* Closes the memory of other ranks everywhere. Call it before a testbed is freed. */
void kwhy_pair_ranks_part(struct kwhy_pair_ranks *ranks);
/* Closes the connections; rank 0 first asks the others to end. */
void kwhy_pair_ranks_close(struct kwhy_pair_ranks *ranks);
bool kwhy_pair_ranks_is_lost(const struct kwhy_pair_ranks *ranks);

/*
 * Opens this rank's GPU as its entry of the testbed and shares the memory that other ranks need. End with
 * kwhy_pair_testbed_done(), before the ranks.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_testbed(struct kwhy_pair_ranks *ranks,
	const struct kwhy_pair_request *request, struct kwhy_pair_testbed *out, struct kwhy_error *error);
/* Rank 0: exchanges the facts of all ranks. KWHY_E_USAGE: ranks were started with different settings. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_meet(struct kwhy_pair_ranks *ranks, struct kwhy_error *error);
/* Other ranks: serves requests until rank 0 is done. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_serve(struct kwhy_pair_ranks *ranks, struct kwhy_error *error);

/* Rank 0: as kwhy_pair_batch(), taken by the rank that leads. Times are on the leading rank's clock. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_batch(
	struct kwhy_pair_ranks *ranks, struct kwhy_pair_batch *batch, struct kwhy_error *error);
/* The rank that leads a configuration. */
uint32_t kwhy_pair_ranks_leader(const struct kwhy_pair_config *config);
/* Rank 0: as kwhy_bench_conditions_fold(), for the GPU of `rank`. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_sense(struct kwhy_pair_ranks *ranks, uint32_t rank,
	size_t readings, struct kwhy_transfer_conditions *conditions, struct kwhy_error *error);
/*
 * Rank 0: as kwhy_pair_marks_take() and kwhy_pair_drifts(), each rank on its host. The offsets of the hosts'
 * clocks come from the quickest of the answers to requests that are repeated for request->clock_s, at least
 * 64 times a rank.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_mark(
	struct kwhy_pair_ranks *ranks, bool at_end, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_drifts(
	struct kwhy_pair_ranks *ranks, struct kwhy_pairs *out, struct kwhy_error *error);
/* Copies the facts of all ranks. */
void kwhy_pair_ranks_describe(const struct kwhy_pair_ranks *ranks, struct kwhy_pairs *out);
/*
 * Nanoseconds to subtract from a rank's time of day to get that of rank 0; 0 on the host of rank 0, which has
 * the same clock.
 */
int64_t kwhy_pair_ranks_unix_offset(const struct kwhy_pair_ranks *ranks, uint32_t rank);
/*
 * The functions below are for the rank that leads a configuration. They do nothing in a single process or
 * where no other rank takes part.
 */
bool kwhy_pair_leads(const struct kwhy_pair_work *work);
/* Whether other ranks take part in every transfer. */
bool kwhy_pair_is_shared(const struct kwhy_pair_config *config);
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_begin(
	struct kwhy_pair_work *work, bool spoils, struct kwhy_error *error);
/*
 * Asks the other ranks to queue `warm` transfers and then `count` timed ones. `waits`: returns once they
 * have; otherwise kwhy_pair_ranks_issued() waits for that.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_issue(
	struct kwhy_pair_work *work, uint32_t warm, uint32_t count, bool waits, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_issued(struct kwhy_pair_work *work, struct kwhy_error *error);
/*
 * For an exchange: opens the gates of the other ranks, as close to now as a message allows.
 * kwhy_pair_ranks_gone() waits until they are open.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_go(struct kwhy_pair_work *work, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_gone(struct kwhy_pair_work *work, struct kwhy_error *error);
/* Waits until the parts of the other ranks have run; `out_s` is the longest of their times. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_drain(
	struct kwhy_pair_work *work, double *out_s, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_verify(
	struct kwhy_pair_work *work, bool *out_same, struct kwhy_error *error);
/*
 * Makes host memory of this rank: `bytes` to send from, which hold the pattern, and `bytes` to receive into.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_buffers(
	struct kwhy_pair_ranks *ranks, uint64_t bytes, struct kwhy_error *error);
/* Sends the bytes `count` times over the socket. `returns`: receives them back each time. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_stream(
	struct kwhy_pair_work *work, uint32_t count, bool returns, double *out_s, struct kwhy_error *error);
/* This rank's part of a transfer; measure.c calls these in the leading rank and in the others. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_part_issue(
	struct kwhy_pair_work *work, uint32_t warm, uint32_t count, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_part_elapsed(
	struct kwhy_pair_work *work, double *out_s, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_part_verify(
	struct kwhy_pair_work *work, bool *out_same, struct kwhy_error *error);

/*
 * Starts the NCCL communicator of two ranks, or of all where `one` equals `other`. The leading rank asks the
 * others to join.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_nccl(
	struct kwhy_pair_testbed *testbed, uint32_t one, uint32_t other, struct kwhy_error *error);

#endif
