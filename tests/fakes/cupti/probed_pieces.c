/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations of the program under test other than cuMemAlloc. */
#include "probed_program.h"
#include "vendor/cupti_abi.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE_BYTES = 1 << 16, PIECES = 4, ARRAY_BYTES = PROBED_WORDS * 8 };

static void check(enum kwhy_cuda_result result)
{
	if (result)
		exit(93);
}

static uint64_t *take_from_pool(size_t bytes)
{
	kwhy_cuda_address address = 0;
	enum kwhy_cuda_result result;
	struct kwhy_cupti_parameters_memory parameters = {.out_address = &address, .bytes = bytes};
	struct kwhy_cupti_callback data = {
		.parameters = &parameters, .correlation = probed_next_correlation()};

	probed_call("cuMemAllocAsync", &data, KWHY_CUPTI_ENTER);
	result = probed_cuda.allocate_from_pool(&address, bytes, probed_stream);
	data.result = &result;
	probed_call("cuMemAllocAsync", &data, KWHY_CUPTI_EXIT);
	check(result);
	memset((void *)(uintptr_t)address, 0, bytes);
	return (uint64_t *)(uintptr_t)address;
}

static void give_to_pool(uint64_t *memory)
{
	enum kwhy_cuda_result result;
	struct kwhy_cupti_parameters_free parameters = {(uintptr_t)memory};
	struct kwhy_cupti_callback data = {
		.parameters = &parameters, .correlation = probed_next_correlation()};

	probed_call("cuMemFreeAsync", &data, KWHY_CUPTI_ENTER);
	result = probed_cuda.free_to_pool((uintptr_t)memory, probed_stream);
	data.result = &result;
	probed_call("cuMemFreeAsync", &data, KWHY_CUPTI_EXIT);
	check(result);
}

void probed_pool(struct probed_memory *own, int rounds)
{
	for (int i = 0; i < rounds; i++) {
		uint64_t *array = take_from_pool(ARRAY_BYTES), *counter = take_from_pool(64);

		probed_launch("add", (void *[]){&own->in, &array});
		probed_launch("count", (void *[]){&counter});
		probed_launch("count", (void *[]){&counter});
		check(probed_cuda.wait(probed_stream));
		own->out[3] += array[PROBED_WORDS - 1] + counter[0];
		give_to_pool(counter);
		give_to_pool(array);
	}
}

static void map(kwhy_cuda_address address)
{
	enum kwhy_cuda_result result;
	struct kwhy_cupti_parameters_map parameters = {address, PIECE_BYTES};
	struct kwhy_cupti_callback data = {
		.parameters = &parameters, .correlation = probed_next_correlation()};

	probed_call("cuMemMap", &data, KWHY_CUPTI_ENTER);
	result = probed_cuda.map(address, PIECE_BYTES, 0, PIECE_BYTES, 0);
	data.result = &result;
	probed_call("cuMemMap", &data, KWHY_CUPTI_EXIT);
	check(result);
}

static void unmap(kwhy_cuda_address address)
{
	enum kwhy_cuda_result result;
	struct kwhy_cupti_parameters_map parameters = {address, PIECE_BYTES};
	struct kwhy_cupti_callback data = {
		.parameters = &parameters, .correlation = probed_next_correlation()};

	probed_call("cuMemUnmap", &data, KWHY_CUPTI_ENTER);
	result = probed_cuda.unmap(address, PIECE_BYTES);
	data.result = &result;
	probed_call("cuMemUnmap", &data, KWHY_CUPTI_EXIT);
	check(result);
}

/*
 * Works in a range of addresses of four pieces. An array begins in piece 0 and ends in piece 1, where a
 * counter follows it. Piece 2 is mapped, but access to it is not enabled. Piece 3 is unmapped and mapped
 * again in each round.
 */
void probed_segments(struct probed_memory *own, int rounds)
{
	kwhy_cuda_address base = 0;
	uint64_t *array, *counter, *last;

	check(probed_cuda.reserve(&base, PIECES * PIECE_BYTES, 0, 0, 0));
	for (int i = 0; i < 3; i++)
		map(base + (kwhy_cuda_address)i * PIECE_BYTES);
	for (int i = 0; i < 2; i++)
		check(probed_cuda.set_access(
			base + (kwhy_cuda_address)i * PIECE_BYTES, PIECE_BYTES, NULL, 1));
	array = (uint64_t *)(uintptr_t)(base + PIECE_BYTES - ARRAY_BYTES / 2);
	counter = (uint64_t *)(uintptr_t)(base + 2 * PIECE_BYTES - 64);
	last = (uint64_t *)(uintptr_t)(base + 3 * PIECE_BYTES);
	for (int i = 0; i < rounds; i++) {
		map(base + 3 * PIECE_BYTES);
		check(probed_cuda.set_access(base + 3 * PIECE_BYTES, PIECE_BYTES, NULL, 1));
		probed_launch("add", (void *[]){&own->in, &array});
		probed_launch("add", (void *[]){&array, &own->out});
		probed_launch("count", (void *[]){&counter});
		probed_launch("count", (void *[]){&last});
		check(probed_cuda.wait(probed_stream));
		own->out[4] += array[PROBED_WORDS - 1] + counter[0] + last[0];
		unmap(base + 3 * PIECE_BYTES);
	}
}
