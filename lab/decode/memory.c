/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/decode/inside.h"
#include "lab/parts.h"

enum { WORD_STEP = 16, TOKEN_STEP = 32 };

uint64_t lab_decode_cache_bytes(const struct lab_decode_replica *replica, uint64_t tokens)
{
	return 2 * tokens * replica->part.layers * replica->part.heads * LAB_DECODE_HEAD *
		lab_number_bytes(replica->kind->kept);
}

/*
 * Largest number of tokens in a pass, rounded up to TOKEN_STEP: those of the prompts of all slots, in a run
 * or in a check, whichever has the longer prompts.
 */
static uint32_t token_count_most(const struct lab_decode_replica *replica)
{
	uint32_t prompt = replica->request->prompt;

	prompt = prompt < LAB_DECODE_CHECK_PROMPT ? LAB_DECODE_CHECK_PROMPT : prompt;
	return lab_decode_round_up(replica->slots * prompt, TOKEN_STEP);
}

static uint64_t larger(uint64_t one, uint64_t other)
{
	return one > other ? one : other;
}

/*
 * Lays out the memory of a GPU from the address `start` on: sets the addresses in the args. Returns its size,
 * bytes.
 */
static uint64_t lay_out(struct lab_decode_rank *rank, uint64_t start)
{
	struct lab_decode_replica *replica = rank->replica;
	const struct lab_decode_shape *shape = &replica->part;
	struct lab_decode_args *a = &rank->args;
	uint64_t layers_bytes = lab_decode_weight_bytes(
			 replica, lab_decode_weights_before(shape, shape->layers, 0)),
		 rows = lab_decode_row(shape, shape->layers, 0), words = (uint64_t)a->word_count * a->ranks,
		 tokens = token_count_most(replica), slots = a->cache_slots, width = a->width,
		 mixed = (uint64_t)a->heads * LAB_DECODE_HEAD, widest = larger(a->inner, width),
		 sums = larger(3 * mixed, widest),
		 cache = lab_decode_cache_bytes(replica, slots * a->positions) / 2,
		 all_logits = a->ranks > 1 ? words * slots : 0;
	const struct lab_part parts[] = {
		{&rank->layers, layers_bytes + lab_decode_weight_bytes(replica, words * width)},
		{&rank->dense, a->packing ? larger(a->word_count, sums) * width * sizeof(uint16_t) : 0},
		{&a->scales, (rows + words) * sizeof(float)},
		{&a->biases, rows * sizeof(float)},
		{&a->places, a->positions * width * sizeof(float)},
		{&a->keys, cache},
		{&a->values, cache},
		{&a->queries, tokens * mixed * sizeof(float)},
		{&a->x, tokens * width * sizeof(float)},
		{&a->acts, tokens * widest * lab_number_bytes(replica->kind->factors)},
		{&a->act_scales, tokens * sizeof(float)},
		{&a->last_scales, slots * sizeof(float)},
		{&a->sums, tokens * sums * sizeof(float)},
		{&a->logits, slots * a->word_count * sizeof(float)},
		{&a->all_logits, all_logits * sizeof(float)},
		{&a->best, slots * sizeof(uint64_t)},
		{&a->first, slots * sizeof(uint64_t)},
		{&a->at, slots * sizeof(uint32_t)},
		{&a->prompt, tokens * sizeof(uint32_t)},
		{&a->chosen, slots * a->positions * sizeof(uint32_t)},
		{&a->times, a->positions * sizeof(uint64_t)},
	};
	uint64_t bytes = lab_parts_place(parts, sizeof(parts) / sizeof(parts[0]), start);

	replica->weight_bytes = parts[0].bytes;
	a->words = rank->layers + layers_bytes;
	a->word_scales = a->scales + rows * sizeof(float);
	if (a->ranks == 1)
		a->all_logits = a->logits;
	return bytes;
}

static struct lab_decode_args args_of(const struct lab_decode_replica *replica, uint32_t rank)
{
	const struct lab_decode_request *request = replica->request;
	const struct lab_decode_shape *shape = &replica->part;
	uint32_t checked = LAB_DECODE_CHECK_PROMPT + LAB_DECODE_CHECK_STEPS,
		 positions = request->prompt + request->tokens, ranks = replica->rank_count,
		 words = lab_decode_round_up((shape->vocabulary + ranks - 1) / ranks, WORD_STEP);

	return (struct lab_decode_args){.tokens = replica->slots,
		.each = 1,
		.slots = replica->slots,
		.cache_slots = lab_decode_round_up(replica->slots, TOKEN_STEP),
		.positions = positions < checked ? checked : positions,
		.vocabulary = shape->vocabulary,
		.word_count = words,
		.first_word = rank * words,
		.width = shape->width,
		.heads = shape->heads,
		.inner = shape->inner,
		.ranks = ranks,
		.rank = rank,
		.act = replica->kind->factors,
		.kept = replica->kind->kept,
		.packing = replica->kind->packing,
		.code_most = replica->kind->code_most,
		.top_k = request->choice.top_k,
		.seed = request->choice.seed + replica->first_sequence,
		.top_p = request->choice.top_p,
		.temperature = request->choice.temperature};
}

/*
 * All memory is set to 0: products of 8 bits are made with a multiple of 16 tokens and at least 32, so they
 * read up to 31 tokens beyond the last.
 */
void lab_decode_open_memory(struct lab_decode_rank *rank, uint32_t number)
{
	rank->args = args_of(rank->replica, number);
	lab_rank_fill(&rank->base, lay_out(rank, 0), 0, &rank->base.memory);
	(void)lay_out(rank, rank->base.memory);
}
