/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/decode/host_choosing.h"

#include "lab/decode/device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void lab_decode_host_pick(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct lab_decode_args *a = arguments[0];
	const float *slot_scales = kwhy_gpu_at(a->last_scales), *word_scales = kwhy_gpu_at(a->word_scales);
	uint64_t *best = kwhy_gpu_at(a->best);

	(void)grid;
	for (uint32_t slot = 0; slot < a->slots; slot++) {
		float *logits = (float *)kwhy_gpu_at(a->logits) + (size_t)slot * a->word_count;

		best[slot] = 0;
		for (uint32_t i = 0; i < a->word_count; i++) {
			uint32_t word = a->first_word + i;
			uint64_t key;

			if (a->kind == LAB_DECODE_INT8)
				logits[i] = (float)(int32_t)lab_decode_bits(logits[i]);
			if (lab_decode_is_scaled(a->kind))
				logits[i] *= slot_scales[slot] * word_scales[word];
			key = word < a->vocabulary ? lab_decode_key(logits[i], word) : 0;
			best[slot] = key > best[slot] ? key : best[slot];
		}
	}
}

static int compare_down(const void *a, const void *b)
{
	float one = *(const float *)a, other = *(const float *)b;

	return one < other ? 1 : one > other ? -1 : 0;
}

static uint64_t part_of(const struct lab_decode_args *a, float logit, float most)
{
	return (uint64_t)(exp2f((logit - most) * (1.44269504F / a->temperature)) * 16777216.0F);
}

/* How many of the logits, the largest first, are kept. */
static uint32_t kept_count(const struct lab_decode_args *a, const float *sorted)
{
	uint32_t count = a->top_k && a->top_k < a->vocabulary ? a->top_k : a->vocabulary, kept = 0;
	uint64_t sum = 0, wanted;

	for (uint32_t i = 0; i < count; i++)
		sum += part_of(a, sorted[i], sorted[0]);
	if (a->top_p >= 1)
		return count;
	wanted = 1 + (uint64_t)(a->top_p * (float)sum);
	for (sum = 0; kept < count && sum < wanted; kept++)
		sum += part_of(a, sorted[kept], sorted[0]);
	return kept;
}

static float luck_of(const struct lab_decode_args *a, uint32_t slot, uint32_t token)
{
	uint32_t at = ((const uint32_t *)kwhy_gpu_at(a->at))[slot],
		 hash = lab_decode_mix(a->seed ^ lab_decode_mix(slot ^ lab_decode_mix(at)));
	float even = ((float)(lab_decode_mix(token ^ hash) >> 8) + 0.5F) * (1.0F / 16777216.0F);

	return -logf(-logf(even));
}

static void choose(const struct lab_decode_args *a, uint32_t slot, float *logits, float *sorted)
{
	uint64_t *best = kwhy_gpu_at(a->best);
	float least;

	for (uint32_t i = 0; i < a->vocabulary; i++)
		logits[i] = ((const float *)kwhy_gpu_at(
			a->all_logits))[((size_t)(i / a->word_count) * a->slots + slot) * a->word_count +
			i % a->word_count];
	memcpy(sorted, logits, a->vocabulary * sizeof(*sorted));
	qsort(sorted, a->vocabulary, sizeof(*sorted), compare_down);
	least = sorted[kept_count(a, sorted) - 1];
	best[slot] = 0;
	for (uint32_t i = 0; i < a->vocabulary; i++) {
		uint64_t key = lab_decode_key(logits[i] / a->temperature + luck_of(a, slot, i), i);

		if (logits[i] >= least && key > best[slot])
			best[slot] = key;
	}
}

void lab_decode_host_choose(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct lab_decode_args *a = arguments[0];
	float *room = malloc(2 * (size_t)a->vocabulary * sizeof(*room));

	(void)grid;
	for (uint32_t slot = 0; room && slot < a->slots; slot++)
		choose(a, slot, room, room + a->vocabulary);
	free(room);
}
