/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_RANKS_H
#define KWHY_BENCH_PAIRS_RANKS_H

#include "bench/pairs/batch.h"
#include "bench/pairs/clocks.h"
#include "bench/pairs/plan.h"
#include "bench/pairs/rank_calls.h"
#include "bench/transfers/sensors.h"

/*
 * Measures pairs of GPUs that belong to different processes (ranks), one GPU each. Rank 0 decides what is
 * measured next and keeps the results. Each configuration is led by one of its ranks, which queues the work
 * and takes the samples. It asks the other ranks that take part to overwrite their receive buffers, to queue
 * their parts, and to check the received bytes. GPUs of one host access each other's memory through handles
 * that their processes exchange (struct kwhy_gpu_shared). NCCL and sockets work between all GPUs.
 */

/* What a rank reports about itself and its GPU, once, before the first measurement. Texts: "" if unknown. */
struct kwhy_pair_rank_facts {
	char name[96], pci_address[16], driver_api[16], driver[32], nccl[16];
	char host[64], settings[200], no_nccl[200];
	int64_t process;
	uint64_t memory_bytes;
	int32_t numa_node, architecture;
	uint32_t sm_count, seed;
	uint32_t shares; /* 1: source, sink and flags are valid handles of this GPU's memory; 0: its memory
			    cannot be shared */
	struct kwhy_gpu_shared source, sink, flags;
};

/*
 * Offsets in nanoseconds of the clocks of a rank's host from those of rank 0's host: of the Unix clock
 * (unix_ns) and of CLOCK_MONOTONIC (mono_ns), each accurate to +- half_width_ns.
 */
struct kwhy_pair_offset {
	int64_t at_mono_ns; /* when it was measured, on rank 0's CLOCK_MONOTONIC */
	double unix_ns, mono_ns, half_width_ns;
};

struct kwhy_pair_ranks {
	struct kwhy_pair_calls calls;
	struct kwhy_pair_testbed *testbed;
	struct kwhy_bench_sensors sensors; /* gauges and meters of this rank's GPU */
	struct kwhy_pair_rank_facts facts[KWHY_PAIR_GPUS_MAX];
	/* [rank]: entry of the testbed for the GPU of another rank */
	struct kwhy_bench_buffers gpu_buffers[KWHY_PAIR_GPUS_MAX];
	/*
	 * requested: the configuration in which this rank last took part under another rank's lead. part: the
	 * work of this rank for it; part.config NULL: no configuration is in progress.
	 */
	struct kwhy_pair_config requested;
	struct kwhy_pair_work part;
	struct kwhy_pair_marks begin, end;
	/* memory that sockets send from and receive into; NULL: not made yet */
	unsigned char *socket_source, *socket_sink;
	/* in rank 0, [rank]: offsets of the clocks at the start and at the end of the run */
	struct kwhy_pair_offset first[KWHY_PAIR_GPUS_MAX], last[KWHY_PAIR_GPUS_MAX];
	double clock_s;
	/* has_marked: whether marks of the clocks were taken at the start [0] and at the end [1] */
	bool done, is_lost, has_learned, has_marked[2];
};

#define KWHY_PAIR_SOCKET_BYTES_MAX (UINT64_C(64) << 20)

/* Connects to the other ranks. End with kwhy_pair_ranks_close(). */
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_open(
	const struct kwhy_rank_link_request *request, struct kwhy_pair_ranks **out, struct kwhy_error *error);
/*
 * Makes every rank end its NCCL communicators and close the memory of other ranks. Must be called before a
 * testbed is freed.
 */
void kwhy_pair_ranks_part(struct kwhy_pair_ranks *ranks);
/* Closes the connections. Rank 0 first asks the other ranks to end. */
void kwhy_pair_ranks_close(struct kwhy_pair_ranks *ranks);
bool kwhy_pair_ranks_is_lost(const struct kwhy_pair_ranks *ranks);

