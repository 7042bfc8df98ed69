/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_RANK_CALLS_H
#define KWHY_BENCH_PAIRS_RANK_CALLS_H

#include "bench/pairs/rank_link.h"

/*
 * Requests that ranks send to each other, and their answers. While a rank waits for an answer, it serves the
 * requests of other ranks, so that any rank may lead. A rank may have at most one unanswered request to each
 * other rank.
 */
enum { KWHY_PAIR_CALL_BYTES_MAX = 16 << 10 };

struct kwhy_pair_message {
	struct {
		uint32_t what; /* number of the request (enum in rank_messages.h); 0: the message is an answer
				*/
		uint32_t status;
		uint64_t bytes;
	} head;
	_Alignas(16) unsigned char body[KWHY_PAIR_CALL_BYTES_MAX];
};

struct kwhy_pair_calls {
	struct kwhy_rank_link link;
	/*
	 * Checks a received message before it is used. If is_answer is false, it is request `what`, otherwise
	 * the answer to that request. NULL: messages are not checked. If a request is rejected, its sender
	 * gets the error. If an answer is rejected, kwhy_pair_await() fails with KWHY_E_LOST.
	 */
	enum kwhy_status (*check)(void *context, uint32_t what, bool is_answer,
		const struct kwhy_pair_message *message, struct kwhy_error *error);
	/*
	 * Serves a request of rank `from`, and fills the answer with kwhy_pair_answer(). If it fails, the
	 * other rank's call fails with the same error.
	 */
	enum kwhy_status (*serve)(void *context, uint32_t from, const struct kwhy_pair_message *requested,
		struct kwhy_pair_message *answer, struct kwhy_error *error);
	void *context;
	/*
	 * answers[i]: answer of rank `i`, kept until kwhy_pair_await() is called for it; valid if
	 * has_answered[i]
	 */
	struct kwhy_pair_message *answers;
	uint32_t requested[KWHY_PAIR_GPUS_MAX]; /* requested[i]: number of the request that rank `i` has not
						   answered yet; valid if is_requested[i] */
	bool is_requested[KWHY_PAIR_GPUS_MAX], has_answered[KWHY_PAIR_GPUS_MAX];
};

/* Takes ownership of the link, also if it fails. End with kwhy_pair_calls_done(). */
KWHY_MUST_USE enum kwhy_status kwhy_pair_calls_init(
	struct kwhy_pair_calls *calls, const struct kwhy_rank_link *link, struct kwhy_error *error);
void kwhy_pair_calls_done(struct kwhy_pair_calls *calls);

/*
 * Sends request `what` to rank `to`. kwhy_pair_await() must then be called exactly once for it, even if
 * another call has failed in between.
 */
KWHY_MUST_USE enum kwhy_status kwhy_rank_request(struct kwhy_pair_calls *calls, uint32_t to, uint32_t what,
	const void *body, size_t bytes, struct kwhy_error *error);
/*
 * Waits for the answer to the request to rank `from` and copies its body to `out`. If the request failed
 * there, returns its error. KWHY_E_LOST: the rank ended before it answered. KWHY_E_INPUT: the body does not
 * have `bytes` bytes.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_await(
	struct kwhy_pair_calls *calls, uint32_t from, void *out, size_t bytes, struct kwhy_error *error);
/* Sends a request, waits for its answer and copies the answer's body to `out`. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_call(struct kwhy_pair_calls *calls, uint32_t to, uint32_t what,
	const void *body, size_t bytes, void *out, size_t out_bytes, struct kwhy_error *error);

void kwhy_pair_answer(struct kwhy_pair_message *answer, const void *body, size_t bytes);
/* Copies a message's body to `out`. KWHY_E_INPUT: the body does not have `bytes` bytes. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_body(
	const struct kwhy_pair_message *message, void *out, size_t bytes, struct kwhy_error *error);

/* Serves the requests of other ranks until *done is true or rank 0 ends. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_serve_all(
	struct kwhy_pair_calls *calls, const bool *done, struct kwhy_error *error);

#endif
