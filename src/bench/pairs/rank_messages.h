/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_RANK_MESSAGES_H
#define KWHY_BENCH_PAIRS_RANK_MESSAGES_H

#include "bench/pairs/ranks.h"

/* What ranks ask of each other, and what goes with it; for pair_rank*.c alone. */
enum kwhy_rank_word {
	KWHY_RANK_FACTS = 1, /* answer: struct kwhy_pair_rank_facts */
	KWHY_RANK_LEARN,     /* those of all ranks; answer: a row of is_direct */
	KWHY_RANK_BATCH,     /* struct kwhy_rank_batch, there and back */
	KWHY_RANK_NCCL,	     /* struct kwhy_rank_nccl */
	KWHY_RANK_BEGIN,     /* struct kwhy_rank_begin; answer: struct kwhy_rank_rounds */
	KWHY_RANK_ISSUE,     /* struct kwhy_rank_issue */
	KWHY_RANK_GO,	     /* opens the gate that an exchange waits behind */
	KWHY_RANK_DRAIN,     /* answer: double, seconds of one */
	KWHY_RANK_VERIFY,    /* answer: uint32_t, all bytes came */
	KWHY_RANK_STREAM,    /* struct kwhy_rank_stream, then the bytes */
	KWHY_RANK_CLOCK,     /* answer: struct kwhy_rank_clock */
	KWHY_RANK_SENSE,     /* struct kwhy_rank_sense; answer: its conditions */
	KWHY_RANK_MARK,	     /* uint32_t: at the end */
	KWHY_RANK_DRIFT,     /* answer: struct kwhy_pair_drift */
	KWHY_RANK_PART,	     /* ends what others have a part in */
	KWHY_RANK_STOP,
	KWHY_RANK_REQUESTED_COUNT,
	/* Before any of these: rank_link.c. */
	KWHY_RANK_HELLO = KWHY_RANK_REQUESTED_COUNT,
	KWHY_RANK_ADDRESSES
};

/* What names a configuration. */
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
	uint32_t all; /* else the two of who asks and who is asked */
};
struct kwhy_rank_begin {
	struct kwhy_rank_key key;
	uint32_t spoils;
};
struct kwhy_rank_issue {
	uint32_t warm, count, is_held;
	uint64_t put_rounds, together_rounds;
};
/* How far flags count; whoever leads goes on from the farthest of those who take part. */
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
/* What is asked of whoever leads it, and what came of it. */
struct kwhy_rank_batch kwhy_rank_batch_of(const struct kwhy_pair_batch *batch);
struct kwhy_pair_batch kwhy_rank_batch_back(const struct kwhy_rank_batch *batch);

/* As struct kwhy_pair_calls wants them; their context are the ranks. */
enum kwhy_status kwhy_pair_rank_check(void *context, uint32_t what, bool is_answer,
	const struct kwhy_pair_message *message, struct kwhy_error *error);
enum kwhy_status kwhy_pair_rank_serve(void *context, uint32_t from, const struct kwhy_pair_message *requested,
	struct kwhy_pair_message *answer, struct kwhy_error *error);

/* What the facts of all say: rooms of the others, how far we reach. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_ranks_learn(struct kwhy_pair_ranks *ranks, struct kwhy_error *error);
/* Ends what others have a part in: communicators, memory of theirs. */
void kwhy_pair_ranks_forget(struct kwhy_pair_ranks *ranks);

#endif
