/* SPDX-License-Identifier: Apache-2.0 */
/* Sequences that arrive while others are written. */
#include "base/clock.h"
#include "lab/decode/inside.h"

#include <stdlib.h>
#include <time.h>

/* A slot of the decoder; the tokens that its sequence still writes. 0: it is free, and writes for nobody. */
struct seat {
	uint32_t left, sequence, idle_steps;
	bool is_new; /* its first token is not written yet */
};

struct service {
	struct kwhy_decode *decode;
	const struct kwhy_decode_arrivals *arrivals;
	struct kwhy_decode_served *out;
	struct seat seats[KWHY_DECODE_SLOTS_MOST];
	uint32_t next, busy;		       /* the sequence that comes next; seats that are taken */
	double next_s;			       /* when it comes */
	double came_s[KWHY_DECODE_SLOTS_MOST]; /* of a seat's sequence */
	int64_t start_ns;
};

static double now_s(const struct service *service)
{
	return (double)(kwhy_clock_mono_ns() - service->start_ns) * 1e-9;
}

static uint32_t hash_of(const struct service *service, uint32_t sequence, uint32_t what)
{
	return kwhy_decode_mix(service->arrivals->seed ^ kwhy_decode_mix(2 * sequence + what));
}

/* From a quarter of the decoder's tokens to all of them. */
static uint32_t length_of(const struct service *service, uint32_t sequence)
{
	uint32_t most = service->decode->request.tokens, least = (most + 3) / 4;

	return least + hash_of(service, sequence, 0) % (most - least + 1);
}

/* Gaps between arrivals are exponential: a Poisson process. */
static void expect_next(struct service *service)
{
	double even = ((double)hash_of(service, service->next, 1) + 0.5) / 4294967296.0;

	service->next_s -= log(even) / service->arrivals->rate_per_s;
}

/* What one slot alone is to a pass. */
static struct kwhy_decode_args args_of_slot(const struct kwhy_decode *decode, uint32_t slot)
{
	struct kwhy_decode_args args = decode->args;
	uint64_t cache = (uint64_t)slot * args.room * args.heads * KWHY_DECODE_HEAD *
		kwhy_decode_kept_bytes(&decode->request);

	args.slots = 1;
	args.each = args.tokens = decode->request.prompt;
	if (args.page) {
		args.pages += (uint64_t)slot * args.pages_each * sizeof(uint32_t);
	} else {
		args.keys += cache;
		args.values += cache;
	}
	args.at += slot * sizeof(uint32_t);
	args.best += slot * sizeof(uint64_t);
	args.chosen += (uint64_t)slot * args.room * sizeof(uint32_t);
	args.prompt += (uint64_t)slot * decode->request.prompt * sizeof(uint32_t);
	if (args.logits)
		args.logits += (uint64_t)slot * args.vocabulary * sizeof(float);
	return args;
}

/* Where a slot is, with the token that is its next. */
static void issue_place(struct kwhy_decode_issue *issue, uint32_t slot, uint32_t at)
{
	struct kwhy_decode_args all = issue->decode->args;

	issue->decode->args = args_of_slot(issue->decode, slot);
	kwhy_decode_issue_reset(issue, at, issue->decode->args.best);
	issue->decode->args = all;
}

static void issue_prompt(struct kwhy_decode_issue *issue, uint32_t slot)
{
	struct kwhy_decode_args all = issue->decode->args;

	issue->decode->args = args_of_slot(issue->decode, slot);
	kwhy_decode_issue_reset(issue, 0, 0);
	kwhy_decode_issue_pass(issue);
	issue->decode->args = all;
	issue_place(issue, slot, issue->decode->request.prompt - 1);
}

/* Every free seat takes a sequence that has come; without `continuous` only when all seats are free. */
static void admit(struct service *service, struct kwhy_decode_issue *issue)
{
	bool is_open = service->arrivals->continuous || service->busy == 0;

	for (uint32_t slot = 0; is_open && slot < service->decode->args.slots; slot++) {
		struct seat *seat = &service->seats[slot];

		if (service->next == service->arrivals->count || service->next_s > now_s(service))
			return;
		if (seat->left)
			continue;
		*seat = (struct seat){length_of(service, service->next), service->next, 0, true};
		service->came_s[slot] = service->next_s;
		service->busy++;
		service->next++;
		expect_next(service);
		kwhy_decode_pages_give(service->decode, slot, service->decode->request.prompt - 1);
		if (!issue->status)
			issue->status = kwhy_decode_pages_send(service->decode, issue->error);
		issue_prompt(issue, slot);
	}
}

