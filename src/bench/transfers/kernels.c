/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/transfers/kernels.h"

#include <string.h>

extern const char kwhy_kernels_transfer[];

static uint32_t mix(uint32_t x)
{
	x ^= x >> 16;
	x *= 0x7feb352du;
	x ^= x >> 15;
	x *= 0x846ca68bu;
	return x ^ (x >> 16);
}

static uint8_t pattern_byte(uint32_t seed, uint64_t place)
{
	return (uint8_t)(mix(seed + (uint32_t)(place / 4)) >> place % 4 * 8);
}

void kwhy_bench_pattern_write(void *to, size_t bytes, uint32_t seed, uint64_t first)
{
	uint8_t *out = to;
	size_t i = 0;

	for (; i < bytes && (first + i) % 4 != 0; i++)
		out[i] = pattern_byte(seed, first + i);
	for (; i + 4 <= bytes; i += 4) {
		uint32_t word = mix(seed + (uint32_t)((first + i) / 4));

		memcpy(out + i, &word, sizeof(word));
	}
	for (; i < bytes; i++)
		out[i] = pattern_byte(seed, first + i);
}

/* Value of a kernel's argument number `place`, from 0, which is a 64-bit integer. */
static uint64_t long_at(void **arguments, size_t place)
{
	return *(const uint64_t *)arguments[place];
}

static uint32_t word_at(void **arguments, size_t place)
{
	return *(const uint32_t *)arguments[place];
}

static void *place_at(void **arguments, size_t place)
{
	return kwhy_gpu_at(long_at(arguments, place));
}

static void add_to(void *counter, uint64_t amount)
{
	__atomic_fetch_add((uint64_t *)counter, amount, __ATOMIC_RELAXED);
}

static void run_pattern(const struct kwhy_gpu_grid *grid, void **arguments)
{
	(void)grid;
	kwhy_bench_pattern_write(place_at(arguments, 0), long_at(arguments, 1), word_at(arguments, 2), 0);
}

static void run_check(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const uint8_t *at = place_at(arguments, 0);
	uint64_t bytes = long_at(arguments, 1), first = long_at(arguments, 3), stride = long_at(arguments, 4),
		 piece = long_at(arguments, 5), wrong = 0;
	uint32_t seed = word_at(arguments, 2);

	(void)grid;
	for (uint64_t start = 0; start < bytes; start += stride)
		for (uint64_t i = start; i < start + piece && i < bytes; i++)
			wrong += at[i] != pattern_byte(seed, first + i);
	add_to(place_at(arguments, 6), wrong);
}

static void run_copy(const struct kwhy_gpu_grid *grid, void **arguments)
{
	(void)grid;
	memcpy(place_at(arguments, 0), place_at(arguments, 1), long_at(arguments, 2));
}

/* Sum of all 32-bit words, each after `rounds` rounds of arithmetic. */
static uint64_t sum_of(const uint8_t *from, uint64_t bytes, uint32_t rounds)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i + 4 <= bytes; i += 4) {
		uint32_t word;

		memcpy(&word, from + i, sizeof(word));
		for (uint32_t round = 0; round < rounds; round++)
			word = mix(word);
		sum += word;
	}
	return sum;
}

uint64_t kwhy_bench_sum(const void *from, uint64_t bytes)
{
	const uint8_t *place = from;
	uint64_t sum = sum_of(place, bytes, 0);

	for (uint64_t i = bytes / 4 * 4; i < bytes; i++)
		sum += place[i];
	return sum;
}

static void run_read(const struct kwhy_gpu_grid *grid, void **arguments)
{
	(void)grid;
	add_to(place_at(arguments, 2), kwhy_bench_sum(place_at(arguments, 0), long_at(arguments, 1)));
}

static void run_work(const struct kwhy_gpu_grid *grid, void **arguments)
{
	(void)grid;
	add_to(place_at(arguments, 3),
		sum_of(place_at(arguments, 0), long_at(arguments, 1), word_at(arguments, 2)));
}

static void run_pieces(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct kwhy_bench_piece *pieces = place_at(arguments, 0);
	uint32_t count = grid->blocks / word_at(arguments, 1);
	uint8_t *to = place_at(arguments, 2);
	const uint8_t *from = place_at(arguments, 3);

	for (uint32_t i = 0; i < count; i++)
		memcpy(to + pieces[i].to, from + pieces[i].from, pieces[i].bytes);
}

static uint32_t length_of(uint32_t nibble, const uint8_t **in, const uint8_t *end)
{
	uint32_t length = nibble, more = nibble == 15 ? 255 : 0;

	while (more == 255 && *in < end) {
		more = *(*in)++;
		length += more;
	}
	return length;
}

/*
 * Expands an LZ4 block into at most `bytes` bytes and returns the number of bytes written. Stops at the first
 * invalid token of the block; the returned number is then not the expected one.
 */
static uint32_t expand(const uint8_t *in, const uint8_t *end, uint8_t *out, uint32_t bytes)
{
	uint32_t place = 0;

	while (in < end) {
		uint32_t token = *in++, literals = length_of(token >> 4, &in, end), offset, matched;

		if (literals > (size_t)(end - in) || literals > bytes - place)
			break;
		memcpy(out + place, in, literals);
		in += literals;
		place += literals;
		if (end - in < 2)
			break;
		offset = in[0] | (uint32_t)in[1] << 8;
		in += 2;
		matched = length_of(token & 15, &in, end) + 4;
		if (offset == 0 || offset > place || matched > bytes - place)
			break;
		for (uint32_t i = 0; i < matched; i++)
			out[place + i] = out[place - offset + i];
		place += matched;
	}
	return place;
}

static void run_expand(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct kwhy_bench_chunk *chunks = place_at(arguments, 0);
	const uint8_t *from = place_at(arguments, 1);
	uint8_t *to = place_at(arguments, 2);

	for (uint32_t i = 0; i < grid->blocks; i++) {
		const uint8_t *in = from + chunks[i].from;

		if (expand(in, in + chunks[i].compressed_bytes, to + chunks[i].to, chunks[i].bytes) !=
			chunks[i].bytes)
			add_to(place_at(arguments, 3), 1);
	}
}

static const struct kwhy_gpu_host_kernel on_host[KWHY_BENCH_KERNEL_COUNT + 1] = {
	[KWHY_BENCH_KERNEL_PATTERN] = {"kwhy_transfer_pattern", run_pattern, {8, 8, 4}},
	[KWHY_BENCH_KERNEL_CHECK] = {"kwhy_transfer_check", run_check, {8, 8, 4, 8, 8, 8, 8}},
	[KWHY_BENCH_KERNEL_COPY] = {"kwhy_transfer_copy", run_copy, {8, 8, 8}},
	[KWHY_BENCH_KERNEL_READ] = {"kwhy_transfer_read", run_read, {8, 8, 8}},
	[KWHY_BENCH_KERNEL_WORK] = {"kwhy_transfer_work", run_work, {8, 8, 4, 8}},
	[KWHY_BENCH_KERNEL_PIECES] = {"kwhy_transfer_pieces", run_pieces, {8, 4, 8, 8}},
	[KWHY_BENCH_KERNEL_EXPAND] = {"kwhy_transfer_expand", run_expand, {8, 8, 8, 8}},
};

const char *kwhy_bench_kernel_name(enum kwhy_bench_kernel kernel)
{
	return on_host[kernel].name;
}

const struct kwhy_gpu_source kwhy_bench_source = {
	.title = "transfer.cu", .text = kwhy_kernels_transfer, .on_host = on_host};
