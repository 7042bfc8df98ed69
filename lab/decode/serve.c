/* SPDX-License-Identifier: Apache-2.0 */
/* Serves sequences that arrive while others are being written. */
#include "base/clock.h"
#include "lab/decode/inside.h"

#include <stdlib.h>
#include <time.h>

/*
 * A slot of the batch. `left`: number of tokens that its sequence has yet to write; 0: the slot is free; it
 * still takes part in every step, but its tokens are not used. came_s: time at which the sequence arrived,
 * from the start of the service.
 */
struct slot {
	uint32_t left, sequence;
	double came_s;
};

struct service {
	struct lab_decode_replica *replica;
	const struct lab_decode_arrivals *arrivals;
	struct lab_decode_served *out;
	struct slot slots[LAB_DECODE_BATCH_MAX];
	/*
	 * [arrivals->count] times from the arrival of each sequence: first_s: to its first token; whole_s: to
	 * its last token
	 */
	double *first_s, *whole_s;
	/* next: the sequence that arrives next; busy: number of slots that are not free */
	uint32_t next, busy;
	double next_s; /* arrival time of the next sequence */
	int64_t start_ns;
};

static double now_s(const struct service *service)
{
	return (double)(kwhy_clock_mono_ns() - service->start_ns) * 1e-9;
}

static uint32_t hash_of(uint32_t sequence, uint32_t what)
{
	return lab_decode_mix(1 ^ lab_decode_mix(2 * sequence + what));
}

/*
 * Number of tokens that a sequence writes: random, from a quarter of the decoder's tokens to all of them.
 */
static uint32_t length_of(const struct service *service, uint32_t sequence)
{
	uint32_t most = service->replica->request->tokens, least = (most + 3) / 4;

	return least + hash_of(sequence, 0) % (most - least + 1);
}

/*
 * Adds a random time to next_s, which becomes the arrival time of sequence `next`. Times between arrivals are
 * exponentially distributed with the mean 1 / rate_per_s: a Poisson process.
 */
static void expect_next(struct service *service)
{
	double even = ((double)hash_of(service->next, 1) + 0.5) / 4294967296.0;

	service->next_s -= log(even) / service->arrivals->rate_per_s;
}

/* Arguments of kernels for a pass with a single slot. */
static struct lab_decode_args args_of_slot(
	const struct lab_decode_replica *replica, const struct lab_decode_args *all, uint32_t slot)
{
	struct lab_decode_args a = *all;
	uint64_t cache = (uint64_t)slot * a.positions * a.heads * LAB_DECODE_HEAD *
		lab_number_bytes(replica->kind->kept);

	a.slots = a.tokens = 1;
	a.keys += cache;
	a.values += cache;
	a.at += slot * sizeof(uint32_t);
	a.best += slot * sizeof(uint64_t);
	a.chosen += (uint64_t)slot * a.positions * sizeof(uint32_t);
	return a;
}

/* Queues the reading of a slot's prompt. If `each` is 0, it queues only the slot's return to position 0. */
static void issue_slot(struct lab_decode_replica *replica, uint32_t slot, uint32_t each)
{
	struct lab_decode_args all[LAB_DECODE_GPUS_MAX];

	for (uint32_t i = 0; i < replica->rank_count; i++) {
		all[i] = replica->ranks[i].args;
		replica->ranks[i].args = args_of_slot(replica, &all[i], slot);
	}
	if (each)
		lab_decode_issue_prompts(replica, each);
	else
		lab_decode_issue_reset(replica, 0, false);
	for (uint32_t i = 0; i < replica->rank_count; i++)
		replica->ranks[i].args = all[i];
}

/*
 * Reads the prompt of one sequence. All prompts use the same buffer, so the previous one must have been read.
 */
static void read_prompt(struct lab_decode_replica *replica, uint32_t slot, uint32_t sequence)
{
	const struct lab_decode_prompts one = {1, replica->request->prompt, sequence, 1};

	lab_decode_send_prompts(replica, &one);
	issue_slot(replica, slot, one.each);
	lab_decode_wait(replica);
}