/* A free slot must not run past its room: it goes back to the beginning. */
static void rest(struct service *service, struct kwhy_decode_issue *issue, uint32_t slot)
{
	struct seat *seat = &service->seats[slot];

	if (seat->idle_steps++ % (service->decode->request.tokens / 2) == 0)
		issue_place(issue, slot, 0);
}

static void count_step(struct service *service)
{
	double now = now_s(service);

	service->out->steps++;
	service->out->seat_steps += service->busy;
	service->out->page_steps += service->decode->pages_used;
	for (uint32_t slot = 0; slot < service->decode->args.slots; slot++) {
		struct seat *seat = &service->seats[slot];

		if (!seat->left)
			continue;
		service->out->tokens++;
		if (seat->is_new)
			service->out->first_s[seat->sequence] = now - service->came_s[slot];
		seat->is_new = false;
		if (--seat->left)
			continue;
		service->out->whole_s[seat->sequence] = now - service->came_s[slot];
		seat->idle_steps = 0;
		service->busy--;
		if (service->decode->request.page)
			kwhy_decode_pages_take(service->decode, slot);
	}
}

static void await_arrival(const struct service *service)
{
	double left = service->next_s - now_s(service);
	struct timespec pause;

	if (left <= 0)
		return;
	pause = (struct timespec){(time_t)left, (long)((left - floor(left)) * 1e9)};
	(void)nanosleep(&pause, NULL);
}

/* That a seat's sequence writes next. */
static uint32_t next_position(const struct service *service, uint32_t slot)
{
	const struct seat *seat = &service->seats[slot];

	return service->decode->request.prompt + length_of(service, seat->sequence) - seat->left;
}

static void run_step(struct service *service, struct kwhy_decode_issue *issue)
{
	for (uint32_t slot = 0; slot < service->decode->args.slots; slot++)
		if (!service->seats[slot].left)
			rest(service, issue, slot);
		else
			kwhy_decode_pages_give(service->decode, slot, next_position(service, slot));
	if (!issue->status)
		issue->status = kwhy_decode_pages_send(service->decode, issue->error);
	kwhy_decode_issue_steps(issue, 1);
	issue->status = kwhy_decode_await(issue);
	count_step(service);
}

static enum kwhy_status check_arrivals(const struct kwhy_decode *decode,
	const struct kwhy_decode_arrivals *arrivals, struct kwhy_error *error)
{
	if (decode->request.launching == KWHY_DECODE_DEVICE)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"sequences that arrive need the host between tokens; launch calls or a graph "
			"instead");
	if (kwhy_decode_has_beams(decode))
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"sequences that arrive go on in one way each; serve them without beams");
	if (!decode->is_recorded)
		return kwhy_fail(
			error, KWHY_E_INPUT, "decode: sequences are served after a prompt; read one first");
	if (!(arrivals->rate_per_s > 0) || arrivals->count < 1)
		return kwhy_fail(error, KWHY_E_INPUT, "decode: no sequences arrive");
	return KWHY_OK;
}

enum kwhy_status kwhy_decode_serve(struct kwhy_decode *decode, const struct kwhy_decode_arrivals *arrivals,
	struct kwhy_decode_served *out, struct kwhy_error *error)
{
	struct kwhy_decode_issue issue = {decode, error, check_arrivals(decode, arrivals, error)};
	struct service *service;

	if (issue.status)
		return issue.status;
	service = calloc(1, sizeof(*service));
	if (!service)
		return kwhy_fail_memory(error, "the seats of sequences");
	service->decode = decode;
	service->arrivals = arrivals;
	service->out = out;
	out->tokens = out->steps = out->seat_steps = out->page_steps = 0;
	kwhy_decode_pages_take_all(decode);
	service->start_ns = kwhy_clock_mono_ns();
	expect_next(service);
	while (!issue.status && (service->busy || service->next < arrivals->count)) {
		admit(service, &issue);
		if (!service->busy)
			await_arrival(service);
		else
			run_step(service, &issue);
	}
	out->seconds = now_s(service);
	out->pages_most = decode->pages_most;
	free(service);
	if (decode->request.page)
		decode->is_prefilled = false; /* prompts lay in pages that have gone to others */
	return issue.status ? issue.status : kwhy_decode_pages_give_all(decode, error);
}
