/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens drawn from logits on the host, as kernels/decode/choosing.cu. */
#include "lab/decode/host_choosing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare_down(const void *a, const void *b)
{
	float one = *(const float *)a, other = *(const float *)b;

	return one < other ? 1 : one > other ? -1 : 0;
}

static uint64_t part_of(const struct kwhy_decode_args *args, float logit, float most)
{
	return (uint64_t)(exp2f((logit - most) * (1.44269504F / args->temperature)) * 16777216.0F);
}

/* How many of the logits, the largest first, are kept. */
static uint32_t kept_count(const struct kwhy_decode_args *args, const float *sorted)
{
	uint32_t count = args->top_k && args->top_k < args->vocabulary ? args->top_k : args->vocabulary,
		 kept = 0;
	uint64_t sum = 0, wanted;

	for (uint32_t i = 0; i < count; i++)
		sum += part_of(args, sorted[i], sorted[0]);
	if (args->top_p >= 1)
		return count;
	wanted = 1 + (uint64_t)(args->top_p * (float)sum);
	for (sum = 0; kept < count && sum < wanted; kept++)
		sum += part_of(args, sorted[kept], sorted[0]);
	return kept;
}

static float luck_of(const struct kwhy_decode_args *args, uint32_t slot, uint32_t token)
{
	const uint32_t *places = kwhy_gpu_at(args->at);
	uint32_t hash = kwhy_decode_mix(args->seed ^ kwhy_decode_mix(slot ^ kwhy_decode_mix(places[slot])));
	float even = ((float)(kwhy_decode_mix(token ^ hash) >> 8) + 0.5F) * (1.0F / 16777216.0F);

	return -logf(-logf(even));
}

static void choose(const struct kwhy_decode_args *args, uint32_t slot, float *sorted)
{
	const float *logits = (const float *)kwhy_gpu_at(args->logits) + (size_t)slot * args->vocabulary;
	uint64_t *best = kwhy_gpu_at(args->best);
	float least;

	memcpy(sorted, logits, args->vocabulary * sizeof(*sorted));
	qsort(sorted, args->vocabulary, sizeof(*sorted), compare_down);
	least = sorted[kept_count(args, sorted) - 1];
	best[slot] = 0;
	for (uint32_t i = 0; i < args->vocabulary; i++) {
		float score = logits[i] / args->temperature + luck_of(args, slot, i);
		uint64_t key = kwhy_decode_key(score, i);

		if (logits[i] >= least && key > best[slot])
			best[slot] = key;
	}
}

void kwhy_decode_host_pick(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct kwhy_decode_args *args = arguments[0];
	const float *logits = kwhy_gpu_at(args->logits);
	uint64_t *best = kwhy_gpu_at(args->best);

	(void)grid;
	for (uint32_t slot = 0; slot < args->slots; slot++)
		for (uint32_t i = 0; i < args->vocabulary; i++) {
			uint64_t key = kwhy_decode_key(logits[(size_t)slot * args->vocabulary + i], i);

			best[slot] = key > best[slot] ? key : best[slot];
		}
}

void kwhy_decode_host_choose(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct kwhy_decode_args *args = arguments[0];
	float *sorted = malloc(args->vocabulary * sizeof(*sorted));

	(void)grid;
	for (uint32_t slot = 0; sorted && slot < args->slots; slot++)
		choose(args, slot, sorted);
	free(sorted);
}
