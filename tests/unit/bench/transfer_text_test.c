/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the CUDA source of the benchmark's kernels on the host, and compares its results with those of the
 * same kernels written as C functions.
 */
#include "fakes/cuda_text.h"

typedef struct {
	unsigned x, y, z, w;
} uint4;

static uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w)
{
	return (uint4){x, y, z, w};
}

#include "bench/kernels/transfer.cu"

#include "bench/transfers/kernels.h"
#include "cmocka_all.h"

#include <lz4.h>

enum { SPACE = 70000, SEED = 9 };

/* Arguments of a launch, used for the CUDA source and for the C function. */
struct job {
	enum kwhy_bench_kernel kernel;
	uint64_t longs[8];
	uint32_t word;
};

static void run_text(void *context)
{
	const struct job *job = context;
	const uint64_t *l = job->longs;

	switch (job->kernel) {
	case KWHY_BENCH_KERNEL_PATTERN:
		kwhy_transfer_pattern(l[0], l[1], job->word);
		break;
	case KWHY_BENCH_KERNEL_CHECK:
		kwhy_transfer_check(l[0], l[1], job->word, l[3], l[4], l[5], l[6]);
		break;
	case KWHY_BENCH_KERNEL_COPY:
		kwhy_transfer_copy(l[0], l[1], l[2]);
		break;
	case KWHY_BENCH_KERNEL_READ:
		kwhy_transfer_read(l[0], l[1], l[2]);
		break;
	case KWHY_BENCH_KERNEL_WORK:
		kwhy_transfer_work(l[0], l[1], job->word, l[3]);
		break;
	case KWHY_BENCH_KERNEL_PIECES:
		kwhy_transfer_pieces(l[0], job->word, l[2], l[3]);
		break;
	default:
		kwhy_transfer_expand(l[0], l[1], l[2], l[3]);
	}
}

static void launch(struct job *job, unsigned blocks, unsigned threads)
{
	cuda_text_launch(blocks, threads, run_text, job);
}

static uint64_t address(const void *memory)
{
	return (uint64_t)(uintptr_t)memory;
}

static void *aligned(size_t bytes)
{
	void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);

	assert_non_null(memory);
	memset(memory, 0x5a, bytes);
	return memory;
}

static void the_pattern_is_the_same_and_ends_where_it_should(void **state)
{
	static const uint64_t sizes[] = {1, 3, 15, 16, 17, 63, 1000, 4099};
	uint8_t *made = aligned(SPACE), expected[4200];

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct job job = {KWHY_BENCH_KERNEL_PATTERN, {address(made), sizes[i]}, SEED};

		memset(made, 0x5a, sizeof(expected));
		launch(&job, 3, 32);
		kwhy_bench_pattern_write(expected, sizes[i], SEED, 0);
		assert_memory_equal(made, expected, sizes[i]);
		assert_int_equal(made[sizes[i]], 0x5a);
	}
	free(made);
}

static void the_pattern_is_written_from_any_byte_on(void **state)
{
	uint8_t all[512], part[512];

	(void)state;
	kwhy_bench_pattern_write(all, sizeof(all), SEED, 0);
	for (uint64_t first = 0; first < 9; first++)
		for (size_t bytes = 0; bytes < 21; bytes++) {
			kwhy_bench_pattern_write(part, bytes, SEED, first);
			assert_memory_equal(part, all + first, bytes);
		}
}

/*
 * The check kernel looks at five pieces of 20 bytes, 48 bytes apart. Of three wrong bytes one lies in a gap
 * between pieces, so it must count two.
 */
static void the_check_counts_wrong_bytes_of_pieces_alone(void **state)
{
	uint8_t *made = aligned(4096);
	uint64_t wrong = 0;
	struct job job = {
		KWHY_BENCH_KERNEL_CHECK, {address(made), 3 * 48 + 20, 0, 5, 48, 20, address(&wrong)}, SEED};

	(void)state;
	kwhy_bench_pattern_write(made, 4096, SEED, 5);
	launch(&job, 2, 32);
	assert_int_equal(wrong, 0);
	made[48 + 19] ^= 1;
	made[48 + 20] ^= 1;
	made[3 * 48] ^= 0x80;
	launch(&job, 2, 32);
	assert_int_equal(wrong, 2);
	free(made);
}

static void copies_are_whole_at_every_alignment_and_touch_nothing_else(void **state)
{
	uint8_t *from = aligned(8192), *to = aligned(8192);

	(void)state;
	kwhy_bench_pattern_write(from, 8192, SEED, 0);
	for (uint64_t shift = 0; shift < 4; shift++)
		for (uint64_t bytes = 1; bytes < 4000; bytes = bytes * 3 + 1) {
			struct job job = {KWHY_BENCH_KERNEL_COPY,
				{address(to + shift), address(from + shift / 2 * 2), bytes}, 0};

			memset(to, 0x5a, 8192);
			launch(&job, 2, 32);
			assert_memory_equal(to + shift, from + shift / 2 * 2, bytes);
			assert_int_equal(to[shift + bytes], 0x5a);
		}
	free(from);
	free(to);
}

static void reading_finds_the_sum_that_the_host_knows(void **state)
{
	static const uint64_t sizes[] = {1, 2, 4, 7, 16, 30, 4096, 10001};
	uint8_t *made = aligned(16384);

	(void)state;
	kwhy_bench_pattern_write(made, 16384, SEED, 0);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint64_t sum = 0;
		struct job job = {KWHY_BENCH_KERNEL_READ, {address(made), sizes[i], address(&sum)}, 0};

		launch(&job, 3, 64);
		assert_int_equal(sum, kwhy_bench_sum(made, sizes[i]));
	}
	free(made);
}