/*
 * Assigns the sequences that have arrived to free slots, in the order of arrival, and reads their prompts.
 * Without `continuous` it does so only if no slot is in use.
 */
static void admit(struct service *service)
{
	bool is_open = service->arrivals->continuous || service->busy == 0;

	for (uint32_t slot = 0; is_open && slot < service->replica->slots; slot++) {
		if (service->next == service->arrivals->count || service->next_s > now_s(service))
			return;
		if (service->slots[slot].left)
			continue;
		service->slots[slot] = (struct slot){
			length_of(service, service->next), service->next, service->next_s};
		service->busy++;
		read_prompt(service->replica, slot, service->next);
		service->next++;
		expect_next(service);
	}
}

/* Copies the tokens that a sequence wrote, if the caller wants them. */
static void give_tokens(const struct service *service, uint32_t slot)
{
	const struct lab_decode_arrivals *arrivals = service->arrivals;
	const struct lab_decode_request *request = service->replica->request;
	const struct lab_decode_rank *rank = &service->replica->ranks[0];
	uint32_t sequence = service->slots[slot].sequence, length = length_of(service, sequence);
	uint64_t place = (uint64_t)slot * rank->args.positions + request->prompt;

	if (!arrivals->tokens)
		return;
	arrivals->lengths[sequence] = length;
	lab_rank_copy(&rank->base, kwhy_gpu_address(arrivals->tokens + (size_t)sequence * request->tokens),
		rank->args.chosen + place * sizeof(uint32_t), length * sizeof(uint32_t));
}

static void count_step(struct service *service)
{
	double now = now_s(service);

	service->out->steps++;
	for (uint32_t slot = 0; slot < service->replica->slots; slot++) {
		struct slot *one = &service->slots[slot];

		if (!one->left)
			continue;
		service->out->tokens++;
		if (one->left == length_of(service, one->sequence))
			service->first_s[one->sequence] = now - one->came_s;
		if (--one->left)
			continue;
		service->whole_s[one->sequence] = now - one->came_s;
		service->busy--;
		give_tokens(service, slot);
		issue_slot(service->replica, slot, 0);
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

static void serve(struct service *service)
{
	struct lab_decode_replica *replica = service->replica;

	service->start_ns = kwhy_clock_mono_ns();
	expect_next(service);
	for (uint32_t slot = 0; slot < replica->slots; slot++)
		issue_slot(replica, slot, 0);
	while (!replica->tries->status && (service->busy || service->next < service->arrivals->count)) {
		admit(service);
		if (service->busy) {
			lab_decode_issue(replica, LAB_DECODE_STEP);
			lab_decode_wait(replica);
			count_step(service);
		} else
			await_arrival(service);
	}
	service->out->seconds = now_s(service);
	lab_decode_send_own_prompts(replica);
}

enum kwhy_status lab_decode_serve(struct lab_decode *decode, const struct lab_decode_arrivals *arrivals,
	struct lab_decode_served *out, struct kwhy_error *error)
{
	struct service service = {.replica = &decode->replicas[0], .arrivals = arrivals, .out = out};
	double *times = calloc(arrivals->count, 2 * sizeof(*times));

	if (!times)
		return kwhy_fail_memory(error, "the times of sequences");
	service.first_s = times;
	service.whole_s = times + arrivals->count;
	*out = (struct lab_decode_served){.sequences = arrivals->count};
	decode->is_prefilled = decode->is_written = false;
	decode->tries = (struct lab_tries){KWHY_OK, error};
	serve(&service);
	out->busy_ratio = (double)out->tokens / ((double)out->steps * service.replica->slots);
	kwhy_median_of(service.first_s, arrivals->count, &out->first_s);
	kwhy_median_of(service.whole_s, arrivals->count, &out->whole_s);
	free(times);
	return decode->tries.status;
}
