/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/pairs/rank_calls.h"

#include <stdlib.h>
#include <string.h>

enum { ANSWER = 0 };

#define SILENCE_NS (KWHY_RANK_SILENCE_S * INT64_C(1000000000))

enum kwhy_status kwhy_pair_calls_init(
	struct kwhy_pair_calls *calls, const struct kwhy_rank_link *link, struct kwhy_error *error)
{
	calls->link = *link;
	calls->answers = calloc(KWHY_PAIR_GPUS_MAX, sizeof(*calls->answers));
	if (calls->answers)
		return KWHY_OK;
	kwhy_rank_link_close(&calls->link);
	return kwhy_fail_memory(error, "messages between ranks");
}

void kwhy_pair_calls_done(struct kwhy_pair_calls *calls)
{
	if (calls->answers)
		kwhy_rank_link_close(&calls->link);
	free(calls->answers);
	calls->answers = NULL;
}

static enum kwhy_status send_message(struct kwhy_pair_calls *calls, uint32_t to,
	const struct kwhy_pair_message *message, struct kwhy_error *error)
{
	return kwhy_rank_link_send(
		&calls->link, to, message, sizeof(message->head) + message->head.bytes, error);
}

static enum kwhy_status refuse(uint32_t from, struct kwhy_error *error)
{
	return kwhy_fail(
		error, KWHY_E_LOST, "rank %u sends what no rank sends; is it another program?", from);
}

/* Receives header and body of a message. One deadline applies to both. */
static enum kwhy_status receive_message(
	struct kwhy_pair_calls *calls, uint32_t from, struct kwhy_pair_message *out, struct kwhy_error *error)
{
	const int64_t end_ns = kwhy_rank_link_end();
	enum kwhy_status status = kwhy_rank_link_receive_by(
		&calls->link, from, &out->head, sizeof(out->head), end_ns, error);

	if (!status && out->head.bytes > sizeof(out->body))
		return refuse(from, error);
	return status
		? status
		: kwhy_rank_link_receive_by(&calls->link, from, out->body, out->head.bytes, end_ns, error);
}

/* Makes an answer that says that a request failed, with the error's message. */
static void answer_failure(
	struct kwhy_pair_message *answer, enum kwhy_status status, const struct kwhy_error *why)
{
	answer->head.status = (uint32_t)status;
	answer->head.bytes = strlen(why->text) + 1;
	memcpy(answer->body, why->text, answer->head.bytes);
}

static enum kwhy_status serve_one(struct kwhy_pair_calls *calls, uint32_t from,
	const struct kwhy_pair_message *requested, struct kwhy_error *error)
{
	struct kwhy_pair_message answer = {.head = {.what = ANSWER}};
	struct kwhy_error why;
	enum kwhy_status status = calls->check
		? calls->check(calls->context, requested->head.what, false, requested, &why)
		: KWHY_OK;

	if (!status)
		status = calls->serve(calls->context, from, requested, &answer, &why);
	if (status)
		answer_failure(&answer, status, &why);
	return send_message(calls, from, &answer, error);
}

/*
 * Whether the answer to a failed request is valid: its status exists, and its body is one text that ends with
 * a null byte and has no control characters but tab and newline.
 */
static bool is_failure(const struct kwhy_pair_message *answer)
{
	const char *text = (const char *)answer->body;

	if (answer->head.status >= KWHY_STATUS_COUNT || answer->head.bytes == 0 ||
		strnlen(text, answer->head.bytes) != answer->head.bytes - 1)
		return false;
	for (const char *at = text; *at; at++)
		if (((unsigned char)*at < ' ' && *at != '\t' && *at != '\n') || *at == 0x7f)
			return false;
	return true;
}

static enum kwhy_status keep_answer(struct kwhy_pair_calls *calls, uint32_t from,
	const struct kwhy_pair_message *message, struct kwhy_error *error)
{
	struct kwhy_error why = {.text = ""};

	if (!calls->is_requested[from] || calls->has_answered[from])
		return kwhy_fail(error, KWHY_E_LOST, "rank %u answers a request that was not made", from);
	if (message->head.status && !is_failure(message))
		return refuse(from, error);
	if (!message->head.status && calls->check &&
		calls->check(calls->context, calls->requested[from], true, message, &why))
		return kwhy_fail(error, KWHY_E_LOST, "rank %u: %.600s", from, why.text);
	memcpy(&calls->answers[from], message, sizeof(message->head) + message->head.bytes);
	calls->has_answered[from] = true;
	return KWHY_OK;
}

