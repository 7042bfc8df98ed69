/* SPDX-License-Identifier: Apache-2.0 */
/* Beams on the host, as kernels/decode/beams.cu. */
#include "lab/decode/host_beam.h"

#include <math.h>
#include <string.h>

static float score_of(uint64_t key)
{
	uint32_t order = (uint32_t)(key >> 32);

	return kwhy_decode_float(order & 0x80000000U ? order ^ 0x80000000U : ~order);
}

static void rank_slot(const struct kwhy_decode_args *args, uint32_t slot)
{
	const float *logits = (const float *)kwhy_gpu_at(args->logits) + (size_t)slot * args->vocabulary;
	float most = logits[kwhy_decode_token(((const uint64_t *)kwhy_gpu_at(args->best))[slot])],
	      before = ((const float *)kwhy_gpu_at(args->scores))[slot];
	uint64_t *candidates = (uint64_t *)kwhy_gpu_at(args->candidates) +
		(size_t)slot * KWHY_DECODE_BEAMS_MOST,
		 last = UINT64_MAX;
	double sum = 0;

	for (uint32_t i = 0; i < args->vocabulary; i++)
		sum += exp((double)logits[i] - most);
	for (uint32_t k = 0; k < args->beams; k++) {
		uint64_t best = 0;

		for (uint32_t i = 0; i < args->vocabulary; i++) {
			uint64_t key = kwhy_decode_key(logits[i], i);

			best = key > best && key < last ? key : best;
		}
		last = best;
		candidates[k] = kwhy_decode_key(
			before + logits[kwhy_decode_token(best)] - most - (float)log(sum),
			kwhy_decode_token(best));
	}
}

void kwhy_decode_host_beam_rank(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct kwhy_decode_args *args = arguments[0];

	(void)grid;
	for (uint32_t slot = 0; slot < args->slots; slot++)
		rank_slot(args, slot);
}

/* A sequence's candidates, and which of them are the best. */
struct choice {
	uint32_t sequence, count;
	uint64_t keys[KWHY_DECODE_BEAMS_MOST * KWHY_DECODE_BEAMS_MOST];
	uint32_t winners[KWHY_DECODE_BEAMS_MOST];
};

static void find_winners(const struct kwhy_decode_args *args, struct choice *choice)
{
	const uint64_t *candidates = kwhy_gpu_at(args->candidates);

	for (uint32_t c = 0; c < choice->count; c++)
		choice->keys[c] = candidates[(size_t)(c / args->beams * args->sequences + choice->sequence) *
				KWHY_DECODE_BEAMS_MOST +
			c % args->beams];
	for (uint32_t c = 0; c < choice->count; c++) {
		uint32_t rank = 0;

		for (uint32_t i = 0; i < choice->count; i++)
			rank += choice->keys[i] > choice->keys[c] ||
				(choice->keys[i] == choice->keys[c] && i < c);
		if (rank < args->beams)
			choice->winners[rank] = c;
	}
}

static void take_over(const struct kwhy_decode_args *args, const struct choice *choice, uint32_t position)
{
	size_t half = (size_t)args->cache_slots * args->room;
	const uint32_t *from = (const uint32_t *)kwhy_gpu_at(args->sources) + position % 2 * half;
	uint32_t *to = (uint32_t *)kwhy_gpu_at(args->sources) + (position + 1) % 2 * half;

	for (uint32_t k = 0; k < args->beams; k++) {
		uint32_t slot = k * args->sequences + choice->sequence,
			 parent = choice->winners[k] / args->beams * args->sequences + choice->sequence;

		memcpy(to + (size_t)slot * args->room, from + (size_t)parent * args->room,
			(position + 1) * sizeof(*to));
		if (position + 1 < args->room)
			to[(size_t)slot * args->room + position + 1] = slot;
	}
}

void kwhy_decode_host_beam_choose(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct kwhy_decode_args *args = arguments[0];
	struct choice choice = {.count = *(const uint32_t *)arguments[1] * args->beams};
	uint64_t *best = kwhy_gpu_at(args->best);
	float *scores = kwhy_gpu_at(args->scores);

	(void)grid;
	for (choice.sequence = 0; choice.sequence < args->sequences; choice.sequence++) {
		find_winners(args, &choice);
		for (uint32_t k = 0; k < args->beams; k++) {
			uint32_t slot = k * args->sequences + choice.sequence;

			best[slot] = choice.keys[choice.winners[k]];
			scores[slot] = score_of(best[slot]);
		}
		if (args->each == 1)
			take_over(args, &choice, ((const uint32_t *)kwhy_gpu_at(args->at))[choice.sequence]);
	}
}

void kwhy_decode_host_beam_reset(const struct kwhy_decode_args *args, uint32_t position, bool is_prompt)
{
	size_t half = (size_t)args->cache_slots * args->room;
	uint32_t *sources = (uint32_t *)kwhy_gpu_at(args->sources) + (position + 1) % 2 * half;
	float *scores = kwhy_gpu_at(args->scores);
	const float *first = kwhy_gpu_at(args->first_scores);

	for (uint32_t slot = 0; args->sources && slot < args->slots; slot++) {
		scores[slot] = is_prompt ? 0 : first[slot];
		for (uint32_t i = 0; i < args->room; i++)
			sources[(size_t)slot * args->room + i] = i <= position && args->beams > 1
				? slot % args->sequences
				: slot;
	}
}

uint32_t kwhy_decode_host_source(
	const struct kwhy_decode_args *args, uint32_t slot, uint32_t position, uint32_t place)
{
	const uint32_t *sources = kwhy_gpu_at(args->sources);
	size_t half = (size_t)args->cache_slots * args->room;

	return sources && args->each == 1 ? sources[position % 2 * half + (size_t)slot * args->room + place]
					  : slot;
}
