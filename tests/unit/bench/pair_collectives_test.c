/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/pairs/batch.h"
#include "bench/pairs/collectives.h"
#include "cmocka_all.h"

#include <string.h>

enum { GPUS = 3, BYTES = 3 * 4096 };

static const uint32_t seeds[GPUS] = {7, 7926, 15845};

/* Returns byte number `at` of the pattern that is the input of GPU `gpu`. */
static uint8_t given(uint32_t gpu, uint64_t at)
{
	uint8_t byte;

	kwhy_bench_pattern_write(&byte, 1, seeds[gpu], at);
	return byte;
}

static uint32_t sum_at(uint64_t at)
{
	uint32_t sum = 0;

	for (uint32_t k = 0; k < GPUS; k++)
		sum += (uint32_t)given(k, at) | (uint32_t)given(k, at + 1) << 8 |
			(uint32_t)given(k, at + 2) << 16 | (uint32_t)given(k, at + 3) << 24;
	return sum;
}

static void expect(
	enum kwhy_pair_engine engine, uint32_t own, uint64_t first, size_t count, unsigned char *out)
{
	const struct kwhy_pair_config config = {.engine = engine, .target = GPUS - 1, .bytes = BYTES};

	kwhy_pair_collective_expect(&config, seeds, GPUS, own, first, count, out);
}

static void each_gets_the_parts_that_are_its_own(void **state)
{
	unsigned char got[BYTES], piece[400];
	uint64_t part = BYTES / GPUS;

	(void)state;
	expect(KWHY_PAIR_BROADCAST, 2, 0, BYTES, got);
	for (uint64_t i = 0; i < BYTES; i += 101)
		assert_int_equal(got[i], given(0, i));
	expect(KWHY_PAIR_ALL_GATHER, 1, 0, BYTES, got);
	for (uint64_t i = 0; i < BYTES; i += 101)
		assert_int_equal(got[i], given((uint32_t)(i / part), i % part));
	expect(KWHY_PAIR_ALL_EXCHANGE, 1, 0, BYTES, got);
	for (uint64_t i = 0; i < BYTES; i += 101)
		assert_int_equal(got[i], given((uint32_t)(i / part), part + i % part));
	/*
	 * A piece of the expected output must equal the same range of the whole output. This piece crosses
	 * the boundary between the parts of two ranks.
	 */
	expect(KWHY_PAIR_ALL_EXCHANGE, 1, part - 200, sizeof(piece), piece);
	assert_memory_equal(piece, got + part - 200, sizeof(piece));
}

static void sums_are_of_words_and_wrap(void **state)
{
	unsigned char got[BYTES];
	uint32_t word;

	(void)state;
	expect(KWHY_PAIR_ALL_REDUCE, 2, 0, BYTES, got);
	for (uint64_t i = 0; i < BYTES; i += 404) {
		memcpy(&word, got + i, sizeof(word));
		assert_int_equal(word, sum_at(i));
	}
	expect(KWHY_PAIR_REDUCE_SCATTER, 2, 0, BYTES / GPUS, got);
	for (uint64_t i = 0; i < BYTES / GPUS; i += 404) {
		memcpy(&word, got + i, sizeof(word));
		assert_int_equal(word, sum_at(2 * BYTES / GPUS + i));
	}
}

static void sizes_are_whole_parts(void **state)
{
	(void)state;
	assert_int_equal(kwhy_pair_collective_bytes(KWHY_PAIR_ALL_REDUCE, 65537, 3), 65536);
	assert_int_equal(kwhy_pair_collective_bytes(KWHY_PAIR_ALL_GATHER, 65536, 3), 65532);
	assert_int_equal(kwhy_pair_collective_bytes(KWHY_PAIR_ALL_GATHER, 11, 3), 0);
	assert_int_equal(kwhy_pair_collective_result_bytes(KWHY_PAIR_REDUCE_SCATTER, 1200, 3), 400);
	assert_int_equal(kwhy_pair_collective_result_bytes(KWHY_PAIR_ALL_GATHER, 1200, 3), 1200);
}

static void links_of_a_ring_carry_what_nccl_tests_says(void **state)
{
	(void)state;
	assert_float_equal(kwhy_pair_bus_share(KWHY_PAIR_ALL_REDUCE, 4), 1.5, 0);
	assert_float_equal(kwhy_pair_bus_share(KWHY_PAIR_ALL_GATHER, 4), 0.75, 0);
	assert_float_equal(kwhy_pair_bus_share(KWHY_PAIR_ALL_EXCHANGE, 8), 0.875, 0);
	assert_float_equal(kwhy_pair_bus_share(KWHY_PAIR_BROADCAST, 8), 1, 0);
	assert_float_equal(kwhy_pair_bus_share(KWHY_PAIR_WRITE, 8), 1, 0);
}

static void succeeds(enum kwhy_status status, const struct kwhy_error *error)
{
	if (status)
		fail_msg("%s", error->text);
}

static void a_wrong_byte_is_seen(void **state)
{
	static const char *const devices[] = {"0", "1", "0"};
	struct kwhy_pair_config config = {.target = GPUS - 1, .bytes = BYTES};
	struct kwhy_pair_testbed testbed = {.count = 0};
	struct kwhy_pair_work work;
	struct kwhy_error error;
	bool same;

	(void)state;
	for (uint32_t i = 0; i < GPUS; i++)
		succeeds(kwhy_pair_testbed_open(&testbed, i, KWHY_GPU_HOST, devices[i], BYTES, 7, &error),
			&error);
	for (int engine = KWHY_PAIR_ALL_REDUCE; engine <= KWHY_PAIR_ALL_EXCHANGE; engine++) {
		unsigned char *sink;

		config.engine = (enum kwhy_pair_engine)engine;
		succeeds(kwhy_pair_work_begin(&testbed, &config, true, &work, &error), &error);
		succeeds(kwhy_pair_verify(&work, &same, &error), &error);
		assert_false(same); /* kwhy_pair_work_begin() overwrites the target, and no transfer has run
				       since */
		succeeds(kwhy_pair_warm_up(&work, &error), &error);
		succeeds(kwhy_pair_verify(&work, &same, &error), &error);
		assert_true(same);
		sink = (unsigned char *)(uintptr_t)testbed.gpu_buffers[1]->device[KWHY_BENCH_SINK];
		sink[1001] ^= 4;
		succeeds(kwhy_pair_verify(&work, &same, &error), &error);
		assert_false(same);
	}
	kwhy_pair_testbed_done(&testbed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_gets_the_parts_that_are_its_own),
		cmocka_unit_test(sums_are_of_words_and_wrap),
		cmocka_unit_test(sizes_are_whole_parts),
		cmocka_unit_test(links_of_a_ring_carry_what_nccl_tests_says),
		cmocka_unit_test(a_wrong_byte_is_seen),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
