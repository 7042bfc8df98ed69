/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/decode/host_meet.h"

#include "base/clock.h"
#include "lab/decode/run.h"

#include <sched.h>
#include <stdbool.h>

#define LOST_NS INT64_C(20000000000) /* cores may be few */

enum { FLAGS_A_PASS = 128, CHOICE = 126 };

static bool is_alone(const struct kwhy_decode_args *args)
{
	return ((const uint32_t *)kwhy_gpu_at(args->meet))[KWHY_DECODE_MEET_ALONE] != 0;
}

void *kwhy_decode_host_at_peer(const struct kwhy_decode_args *args, uint64_t here, uint32_t peer)
{
	return kwhy_gpu_at(here + (args->ranks < 2 || is_alone(args) ? 0 : args->apart[peer]));
}

/* Under which number a peer finds what comes from here. */
static uint32_t number_of(const struct kwhy_decode_args *args, uint32_t peer)
{
	return is_alone(args) ? peer : args->rank;
}

static uint32_t flag_of(const struct kwhy_decode_args *args, uint32_t layer)
{
	return ((const uint32_t *)kwhy_gpu_at(args->meet))[KWHY_DECODE_MEET_PASSES] * FLAGS_A_PASS + layer +
		1;
}

/* Whether a peer is still worth waiting for. */
static bool waits(const struct kwhy_decode_args *args, int64_t *start_ns)
{
	uint32_t *meet = kwhy_gpu_at(args->meet);

	(void)sched_yield();
	if (*start_ns == 0)
		*start_ns = kwhy_clock_mono_ns();
	if (kwhy_clock_mono_ns() - *start_ns > LOST_NS)
		meet[KWHY_DECODE_MEET_LOST] = 1;
	return !meet[KWHY_DECODE_MEET_LOST];
}

static uint32_t take(const struct kwhy_decode_args *args, const uint64_t *from, uint32_t flag)
{
	uint64_t word = __atomic_load_n(from, __ATOMIC_RELAXED);
	int64_t start_ns = 0;

	while (word >> 32 != flag && waits(args, &start_ns))
		word = __atomic_load_n(from, __ATOMIC_RELAXED);
	return (uint32_t)word;
}

static void put(uint64_t *to, uint32_t flag, uint32_t number)
{
	__atomic_store_n(to, (uint64_t)flag << 32 | number, __ATOMIC_RELAXED);
}

void kwhy_decode_host_begin_pass(const struct kwhy_decode_args *args, uint32_t layer)
{
	if (args->ranks > 1 && layer == 0)
		((uint32_t *)kwhy_gpu_at(args->meet))[KWHY_DECODE_MEET_PASSES]++;
}

uint64_t kwhy_decode_host_best(const struct kwhy_decode_args *args, uint32_t slot)
{
	uint64_t best = ((const uint64_t *)kwhy_gpu_at(args->best))[slot];

	if (args->ranks < 2)
		return best;
	for (uint32_t peer = 0; peer < args->ranks; peer++) {
		uint64_t *to = (uint64_t *)kwhy_decode_host_at_peer(args, args->bests, peer) +
			((uint64_t)number_of(args, peer) * args->slots + slot) * 2;

		put(to, flag_of(args, CHOICE), (uint32_t)(best >> 32));
		put(to + 1, flag_of(args, CHOICE), (uint32_t)best);
	}
	for (uint32_t rank = 0; rank < args->ranks; rank++) {
		const uint64_t *from = (const uint64_t *)kwhy_gpu_at(args->bests) +
			((uint64_t)rank * args->slots + slot) * 2;
		uint64_t other = (uint64_t)take(args, from, flag_of(args, CHOICE)) << 32;

		other |= take(args, from + 1, flag_of(args, CHOICE));
		best = other > best ? other : best;
	}
	return best;
}

static uint64_t inbox_place(const struct kwhy_decode_args *args, uint32_t matrix, uint32_t number)
{
	uint64_t turn = matrix == KWHY_DECODE_NARROWING ? args->ranks : 0;

	return (turn + number) * KWHY_DECODE_FEW * args->width;
}

void kwhy_decode_host_send(
	const struct kwhy_decode_args *args, uint32_t layer, uint32_t matrix, uint64_t place, float value)
{
	for (uint32_t peer = 0; peer < args->ranks; peer++)
		put((uint64_t *)kwhy_decode_host_at_peer(args, args->inbox, peer) +
				inbox_place(args, matrix, number_of(args, peer)) + place,
			flag_of(args, layer), kwhy_decode_bits(value));
}

const float *kwhy_decode_host_row(
	const struct kwhy_decode_args *args, uint32_t layer, uint32_t matrix, uint32_t token)
{
	bool is_between = matrix == KWHY_DECODE_WIDENING;
	uint64_t row = (uint64_t)token * args->width;
	float *x = (float *)kwhy_gpu_at(args->x) + row, *between, *after;
	const float *before;

	if (args->ranks < 2 || (matrix == KWHY_DECODE_ATTENTION && layer == 0))
		return x;
	between = (float *)kwhy_gpu_at(args->x_between) + row;
	before = is_between ? x : between;
	after = is_between ? between : x;
	for (uint32_t k = 0; k < args->width; k++)
		after[k] = before[k];
	for (uint32_t rank = 0; rank < args->ranks; rank++) {
		const uint64_t *from = (const uint64_t *)kwhy_gpu_at(args->inbox) + row +
			inbox_place(args, is_between ? KWHY_DECODE_PROJECTION : KWHY_DECODE_NARROWING, rank);

		for (uint32_t k = 0; k < args->width; k++)
			after[k] += kwhy_decode_float(
				take(args, from + k, flag_of(args, is_between ? layer : layer - 1)));
	}
	return after;
}

void kwhy_decode_host_await_parts(const struct kwhy_decode_args *args, uint32_t layer, uint32_t what)
{
	uint64_t flags = args->meet +
		(KWHY_DECODE_MEET_FLAGS +
			(what == KWHY_DECODE_SETTLE_PROJECTION ? 0 : KWHY_DECODE_RANKS_MOST)) *
			sizeof(uint32_t);
	int64_t start_ns = 0;

	if (args->ranks < 2 || what == KWHY_DECODE_SETTLE_NOTHING)
		return;
	for (uint32_t peer = 0; peer < args->ranks; peer++)
		__atomic_store_n(
			(uint32_t *)kwhy_decode_host_at_peer(args, flags, peer) + number_of(args, peer),
			flag_of(args, layer), __ATOMIC_RELEASE);
	for (uint32_t rank = 0; rank < args->ranks; rank++)
		while (__atomic_load_n((const uint32_t *)kwhy_gpu_at(flags) + rank, __ATOMIC_ACQUIRE) !=
				flag_of(args, layer) &&
			waits(args, &start_ns))
			;
}