/*
 * Receives one message of rank `from`: serves it and sends the answer if it is a request, stores it in
 * calls->answers if it is an answer.
 */
static enum kwhy_status take(struct kwhy_pair_calls *calls, uint32_t from, struct kwhy_error *error)
{
	struct kwhy_pair_message message;
	enum kwhy_status status = receive_message(calls, from, &message, error);

	if (status)
		return status;
	if (message.head.what != ANSWER)
		return serve_one(calls, from, &message, error);
	return keep_answer(calls, from, &message, error);
}

/*
 * Receives the next message from any rank while the answer of rank `awaited` is pending. If rank 0 or
 * `awaited` has ended, that is an error. If another rank has ended, that is no error here; the next call to
 * that rank fails.
 */
static enum kwhy_status take_next(
	struct kwhy_pair_calls *calls, uint32_t awaited, int64_t wait_ns, struct kwhy_error *error)
{
	enum kwhy_status status;
	int next;

	if (calls->link.sockets[awaited] < 0) /* the end of rank `awaited` was noticed earlier, in the wait
						 for the answer of another rank */
		return kwhy_rank_link_check(&calls->link, error);
	next = kwhy_rank_link_await(&calls->link, wait_ns);
	if (next < 0)
		return kwhy_rank_link_drop(&calls->link, awaited, true, error);
	status = take(calls, (uint32_t)next, error);
	return status && (uint32_t)next != awaited && next != 0 && calls->link.sockets[next] < 0 ? KWHY_OK
												 : status;
}

enum kwhy_status kwhy_rank_request(struct kwhy_pair_calls *calls, uint32_t to, uint32_t what,
	const void *body, size_t bytes, struct kwhy_error *error)
{
	struct kwhy_pair_message message = {.head = {.what = what, .bytes = bytes}};
	enum kwhy_status status;

	if (bytes)
		memcpy(message.body, body, bytes);
	status = send_message(calls, to, &message, error);
	if (!status) {
		calls->is_requested[to] = true;
		calls->requested[to] = what;
	}
	return status;
}

static enum kwhy_status open_answer(const struct kwhy_pair_message *answer, uint32_t from, void *out,
	size_t bytes, struct kwhy_error *error)
{
	if (answer->head.status == KWHY_E_LOST)
		return kwhy_fail(error, KWHY_E_LOST, "%.*s", 700, (const char *)answer->body);
	if (answer->head.status)
		return kwhy_fail(error, (enum kwhy_status)answer->head.status, "rank %u: %.*s", from, 640,
			(const char *)answer->body);
	return kwhy_pair_body(answer, out, bytes, error);
}

enum kwhy_status kwhy_pair_await(
	struct kwhy_pair_calls *calls, uint32_t from, void *out, size_t bytes, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	if (!calls->is_requested[from]) /* kwhy_rank_request() failed, so no answer will come */
		return kwhy_fail(error, KWHY_E_LOST, "rank %u ended in the middle", from);
	while (!status && !calls->has_answered[from])
		status = take_next(calls, from, SILENCE_NS, error);
	calls->is_requested[from] = calls->has_answered[from] = false;
	return status ? status : open_answer(&calls->answers[from], from, out, bytes, error);
}

enum kwhy_status kwhy_pair_call(struct kwhy_pair_calls *calls, uint32_t to, uint32_t what, const void *body,
	size_t bytes, void *out, size_t out_bytes, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_rank_request(calls, to, what, body, bytes, error);

	return status ? status : kwhy_pair_await(calls, to, out, out_bytes, error);
}

void kwhy_pair_answer(struct kwhy_pair_message *answer, const void *body, size_t bytes)
{
	answer->head.bytes = bytes;
	memcpy(answer->body, body, bytes);
}

enum kwhy_status kwhy_pair_body(
	const struct kwhy_pair_message *message, void *out, size_t bytes, struct kwhy_error *error)
{
	if (message->head.bytes != bytes)
		return kwhy_fail(error, KWHY_E_INPUT,
			"a rank sends %llu bytes where %zu belong; run one version of kwhy on all of them",
			(unsigned long long)message->head.bytes, bytes);
	if (bytes)
		memcpy(out, message->body, bytes);
	return KWHY_OK;
}

enum kwhy_status kwhy_pair_serve_all(
	struct kwhy_pair_calls *calls, const bool *done, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	while (!status && !*done)
		status = take_next(calls, 0, -1, error);
	return status;
}
