/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_RANKS_H
#define KWHY_BENCH_PAIRS_RANKS_H

#include "bench/pairs/batch.h"
#include "bench/pairs/clocks.h"
#include "bench/pairs/plan.h"
#include "bench/pairs/rank_calls.h"
#include "bench/transfers/sensors.h"

/*
 * Pairs between processes, each with one GPU. Rank 0 decides what is measured next and keeps it; who queues
 * the work takes the samples ("leads" them) and asks the other end, or all others, for their part: to spoil
 * their buffers, to receive, to look whether the bytes came. Between processes of one host GPUs reach each
 * other's memory by handles (gpu.h), everybody by NCCL and by sockets.
 */

/* What a rank tells of itself once. */
struct kwhy_pair_rank_facts {
	char name[96], pci_address[16], driver_api[16], driver[32], nccl[16];
	char host[64], settings[200], no_nccl[200];
	int64_t process;
	uint64_t memory_bytes;
	int32_t numa_node, architecture;
	uint32_t sm_count, seed;
	uint32_t shares; /* the handles below are some */
	struct kwhy_gpu_shared source, sink, flags;
};

/* How the clock of a rank's host lies to that of rank 0, in nanoseconds. */
struct kwhy_pair_offset {
	int64_t at_mono_ns; /* on rank 0's monotonic clock */
	double unix_ns, mono_ns, half_width_ns;
};

struct kwhy_pair_ranks {
	struct kwhy_pair_calls calls;
	struct kwhy_pair_testbed *testbed;
	struct kwhy_bench_sensors sensors; /* of our GPU */
	struct kwhy_pair_rank_facts facts[KWHY_PAIR_GPUS_MAX];
	struct kwhy_bench_buffers gpu_buffers[KWHY_PAIR_GPUS_MAX]; /* of the others */
	struct kwhy_pair_config requested; /* what another leads, and our part in it */
	struct kwhy_pair_work part;
	struct kwhy_pair_marks begin, end;
	unsigned char *socket_source, *socket_sink;				     /* NULL: not made yet */
	struct kwhy_pair_offset first[KWHY_PAIR_GPUS_MAX], last[KWHY_PAIR_GPUS_MAX]; /* of rank 0 */
	double clock_s;
	bool done, is_lost, has_learned, has_marked[2]; /* has_marked: at the begin, at the end */
};

#define KWHY_PAIR_SOCKET_BYTES_MAX (UINT64_C(64) << 20)

/* Joins the others; `settings` must be the same everywhere. End with kwhy_pair_ranks_close(). */
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_open(
	const struct kwhy_rank_link_request *request, struct kwhy_pair_ranks **out, struct kwhy_error *error);
/* Nobody reaches the memory of another any more; before a place is done. */
void kwhy_pair_ranks_part(struct kwhy_pair_ranks *ranks);
/* Rank 0 lets the others end. */
void kwhy_pair_ranks_close(struct kwhy_pair_ranks *ranks);
bool kwhy_pair_ranks_is_lost(const struct kwhy_pair_ranks *ranks);

/* Our room; what others need of it is shared. End with kwhy_pair_testbed_done(), before the ranks. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_testbed(struct kwhy_pair_ranks *ranks,
	const struct kwhy_pair_request *request, struct kwhy_pair_testbed *out, struct kwhy_error *error);
/* Rank 0: everybody learns of everybody; KWHY_E_USAGE where they were asked for different things. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_meet(struct kwhy_pair_ranks *ranks, struct kwhy_error *error);
/* The others: does what it is asked until rank 0 is done. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_serve(struct kwhy_pair_ranks *ranks, struct kwhy_error *error);

/* Rank 0: as kwhy_pair_batch(), led by whoever queues it. Times are on the clock of who leads. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_batch(
	struct kwhy_pair_ranks *ranks, struct kwhy_pair_batch *batch, struct kwhy_error *error);
/* Who leads it. */
uint32_t kwhy_pair_ranks_leader(const struct kwhy_pair_config *config);
/* Rank 0: as kwhy_bench_conditions_fold() of that rank's GPU. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_sense(struct kwhy_pair_ranks *ranks, uint32_t rank,
	size_t readings, struct kwhy_transfer_conditions *conditions, struct kwhy_error *error);
/* Rank 0: as kwhy_pair_marks_take() and kwhy_pair_drifts(), each on its host; and how the clocks of the hosts
 * lie to ours, by the closest of the answers of request->clock_s, at least 64 of each rank. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_mark(
	struct kwhy_pair_ranks *ranks, bool at_end, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_drifts(
	struct kwhy_pair_ranks *ranks, struct kwhy_pairs *out, struct kwhy_error *error);
/* What the ranks said of themselves. */
void kwhy_pair_ranks_describe(const struct kwhy_pair_ranks *ranks, struct kwhy_pairs *out);
/* To be taken from a rank's time of day; 0 on the host of rank 0, whose clock it has. */
int64_t kwhy_pair_ranks_unix_offset(const struct kwhy_pair_ranks *ranks, uint32_t rank);
/* Of who leads a configuration, and nothing where there is one process or nobody else takes part. */
bool kwhy_pair_leads(const struct kwhy_pair_work *work);
/* Whether the others must do their part in every transfer. */
bool kwhy_pair_is_shared(const struct kwhy_pair_config *config);
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_begin(
	struct kwhy_pair_work *work, bool spoils, struct kwhy_error *error);
/* The others queue their part: `warm` and then `count` timed ones; `waits`: returns once they have. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_issue(
	struct kwhy_pair_work *work, uint32_t warm, uint32_t count, bool waits, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_issued(struct kwhy_pair_work *work, struct kwhy_error *error);
/* Of an exchange: lets what they queued begin, as close to now as a message takes; it has. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_go(struct kwhy_pair_work *work, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_gone(struct kwhy_pair_work *work, struct kwhy_error *error);
/* Their parts have run; the longest of their times. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_drain(
	struct kwhy_pair_work *work, double *out_s, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_verify(
	struct kwhy_pair_work *work, bool *out_same, struct kwhy_error *error);
/* Memory of our host to send `bytes` from, which holds the pattern, and to receive them into. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_buffers(
	struct kwhy_pair_ranks *ranks, uint64_t bytes, struct kwhy_error *error);
/* Sends so often by the socket; `returns`: and gets it back each time. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_stream(
	struct kwhy_pair_work *work, uint32_t count, bool returns, double *out_s, struct kwhy_error *error);
/* What our part in it is; for measure.c's use on both sides. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_part_issue(
	struct kwhy_pair_work *work, uint32_t warm, uint32_t count, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_part_elapsed(
	struct kwhy_pair_work *work, double *out_s, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_part_verify(
	struct kwhy_pair_work *work, bool *out_same, struct kwhy_error *error);

/* NCCL between these two, or of all where both are one: whoever leads asks the others to join. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_nccl(
	struct kwhy_pair_testbed *testbed, uint32_t one, uint32_t other, struct kwhy_error *error);

#endif