/*
 * Makes a testbed with this rank's GPU, and shares the memory that other ranks need. End with
 * kwhy_pair_testbed_done(), and close the ranks only after that.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_testbed(struct kwhy_pair_ranks *ranks,
	const struct kwhy_pair_request *request, struct kwhy_pair_testbed *out, struct kwhy_error *error);
/*
 * In rank 0: collects the facts of all ranks and sends them to all. KWHY_E_USAGE: ranks have different
 * settings.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_meet(struct kwhy_pair_ranks *ranks, struct kwhy_error *error);
/* In other ranks: serves requests until rank 0 has finished. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_serve(struct kwhy_pair_ranks *ranks, struct kwhy_error *error);

/*
 * In rank 0: asks the rank that leads a configuration to take a batch, as kwhy_pair_batch() does. Times are
 * on that rank's clocks.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_batch(
	struct kwhy_pair_ranks *ranks, struct kwhy_pair_batch *batch, struct kwhy_error *error);
/* The rank that leads a configuration. */
uint32_t kwhy_pair_ranks_leader(const struct kwhy_pair_config *config);
/* In rank 0: does the same as kwhy_bench_conditions_fold() for the GPU of `rank`. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_sense(struct kwhy_pair_ranks *ranks, uint32_t rank,
	size_t readings, struct kwhy_transfer_conditions *conditions, struct kwhy_error *error);
/*
 * In rank 0: kwhy_pair_ranks_mark() takes marks as kwhy_pair_marks_take() does, in each rank, and measures
 * the offsets of the hosts' clocks. For the offset of a rank, it asks that rank for its clocks repeatedly
 * during request->clock_s seconds, at least 64 times, and uses the fastest answer. kwhy_pair_ranks_drifts()
 * computes the drifts between the marks, as kwhy_pair_drifts() does.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_mark(
	struct kwhy_pair_ranks *ranks, bool at_end, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_drifts(
	struct kwhy_pair_ranks *ranks, struct kwhy_pairs *out, struct kwhy_error *error);
/* Copies what the ranks reported about themselves to `out`. */
void kwhy_pair_ranks_describe(const struct kwhy_pair_ranks *ranks, struct kwhy_pairs *out);
/*
 * Nanoseconds to subtract from a rank's Unix time to get rank 0's Unix time; 0: the rank is on rank 0's host
 * and so has the same clock.
 */
int64_t kwhy_pair_ranks_unix_offset(const struct kwhy_pair_ranks *ranks, uint32_t rank);
/*
 * The following functions, up to kwhy_pair_ranks_verify(), are called for every configuration. Those that
 * send requests do so only in the rank that leads the configuration; in a single process they do nothing.
 * kwhy_pair_leads(): whether this process is the leading rank.
 */
bool kwhy_pair_leads(const struct kwhy_pair_work *work);
/*
 * Whether each process of a configuration queues a part of every transfer, as for NCCL. false: the leading
 * rank queues all of it.
 */
bool kwhy_pair_is_shared(const struct kwhy_pair_config *config);
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_begin(
	struct kwhy_pair_work *work, bool spoils, struct kwhy_error *error);
/*
 * Asks the other ranks that take part to queue their parts of `warm` untimed transfers and then of `count`
 * timed ones. If `waits`, the function returns only after they have queued these transfers; otherwise
 * kwhy_pair_ranks_issued() waits for that later.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_issue(
	struct kwhy_pair_work *work, uint32_t warm, uint32_t count, bool waits, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_issued(struct kwhy_pair_work *work, struct kwhy_error *error);
/*
 * For an exchange: kwhy_pair_ranks_go() asks the other rank to open the gate that holds its copies, without
 * waiting for it. kwhy_pair_ranks_gone() waits until that rank has answered that its gate is open.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_go(struct kwhy_pair_work *work, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_gone(struct kwhy_pair_work *work, struct kwhy_error *error);
/* Waits until the other ranks' parts of a transfer have run. *out_s receives the longest of their times. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_drain(
	struct kwhy_pair_work *work, double *out_s, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_verify(
	struct kwhy_pair_work *work, bool *out_same, struct kwhy_error *error);
/*
 * Makes, if they do not exist, socket_source with this rank's pattern and socket_sink, of the largest size
 * that sockets are measured with. KWHY_E_UNSUPPORTED: `bytes` is above that size.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_buffers(
	struct kwhy_pair_ranks *ranks, uint64_t bytes, struct kwhy_error *error);
/*
 * Sends the bytes of a transfer `count` times over the socket. If `returns`, it waits after each time until
 * the bytes have been sent back. *out_s receives the seconds of one transfer in one direction.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_stream(
	struct kwhy_pair_work *work, uint32_t count, bool returns, double *out_s, struct kwhy_error *error);
/*
 * kwhy_pair_part_*() do this rank's part of a configuration: queue its transfers, get the seconds of one of
 * them, and compare the bytes that it received. They are called in the leading rank and, on its request, in
 * the others.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_part_issue(
	struct kwhy_pair_work *work, uint32_t warm, uint32_t count, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_part_elapsed(
	struct kwhy_pair_work *work, double *out_s, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_part_verify(
	struct kwhy_pair_work *work, bool *out_same, struct kwhy_error *error);

/*
 * Starts the NCCL communicator of two ranks or, if `one` equals `other`, that of all ranks. The leading rank
 * asks the other ranks to join.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_nccl(
	struct kwhy_pair_testbed *testbed, uint32_t one, uint32_t other, struct kwhy_error *error);

#endif
