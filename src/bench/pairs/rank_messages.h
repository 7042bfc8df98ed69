/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_RANK_MESSAGES_H
#define KWHY_BENCH_PAIRS_RANK_MESSAGES_H

#include "bench/pairs/ranks.h"

/*
 * The requests between ranks, with what the bodies of requests and answers contain. Only rank_*.c and ranks.c
 * use them.
 */
enum kwhy_rank_word {
	KWHY_RANK_FACTS = 1, /* answer: struct kwhy_pair_rank_facts */
	KWHY_RANK_LEARN, /* body: facts of all ranks; answer: bool [KWHY_PAIR_GPUS_MAX], [i]: whether the GPU
			    of the answering rank can access the memory of GPU `i` */
	KWHY_RANK_BATCH, /* body and answer: struct kwhy_rank_batch */
	KWHY_RANK_NCCL,	 /* the receiver joins an NCCL communicator; body: struct kwhy_rank_nccl; empty answer
			  */
	KWHY_RANK_BEGIN, /* body: struct kwhy_rank_begin; answer: struct kwhy_rank_rounds */
	KWHY_RANK_ISSUE, /* body: struct kwhy_rank_issue */
	KWHY_RANK_GO, /* the receiver opens the gate that holds its queued copies of an exchange; empty body
			 and answer */
	KWHY_RANK_DRAIN, /* the receiver waits until its queued transfers have run; answer: double, seconds of
			    one transfer */
	KWHY_RANK_VERIFY, /* answer: uint32_t, 1 if the received bytes equal the sent ones */
	KWHY_RANK_STREAM, /* body: struct kwhy_rank_stream; after it come the bytes of the transfers */
	KWHY_RANK_CLOCK,  /* answer: struct kwhy_rank_clock */
	KWHY_RANK_SENSE,  /* body: struct kwhy_rank_sense; answer: struct kwhy_transfer_conditions, those of
			     the body with the gauges' latest readings folded in */
	KWHY_RANK_MARK,	 /* the receiver takes a mark (clocks.h); body: uint32_t, 0 at the start of the run, 1
			    at its end */
	KWHY_RANK_DRIFT, /* answer: struct kwhy_pair_drift of the receiver's GPU between its two marks */
	KWHY_RANK_PART,	 /* the receiver ends its NCCL communicators and closes the memory of other ranks */
	KWHY_RANK_STOP,
	KWHY_RANK_REQUESTED_COUNT,
	/* Messages that rank_link.c exchanges before any request. */
	KWHY_RANK_HELLO = KWHY_RANK_REQUESTED_COUNT,
	KWHY_RANK_ADDRESSES
};

/* What identifies a configuration, in a message. */
struct kwhy_rank_key {
	uint32_t engine, load, clock, source, target, unused;
	uint64_t bytes;
};

struct kwhy_rank_batch {
	struct kwhy_rank_key key;
	uint32_t verifies, most, count, verified; /* as in struct kwhy_pair_batch */
	struct kwhy_pair_sample samples[KWHY_PAIR_BATCH_SAMPLES];
};

struct kwhy_rank_nccl {
	struct kwhy_nccl_id id;
	uint32_t all; /* 1: communicator of all ranks; 0: of the requesting and the receiving rank */
};
struct kwhy_rank_begin {
	struct kwhy_rank_key key;
	uint32_t spoils;
};
struct kwhy_rank_issue {
	uint32_t warm, count, is_held;
	uint64_t put_rounds, together_rounds;
};
/*
 * Numbers of rounds of puts and of collectives that a rank has done. By flags in memory, GPUs tell each other
 * the number of the round that they have reached, which must increase, so the leading rank continues from the
 * highest number among the participating ranks.
 */
struct kwhy_rank_rounds {
	uint64_t put, together;
};
struct kwhy_rank_stream {
	uint32_t count, returns;
};
struct kwhy_rank_clock {
	int64_t unix_ns, mono_ns;
};
struct kwhy_rank_sense {
	struct kwhy_transfer_conditions conditions;
	uint64_t readings;
};

struct kwhy_rank_key kwhy_rank_key_of(const struct kwhy_pair_config *config);
struct kwhy_pair_config kwhy_rank_config_of(const struct kwhy_rank_key *key);
/* Convert a batch to the body of KWHY_RANK_BATCH, and back. */
struct kwhy_rank_batch kwhy_rank_batch_of(const struct kwhy_pair_batch *batch);
struct kwhy_pair_batch kwhy_rank_batch_back(const struct kwhy_rank_batch *batch);

/* Callbacks of struct kwhy_pair_calls; `context` is a struct kwhy_pair_ranks. */
enum kwhy_status kwhy_pair_rank_check(void *context, uint32_t what, bool is_answer,
	const struct kwhy_pair_message *message, struct kwhy_error *error);
enum kwhy_status kwhy_pair_rank_serve(void *context, uint32_t from, const struct kwhy_pair_message *requested,
	struct kwhy_pair_message *answer, struct kwhy_error *error);

/*
 * Uses the facts of all ranks: checks them, opens the other GPUs' buffers, and sets is_direct[own][] of the
 * testbed: which GPUs' memory this rank's GPU can access. KWHY_E_USAGE: a rank has other settings than rank
 * 0. KWHY_E_UNSUPPORTED: two ranks have the same GPU.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_learn(struct kwhy_pair_ranks *ranks, struct kwhy_error *error);
/* Waits for the work of this rank's GPU, ends the NCCL communicators and closes the memory of other ranks. */
void kwhy_pair_ranks_forget(struct kwhy_pair_ranks *ranks);

#endif
