/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/decode/host_attention.h"

#include "lab/decode/host_beam.h"
#include "lab/decode/host_meet.h"

#include <math.h>

enum { HEAD = KWHY_DECODE_HEAD, PIECE = HEAD + 2, JOINED_RAW = 2 };

/* Where a head's keys and values of a position lie. */
static uint64_t cache_at(
	const struct kwhy_decode_host_call *call, uint32_t slot, uint32_t head, uint32_t position)
{
	const struct kwhy_decode_args *args = call->args;
	const uint32_t *pages = kwhy_gpu_at(args->pages);
	uint32_t lot = args->page ? pages[slot * args->pages_each + position / args->page] : slot,
		 lots = args->page ? args->page_count : args->cache_slots,
		 room = args->page ? args->page : args->room;

	return ((((uint64_t)call->layer * lots + lot) * args->heads + head) * room + position % room) * HEAD;
}

/* A number of a key or a value. */
static void keep(const struct kwhy_decode_host_call *call, uint64_t base, uint64_t i, float value)
{
	if (call->args->has_short_cache)
		((uint8_t *)kwhy_gpu_at(base))[i] = kwhy_decode_to_fp8(value);
	else
		kwhy_decode_host_store(call, base, i, value);
}

static float kept(const struct kwhy_decode_host_call *call, uint64_t base, uint64_t i)
{
	return call->args->has_short_cache ? kwhy_decode_from_fp8(((const uint8_t *)kwhy_gpu_at(base))[i])
					   : kwhy_decode_host_load(call, base, i);
}

void kwhy_decode_host_store_state(
	const struct kwhy_decode_host_call *call, uint32_t token, uint32_t row, float sum)
{
	const struct kwhy_decode_args *args = call->args;
	uint32_t width = args->heads * HEAD,
		 part = row < width ? 0
		: row < 2 * width   ? 1
				    : 2,
		 column = row - part * width;

	if (part == 0)
		kwhy_decode_host_store(call, args->queries, (uint64_t)token * width + column, sum);
	else
		keep(call, part == 1 ? args->keys : args->values,
			cache_at(call, token / args->each, column / HEAD,
				kwhy_decode_host_position(args, token)) +
				column % HEAD,
			sum);
}

static void attend_head(const struct kwhy_decode_host_call *call, uint32_t token, uint32_t head)
{
	const struct kwhy_decode_args *args = call->args;
	uint64_t place = (uint64_t)token * args->heads * HEAD + (uint64_t)head * HEAD;
	float *pieces = kwhy_gpu_at(args->pieces), sums[HEAD] = {0}, weight = 0, most = -1e30F;
	uint32_t count = kwhy_decode_host_position(args, token) + 1;

	for (uint32_t j = 0; j < count; j++) {
		uint64_t cache = cache_at(
			call, kwhy_decode_host_source(args, token / args->each, count - 1, j), head, j);
		float score = 0, next, factor, share;

		for (uint32_t k = 0; k < HEAD; k++)
			score += kwhy_decode_host_load(call, args->queries, place + k) *
				kept(call, args->keys, cache + k);
		score *= 0.125F * 1.44269504F;
		next = fmaxf(most, score);
		factor = exp2f(most - next);
		share = exp2f(score - next);
		most = next;
		weight = weight * factor + share;
		for (uint32_t k = 0; k < HEAD; k++)
			sums[k] = sums[k] * factor + share * kept(call, args->values, cache + k);
	}
	for (uint32_t k = 0; k < HEAD; k++)
		kwhy_decode_host_store(call, args->mixed, place + k, sums[k] / weight);
	/* Of shares the first has all. */
	for (uint32_t s = 0; args->shares > 1 && s < args->shares; s++) {
		float *piece = pieces +
			(((size_t)token * call->shape.heads + head) * args->shares + s) * PIECE;

		for (uint32_t k = 0; k < HEAD; k++)
			piece[k] = s ? 0 : sums[k];
		piece[HEAD] = s ? 0 : weight;
		piece[HEAD + 1] = s ? -1e30F : most;
	}
}

void kwhy_decode_host_attend_all(const struct kwhy_decode_host_call *call)
{
	kwhy_decode_host_begin_pass(call->args, call->layer);
	for (uint32_t token = 0; token < call->args->tokens; token++)
		for (uint32_t head = 0; head < call->shape.heads; head++)
			attend_head(call, token, head);
}

/* Mean and one over the deviation of a token's x, which is of acts. */
static void moments_of(const struct kwhy_decode_host_call *call, uint32_t token, float out[2])
{
	uint32_t width = call->args->width;
	float squares = 0;

	out[0] = 0;
	for (uint32_t k = 0; k < width; k++)
		out[0] += kwhy_decode_host_load(call, call->args->x, (uint64_t)token * width + k);
	out[0] /= (float)width;
	for (uint32_t k = 0; k < width; k++) {
		float far = kwhy_decode_host_load(call, call->args->x, (uint64_t)token * width + k) - out[0];

		squares += far * far;
	}
	out[1] = 1 / sqrtf(squares / (float)width + KWHY_DECODE_NORM_LEAST);
}

/* What a product of queries, keys and values together left, token by token, comes to their places; of x as it
 * is, as if it had been normalised. */
static void part_state(const struct kwhy_decode_host_call *call, bool is_raw)
{
	const struct kwhy_decode_args *args = call->args;
	uint32_t width = args->heads * HEAD,
		 before = call->layer * kwhy_decode_first_row(&call->shape, KWHY_DECODE_MATRICES);
	const float *sums = (const float *)kwhy_gpu_at(args->row_sums) + before,
		    *biases = (const float *)kwhy_gpu_at(args->biases) + before;

	for (uint32_t token = 0; token < args->tokens; token++) {
		float moments[2] = {0, 1};

		if (is_raw)
			moments_of(call, token, moments);
		for (uint32_t row = 0; row < 3 * width; row++) {
			float value = kwhy_decode_host_load(
				call, args->inner, (uint64_t)token * 3 * width + row);

			kwhy_decode_host_store_state(call, token, row,
				is_raw ? (value - moments[0] * sums[row]) * moments[1] + biases[row] : value);
		}
	}
}

void kwhy_decode_host_attend(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct kwhy_decode_host_call call = kwhy_decode_host_call_of(arguments, true);

	(void)grid;
	if (*(const uint32_t *)arguments[2])
		part_state(&call, *(const uint32_t *)arguments[2] == JOINED_RAW);
	kwhy_decode_host_attend_all(&call);
}