/*
 * With 0 rounds of arithmetic per word the kernel must return the sum of the words, as the reading kernel
 * does; with 3 rounds the C function's result.
 */
static void work_is_on_every_word_once(void **state)
{
	uint8_t *made = aligned(8192);
	uint64_t sum = 0, other = 0;
	struct job none = {KWHY_BENCH_KERNEL_WORK, {address(made), 8000, 0, address(&sum)}, 0},
		   some = {KWHY_BENCH_KERNEL_WORK, {address(made), 8000, 0, address(&other)}, 3};

	(void)state;
	kwhy_bench_pattern_write(made, 8192, SEED, 0);
	launch(&none, 2, 64);
	assert_int_equal(sum, kwhy_bench_sum(made, 8000));
	launch(&some, 2, 64);
	assert_int_not_equal(sum, other);
	free(made);
}

static void pieces_go_where_their_descriptors_say(void **state)
{
	static const uint32_t sizes[] = {1, 16, 37, 4096, 20000};
	uint8_t *from = aligned(SPACE), *to = aligned(SPACE);
	struct kwhy_bench_piece pieces[3];

	(void)state;
	kwhy_bench_pattern_write(from, SPACE, SEED, 0);
	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
		for (uint32_t parts = 1; parts <= 4; parts += 3) {
			struct job job = {KWHY_BENCH_KERNEL_PIECES,
				{address(pieces), 0, address(to), address(from)}, parts};

			memset(to, 0x5a, SPACE);
			for (uint32_t i = 0; i < 3; i++)
				pieces[i] = (struct kwhy_bench_piece){
					(2 - i) * 20032 + i, i * 20048 + (i == 1), sizes[s]};
			launch(&job, 3 * parts, 32);
			for (uint32_t i = 0; i < 3; i++) {
				assert_memory_equal(to + pieces[i].to, from + pieces[i].from, sizes[s]);
				assert_int_equal(to[pieces[i].to + sizes[s]], 0x5a);
			}
		}
	free(from);
	free(to);
}

/*
 * Makes data whose LZ4 blocks have every kind of element: literals, near, far and overlapping matches, and
 * lengths that need more bytes.
 */
static void make_data(char *data, size_t bytes)
{
	uint64_t random = 3;

	for (size_t i = 0; i < bytes;) {
		size_t length, back;

		random = random * 6364136223846793005u + 1442695040888963407u;
		length = 1 + (size_t)(random >> 33) % 700;
		back = 1 + (size_t)(random >> 45) % 5000;
		for (size_t k = 0; k < length && i < bytes; k++, i++)
			data[i] = random & 1 && i >= back ? data[i - back]
				: random & 2		  ? 'a'
							  : (char)(random >> (k % 50));
	}
}

static void lz4_blocks_come_out_as_they_went_in(void **state)
{
	enum { BYTES = 65536 };
	char *data = aligned(BYTES), *packed = aligned(LZ4_COMPRESSBOUND(BYTES)), *out = aligned(BYTES + 64);
	uint64_t failed = 0;
	struct kwhy_bench_chunk chunk = {0, 0, 0, BYTES};
	struct job job = {KWHY_BENCH_KERNEL_EXPAND,
		{address(&chunk), address(packed), address(out), address(&failed)}, 0};

	(void)state;
	make_data(data, BYTES);
	chunk.compressed_bytes = (uint32_t)LZ4_compress_default(
		data, packed, BYTES, LZ4_COMPRESSBOUND(BYTES));
	assert_true(chunk.compressed_bytes > 0 && chunk.compressed_bytes < BYTES / 2);
	launch(&job, 1, 32);
	assert_int_equal(failed, 0);
	assert_memory_equal(out, data, BYTES);
	assert_int_equal(out[BYTES], 0x5a);
	free(data);
	free(packed);
	free(out);
}

/*
 * Changes each byte of a compressed block in turn and expands it. The result may be wrong, but nothing may be
 * written outside of the output buffer.
 */
static void damaged_lz4_blocks_stay_in_their_place(void **state)
{
	enum { BYTES = 512 };
	char data[BYTES], packed[LZ4_COMPRESSBOUND(BYTES)], *out = aligned(BYTES + 256);
	int length;

	(void)state;
	make_data(data, BYTES);
	length = LZ4_compress_default(data, packed, BYTES, sizeof(packed));
	for (int i = 0; i < length; i++) {
		uint64_t failed = 0;
		struct kwhy_bench_chunk chunk = {0, (uint32_t)length, 64, BYTES};
		struct job job = {KWHY_BENCH_KERNEL_EXPAND,
			{address(&chunk), address(packed), address(out), address(&failed)}, 0};

		packed[i] = (char)(packed[i] ^ 0xff);
		memset(out, 0x5a, BYTES + 256);
		launch(&job, 1, 32);
		for (int k = 0; k < 64; k++)
			assert_true(out[k] == 0x5a && out[64 + BYTES + k] == 0x5a);
		packed[i] = (char)(packed[i] ^ 0xff);
	}
	free(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_pattern_is_the_same_and_ends_where_it_should),
		cmocka_unit_test(the_pattern_is_written_from_any_byte_on),
		cmocka_unit_test(the_check_counts_wrong_bytes_of_pieces_alone),
		cmocka_unit_test(copies_are_whole_at_every_alignment_and_touch_nothing_else),
		cmocka_unit_test(reading_finds_the_sum_that_the_host_knows),
		cmocka_unit_test(work_is_on_every_word_once),
		cmocka_unit_test(pieces_go_where_their_descriptors_say),
		cmocka_unit_test(lz4_blocks_come_out_as_they_went_in),
		cmocka_unit_test(damaged_lz4_blocks_stay_in_their_place),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
