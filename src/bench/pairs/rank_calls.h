/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_RANK_CALLS_H
#define KWHY_BENCH_PAIRS_RANK_CALLS_H

#include "bench/pairs/rank_link.h"

/*
 * What one rank asks of another, and the answer. A rank that waits for an answer does meanwhile what others
 * ask of it, so that any of them may lead; several may be asked before the first answer is awaited, each
 * once.
 */
enum { KWHY_PAIR_CALL_BYTES_MAX = 16 << 10 };

struct kwhy_pair_message {
	struct {
		uint32_t what; /* of its users; 0: an answer */
		uint32_t status;
		uint64_t bytes;
	} head;
	_Alignas(16) unsigned char body[KWHY_PAIR_CALL_BYTES_MAX];
};

struct kwhy_pair_calls {
	struct kwhy_rank_link link;
	/* Whether what came may be used, asked (`what` of it) or as the answer to `what`; NULL: it may. Where
	 * it may not, who asked it gets the sentence, and an answer ends the call as KWHY_E_LOST. */
	enum kwhy_status (*check)(void *context, uint32_t what, bool is_answer,
		const struct kwhy_pair_message *message, struct kwhy_error *error);
	/* Does what `from` asks: answers by kwhy_pair_answer(), or fails and the asker fails with it. */
	enum kwhy_status (*serve)(void *context, uint32_t from, const struct kwhy_pair_message *requested,
		struct kwhy_pair_message *answer, struct kwhy_error *error);
	void *context;
	struct kwhy_pair_message *answers;	/* of each rank, that came while another's was awaited */
	uint32_t requested[KWHY_PAIR_GPUS_MAX]; /* what */
	bool is_requested[KWHY_PAIR_GPUS_MAX], has_answered[KWHY_PAIR_GPUS_MAX];
};

/* The link is theirs from now on, also where it fails. End with kwhy_pair_calls_done(). */
KWHY_MUST_USE enum kwhy_status kwhy_pair_calls_init(
	struct kwhy_pair_calls *calls, const struct kwhy_rank_link *link, struct kwhy_error *error);
void kwhy_pair_calls_done(struct kwhy_pair_calls *calls);

/* Asks; the answer is to be awaited once, whatever else fails meanwhile. */
KWHY_MUST_USE enum kwhy_status kwhy_rank_request(struct kwhy_pair_calls *calls, uint32_t to, uint32_t what,
	const void *body, size_t bytes, struct kwhy_error *error);
/* KWHY_E_LOST where that rank ends before. The answer must be of `bytes`. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_await(
	struct kwhy_pair_calls *calls, uint32_t from, void *out, size_t bytes, struct kwhy_error *error);
/* Both. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_call(struct kwhy_pair_calls *calls, uint32_t to, uint32_t what,
	const void *body, size_t bytes, void *out, size_t out_bytes, struct kwhy_error *error);

void kwhy_pair_answer(struct kwhy_pair_message *answer, const void *body, size_t bytes);
/* KWHY_E_INPUT where what came is not of that size. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_body(
	const struct kwhy_pair_message *message, void *out, size_t bytes, struct kwhy_error *error);

/* Does what others ask until `done` turns true or rank 0 ends. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_serve_all(
	struct kwhy_pair_calls *calls, const bool *done, struct kwhy_error *error);

#endif
